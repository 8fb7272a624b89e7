// Keys and values of earlier tokens, by layer. A token's keys and values go into a slot and stay there. A row is a
// list of slot numbers, so rows fork, reorder and share a common prefix by copying numbers, never values. A slot is
// free again when no row refers to it.
//
// With a window of W tokens a row refers only to the last W and the first `sinks` tokens [StreamingLLM: Xiao et al.
// 2024]. The next token takes the slot of the token that leaves the window, so a row's slots form a ring, and memory
// does not grow with the sequence. With 8 bits a token takes a quarter of the memory, and each of its heads has its
// own scale.
//
// With linear attention a row has one slot, which holds the state of all its tokens (ops/ops.h). Rows that fork share
// it until one of them continues, which then gets a copy. Such a row cannot be truncated and is always in float32.
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
    std::int64_t key_size = 0, value_size = 0;  ///< values per token, all heads together
    std::int64_t num_kv_heads = 1;
    std::int64_t state_size = 0;  ///< linear attention: values per row, in place of keys and values; 0: not linear
  };
  enum class Precision : std::uint8_t { fp32, int8 };
  struct Options {
    Precision precision = Precision::fp32;
    std::int32_t window = 0, sinks = 0;  ///< tokens that a row keeps; window 0: all
  };
  KvCache(Context& c, Sizes sizes);

  /// Sets what is kept and how; only while there are no rows.
  void configure(const Options& options);
  const Options& options() const { return options_; }
  /// True if a row is a state and not its tokens.
  bool keeps_states() const { return sizes_.state_size > 0; }

  std::int64_t num_layers() const { return sizes_.num_layers; }
  std::int64_t rows() const { return std::ssize(rows_); }
  /// Number of tokens that row r has seen.
  std::int32_t length(std::int64_t r) const { return row(r).length; }
  /// The slots of the tokens that it keeps, in order.
  const std::vector<std::int32_t>& slots(std::int64_t r) const { return row(r).slots; }

  /// Adds `n` empty rows at the end.
  void add_rows(std::int64_t n);
  /// The new rows are copies of rows parents[0], parents[1], ...: a row may occur several times (a beam forks) or
  /// not at all (its slots are freed).
  void reorder(std::span<const std::int32_t> parents);
  /// Removes the last tokens of row r, down to `length`. With a window, at most the tokens of the last extend().
  void truncate(std::int64_t r, std::int32_t length);
  /// Slots [begin, end) of row r, kept alive beyond the row's end until they are passed to let_go(). Only without
  /// a window, and only for tokens that are kept.
  std::vector<std::int32_t> hold(std::int64_t r, std::int32_t begin, std::int32_t end);
  void let_go(std::span<const std::int32_t> slots);
  /// Adds a row at the end that begins with the tokens of held slots.
  void add_row(std::span<const std::int32_t> slots);
  /// Allocates memory for this many tokens at once, so that growing need not move it.
  void reserve(std::int64_t slots);
  /// Makes room for counts[r] more tokens in row r and returns their slots, row after row. Call it once per
  /// decoder call, before its layers run. Tokens that no later token sees are dropped.
  const std::vector<std::int32_t>& extend(std::span<const std::int32_t> counts);
  /// Stores one layer's keys [N, key_size] and values [N, value_size] of the tokens of the last extend().
  void store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values);

  /// [capacity, key_size] and [capacity, value_size] of all slots; with 8 bits also their scales.
  const ops::CachedKeysValues& layer(std::int64_t layer) const { return layers_[static_cast<std::size_t>(layer)]; }
  const Tensor& keys(std::int64_t layer) const { return this->layer(layer).keys; }
  const Tensor& values(std::int64_t layer) const { return this->layer(layer).values; }
  /// [capacity, state_size], if rows are states: row r's state is at slots(r)[0].
  Tensor& states(std::int64_t layer) { return layers_[static_cast<std::size_t>(layer)].keys; }

  std::int64_t used_slots() const { return capacity_ - std::ssize(free_); }
  std::int64_t capacity() const { return capacity_; }
  /// Bytes of all slots, used or free.
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
  std::vector<std::int32_t> references_;  // by slot: number of rows that refer to it
  std::vector<std::int32_t> free_;        // largest first, so that slots are handed out in order
  std::vector<std::int32_t> fresh_;       // slots of the last extend()
};

}  // namespace tril::nn
