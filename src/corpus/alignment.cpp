#include "corpus/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"

namespace tril {
namespace {

bool is_space(char ch) {
  return ch == ' ' || ch == '\t' || ch == '\r';
}

// Whether the text ends with an ASCII letter or digit, or any non-ASCII character.
bool ends_in_letter(std::string_view text) {
  const auto byte = text.empty() ? ' ' : static_cast<unsigned char>(text.back());
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

bool is_tag(std::string_view piece) {
  return piece.starts_with(">>") && piece.ends_with("<<");
}

}  // namespace

std::vector<std::string_view> words_between_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t\r", begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

Alignment parse_alignment(std::string_view line, const std::string& where) {
  Alignment list;
  const char *at = line.data(), *const end = at + line.size();
  const auto wrong = [&] {
    fail(where, fmt::format("expected pairs such as 0-0 1-2, got \"{}\"", printable(line)),
         "each pair is a source word and a target word, counted from 0");
  };
  const auto number = [&](std::int32_t& n) {
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0) wrong();
    at = next;
  };
  for (;;) {
    while (at != end && is_space(*at)) ++at;
    if (at == end) break;
    AlignmentPoint p;
    number(p.source);
    if (at == end || *at != '-') wrong();
    ++at;
    number(p.target);
    if (at != end && !is_space(*at)) wrong();
    list.push_back(p);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::string to_text(const Alignment& alignment) {
  std::string text;
  for (const AlignmentPoint& p : alignment)
    fmt::format_to(std::back_inserter(text), "{}{}-{}", text.empty() ? "" : " ", p.source, p.target);
  return text;
}

Alignment hard_alignment(std::span<const float> attention, std::size_t targets) {
  Alignment list;
  const std::size_t source = targets == 0 ? 0 : attention.size() / targets;
  for (std::size_t t = 0; t < targets && source > 0; ++t) {
    const auto row = attention.subspan(t * source, source);
    list.push_back({static_cast<std::int32_t>(std::max_element(row.begin(), row.end()) - row.begin()),
                    static_cast<std::int32_t>(t)});
  }
  std::sort(list.begin(), list.end());
  return list;
}

Alignment alignment_above(std::span<const float> attention, std::size_t targets, float threshold) {
  Alignment list;
  const std::size_t source = targets == 0 ? 0 : attention.size() / targets;
  for (std::size_t s = 0; s < source; ++s)
    for (std::size_t t = 0; t < targets; ++t)
      if (attention[t * source + s] > threshold)
        list.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t)});
  return list;
}

std::string soft_alignment(std::span<const float> attention, std::size_t targets) {
  std::string text;
  const std::size_t source = targets == 0 ? 0 : attention.size() / targets;
  for (std::size_t i = 0; i < attention.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{:.6g}", i == 0 ? "" : i % source == 0 ? " " : ",", attention[i]);
  return text;
}

std::vector<std::int32_t> words_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side) {
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> around{tokenizer.special(side).eos, tokenizer.special(side).bos};  // not part of a text
  for (const std::string& code : tokenizer.languages()) around.push_back(tokenizer.language_id(code));
  std::int32_t word = -1;
  bool begins = true;  // the first token, and any token after a tag, begins a word
  for (const std::int32_t id : ids) {
    if (std::find(around.begin(), around.end(), id) != around.end()) {
      words.push_back(-1);
      continue;
    }
    const std::string& piece = tokenizer.piece(id, side);
    const bool tag = is_tag(piece);
    if (begins || tag || piece.starts_with(space_mark)) ++word;
    words.push_back(word);
    begins = tag;
  }
  return words;
}

std::vector<std::string> words_as_counted(std::string_view text, const Tokenizer& tokenizer, Side side) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, side, ids);
  const std::vector<std::int32_t> numbers = words_of(ids, tokenizer, side);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (numbers[i] < 0) continue;
    if (as_size(numbers[i]) == words.size()) words.emplace_back();
    words.back() += tokenizer.piece(ids[i], side);
  }
  for (std::string& word : words)
    if (word.starts_with(space_mark) && word.size() > space_mark.size()) word.erase(0, space_mark.size());
  return words;
}

