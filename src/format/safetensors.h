// safetensors files: named tensors, checked strictly when the file is opened, then read from the map without a copy.
//
// A file is: u64 little-endian length of the header; the header, JSON {"name": {"dtype", "shape", "data_offsets"}, ...,
// "__metadata__": {string: string}}, offsets [begin, end] in the data; the tensors' bytes, without gap or overlap, to
// the end of the file. Values are little-endian and may be misaligned. Opening allocates at most about ten times the
// header's actual size, whatever the header claims. Source: the format's description in the safetensors project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace tril {

/// The type of a file's values. `blocks` is not a safetensors type: other files (GGUF) store such numbers in another form or
/// order, and WeightView::read converts them to floats.
enum class StoredType { f64, f32, f16, bf16, f8_e4m3, f8_e8m0, i64, i32, i16, i8, u8, boolean, blocks };

std::size_t size_of(StoredType type);       ///< bytes per value; not for `blocks`
std::string_view name_of(StoredType type);  ///< "F32", as in the header
bool is_floating(StoredType type);
/// Bytes of a tensor of this type and shape. Nothing if a size is negative, or if the bytes without the sizes that are 0 do not fit
/// into a signed 64-bit number: strides are such products.
std::optional<std::uint64_t> bytes_of_shape(StoredType type, std::span<const std::int64_t> shape);

enum class GgufType : std::uint32_t;  // gguf.h

/// A matrix whose rows are blocks in the file.
struct StoredBlocks {
  GgufType type;
  std::function<const std::byte*(std::int64_t)> row;  ///< the blocks of row i
};

/// One tensor of a file: valid while the file object (or the one it was moved to) lives.
struct WeightView {
  std::string name;
  StoredType dtype = StoredType::f32;
  std::vector<std::int64_t> shape;   ///< row-major; [] is a scalar
  std::span<const std::byte> bytes;  ///< elements * size_of(dtype), with any alignment

  // For `blocks` only.
  std::string form;                                        ///< the file's name of the type: "Q4_K"
  std::function<void(std::span<float>)> read = {};         ///< all values, row-major
  std::shared_ptr<const StoredBlocks> stored_blocks = {};  ///< null: values are computed in another way than by rows

  std::int64_t elements() const;
  std::string_view type_name() const { return dtype == StoredType::blocks ? form : name_of(dtype); }
};

/// Keys with texts, sorted by key.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The values as float: F32, F64 (Error if out of float's range), F16, BF16, F8_E4M3, F8_E8M0, blocks; Error for integers.
std::vector<float> to_f32(const WeightView& view);
/// The same into the caller's memory; out.size() must be view.elements().
void to_f32(const WeightView& view, std::span<float> out);
/// The values as integers: I64 (Error if out of int32's range), I32, I16, I8, U8, BOOL (0 or 1); Error for floats.
std::vector<std::int32_t> to_i32(const WeightView& view);

class SafetensorsFile {
 public:
  /// Maps and checks the file. @throws Error with the file, the tensor and the reason if anything is invalid
  static SafetensorsFile open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<WeightView>& tensors() const { return tensors_; }  ///< sorted by name
  std::vector<std::string> names() const;                              ///< the names in the same order
  const WeightView* find(std::string_view name) const;                 ///< null if there is none
  const WeightView& at(std::string_view name) const;                   ///< Error with the nearest name if there is none
  const Metadata& metadata() const { return metadata_; }
  const std::string* find_metadata(std::string_view key) const;

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<WeightView> tensors_;
  Metadata metadata_;
};

}  // namespace tril
