// The named weights of a model, in whichever files they lie. A reader of a form (model_reader.h) fills it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

/// A tensor by the name that Hugging Face's files give it.
struct StoredTensor {
  WeightView view;
  std::string file;  ///< path of the file that holds it
};

class WeightFiles {
 public:
  struct Contents {
    std::string where;                  ///< what an error names where a tensor is missing: the directory or the file
    std::vector<StoredTensor> tensors;  ///< each name once, in any order
    std::shared_ptr<const void> maps;   ///< what the views point into
    /// What the file calls the tensor of a name of Hugging Face's, also one that it lacks; empty: the same.
    std::function<std::string(std::string_view)> name_in_file = {};
  };
  explicit WeightFiles(Contents contents);

  const std::vector<std::string>& names() const { return names_; }  ///< in order
  const WeightView* find(std::string_view name) const;              ///< null where there is none
  const WeightView& at(std::string_view name) const;        ///< Error, with the nearest name, where there is none
  const std::string& file_of(std::string_view name) const;  ///< path of the file that holds this tensor
  std::string name_in_file(std::string_view name) const;
  /// What errors call a tensor: "models/de/model.safetensors: lm_head.weight", "x.gguf: output.weight".
  std::string place_of(std::string_view name) const;
  std::size_t file_count() const;
  /// Says that `bytes` of a tensor will not be read again soon: the system may take their memory.
  void release(std::span<const std::byte> bytes) const;

 private:
  const StoredTensor* stored(std::string_view name) const;
  [[noreturn]] void fail_missing(std::string_view name) const;

  Contents contents_;
  std::vector<std::string> names_;
};

}  // namespace tril
