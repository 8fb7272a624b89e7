#include "decode/texts/answer_tokens.h"

#include <algorithm>

#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

// Sets the offsets of consecutive tokens.
void set_offsets(std::span<AnswerToken> tokens) {
  std::string bytes;
  for (const AnswerToken& t : tokens) bytes += t.bytes;
  std::size_t at = 0, end = 0, characters = 0;  // `characters` characters end at `end`
  for (AnswerToken& t : tokens) {
    while (end < bytes.size() && end <= at) end += bytes_of_character(bytes, end), ++characters;
    t.offset = at < end ? characters - 1 : characters;
    at += t.bytes.size();
  }
}

// The number of bytes that become the first `length` bytes of valid_utf8(bytes), which end with a character.
std::size_t bytes_that_show(std::string_view bytes, std::size_t length) {
  std::size_t at = 0, shown = 0;
  while (at < bytes.size() && shown < length) {
    const std::size_t n = bytes_of_character(bytes, at);
    shown += valid_utf8(bytes.substr(at, n)).size();
    at += n;
  }
  return at;
}

}  // namespace

AnswerTokens::AnswerTokens(std::shared_ptr<const Tokenizer> tokenizer, std::span<const std::string> bytes,
                           std::vector<std::string> stops, std::vector<std::int32_t> before)
    : detokenizer_(std::move(tokenizer), std::move(before)), bytes_(bytes), stops_(std::move(stops)) {}

AnswerTokens::Part AnswerTokens::push(std::int32_t token) {
  waiting_.push_back({.number = pushed_++, .id = token, .bytes = {}});
  hold(detokenizer_.push(token));
  return release(false);
}

AnswerTokens::Part AnswerTokens::finish() {
  hold(detokenizer_.finish());
  return release(true);
}

void AnswerTokens::hold(Detokenizer::Settled settled) {
  if (settled.tokens == 0) return;
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(settled.tokens);
  Unit unit{std::move(settled.text), {waiting_.begin(), end}};
  waiting_.erase(waiting_.begin(), end);
  std::vector<std::string> pieces = pieces_of(unit.tokens, unit.text);
  for (std::size_t i = 0; i < pieces.size(); ++i) unit.tokens[i].bytes = std::move(pieces[i]);
  set_offsets(unit.tokens);
  held_text_ += unit.text;
  held_.push_back(std::move(unit));
}

// The bytes of each token. They are those that it adds after other tokens, without the blanks that decoding strips at the
// beginning of a text. If a decoder changes more than that, the last token gets the whole text.
std::vector<std::string> AnswerTokens::pieces_of(std::span<const AnswerToken> tokens, const std::string& text) const {
  std::vector<std::string> pieces(tokens.size());
  std::string joined;
  std::size_t last = tokens.size() - 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<std::size_t>(tokens[i].id);
    if (id < bytes_.size()) pieces[i] = bytes_[id];
    if (!pieces[i].empty()) last = i;
    joined += pieces[i];
  }
  const std::string shown = valid_utf8(joined);
  if (shown == text) return pieces;
  const std::size_t blanks = shown.size() - std::min(shown.size(), text.size());
  if (shown.ends_with(text) && shown.find_first_not_of(' ') >= blanks) {
    for (std::size_t i = 0, left = blanks; left > 0; ++i) {
      const std::size_t n = std::min(left, pieces[i].size());
      pieces[i].erase(0, n);
      left -= n;
    }
    return pieces;
  }
  pieces.assign(tokens.size(), "");
  pieces[last] = text;
  return pieces;
}

AnswerTokens::Part AnswerTokens::release(bool all) {
  Part part;
  if (stopped_) return part;
  std::size_t certain = find_stop(held_text_, stops_);
  stopped_ = certain != std::string::npos;
  if (!stopped_) certain = all ? held_text_.size() : before_begun_stop(held_text_, stops_);
  std::size_t at = 0, whole = 0;
  while (whole < held_.size() && at + held_[whole].text.size() <= certain) {
    at += held_[whole].text.size();
    append(std::move(held_[whole++]), part);
  }
  if (stopped_ && at < certain) {  // the stop string begins inside this unit
    Unit& cut = held_[whole];
    std::string bytes;
    for (const AnswerToken& t : cut.tokens) bytes += t.bytes;
    std::size_t left = bytes_that_show(bytes, certain - at);
    for (AnswerToken& t : cut.tokens) {
      t.bytes.resize(std::min(t.bytes.size(), left));
      left -= t.bytes.size();
    }
    while (!cut.tokens.empty() && cut.tokens.back().bytes.empty()) cut.tokens.pop_back();
    cut.text.resize(certain - at);
    append(std::move(cut), part);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(whole));
  held_text_.erase(0, at);
  return part;
}

void AnswerTokens::append(Unit unit, Part& part) {
  for (AnswerToken& t : unit.tokens) {
    t.offset += characters_;
    part.tokens.push_back(std::move(t));
  }
  characters_ += characters_in(unit.text);
  part.text += unit.text;
}

std::vector<AnswerToken> tokens_of_text(const std::shared_ptr<const Tokenizer>& tokenizer,
                                        std::span<const std::string> bytes, std::span<const std::int32_t> ids,
                                        const std::string& text) {
  AnswerTokens all(tokenizer, bytes, {}, {});
  std::vector<AnswerToken> tokens;
  const auto take = [&](AnswerTokens::Part part) {
    for (AnswerToken& t : part.tokens) tokens.push_back(std::move(t));
  };
  for (const std::int32_t id : ids) take(all.push(id));
  take(all.finish());

  std::vector<AnswerToken> spelt = tokens;
  std::string joined;
  for (AnswerToken& t : spelt) {
    if (t.bytes.empty() && t.id < tokenizer->size(Side::target)) {
      const std::string& name = tokenizer->piece(t.id, Side::target);
      if (std::string_view(text).substr(std::min(joined.size(), text.size())).starts_with(name)) t.bytes = name;
    }
    joined += t.bytes;
  }
  if (valid_utf8(joined) == text) tokens = std::move(spelt);
  set_offsets(tokens);
  const std::size_t characters = characters_in(text);
  for (AnswerToken& t : tokens) t.offset = std::min(t.offset, characters);
  return tokens;
}

}  // namespace tril::search
