// Marian's weights under the names and in the layout of the family marian_nmt: matrices are [in, out] in Marian's files and [out, in]
// here, vectors are [1, n], and embeddings get a row of zeros for padding, which no text may become.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_file.h"
#include "model_io/marian_tensors.h"
#include "model_io/weight_files.h"

namespace tril::model {

/// @throws Error where an embedding has not as many words as dim-vocabs says: a number in a small file must not ask for all memory
void check_words_of_embeddings(const MarianTensors& file, const JsonObject& model_yml);

/// The weights of a model. Arrays that the config asks for but the file lacks are missing here too; arrays that it does not ask for
/// keep their names, so that loading refuses them.
/// @param config  of config_of_marian()
WeightFiles marian_weights(std::shared_ptr<const MarianTensors> file, const nlohmann::json& config);

}  // namespace tril::model
