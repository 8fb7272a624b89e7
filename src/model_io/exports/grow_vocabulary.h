// Extends a model to a larger vocabulary. Old weights stay; the row of a new word begins as the mean of the rows of its former
// pieces, so that fine-tuning begins with what the model knows of them.
#pragma once

#include <memory>

#include "model/families/marian.h"

namespace tril::model {

/// For one side: the old rows whose mean initialises each new word; for an empty list, the mean of all rows.
struct NewWords {
  std::int32_t first_id = 0;  ///< ids of the new words are first_id, first_id + 1, ...
  std::vector<std::vector<std::int32_t>> parts;
};

/// @param target  the same as `source` if the embeddings are shared
std::unique_ptr<Marian> with_more_words(const Marian& old, const NewWords& source, const NewWords& target);

}  // namespace tril::model
