#include "tokenizer/models/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>

#include "unicode/characters.h"

namespace tril {
namespace {

using PairOfIds = std::pair<std::int32_t, std::int32_t>;

std::uint64_t key_of(PairOfIds pair) {
  return std::uint64_t{static_cast<std::uint32_t>(pair.first)} << 32 | static_cast<std::uint32_t>(pair.second);
}

// A pair that was counted, and the words in which it may stand. Its count may have changed since.
struct Candidate {
  PairOfIds pair;
  std::int64_t count;
  std::vector<std::size_t> words;  // ascending, each once
};

// The most frequent first; of equals, the one with the smaller ids.
struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class BpeTraining {
 public:
  BpeTraining(const WordCounts& words, const BpeTrainerOptions& options) : options_(options) {
    for (const std::string& piece : options.special) id_of(piece);
    add_bytes();
    add_words(words);
  }

  LearnedBpe run() {
    std::vector<PairOfIds> merges;
    while (static_cast<std::int64_t>(learned_.pieces.size()) < options_.size && !queue_.empty()) {
      Candidate best = queue_.top();
      queue_.pop();
      if (const std::int64_t count = count_[key_of(best.pair)]; count != best.count) {
        best.count = count;
        queue_.push(std::move(best));
        continue;
      }
      if (best.count < 1 || best.count < options_.min_frequency) break;
      merges.push_back(best.pair);
      merge(best);
    }
    keep_last_of_each(merges);
    return std::move(learned_);
  }

 private:
  struct WordState {
    std::vector<std::int32_t> ids;
    std::int64_t count;
  };

  std::int32_t id_of(const std::string& piece) {
    const auto [at, is_new] = ids_.try_emplace(piece, static_cast<std::int32_t>(learned_.pieces.size()));
    if (is_new) learned_.pieces.push_back(piece);
    return at->second;
  }

  // Bytes in the order of their letters.
  void add_bytes() {
    std::array<std::size_t, 256> bytes;
    std::iota(bytes.begin(), bytes.end(), std::size_t{0});
    std::ranges::sort(bytes, {}, [](std::size_t b) { return byte_letters()[b]; });
    for (std::size_t b : bytes) {
      std::string letter;
      append_utf8(letter, byte_letters()[b]);
      byte_ids_[b] = id_of(letter);
    }
  }

  void add_words(const WordCounts& words) {
    for (const auto& [word, count] : words.counts) {
      WordState state{.ids = {}, .count = count};
      for (char byte : word) state.ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
      for (std::size_t i = 1; i < state.ids.size(); ++i) change({state.ids[i - 1], state.ids[i]}, count, words_.size());
      words_.push_back(std::move(state));
    }
    queue_changed();
  }

  // A pair occurs `by` times more, or less, in a word.
  void change(PairOfIds pair, std::int64_t by, std::size_t word) {
    count_[key_of(pair)] += by;
    if (by < 0) return;
    std::vector<std::size_t>& in = changed_[key_of(pair)];
    if (in.empty() || in.back() != word) in.push_back(word);
  }

  // Queues the pairs that have come to new places.
  void queue_changed() {
    for (auto& [key, words] : changed_) {
      const PairOfIds pair(static_cast<std::int32_t>(key >> 32), static_cast<std::int32_t>(key & 0xffffffff));
      if (const std::int64_t count = count_[key]; count > 0) queue_.push({pair, count, std::move(words)});
    }
    changed_.clear();
  }

  void merge(const Candidate& best) {
    const auto [left, right] = best.pair;
    const std::int32_t merged =
        id_of(learned_.pieces[static_cast<std::size_t>(left)] + learned_.pieces[static_cast<std::size_t>(right)]);
    for (const std::size_t word : best.words) merge_in(word, best.pair, merged);
    queue_changed();
  }

  // The pair itself keeps its count, as in the library: it is not looked for again, but where its parts come together anew.
  void merge_in(std::size_t word, PairOfIds pair, std::int32_t merged) {
    std::vector<std::int32_t>& ids = words_[word].ids;
    const std::int64_t count = words_[word].count;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool here = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
      ids[kept++] = here ? merged : ids[i];
      if (!here) continue;
      ++i;
      if (kept > 1) {
        change({ids[kept - 2], pair.first}, -count, word);
        change({ids[kept - 2], merged}, count, word);
      }
      if (i + 1 < ids.size()) {
        change({pair.second, ids[i + 1]}, -count, word);
        change({merged, ids[i + 1]}, count, word);
      }
    }
    ids.resize(kept);
  }

  // A pair may be merged twice, if one of its parts is made in two ways; its last rank counts.
  void keep_last_of_each(const std::vector<PairOfIds>& merges) {
    std::unordered_map<std::uint64_t, std::size_t> last;
    for (std::size_t i = 0; i < merges.size(); ++i) last[key_of(merges[i])] = i;
    for (std::size_t i = 0; i < merges.size(); ++i)
      if (last[key_of(merges[i])] == i) learned_.merges.push_back(merges[i]);
  }

  const BpeTrainerOptions& options_;
  LearnedBpe learned_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::vector<WordState> words_;
  std::unordered_map<std::uint64_t, std::int64_t> count_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> changed_;
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> queue_;
};

}  // namespace

LearnedBpe train_bpe(const WordCounts& words, const BpeTrainerOptions& options) {
  return BpeTraining(words, options).run();
}

}  // namespace tril
