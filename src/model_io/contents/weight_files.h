// The named weights of a model, whichever files hold them. The reader of a format (model_reader.h) fills it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

/// A tensor under Hugging Face's name.
struct StoredTensor {
  WeightView view;
  std::string file;  ///< path of the file that holds it
  /// The other bytes that its values are made of: those of a second tensor, scales, zero points.
  std::vector<std::span<const std::byte>> further = {};
};

/// Converts Hugging Face's name of a tensor to the file's.
using NameInFile = std::function<std::string(std::string_view)>;

/// Looks names up in `names`; others are the same in the file.
NameInFile name_in_file_of(std::map<std::string, std::string, std::less<>> names);

class WeightFiles {
 public:
  struct Contents {
    std::string where;                  ///< the directory or file that errors about a missing tensor name
    std::vector<StoredTensor> tensors;  ///< unique names, in any order
    std::shared_ptr<const void> maps;   ///< memory that the views point into
    /// The file's name for a Hugging Face name, also for a missing tensor; empty: the same.
    NameInFile name_in_file = {};
    bool is_mapped = true;  ///< the views point into mapped files, whose pages can be read again
  };
  explicit WeightFiles(Contents contents);

  const std::vector<std::string>& names() const { return names_; }  ///< in order
  const WeightView* find(std::string_view name) const;              ///< null if missing
  const WeightView& at(std::string_view name) const;                ///< Error with the nearest name if missing
  const std::string& file_of(std::string_view name) const;          ///< path of the file that holds this tensor
  std::string name_in_file(std::string_view name) const;
  /// A tensor's place in errors: "models/de/model.safetensors: lm_head.weight", "x.gguf: output.weight".
  std::string place_of(std::string_view name) const;
  const StoredTensor& tensor(std::string_view name) const;  ///< Error with the nearest name if missing
  std::size_t file_count() const;
  std::size_t stored_bytes() const;  ///< of all tensors; bytes that several share, as tied embeddings do, count once
  /// Tells the system that it may reclaim the memory of these bytes of a tensor; they will not be read again soon.
  void release(std::span<const std::byte> bytes) const;
  /// The same for all bytes of a weight, or of a part of it.
  void release(const WeightView& weight) const;

 private:
  const StoredTensor* stored(std::string_view name) const;
  [[noreturn]] void fail_missing(std::string_view name) const;

  Contents contents_;
  std::vector<std::string> names_;
};

}  // namespace tril
