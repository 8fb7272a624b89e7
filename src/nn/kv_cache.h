// Keys and values of tokens seen before, by layer. A token's keys and values go into a slot and stay there; a row is a
// list of slot numbers, so that rows fork, reorder and share a common beginning by copying numbers, never values. A
// slot is free again when no row names it.
//
// With a window of W tokens a row names the last W and the first `sinks` alone [StreamingLLM: Xiao et al. 2024]: the
// slot of the token that falls out of the window is the next token's, so a row's slots are a ring, and memory does not
// grow with the sequence. With 8 bits a token takes a quarter of the memory, and each head of it has its own scale.
//
// Of linear attention a row has one slot, with what all its tokens have come to (ops/ops.h). Rows that fork share
// it until one of them goes on, which then gets a copy. Such a row takes no token back, and is always in float32.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace tril::nn {

class KvCache {
 public:
  struct Sizes {
    std::int64_t num_layers = 0;
    std::int64_t key_size = 0, value_size = 0;  ///< values a token, all heads together
    std::int64_t num_kv_heads = 1;
    std::int64_t state_size = 0;  ///< linear attention: values a row, in place of keys and values; 0: those
  };
  enum class Precision : std::uint8_t { fp32, int8 };
  struct Options {
    Precision precision = Precision::fp32;
    std::int32_t window = 0, sinks = 0;  ///< tokens that a row keeps; window 0: all
  };
  KvCache(Context& c, Sizes sizes);

  /// What is kept and how; only while there are no rows.
  void configure(const Options& options);
  const Options& options() const { return options_; }
  /// Whether a row is a state and not its tokens.
  bool keeps_states() const { return sizes_.state_size > 0; }

  std::int64_t num_layers() const { return sizes_.num_layers; }
  std::int64_t rows() const { return std::ssize(rows_); }
  /// Tokens that row r has seen.
  std::int32_t length(std::int64_t r) const { return row(r).length; }
  /// Those that it keeps, in their order.
  const std::vector<std::int32_t>& slots(std::int64_t r) const { return row(r).slots; }

  /// Adds `n` empty rows at the end.
  void add_rows(std::int64_t n);
  /// The rows become rows parents[0], parents[1], ...: some twice (a beam forks), some not at all (their slots return).
  void reorder(std::span<const std::int32_t> parents);
  /// Forgets the last tokens of row r, down to `length`. With a window no more than the last extend() brought.
  void truncate(std::int64_t r, std::int32_t length);
  /// Slots [begin, end) of row r, which stay beyond the row's end until let_go() gets them; without a window and with tokens
  /// that are kept only.
  std::vector<std::int32_t> hold(std::int64_t r, std::int32_t begin, std::int32_t end);
  void let_go(std::span<const std::int32_t> slots);
  /// Adds a row at the end that begins with the tokens of slots that are held.
  void add_row(std::span<const std::int32_t> slots);
  /// Memory for so many tokens at once, so that it need not be moved while it grows.
  void reserve(std::int64_t slots);
  /// Makes room for counts[r] more tokens in row r and returns their slots, row after row. One call a decoder call,
  /// before its layers run. What no token from here on sees is forgotten.
  const std::vector<std::int32_t>& extend(std::span<const std::int32_t> counts);
  /// Stores one layer's keys [N, key_size] and values [N, value_size] of the tokens of the last extend().
  void store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values);

  /// [capacity, key_size] and [capacity, value_size]: of all slots, whoever names them; with 8 bits, and their scales.
  const ops::CachedKeysValues& layer(std::int64_t layer) const { return layers_[static_cast<std::size_t>(layer)]; }
  const Tensor& keys(std::int64_t layer) const { return this->layer(layer).keys; }
  const Tensor& values(std::int64_t layer) const { return this->layer(layer).values; }
  /// [capacity, state_size], where rows are states: the row's is at slots(r)[0].
  Tensor& states(std::int64_t layer) { return layers_[static_cast<std::size_t>(layer)].keys; }

  std::int64_t used_slots() const { return capacity_ - std::ssize(free_); }
  std::int64_t capacity() const { return capacity_; }
  /// Of all slots, used or free.
  std::int64_t bytes() const;

 private:
  struct Row {
    std::vector<std::int32_t> slots;
    std::int32_t length = 0;
  };
  Row& row(std::int64_t r) { return *(rows_.begin() + r); }
  const Row& row(std::int64_t r) const { return *(rows_.begin() + r); }
  std::int32_t& references(std::int32_t slot) { return *(references_.begin() + slot); }
  void grow(std::int64_t capacity);
  void release(std::int32_t slot);
  void leave_window(Row& row);
  void extend_states(std::span<const std::int32_t> counts);
  std::int32_t take_slot();

  Context* context_;
  Sizes sizes_;
  Options options_;
  std::int64_t capacity_ = 0;
  std::vector<ops::CachedKeysValues> layers_;
  std::vector<Row> rows_, before_;
  std::vector<std::int32_t> references_;  // by slot: rows that name it
  std::vector<std::int32_t> free_;        // largest first, so that slots are handed out in order
  std::vector<std::int32_t> fresh_;       // of the last extend()
};

}  // namespace tril::nn
