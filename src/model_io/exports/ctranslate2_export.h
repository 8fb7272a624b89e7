// Writes a model as a directory that CTranslate2 loads: the inverse of ctranslate2_model_reader.h.
#pragma once

#include <filesystem>

#include "model_io/source/model_source.h"

namespace tril::model {

/// The number format of matrices. Vectors have the same format, or float32 with int8.
enum class Ctranslate2Type : std::uint8_t { f32, f16, bf16, int8 };

/// Writes model.bin, config.json, the vocabularies and the tokenizer's files to an existing directory. Holds one weight in
/// memory at a time.
/// @throws Error(usage) if CTranslate2 does not compute the family, or if the model has no tokenizer
void export_ctranslate2(const ModelSource& source, const std::filesystem::path& directory, Ctranslate2Type type);

}  // namespace tril::model
