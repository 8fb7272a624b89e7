#include "tokenizer/models/bpe_dropout.h"

#include <algorithm>

#include "base/element.h"

namespace tril {

namespace {

// The symbols of one word, and a heap of the merges that are possible now, the best on top.
class Word {
 public:
  explicit Word(const SubwordPieces& model) : model_(model) {}

  void begin(std::string_view word) {
    word_ = word;
    symbols_.clear();
    heap_.clear();
    for (std::size_t at = 0; at < word.size();) {
      const std::string_view rest = word.substr(at);
      const std::size_t frozen = model_.frozen_prefix(rest), size = frozen > 0 ? frozen : character_length(rest);
      const auto n = static_cast<std::int32_t>(symbols_.size());
      symbols_.push_back({at, size, n - 1, n + 1, frozen > 0});
      at += size;
    }
    symbols_.back().next = none;
    for (std::int32_t right = 1; right < static_cast<std::int32_t>(symbols_.size()); ++right)
      consider(right - 1, right);
  }

  void merge_all(std::uint64_t threshold, RandomSequence& random) {
    dropped_.clear();
    while (!heap_.empty()) {
      const Merge merge = pop();
      if (!possible(merge)) continue;
      if (threshold > 0 && random.bits() < threshold) {
        dropped_.push_back(merge);
        continue;
      }
      for (const Merge& again : dropped_) push(again);  // each step draws anew
      dropped_.clear();
      make(merge);
    }
  }

  void append_to(std::vector<std::string_view>& pieces) const {
    for (std::int32_t i = 0; i != none; i = at(i).next) pieces.push_back(word_.substr(at(i).begin, at(i).size));
  }

 private:
  static constexpr std::int32_t none = -1;
  struct Symbol {
    std::size_t begin, size;  ///< size 0: merged into the symbol before
    std::int32_t previous, next;
    bool frozen;
  };
  struct Merge {
    float score;
    std::int32_t left, right;
    std::size_t size;  ///< of both together; if it has changed, the merge is stale
  };

  static bool worse(const Merge& a, const Merge& b) {
    return a.score < b.score || (a.score == b.score && a.left > b.left);
  }
  const Symbol& at(std::int32_t i) const { return element(symbols_, i); }
  Symbol& at(std::int32_t i) { return element(symbols_, i); }

  void push(const Merge& merge) {
    heap_.push_back(merge);
    std::push_heap(heap_.begin(), heap_.end(), worse);
  }
  Merge pop() {
    std::pop_heap(heap_.begin(), heap_.end(), worse);
    const Merge top = heap_.back();
    heap_.pop_back();
    return top;
  }

  void consider(std::int32_t left, std::int32_t right) {
    if (left == none || right == none || at(left).frozen || at(right).frozen) return;
    const std::size_t size = at(left).size + at(right).size;
    if (const auto* piece = model_.find(word_.substr(at(left).begin, size))) push({piece->score, left, right, size});
  }

  bool possible(const Merge& m) const {
    return at(m.left).size > 0 && at(m.right).size > 0 && at(m.left).size + at(m.right).size == m.size;
  }

  void make(const Merge& m) {
    Symbol &left = at(m.left), &right = at(m.right);
    left.size = m.size;
    right.size = 0;
    left.next = right.next;
    if (left.next != none) at(left.next).previous = m.left;
    consider(left.previous, m.left);
    consider(m.left, left.next);
  }

  const SubwordPieces& model_;
  std::string_view word_;
  std::vector<Symbol> symbols_;
  std::vector<Merge> heap_, dropped_;
};

}  // namespace

void segment_by_merges(const SubwordPieces& model, std::string_view text, double dropout, RandomSequence& random,
                       std::vector<std::string_view>& pieces) {
  const auto threshold = static_cast<std::uint64_t>(dropout * 0x1p32);
  Word word(model);
  while (!text.empty()) {
    const std::size_t end = model.word_end(text);
    word.begin(text.substr(0, end));
    word.merge_all(threshold, random);
    word.append_to(pieces);
    text.remove_prefix(end);
  }
}

}  // namespace tril