void check_marks_words(const Tokenizer& tokenizer) {
  for (const Side side : {Side::source, Side::target}) {
    bool marks = false;
    for (std::int32_t id = 0; id < tokenizer.size(side) && !marks; ++id)
      marks = tokenizer.piece(id, side).starts_with(space_mark);
    if (!marks)
      fail_usage("guided_alignment", "no piece of the vocabulary begins with \u2581, so words cannot be counted",
                 "align tokens (`guided_alignment_units` tokens), or let `tril train` make a vocabulary");
  }
}

Alignment tokens_of_words(const Alignment& words, std::span<const std::int32_t> source_words,
                          std::span<const std::int32_t> target_words, std::int32_t first_word,
                          const std::string& where) {
  const std::int32_t sources =
                         source_words.empty() ? 0 : *std::max_element(source_words.begin(), source_words.end()) + 1,
                     targets =
                         target_words.empty() ? 0 : *std::max_element(target_words.begin(), target_words.end()) + 1;
  Alignment tokens;
  for (const AlignmentPoint& p : words) {
    if (p.source + first_word >= sources || p.target >= targets)
      fail(where, fmt::format("aligns word {} with word {}, but the texts have {} and {} words", p.source, p.target,
                              sources - first_word, targets));
    for (std::size_t s = 0; s < source_words.size(); ++s)
      for (std::size_t t = 0; t < target_words.size(); ++t)
        if (source_words[s] == p.source + first_word && target_words[t] == p.target)
          tokens.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t)});
  }
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

std::string decode_replacing_unknowns(std::span<const std::int32_t> ids, std::span<const float> attention,
                                      std::string_view source_text, std::span<const std::int32_t> source,
                                      const Tokenizer& tokenizer) {
  const std::int32_t unk = tokenizer.special(Side::target).unk;
  if (std::find(ids.begin(), ids.end(), unk) == ids.end()) return tokenizer.decode(ids, Side::target);
  check(attention.size() == ids.size() * source.size(), "unknown words",
        "{} weights for {} tokens and {} of the source", attention.size(), ids.size(), source.size());
  const std::vector<std::string_view> words = words_between_spaces(source_text);
  const std::vector<std::int32_t> word_of = words_of(source, tokenizer, Side::source);
  // If spaces are pieces of their own, an unknown token has no space in front.
  const bool holds_space = !tokenizer.find(space_mark, Side::target);

  std::string text;
  bool space = false;  // whether `text` needs a space next
  const auto append = [&](std::string_view more) {
    if (more.empty()) return;
    if (space && !text.empty()) text += ' ';
    text += more;
    space = false;
  };
  std::int32_t replaced = -1;  // the word that replaced the previous token
  for (std::size_t begin = 0; begin < ids.size();) {
    if (ids[begin] != unk) {
      const auto next = std::find(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end(), unk);
      const auto run = ids.subspan(begin, as_size(next - ids.begin()) - begin);
      const bool special = run[0] == tokenizer.special(Side::target).eos;
      space |= !special && tokenizer.piece(run[0], Side::target).starts_with(space_mark);
      append(tokenizer.decode(run, Side::target));
      space |= tokenizer.piece(run.back(), Side::target) == space_mark;
      begin += run.size();
      if (run.size() > 1 || tokenizer.piece(run[0], Side::target) != space_mark) replaced = -1;
      continue;
    }
    const auto weights = attention.subspan(begin * source.size(), source.size());
    std::size_t most = source.size();
    for (std::size_t s = 0; s < source.size(); ++s)
      if (word_of[s] >= 0 && weights[s] > 0 && (most == source.size() || weights[s] > weights[most])) most = s;
    const std::int32_t word = most < source.size() ? word_of[most] : -1;
    if (word >= 0 && as_size(word) < words.size() && word != replaced) {
      space |= holds_space || replaced >= 0 || ends_in_letter(text);
      append(words[as_size(word)]);
    }
    replaced = word;
    ++begin;
  }
  return text;
}

}  // namespace tril
