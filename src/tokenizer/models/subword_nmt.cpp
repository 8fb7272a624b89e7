#include "tokenizer/models/subword_nmt.h"

#include <algorithm>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"

namespace tril {
namespace {

constexpr std::string_view end_of_word = "</w>";
constexpr std::string_view joint = "@@";
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

// A symbol of a word: characters, which are the bytes from `begin` to the next symbol's. Neighbours are indices, -1 at the ends.
struct CharacterRun {
  std::int32_t id = -1;  // -1: no merge has it, or it was merged into the one before
  std::int32_t before = -1, after = -1;
  std::size_t begin = 0;
};

// Two neighbours that may merge, as they were when they were found.
struct NeighbourPair {
  std::int32_t rank, left, id, left_id, right_id;
};

// Merges the symbols of a word. Each round takes the pair with the lowest rank, and merges it wherever it stands, from left to
// right and without overlaps, before pairs of the merged symbols count. n symbols take O(n log n).
class RoundsOfMerges {
 public:
  RoundsOfMerges(const MergeTable& table, std::vector<CharacterRun>& symbols) : table_(table), symbols_(symbols) {}

  void run() {
    for (std::size_t i = 0; i < symbols_.size(); ++i) offer(static_cast<std::int32_t>(i));
    std::vector<std::int32_t> merged;
    while (!queue_.empty()) {
      merged.clear();
      for (const std::int32_t rank = queue_.front().rank; !queue_.empty() && queue_.front().rank == rank;)
        if (const NeighbourPair c = take(); merge(c)) merged.push_back(c.left);
      for (const std::int32_t i : merged) offer(at(i).before), offer(i);
    }
  }

 private:
  CharacterRun& at(std::int32_t i) { return element(symbols_, i); }

  static bool later(const NeighbourPair& a, const NeighbourPair& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }

  void offer(std::int32_t left) {
    if (left < 0 || at(left).after < 0) return;
    const std::int32_t a = at(left).id, b = at(at(left).after).id;
    const MergeTable::Merge m = table_.find(a, b);
    if (m.rank < 0) return;
    queue_.push_back({m.rank, left, m.id, a, b});
    std::push_heap(queue_.begin(), queue_.end(), later);
  }

  NeighbourPair take() {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const NeighbourPair c = queue_.back();
    queue_.pop_back();
    return c;
  }

  // False for a pair that another merge has changed.
  bool merge(const NeighbourPair& c) {
    const std::int32_t right = at(c.left).after;
    if (at(c.left).id != c.left_id || right < 0 || at(right).id != c.right_id) return false;
    at(c.left).id = c.id;
    at(c.left).after = at(right).after;
    if (at(right).after >= 0) at(at(right).after).before = c.left;
    at(right).id = -1;
    return true;
  }

  const MergeTable& table_;
  std::vector<CharacterRun>& symbols_;
  std::vector<NeighbourPair> queue_;  // a heap
};

}  // namespace

SubwordNmt SubwordNmt::parse(std::string_view codes, const std::string& where) {
  SubwordNmt bpe;
  bpe.codes_ = codes;
  bpe.end_is_a_symbol_ = true;
  const auto id_of = [&](std::string symbol) {
    return bpe.symbols_.emplace(std::move(symbol), static_cast<std::int32_t>(bpe.symbols_.size())).first->second;
  };
  struct Merge {
    std::int32_t left, right, merged;
  };
  std::vector<Merge> merges;
  std::int32_t number = 0;
  codes = codes.substr(0, codes.find_last_not_of('\n') + 1);
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
    const std::string left(line.substr(0, space)), right(line.substr(space + 1));
    merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
  if (merges.empty()) fail(where, "has no merges");
  bpe.merges_ = MergeTable(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    if (const Merge& m = merges[rank]; bpe.merges_.find(m.left, m.right).rank < 0)
      bpe.merges_.set(m.left, m.right, {static_cast<std::int32_t>(rank), m.merged});
  return bpe;
}

void SubwordNmt::split(std::string_view word, std::vector<std::string>& pieces) const {
  const auto id_of = [&](const std::string& symbol) {
    const auto found = symbols_.find(symbol);
    return found == symbols_.end() ? -1 : found->second;
  };
  std::vector<CharacterRun> symbols;
  const auto add = [&](std::int32_t id, std::size_t begin) {
    const auto i = static_cast<std::int32_t>(symbols.size());
    if (i > 0) symbols.back().after = i;
    symbols.push_back({.id = id, .before = i - 1, .after = -1, .begin = begin});
  };
  for (std::size_t begin = 0, length = 0; begin < word.size(); begin += length) {
    length = std::max<std::size_t>(1, utf8_sequence(word.substr(begin)));
    const bool with_end = !end_is_a_symbol_ && begin + length >= word.size();
    add(id_of(std::string(word.substr(begin, length)).append(with_end ? end_of_word : "")), begin);
  }
  if (symbols.size() > 1) {
    if (end_is_a_symbol_) add(id_of(std::string(end_of_word)), word.size());
    RoundsOfMerges(merges_, symbols).run();
  }
  for (std::int32_t i = symbols.empty() ? -1 : 0; i >= 0; i = element(symbols, i).after) {
    const std::int32_t after = element(symbols, i).after;
    const std::size_t begin = element(symbols, i).begin, end = after < 0 ? word.size() : element(symbols, after).begin;
    if (begin == word.size()) return;  // the end of the word alone
    pieces.emplace_back(word.substr(begin, end - begin)).append(end < word.size() ? joint : "");
  }
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
