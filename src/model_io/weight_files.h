// The weights of a model, in whichever files they lie: model.safetensors, the shards of model.safetensors.index.json, or a
// GGUF file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

/// The weights of a GGUF file under the names that Hugging Face's files have (gguf_weights.h).
struct GgufWeights;

/// The weights of a model directory: model.safetensors, or all the shards that model.safetensors.index.json names; or of
/// a GGUF file.
class WeightFiles {
 public:
  static WeightFiles open(const std::string& model);

  const std::string& directory() const { return directory_; }
  const std::vector<std::string>& names() const { return names_; }  ///< in order
  const WeightView* find(std::string_view name) const;              ///< null where there is none
  const WeightView& at(std::string_view name) const;  ///< Error, with the nearest name, where there is none
  std::size_t file_count() const { return gguf_ ? 1 : files_.size(); }
  /// Says that `bytes` of a tensor will not be read again soon: the system may take their memory.
  void release(std::span<const std::byte> bytes) const;
  const std::string& file_of(std::string_view name) const;  ///< path of the file that holds this tensor

 private:
  struct Place {
    std::size_t file = 0, tensor = 0;  ///< files_[file].tensors()[tensor]
  };
  const Place* place(std::string_view name) const;
  static WeightFiles open_shards(const std::string& directory, const std::string& index);
  static WeightFiles open_gguf(const std::string& path);

  std::string directory_;  ///< or the GGUF file
  std::shared_ptr<const GgufWeights> gguf_;
  std::vector<SafetensorsFile> files_;
  std::vector<std::string> names_;
  std::vector<Place> places_;  ///< beside names_
};

}  // namespace tril
