#include "tokenizer/models/subword_nmt.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace tril {
namespace {

constexpr std::string_view end_of_word = "</w>";
constexpr std::string_view joint = "@@";
constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();

std::string_view without_line_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line;
}

// "0.2" or "0.2.0" -> "0.2"
std::string version_of(std::string_view line) {
  std::string version(line.substr(line.rfind(' ') + 1));
  while (version.ends_with(".0")) version.resize(version.size() - 2);
  return version;
}

std::vector<std::string> characters_of(std::string_view word) {
  std::vector<std::string> symbols;
  while (!word.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_sequence(word));
    symbols.emplace_back(word.substr(0, length));
    word.remove_prefix(length);
  }
  return symbols;
}

// Merges each `first second` from left to right; merges do not overlap.
void merge(std::vector<std::string>& symbols, const std::string& first, const std::string& second) {
  std::vector<std::string> merged;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (i + 1 < symbols.size() && symbols[i] == first && symbols[i + 1] == second)
      merged.push_back(symbols[i] + symbols[i + 1]), ++i;
    else
      merged.push_back(symbols[i]);
  }
  symbols = std::move(merged);
}

}  // namespace

SubwordNmt SubwordNmt::parse(std::string_view codes, const std::string& where) {
  SubwordNmt bpe;
  bpe.codes_ = codes;
  bpe.end_is_a_symbol_ = true;
  std::int32_t number = 0;
  while (!codes.empty()) {
    const std::size_t end = std::min(codes.find('\n'), codes.size());
    const std::string_view line = without_line_end(codes.substr(0, end));
    codes.remove_prefix(std::min(end + 1, codes.size()));
    const std::string place = fmt::format("{}: line {}", where, ++number);
    if (number == 1 && line.starts_with("#version:")) {
      const std::string version = version_of(line);
      if (version != "0.1" && version != "0.2")
        fail(place, fmt::format("version {} is not supported", printable(version, 20)), "supported: 0.1, 0.2");
      bpe.end_is_a_symbol_ = version == "0.1";
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos)
      fail(place, fmt::format("'{}' is not a merge", printable(line, 40)), "expected two symbols with a space between");
    bpe.ranks_.emplace(line, number);
  }
  if (bpe.ranks_.empty()) fail(where, "has no merges");
  return bpe;
}

void SubwordNmt::split(std::string_view word, std::vector<std::string>& pieces) const {
  std::vector<std::string> symbols = characters_of(word);
  if (symbols.size() > 1) {
    if (end_is_a_symbol_)
      symbols.emplace_back(end_of_word);
    else
      symbols.back() += end_of_word;
    while (symbols.size() > 1) {
      std::int32_t best = no_rank;
      std::size_t at = 0;
      for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
        if (const auto found = ranks_.find(symbols[i] + ' ' + symbols[i + 1]);
            found != ranks_.end() && found->second < best)
          best = found->second, at = i;
      if (best == no_rank) break;
      const std::string first = symbols[at], second = symbols[at + 1];
      merge(symbols, first, second);
    }
    if (symbols.back() == end_of_word)
      symbols.pop_back();
    else if (symbols.back().ends_with(end_of_word))
      symbols.back().resize(symbols.back().size() - end_of_word.size());
  }
  for (std::size_t i = 0; i < symbols.size(); ++i)
    pieces.push_back(i + 1 < symbols.size() ? symbols[i] + std::string(joint) : symbols[i]);
}

std::string SubwordNmt::join(const std::vector<std::string>& pieces) {
  std::string text;
  bool continues = true;
  for (const std::string& piece : pieces) {
    if (!continues) text += ' ';
    continues = piece.ends_with(joint);
    text += std::string_view(piece).substr(0, piece.size() - (continues ? joint.size() : 0));
  }
  return text;
}

}  // namespace tril
