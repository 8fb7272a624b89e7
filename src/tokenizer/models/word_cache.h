// Caches the ids of words, since natural text repeats its words. The size is fixed and a collision replaces the older
// entry, so the cache affects only speed, never results.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace tril {

class WordCache {
 public:
  static constexpr std::size_t longest_word = 34, most_ids = 7;  // so that an entry is one cache line

  /// Whether a word is whole or part of a longer one, which may be split differently.
  enum Of : std::uint8_t { whole = 0, part = 128 };

  /// Appends the ids of `word` and returns true, or returns false if it is not cached.
  bool find(std::string_view word, Of of, std::uint64_t hash, std::vector<std::int32_t>& ids) const {
    const Entry& e = entries_[hash >> shift];
    if (e.bytes != (word.size() | of) || std::memcmp(e.word.data(), word.data(), word.size()) != 0) return false;
    ids.insert(ids.end(), e.ids.begin(), e.ids.begin() + e.count);
    return true;
  }

  void keep(std::string_view word, Of of, std::uint64_t hash, std::span<const std::int32_t> ids) {
    if (word.empty() || word.size() > longest_word || ids.size() > most_ids) return;
    Entry& e = entries_[hash >> shift];
    e.bytes = static_cast<std::uint8_t>(word.size() | of);
    e.count = static_cast<std::uint8_t>(ids.size());
    std::memcpy(e.word.data(), word.data(), word.size());
    std::copy(ids.begin(), ids.end(), e.ids.begin());
  }

  /// The hash of a word of at most longest_word bytes.
  static std::uint64_t hash(std::string_view word) {
    constexpr std::uint64_t k = 0x9e3779b97f4a7c15ull;
    std::uint64_t h = word.size() * k;
    std::size_t i = 0;
    for (; i + 8 <= word.size(); i += 8) {
      std::uint64_t part = 0;
      std::memcpy(&part, word.data() + i, 8);
      h = (h ^ part) * k;
      h ^= h >> 32;
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, word.data() + i, word.size() - i);
    h = (h ^ rest) * k;
    h ^= h >> 29;
    return h * k;
  }

 private:
  static constexpr unsigned shift = 64 - 15;  // 2^15 entries: 2 MiB

  struct alignas(64) Entry {
    std::uint8_t bytes = 0, count = 0;  // bytes 0: empty entry
    std::array<char, longest_word> word;
    std::array<std::int32_t, most_ids> ids;
  };
  static_assert(sizeof(Entry) == 64);

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << (64 - shift));
};

/// A pool of expensive objects, one of which each thread needs for a while; the last returned is lent first.
template <class T>
class Pool {
 public:
  class Loan {
   public:
    Loan(Pool& pool, std::unique_ptr<T> thing) : pool_(&pool), thing_(std::move(thing)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      const std::lock_guard lock(pool_->mutex_);
      pool_->free_.push_back(std::move(thing_));
    }
    T& operator*() const { return *thing_; }

   private:
    Pool* pool_;
    std::unique_ptr<T> thing_;
  };

  Loan lend() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto thing = std::move(free_.back());
        free_.pop_back();
        return Loan(*this, std::move(thing));
      }
    }
    return Loan(*this, std::make_unique<T>());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace tril
