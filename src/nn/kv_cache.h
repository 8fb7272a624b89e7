// Keys and values of tokens seen before, by layer. A token's keys and values go into a slot and stay there; a row is a
// list of slot numbers, so that rows fork, reorder and share a common beginning by copying numbers, never values. A
// slot is free again when no row names it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/context.h"

namespace tril::nn {

class KvCache {
 public:
  struct Sizes {
    std::int64_t num_layers = 0;
    std::int64_t key_size = 0, value_size = 0;  ///< values a token, all heads together
  };
  KvCache(Context& c, Sizes sizes);

  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }
  /// Tokens that row r holds.
  std::int32_t length(std::int64_t r) const {
    return static_cast<std::int32_t>(rows_[static_cast<std::size_t>(r)].size());
  }
  const std::vector<std::int32_t>& slots(std::int64_t r) const { return rows_[static_cast<std::size_t>(r)]; }

  /// Adds `n` empty rows at the end.
  void add_rows(std::int64_t n);
  /// The rows become rows parents[0], parents[1], ...: some twice (a beam forks), some not at all (their slots return).
  void reorder(std::span<const std::int32_t> parents);
  /// Makes room for counts[r] more tokens in row r and returns their slots, row after row. One call a decoder call,
  /// before its layers run.
  const std::vector<std::int32_t>& extend(std::span<const std::int32_t> counts);
  /// Stores one layer's keys [N, key_size] and values [N, value_size] of the tokens of the last extend().
  void store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values);

  /// [capacity, key_size] and [capacity, value_size]: of all slots, whoever names them.
  const Tensor& keys(std::int64_t layer) const { return layers_[static_cast<std::size_t>(layer)].keys; }
  const Tensor& values(std::int64_t layer) const { return layers_[static_cast<std::size_t>(layer)].values; }

  std::int64_t used_slots() const { return capacity_ - static_cast<std::int64_t>(free_.size()); }
  std::int64_t capacity() const { return capacity_; }

 private:
  struct Layer {
    Tensor keys, values;
  };
  void grow(std::int64_t needed);
  void release(std::int32_t slot);

  Context* context_;
  Sizes sizes_;
  std::int64_t capacity_ = 0;
  std::vector<Layer> layers_;
  std::vector<std::vector<std::int32_t>> rows_, before_;
  std::vector<std::int32_t> references_;  // by slot: rows that name it
  std::vector<std::int32_t> free_;        // largest first, so that slots are handed out in order
  std::vector<std::int32_t> fresh_;       // of the last extend()
};

}  // namespace tril::nn
