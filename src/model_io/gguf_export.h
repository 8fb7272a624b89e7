// Writes a model as one GGUF file that llama.cpp runs: the inverse of gguf_tensors.h and gguf_config.h.
#pragma once

#include <string>

#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model/spec/model.h"
#include "model_io/weight_files.h"

namespace tril::model {

struct GgufExport {
  std::string path;
  GgufType type = GgufType::f16;  ///< of matrices; vectors stay F32, and rows that are no multiple of a block F16
  std::string name;               ///< general.name
  GgufMetadata tokenizer;         ///< tokenizer.*
};

/// Writes `m` with the weights of `files`, which must be its own, one tensor in memory at a time.
/// @throws Error(usage) if llama.cpp has no architecture that computes the same
void export_gguf(const Model& m, const WeightFiles& files, const GgufExport& how);

}  // namespace tril::model
