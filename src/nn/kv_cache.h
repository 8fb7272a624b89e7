// Keys and values of earlier tokens, by layer. A token's keys and values go into a slot and stay there. A row is a
// list of slot numbers, so rows fork, reorder and share a common prefix by copying numbers, never values. A slot is
// free again when no row refers to it.
//
// With a window of W tokens a row refers only to the last W and the first `sinks` tokens [StreamingLLM: Xiao et al.
// 2024]. The next token takes the slot of the token that leaves the window, so a row's slots form a ring, and memory
// does not grow with the sequence. With 8 bits a token takes a quarter of the memory, and each of its heads has its
// own scale.
//
// A layer may keep a state of a row in place of its tokens or beside them: the sums of linear attention, the last inputs of a
// convolution, the matrix of a delta rule or of a state space. The cache sees a state only as a number of float32 values, initially zeros.
// Rows that fork share a state until one of them continues, which then gets a copy. A state cannot remove tokens, so a
// row that has one cannot be truncated, and its prefix cannot be held.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/as_size.h"
#include "nn/slot_pool.h"
#include "ops/ops.h"

namespace tril::nn {

class KvCache {
 public:
  /// What a layer keeps: keys and values of each token, a state of each row, both, or nothing.
  struct Layer {
    std::int64_t key_size = 0,
                 value_size = 0;  ///< values per token, all heads together; value_size 0: keys alone; both 0: none
    std::int64_t num_kv_heads = 1;
    std::int64_t state_size = 0;  ///< values of a row's recurrent state; 0: no state
  };
  enum class Precision : std::uint8_t { fp32, int8 };
  struct Options {
    Precision precision = Precision::fp32;
    std::int32_t window = 0, sinks = 0;  ///< tokens that a row keeps; window 0: all
  };
  KvCache(Context& c, std::vector<Layer> layers);

  /// Sets what is kept and how; only while there are no rows.
  void configure(const Options& options);
  const Options& options() const { return options_; }
  /// True if some layer keeps a state of each row.
  bool keeps_states() const { return keeps_states_; }
  /// True if some layer keeps keys and values.
  bool keeps_tokens() const { return keeps_tokens_; }

  std::int64_t num_layers() const { return std::ssize(sizes_); }
  std::int64_t rows() const { return std::ssize(rows_); }
  /// Number of tokens that row r has seen.
  std::int32_t length(std::int64_t r) const { return row(r).length; }
  /// The slots of the tokens that row r keeps, in order; none if no layer keeps keys and values.
  const std::vector<std::int32_t>& slots(std::int64_t r) const { return row(r).slots; }
  /// The slot of row r's state, in every layer that has one; -1 before its first token.
  std::int32_t state(std::int64_t r) const { return row(r).state; }

  /// Adds `n` empty rows at the end.
  void add_rows(std::int64_t n);
  /// The new rows are copies of rows parents[0], parents[1], ...: a row may occur several times (a beam forks) or
  /// not at all (its slots are freed).
  void reorder(std::span<const std::int32_t> parents);
  /// Removes the last tokens of row r, down to `length`. With a window, at most the tokens of the last extend(); with
  /// states, all or none.
  void truncate(std::int64_t r, std::int32_t length);
  /// Slots [begin, end) of row r, kept alive beyond the row's end until they are passed to let_go(). Only without
  /// a window and states, and only for tokens that are kept.
  std::vector<std::int32_t> hold(std::int64_t r, std::int32_t begin, std::int32_t end);
  void let_go(std::span<const std::int32_t> slots);
  /// Adds a row at the end that begins with the tokens of held slots.
  void add_row(std::span<const std::int32_t> slots);
  /// Allocates memory for this many tokens at once, so that growing need not move it.
  void reserve(std::int64_t slots);
  /// Makes room for counts[r] more tokens in row r and returns their slots, row after row. Call it once per
  /// decoder call, before its layers run. Tokens that no later token sees are dropped. A row that gets tokens no
  /// longer shares its state with other rows.
  const std::vector<std::int32_t>& extend(std::span<const std::int32_t> counts);
  /// Stores one layer's keys [N, key_size] and values [N, value_size] of the tokens of the last extend().
  void store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values);

  /// [capacity, key_size] and [capacity, value_size] of all slots; with 8 bits also their scales.
  const ops::CachedKeysValues& layer(std::int64_t layer) const { return layers_[as_size(layer)]; }
  const Tensor& keys(std::int64_t layer) const { return this->layer(layer).keys; }
  const Tensor& values(std::int64_t layer) const { return this->layer(layer).values; }
  /// [state_capacity, its state size] of a layer that keeps states: row r's state is at state(r).
  const Tensor& states(std::int64_t layer) const { return states_[as_size(layer)]; }
  /// True if this layer keeps a state.
  bool keeps_state(std::int64_t layer) const { return sizes(layer).state_size > 0; }

  std::int64_t used_slots() const { return tokens_.used(); }
  std::int64_t used_states() const { return pool_.used(); }
  std::int64_t capacity() const { return tokens_.capacity(); }
  /// Bytes of all slots and states, used or free.
  std::int64_t bytes() const;

 private:
  struct Row {
    std::vector<std::int32_t> slots;
    std::int32_t length = 0, state = -1;
  };
  Row& row(std::int64_t r) { return *(rows_.begin() + r); }
  const Row& row(std::int64_t r) const { return *(rows_.begin() + r); }
  bool keeps_keys(std::int64_t layer) const { return sizes(layer).key_size > 0 || !keeps_state(layer); }
  const Layer& sizes(std::int64_t layer) const { return sizes_[as_size(layer)]; }
  void grow(std::int64_t capacity);
  void grow_states(std::int64_t capacity);
  void release(const Row& row);
  void leave_window(Row& row);
  void make_room(std::span<const std::int32_t> counts);
  void own_state(Row& row);

  Context* context_;
  std::vector<Layer> sizes_;
  bool keeps_states_ = false, keeps_tokens_ = true;
  Options options_;
  std::vector<ops::CachedKeysValues> layers_;
  std::vector<Tensor> states_;  // by layer
  std::vector<Row> rows_, before_;
  SlotPool tokens_, pool_;           // slots of tokens, and of states
  std::vector<std::int32_t> fresh_;  // slots of the last extend()
};

}  // namespace tril::nn
