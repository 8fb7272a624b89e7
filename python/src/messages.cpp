#include "messages.h"

#include <nanobind/nanobind.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/message_text.h"
#include "errors.h"

namespace tril::python {

namespace nb = nanobind;

namespace {

constexpr std::size_t most_messages = 10'000;  // those that come after them are dropped until a call passes on messages

// Threads that compute must not wait for the interpreter's lock, so their messages wait in a list.
class Collector : public spdlog::sinks::base_sink<std::mutex> {
 public:
  using Message = std::pair<int, std::string>;

  std::deque<Message> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& m) override {
    const int level = m.level >= spdlog::level::err    ? 40
                      : m.level == spdlog::level::warn ? 30
                      : m.level == spdlog::level::info ? 20
                                                       : 10;
    if (messages_.size() < most_messages)
      messages_.emplace_back(level, message_text({m.payload.data(), m.payload.size()}));
  }
  void flush_() override {}

 private:
  std::deque<Message> messages_;
};

}  // namespace

void collect_messages() {
  auto logger = std::make_shared<spdlog::logger>("tril", std::make_shared<Collector>());
  logger->set_level(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void pass_on_messages() {
  const auto sink = std::dynamic_pointer_cast<Collector>(spdlog::default_logger_raw()->sinks().front());
  if (!sink) return;  // `tril.main` prints them itself
  const std::deque<Collector::Message> messages = sink->take();
  if (messages.empty()) return;
  const nb::object logger = nb::module_::import_("logging").attr("getLogger")("tril");
  for (const auto& [level, text] : messages) {
    const std::string shown = in_python_words(text, nullptr);
    logger.attr("log")(level, "%s", nb::str(shown.data(), shown.size()));
  }
}

}  // namespace tril::python
