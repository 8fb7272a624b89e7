// NumPy's archives of arrays (.npz), read as data: a ZIP archive whose member NAME.npy is the array NAME.
//
// A .npy is: "\x93NUMPY"; two bytes of version; the header's length (u16, from version 2 on u32); the header, a Python dict of
// literals {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }; the values. Supported are arrays of little-endian numbers:
// floats of 16, 32 and 64 bits, integers, booleans. Arrays of Python objects are pickles and are refused unread. Uncompressed
// members, as Marian and np.savez write them, are views into the file; deflated ones (np.savez_compressed) are unpacked.
// Source: numpy/lib/format.py.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"
#include "format/zip_archive.h"

namespace tril {

class NpzFile {
 public:
  /// Maps the file and checks the header of every array against its bytes. Beyond the map, memory holds
  /// unpacked members only: at most 64 times the file's size.
  /// @throws Error with the file, the array and the reason
  static NpzFile open(const std::string& path) { return NpzFile(ZipArchive::open(path)); }
  explicit NpzFile(ZipArchive archive);

  const std::string& path() const { return archive_.path(); }
  /// Sorted by name. An array in Fortran order has the type `blocks`; read() converts it to C order.
  const std::vector<WeightView>& tensors() const { return tensors_; }
  const WeightView* find(std::string_view name) const;  ///< null if there is none
  bool has_unpacked() const {
    return !unpacked_.empty();
  }  ///< some values are in memory of this object, not in the file

 private:
  ZipArchive archive_;
  std::vector<std::shared_ptr<const std::string>> unpacked_;  // the content of deflated members; views point into it
  std::vector<WeightView> tensors_;
};

}  // namespace tril
