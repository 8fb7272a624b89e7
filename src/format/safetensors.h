// safetensors files: named tensors, checked as strictly as can be when opened, then read from the map without a copy.
//
// A file is: u64 little-endian length of the header; the header, JSON {"name": {"dtype", "shape", "data_offsets"},
// ..., "__metadata__": {string: string}}, offsets [begin, end] in the data; the tensors' bytes, without gap or overlap
// to the end of the file. Values are little-endian and may be misaligned. Opening allocates some ten times the header
// at most, by what is in it and never by what it claims. Source: the format's description in the safetensors project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace tril {

/// What a file stores for each value. `blocks` is no type of safetensors: numbers that other files (GGUF) hold
/// in another form or order, of which WeightView::read makes floats.
enum class StoredType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean, blocks };

std::size_t size_of(StoredType type);       ///< bytes for a value, of all but blocks
std::string_view name_of(StoredType type);  ///< "F32", as the header has it
bool is_floating(StoredType type);

/// One tensor of a file: valid as long as the file object (or its successor by move) lives.
struct WeightView {
  std::string name;
  StoredType dtype = StoredType::f32;
  std::vector<std::int64_t> shape;   ///< row-major; [] is a scalar
  std::span<const std::byte> bytes;  ///< elements * size_of(dtype), at any address

  // Of blocks alone.
  std::string form;                                 ///< how the file calls them: "Q4_K"
  std::function<void(std::span<float>)> read = {};  ///< all values, row-major

  std::int64_t elements() const;
  std::string_view type_name() const { return dtype == StoredType::blocks ? form : name_of(dtype); }
};

/// Keys with texts, in order of key.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The values as float: F32, F64 (one beyond float's range is an Error), F16, BF16, blocks; integers are an Error.
std::vector<float> to_f32(const WeightView& view);
/// The same into memory that the caller has; out.size() must be view.elements().
void to_f32(const WeightView& view, std::span<float> out);
/// The values as integers: I64 (beyond the range of int32: an Error), I32, I16, I8, U8, BOOL (0 or 1); floats are an
/// Error.
std::vector<std::int32_t> to_i32(const WeightView& view);

class SafetensorsFile {
 public:
  /// Maps and checks the file; Error with the file, the tensor and the reason where anything in it is not as it should
  /// be.
  static SafetensorsFile open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<WeightView>& tensors() const { return tensors_; }  ///< in order of name
  std::vector<std::string> names() const;                              ///< the same, names only
  const WeightView* find(std::string_view name) const;                 ///< null where there is none
  const WeightView& at(std::string_view name) const;  ///< Error, with the nearest name, where there is none
  const Metadata& metadata() const { return metadata_; }
  const std::string* find_metadata(std::string_view key) const;

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<WeightView> tensors_;
  Metadata metadata_;
};

}  // namespace tril
