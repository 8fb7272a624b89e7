// The tensors of a Marian model, from either of its file formats: .npz or .bin.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "format/marian_bin_file.h"
#include "format/npz_file.h"
#include "model_io/contents/file_shelf.h"

namespace tril::model {

class MarianTensors {
 public:
  /// @param is_mapped  true for a mapped file, false for an unpacked member of an archive
  MarianTensors(NpzFile file, bool is_mapped)
      : file_(std::move(file)), is_mapped_(is_mapped && !npz()->has_unpacked()) {}
  MarianTensors(MarianBinFile file, bool is_mapped) : file_(std::move(file)), is_mapped_(is_mapped) {}

  const std::string& path() const {
    return std::visit([](const auto& f) -> const std::string& { return f.path(); }, file_);
  }
  /// Sorted by name; matrices of linear layers are [in, out].
  const std::vector<WeightView>& tensors() const {
    return std::visit([](const auto& f) -> const std::vector<WeightView>& { return f.tensors(); }, file_);
  }
  const WeightView* find(std::string_view name) const {
    return std::visit([&](const auto& f) { return f.find(name); }, file_);
  }
  /// A stored 8-bit matrix; null if there is none of this name.
  const MarianBinFile::Int8* find_int8(std::string_view name) const { return bin() ? bin()->find_int8(name) : nullptr; }
  /// True if matrices have 8 bits.
  bool is_int8() const { return bin() && bin()->has_int8(); }
  bool is_mapped() const { return is_mapped_; }  ///< true if all values are in mapped files

 private:
  const NpzFile* npz() const { return std::get_if<NpzFile>(&file_); }
  const MarianBinFile* bin() const { return std::get_if<MarianBinFile>(&file_); }

  std::variant<NpzFile, MarianBinFile> file_;
  bool is_mapped_ = true;
};

/// True for a weight file of Marian: an .npz, or a .bin that begins like those of marian-conv.
bool is_marian_weights(const FileShelf& shelf, const std::string& name);

/// The tensors of such a file.
MarianTensors marian_tensors(const FileShelf& shelf, const std::string& name);

}  // namespace tril::model
