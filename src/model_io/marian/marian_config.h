// Converts the options in Marian's files to config.json and generation_config.json of the family marian_nmt. Every key of
// special:model.yml is read, known to have no effect, or refused by name.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "format/json_file.h"
#include "model_io/contents/model_reader.h"
#include "model_io/marian/marian_tensors.h"

namespace tril::model {

/// The YAML in the array special:model.yml of a weight file, as JSON. @throws Error if there is none
nlohmann::json read_marian_model_yml(const MarianTensors& weights);

/// The special tokens of every Marian vocabulary.
struct MarianIds {
  std::int32_t eos = 0, unk = 1;  ///< of the target
};

/// The number of embedding rows: the larger vocabulary plus a row of zeros for padding, with which the decoder begins.
std::int64_t marian_rows(const JsonObject& model_yml);
/// The size of one side's vocabulary. @param side  0: source, 1: target
std::int64_t marian_vocabulary(const JsonObject& model_yml, std::size_t side);

/// config.json. @param model_yml  the result of read_marian_model_yml()
ConfigDocument config_of_marian(const JsonObject& model_yml, const MarianIds& ids);

/// generation_config.json. @param decoding  decoder.yml's keys: beam-size, normalize, allow-unk, word-penalty
ConfigDocument generation_of_marian(const JsonObject& decoding, const nlohmann::json& config, const MarianIds& ids);

}  // namespace tril::model
