// What the sentences of an encoder-decoder translate: the encoder's outputs ("memories") of those that are there now, in
// one, so that one step serves them all. Sentences come and go while others go on: a new one's rows are copied into room
// that others left, and nothing else is moved until there is too little of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/spec/model.h"

namespace tril::search {

/// The memory of sources given as lists of ids.
/// @param adapters  of each source (nn/adapters.h); empty: none is named
model::Memory encode(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                     std::span<const std::int32_t> adapters = {});

class Sources {
 public:
  /// The model must outlive it.
  explicit Sources(const model::Model& model) : model_(&model) {}

  /// Encodes sources [n], which become those of the sentences of these numbers; none of them may be there already.
  /// @param adapters  as of encode()
  void add(Context& c, std::span<const std::vector<std::int32_t>> sources, std::span<const std::int32_t> sentences,
           std::span<const std::int32_t> adapters = {});
  /// Forgets a sentence's source; nothing where it has none.
  void remove(std::int32_t sentence);
  void clear();

  /// It has rows for all sentences that are there, and rows that are free room.
  const model::Memory& memory() const { return memory_; }
  /// A sentence's row of it, from one add() to the next.
  std::int32_t row(std::int32_t sentence) const { return row_of_[sentence]; }
  /// Tokens of a sentence's source.
  std::int32_t length(std::int32_t sentence) const { return memory_.rows.length(row(sentence)); }
  /// Another number after every add(): what was worked out from the memory's values holds no more.
  std::uint64_t version() const { return version_; }
  std::int64_t count() const;

 private:
  /// A stretch of the memory's tokens; begin and room in whole blocks.
  struct Stretch {
    std::int32_t sentence = -1;  ///< -1: nobody's
    std::int32_t begin = 0, length = 0, room = 0;
  };
  void take_over(model::Memory fresh, std::span<const std::int32_t> sentences);
  void make_room(Context& c, const model::Memory& like, std::span<const std::int32_t> wanted);
  bool has_room(std::span<const std::int32_t> wanted) const;
  static std::int32_t place(std::vector<Stretch>& stretches, std::int32_t sentence, std::int32_t length);
  void number_rows();

  const model::Model* model_;
  model::Memory memory_;
  std::vector<Stretch> stretches_;  ///< in the order of their tokens, all of the memory; none: rows are as encoded
  std::vector<std::int32_t> row_of_;
  std::uint64_t version_ = 0;
};

}  // namespace tril::search
