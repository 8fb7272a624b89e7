#include "serve/api/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "format/json_text.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr std::chrono::seconds between_saves(5);
constexpr std::int64_t most_counted = 1'000'000'000'000'000'000;
constexpr const char* advice = "restore it, or move it away: counts then begin at 0";

nlohmann::json saved_counts(const std::string& file) {
  try {
    return read_json(file);
  } catch (const Error& e) {
    fail(e.where(), e.message(), e.hint().empty() ? advice : e.hint());
  }
}

}  // namespace

Usage::Usage(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  if (is_present(file_)) read();
  saver_ = std::thread([this] { save_changes(); });
}

Usage::~Usage() {
  if (!saver_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  saver_.join();
}

void Usage::read() {
  const nlohmann::json content = saved_counts(file_);
  const auto all = content.is_object() ? content.find("characters") : content.end();
  bool is_sound = content.is_object() && all != content.end() && all->is_object();
  if (is_sound)
    for (const auto& [account, characters] : all->items()) {
      is_sound = is_sound && characters.is_number_integer() && characters >= 0 && characters <= most_counted;
      if (is_sound) characters_[account] = characters.get<std::int64_t>();
    }
  if (!is_sound)
    fail(printable(file_, 400), "expected {\"characters\": {\"OWNER\": 1234}}, with counts from 0 to 10^18", advice);
}

void Usage::save_changes() {
  std::unique_lock lock(mutex_);
  while (!ending_ || changed_) {
    wake_.wait(lock, [&] { return changed_ || ending_; });
    if (!changed_) return;
    const nlohmann::json content{{"characters", characters_}};
    changed_ = false;
    lock.unlock();
    try {
      write_file_atomic(file_, std::string_view(json_text(content) + "\n"));
    } catch (const Error& error) {  // the counts stay in memory, and the next change is another try
      logger()->warn("the counts of translated characters are not saved: {}", error.what());
    }
    lock.lock();
    wake_.wait_for(lock, between_saves, [&] { return ending_; });
  }
}

void Usage::add(const std::string& account, std::int64_t characters) {
  const std::lock_guard lock(mutex_);
  characters_[account] += characters;
  if (file_.empty() || characters == 0) return;
  changed_ = true;
  wake_.notify_one();
}

std::int64_t Usage::characters_of(const std::string& account) const {
  const std::lock_guard lock(mutex_);
  const auto found = characters_.find(account);
  return found == characters_.end() ? 0 : found->second;
}

void Usage::check(const std::string& account, std::optional<std::int64_t> most, std::int64_t more) const {
  if (!most) return;
  const std::int64_t used = characters_of(account);
  if (used + more > *most)
    throw HttpError(429, fmt::format("this key may have {} characters translated, of which {} are used; this request "
                                     "has {}",
                                     *most, used, more))
        .with_code("quota_exceeded");
}

std::int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace tril::serve
