// A directory of Medusa heads (nn/medusa_heads.h), as https://github.com/FasterDecoding/Medusa publishes them:
//   config.json                 medusa_num_heads, medusa_num_layers, base_model_name_or_path
//   medusa_lm_head.safetensors  or medusa_lm_head.pt: K.L.linear.weight [D, D] and K.L.linear.bias [D] of layer L of head K, and
//                               K.LAYERS.weight [V, D], the head's own output matrix
// Without the last ones (the form of Medusa's version 2) the heads share the model's output matrix. The file decides how many heads and
// layers there are: some published configs name fewer heads.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "format/safetensors.h"
#include "model/spec/model.h"
#include "nn/medusa_heads.h"

namespace tril::model {

/// The file of the weights that is written.
inline constexpr const char* medusa_weights_name = "medusa_lm_head.safetensors";

class MedusaFiles {
 public:
  /// @throws Error naming a missing file, a tensor that does not belong here, or one with another shape than the others
  static MedusaFiles open(const std::filesystem::path& directory);

  const nn::MedusaSizes& sizes() const { return sizes_; }
  const std::string& base_model() const { return base_model_; }  ///< base_model_name_or_path; "" if it is not said
  const WeightView& at(const std::string& name) const { return *tensors_.at(name); }
  const std::string& path() const { return file_; }  ///< of the weights
  std::int64_t parameters() const;

 private:
  void check_tensors();

  std::string file_, base_model_;
  nn::MedusaSizes sizes_;
  std::map<std::string, const WeightView*> tensors_;
  std::shared_ptr<const void> map_;  // memory that the views point into
};

/// Heads for serving, with their weights.
struct ServedMedusa {
  nn::Parameters parameters;
  std::optional<nn::MedusaHeads> heads;  ///< never empty
};

/// Loads heads for a model, in the precision in which it is served.
/// @throws Error(usage) if their sizes are not the model's
std::unique_ptr<ServedMedusa> load_medusa(const MedusaFiles& files, const Model& m);

/// Writes the heads of a model to a directory, in float32. @param base  the path of their model
void save_medusa(const nn::Parameters& parameters, const nn::MedusaHeads& heads, const std::string& directory,
                 const std::string& base);
/// Writes only its config.json.
void save_medusa_config(const nn::MedusaHeads& heads, const std::string& directory, const std::string& base);

}  // namespace tril::model
