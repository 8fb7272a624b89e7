// The supported families, each declared once: its name, the function that makes its model, and a sentence about it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "model/spec/weight_names.h"

namespace tril::model {

struct Family {
  enum class Kind : std::uint8_t { encoder_decoder, decoder };

  std::string_view name;      ///< model_type in config.json, or architecture if the family is tril's own
  Kind kind = Kind::decoder;  ///< entries of decoders leave it out
  std::string_view file;      ///< below src/model/
  /// Makes the model from config.json. Null: make_of_files does, which also needs the names of the weights.
  std::unique_ptr<Model> (*make)(const JsonObject& config) = nullptr;
  std::unique_ptr<Model> (*make_of_files)(const JsonObject& config, const WeightNames& weight_names) = nullptr;
  bool own = false;  ///< tril's own: config.json has model_type "tril", and the name as architecture
  std::string_view sentence;
};

/// All families, similar ones next to each other.
std::span<const Family> family_list();

}  // namespace tril::model
