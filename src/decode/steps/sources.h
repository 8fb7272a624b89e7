// The encoder's outputs (memories) for the current sentences of an encoder-decoder, in one memory, so that one step serves all
// sentences. Sentences come and go while others are being decoded. A new sentence is copied into free room; the others are moved
// only if there is too little of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/spec/model.h"

namespace tril::search {

/// Encodes sources, given as lists of ids.
/// @param adapters  the adapter of each source (nn/adapters.h); empty: none
model::Memory encode(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                     std::span<const std::int32_t> adapters = {});

class Sources {
 public:
  /// The model must outlive it.
  explicit Sources(const model::Model& model) : model_(&model) {}

  /// Encodes sources [n] for sentences with these numbers, which must be new.
  /// @param adapters  see encode()
  void add(Context& c, std::span<const std::vector<std::int32_t>> sources, std::span<const std::int32_t> sentences,
           std::span<const std::int32_t> adapters = {});
  /// Removes a sentence's source, if it has one.
  void remove(std::int32_t sentence);
  void clear();

  /// Has rows for all current sentences, and rows of free room.
  const model::Memory& memory() const { return memory_; }
  /// The row of a sentence in memory(), valid until the next add().
  std::int32_t row(std::int32_t sentence) const { return row_of_[sentence]; }
  /// The number of tokens of a sentence's source.
  std::int32_t length(std::int32_t sentence) const { return memory_.rows.length(row(sentence)); }
  /// Changes with every add(). Values that were derived from the memory are then out of date.
  std::uint64_t version() const { return version_; }
  std::int64_t count() const;

 private:
  /// A range of the memory's tokens; begin and room are multiples of the block size.
  struct Stretch {
    std::int32_t sentence = -1;  ///< -1: free
    std::int32_t begin = 0, length = 0, room = 0;
  };
  void take_over(model::Memory fresh, std::span<const std::int32_t> sentences);
  void make_room(Context& c, const model::Memory& like, std::span<const std::int32_t> wanted);
  bool has_room(std::span<const std::int32_t> wanted) const;
  static std::int32_t place(std::vector<Stretch>& stretches, std::int32_t sentence, std::int32_t length);
  void number_rows();

  const model::Model* model_;
  model::Memory memory_;
  std::vector<Stretch> stretches_;  ///< cover the memory, in order; empty: the memory is as encoded
  std::vector<std::int32_t> row_of_;
  std::uint64_t version_ = 0;
};

}  // namespace tril::search
