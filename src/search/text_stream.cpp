#include "search/text_stream.h"

#include <algorithm>

namespace tril::search {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD: bytes that are no character, perhaps not yet

// The longest end of `text` that is the beginning of `stop`, and not all of it.
std::size_t begun(std::string_view text, std::string_view stop) {
  for (std::size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.ends_with(stop.substr(0, n))) return n;
  return 0;
}

}  // namespace

std::size_t find_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t first = std::string_view::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return first;
}

std::string text_behind(const Tokenizer& tokenizer, std::span<const std::int32_t> before,
                        std::span<const std::int32_t> tokens) {
  if (before.empty()) return tokenizer.decode(tokens);
  std::vector<std::int32_t> all(before.begin(), before.end());
  all.insert(all.end(), tokens.begin(), tokens.end());
  const std::string in_front = tokenizer.decode(before), text = tokenizer.decode(all);
  return text.starts_with(in_front) ? text.substr(in_front.size()) : tokenizer.decode(tokens);
}

// A stop that has just come lies within the last tokens: as many as it has bytes, and some that it goes beyond. Those that
// have no text count for nothing. What stands in front of them decides whether a blank that begins them is one.
EndTest stop_test(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  return [tokenizer = std::move(tokenizer), stops = std::move(stops), enough = longest + 5](
             std::span<const std::int32_t> given, std::span<const std::int32_t> tokens) {
    std::size_t begin = tokens.size(), with_text = 0;
    while (begin > 0 && with_text < enough) with_text += tokenizer->decode(tokens.subspan(--begin, 1)).empty() ? 0 : 1;
    const auto in_front = begin > 0 ? tokens.first(begin) : given;
    const auto before = in_front.last(std::min<std::size_t>(8, in_front.size()));
    return find_stop(text_behind(*tokenizer, before, tokens.subspan(begin)), stops) != std::string::npos;
  };
}

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops,
                       std::vector<std::int32_t> before)
    : tokenizer_(std::move(tokenizer)), stops_(std::move(stops)), before_(std::move(before)) {}

std::string TextStream::push(std::int32_t token) {
  pending_.push_back(token);
  const std::string text = text_behind(*tokenizer_, before_, pending_);
  if (text.ends_with(replacement)) return "";
  if (!text.empty()) before_ = pending_;  // a token without text has nothing that others could stand behind
  pending_.clear();
  held_ += text;
  return release(false);
}

std::string TextStream::finish() {
  held_ += text_behind(*tokenizer_, before_, pending_);
  pending_.clear();
  return release(true);
}

std::string TextStream::release(bool all) {
  if (stopped_) return "";
  std::size_t certain = find_stop(held_, stops_);
  stopped_ = certain != std::string::npos;
  if (!stopped_) {
    certain = held_.size();
    if (!all)
      for (const std::string& stop : stops_) certain = std::min(certain, held_.size() - begun(held_, stop));
  }
  std::string text = held_.substr(0, certain);
  held_.erase(0, certain);
  return text;
}

}  // namespace tril::search
