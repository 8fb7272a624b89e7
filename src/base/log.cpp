#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "base/printable.h"

namespace tril {
namespace {

// %* of a pattern: the message, with any bytes of names made printable, line breaks among them: a message is one line.
class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string text = printable({message.payload.data(), message.payload.size()}, std::string_view::npos);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<PrintableMessage>(); }
};

std::unique_ptr<spdlog::formatter> formatter_of(const char* pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableMessage>('*').set_pattern(pattern);
  return formatter;
}

}  // namespace

Fields fields_of(LogOptions& options) {
  Fields f;
  f.group("Messages");
  f.add("quiet", &options.quiet, "print warnings and errors only").letter('q').free_to_change();
  f.add("log-level", &options.level, "the least important message to print")
      .choices({"debug", "info", "warning", "error", "off"})
      .value_name("LEVEL")
      .free_to_change();
  f.excludes("quiet", "log-level", "`quiet` means `log_level` warning");
  return f;
}

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

void set_up_log(const LogOptions& options) {
  const bool terminal = stderr_is_terminal();
  spdlog::sink_ptr sink;
  if (terminal)
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  else
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();

  auto logger = std::make_shared<spdlog::logger>("tril", std::move(sink));
  logger->set_level(spdlog::level::from_str(options.quiet ? "warning" : options.level));
  logger->flush_on(spdlog::level::debug);
  // On a terminal each line first clears what a progress line may have left there.
  logger->set_formatter(formatter_of(terminal ? "\r\033[K%H:%M:%S %^%l%$ %*" : "%n: %l: %*"));
  spdlog::set_default_logger(std::move(logger));
}

std::shared_ptr<spdlog::logger> logger() {
  if (std::shared_ptr<spdlog::logger> given = spdlog::default_logger(); given && !given->name().empty()) return given;
  static const std::shared_ptr<spdlog::logger> own = [] {
    auto made = std::make_shared<spdlog::logger>("tril", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_formatter(formatter_of("%n: %l: %*"));
    return made;
  }();
  return own;
}

}  // namespace tril
