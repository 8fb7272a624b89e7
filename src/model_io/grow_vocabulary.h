// A model for a vocabulary that has grown: every old weight stays, and the rows of new words begin as the mean of the
// rows of the pieces that they were cut into before, so that fine-tuning starts from what the model made of them.
#pragma once

#include <memory>

#include "model/families/marian.h"

namespace tril::model {

/// For one side: the old rows whose mean each new word begins with; where a list is empty, the mean of all.
struct NewWords {
  std::int32_t first_id = 0;  ///< ids of the new words are first_id, first_id + 1, ...
  std::vector<std::vector<std::int32_t>> parts;
};

/// @param target  the same as `source` where the embeddings are shared
std::unique_ptr<Marian> with_more_words(const Marian& old, const NewWords& source, const NewWords& target);

}  // namespace tril::model
