// PyTorch's tensor files (torch.save of a state dict: pytorch_model.bin), read as data: a mapping of names to tensors.
//
// There are two forms. Since PyTorch 1.6 a file is a ZIP archive: NAME/data.pkl is a pickle of the mapping, and
// NAME/data/KEY holds the bytes of each storage. Older files are a stream: pickles of a magic number, a version, the
// machine's properties, the mapping and the storages' keys, then for each storage its count and bytes. In both forms
// a tensor is a call of torch._utils._rebuild_tensor_v2 with a storage, an offset, sizes and strides in values;
// several tensors may share a storage. Nothing in a file is executed, and a pickle that names any other Python
// object is refused (format/pickle.h). Source: torch/serialization.py and torch/_utils.py. Non-goals: the tar form
// of 2016, TorchScript, sparse and quantised tensors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/safetensors.h"

namespace tril {

class PytorchFile {
 public:
  /// Maps the file and checks every tensor against its storage. Memory use beyond the map is a small multiple of
  /// the pickles.
  /// @throws Error with the file, the tensor and the reason
  static PytorchFile open(const std::string& path);

  const std::string& path() const { return path_; }
  /// Sorted by name. Contiguous tensors are views into the file. Others, such as transposed ones, have the type
  /// `blocks`, and read() puts their values in order.
  const std::vector<WeightView>& tensors() const { return tensors_; }

 private:
  PytorchFile(std::string path, std::vector<WeightView> tensors, std::shared_ptr<const void> map)
      : path_(std::move(path)), tensors_(std::move(tensors)), map_(std::move(map)) {}

  std::string path_;
  std::vector<WeightView> tensors_;
  std::shared_ptr<const void> map_;  // the views point into it
};

}  // namespace tril
