// Converts Marian's weights to the names and layouts of the family marian_nmt. In Marian's files matrices are [in, out], here
// [out, in]; vectors are [1, n]; embeddings get a row of zeros for padding.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_file.h"
#include "model_io/contents/weight_files.h"
#include "model_io/marian/marian_tensors.h"

namespace tril::model {

/// @throws Error if an embedding has another number of words than dim-vocabs: a number in a small file must not request all
/// memory
void check_words_of_embeddings(const MarianTensors& file, const JsonObject& model_yml);

/// The weights of a model. Arrays that the file lacks are missing in the result; unknown arrays keep their names, so that loading
/// refuses them.
/// @param config  the result of config_of_marian()
WeightFiles marian_weights(const std::shared_ptr<const MarianTensors>& file, const nlohmann::json& config);

}  // namespace tril::model
