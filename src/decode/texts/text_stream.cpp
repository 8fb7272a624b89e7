#include "decode/texts/text_stream.h"

#include <algorithm>

#include "unicode/trim.h"

namespace tril::search {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD: an incomplete or invalid character
constexpr std::size_t longest_cleaned = 4;                // bytes of the longest text that clean-up changes: " n't"
constexpr std::size_t most_pending = 16;                  // tokens; with more, the oldest may be settled
constexpr std::size_t least_context = 4;                  // tokens
constexpr std::size_t most_before = 8;                    // tokens of context, to keep a space at the beginning

// The length of the longest suffix of `text` that is a proper prefix of `stop`.
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

std::size_t before_begun_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t certain = text.size();
  for (const std::string& stop : stops) certain = std::min(certain, text.size() - begun(text, stop));
  return certain;
}

std::string text_behind(const Tokenizer& tokenizer, std::span<const std::int32_t> before,
                        std::span<const std::int32_t> tokens) {
  if (before.empty()) return tokenizer.decode(tokens);
  std::vector<std::int32_t> all(before.begin(), before.end());
  all.insert(all.end(), tokens.begin(), tokens.end());
  const std::string in_front = tokenizer.decode(before), text = tokenizer.decode(all);
  return text.starts_with(in_front) ? text.substr(in_front.size()) : tokenizer.decode(tokens);
}

std::vector<std::int32_t> whole_end(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  std::span<const std::int32_t> end = tokens.last(std::min(most_before, tokens.size()));
  while (!end.empty() && tokenizer.decode(end).ends_with(replacement)) end = end.first(end.size() - 1);
  return {end.begin(), end.end()};
}

// Decodes only the last tokens: as many tokens with text as the longest stop string has bytes, and a few more. They are extended
// to begin with a whole character. The tokens before them are context, so that a space at their beginning is kept.
EndTest stop_test(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  return [tokenizer = std::move(tokenizer), stops = std::move(stops), enough = longest + 5](
             std::span<const std::int32_t> given, std::span<const std::int32_t> tokens) {
    std::size_t begin = tokens.size(), with_text = 0;
    while (begin > 0 && with_text < enough) with_text += tokenizer->decode(tokens.subspan(--begin, 1)).empty() ? 0 : 1;
    const auto in_front = [&] {
      const auto all = begin > 0 ? tokens.first(begin) : given;
      return all.last(std::min(most_before, all.size()));
    };
    for (std::size_t n = 0; n < most_before && begin > 0 && tokenizer->decode(in_front()).ends_with(replacement); ++n)
      --begin;
    const std::vector<std::int32_t> before = whole_end(*tokenizer, in_front());
    std::string text = text_behind(*tokenizer, before, tokens.subspan(begin));
    // An incomplete character at the end shows as U+FFFD, which must not match a stop string.
    if (text.ends_with(replacement)) text.resize(text.size() - replacement.size());
    return find_stop(text, stops) != std::string::npos;
  };
}

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::int32_t> before)
    : tokenizer_(std::move(tokenizer)), context_(whole_end(*tokenizer_, before)) {}

// An incomplete character at the end may be completed. With clean-up of spaces, "a", " " and "." give "a."; no rule of
// clean_up_spaces looks further back than longest_cleaned.
bool Detokenizer::may_change(std::string_view text) const {
  if (text.ends_with(replacement)) return true;
  return tokenizer_->cleans_up() &&
         text.substr(text.size() - std::min(text.size(), longest_cleaned)).find(' ') != std::string_view::npos;
}

Detokenizer::Settled Detokenizer::push(std::int32_t token) {
  pending_.push_back(token);
  std::string text = text_behind(*tokenizer_, context_, pending_);
  if (!may_change(text)) return settle(pending_.size(), std::move(text));
  if (pending_.size() < most_pending) return {};
  // Invalid bytes that never become a character: text that did not change with so many more tokens after it is settled.
  const std::size_t older = pending_.size() - most_pending / 2;
  std::string first = text_behind(*tokenizer_, context_, std::span(pending_).first(older));
  // Spaces are settled once more text follows than clean-up considers.
  const bool cleaned = text.size() - std::min(text.size(), first.size()) < longest_cleaned && tokenizer_->cleans_up() &&
                       !first.ends_with(replacement) && may_change(first);
  if (cleaned || first.size() == text.size() || !text.starts_with(first)) return {};
  return settle(older, std::move(first));
}

Detokenizer::Settled Detokenizer::finish() {
  return settle(pending_.size(), text_behind(*tokenizer_, context_, pending_));
}

// The context must not begin with tokens without text or with spaces, because some decoders strip spaces at the beginning of a
// text. So it is extended back to a token that shows something.
Detokenizer::Settled Detokenizer::settle(std::size_t tokens, std::string text) {
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(tokens);
  context_.insert(context_.end(), pending_.begin(), end);
  pending_.erase(pending_.begin(), end);
  if (context_.size() > 2 * least_context) {
    std::size_t begin = context_.size() - least_context;
    const auto shows_something = [&] {
      return !trim(tokenizer_->decode(std::span<const std::int32_t>(context_).subspan(begin))).empty();
    };
    while (begin > 0 && !shows_something()) begin -= std::min(begin, least_context);
    context_.erase(context_.begin(), context_.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return {std::move(text), tokens};
}

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops,
                       std::vector<std::int32_t> before)
    : tokens_(std::move(tokenizer), std::move(before)), stops_(std::move(stops)) {}

std::string TextStream::push(std::int32_t token) {
  held_ += tokens_.push(token).text;
  return release(false);
}

std::string TextStream::finish() {
  held_ += tokens_.finish().text;
  return release(true);
}

std::string TextStream::release(bool all) {
  if (stopped_) return "";
  std::size_t certain = find_stop(held_, stops_);
  stopped_ = certain != std::string::npos;
  if (!stopped_) certain = all ? held_.size() : before_begun_stop(held_, stops_);
  std::string text = held_.substr(0, certain);
  held_.erase(0, certain);
  return text;
}

}  // namespace tril::search
