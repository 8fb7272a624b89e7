// A PEFT directory: adapter_config.json (adapter_config.h) and the adapter's tensors, adapter_model.safetensors or
// adapter_model.bin. A tensor is called base_model.model.MODULE.lora_A.weight, where MODULE is a module's name in
// `transformers`:
//   lora_A.weight [rank, in]   lora_B.weight [out, rank]   lora_B.bias [out]   lora_magnitude_vector [out]
//   lora_embedding_A [rank, vocab]   lora_embedding_B [d, rank]
//   base_layer.weight, base_layer.bias: of an adapted module, instead of the model's own
//   weight, bias: of a module that was trained as a whole (modules_to_save), or of which only the bias was trained
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/safetensors.h"
#include "model/spec/model.h"
#include "model_io/adapters/adapter_config.h"
#include "model_io/source/model_source.h"

namespace tril::model {

/// The tensors of one module; null: there is none.
struct AdapterModule {
  const WeightView *a = nullptr, *b = nullptr, *magnitude = nullptr, *b_bias = nullptr;
  const WeightView *weight = nullptr, *bias = nullptr;  ///< instead of the model's own
  bool is_table = false;                                ///< a and b belong to an embedding: [rank, vocab], [d, rank]
  /// a and b belong to a parameter of target_parameters, whose full name is the module's. A matrix has [rank, in] and
  /// [out, rank]; E matrices in one tensor have [E rank, in] and [out, rank E].
  bool is_parameter = false;
};

class Adapter {
 public:
  /// @throws Error naming a missing file, an unsupported option, or a tensor that does not belong here
  static Adapter open(const std::filesystem::path& directory);

  const std::string& path() const { return path_; }
  const AdapterConfig& config() const { return config_; }
  const std::map<std::string, AdapterModule>& modules() const { return modules_; }
  std::int64_t parameters() const;
  /// "DIR/adapter_model.safetensors: MODULE", for errors.
  std::string place_of(const std::string& module) const { return file_ + ": " + module; }

 private:
  std::string path_, file_;
  AdapterConfig config_;
  std::map<std::string, AdapterModule> modules_;
  std::shared_ptr<const void> map_;  ///< memory that the views point into
};

/// Attaches adapters to a loaded model; adapter i is adapters[i] (Context::Adapters). The weights do not change.
/// @param source    the model's source: DoRA, embeddings and the output layer need the original weights
/// @param standard  the adapter for rows that name none; -1: no adapter
/// @throws Error naming the module that the model lacks, or a tensor of another shape
void attach(Model& m, const ModelSource& source, std::span<const Adapter> adapters, std::int32_t standard);

/// Adds an adapter to the weights of a float32 model.
void merge(Model& m, const ModelSource& source, const Adapter& adapter);

}  // namespace tril::model
