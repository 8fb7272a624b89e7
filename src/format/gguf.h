// GGUF, the file format of ggml and llama.cpp: typed metadata and named tensors in one memory-mapped file.
//
// A file of version 2 or 3 is little-endian throughout:
//   "GGUF"  u32 version  u64 tensors  u64 entries
//   entries:  string key  u32 type  value              string: u64 length, bytes; array: u32 type  u64 count  values
//   tensors:  string name  u32 rank  u64 dims[rank]  u32 type  u64 offset       dims[0] is the contiguous dimension
//   zeros up to a multiple of the alignment (general.alignment, 32 by default), where the data begins
//   data:     each tensor at its offset, a multiple of the alignment, without gaps beyond padding
// A tensor's values are stored in blocks along its rows: kern/gguf_blocks.h. Opening a file checks every count,
// length and offset against the file's size before use, and allocates a small multiple of the header's size. Source:
// the format's description in the ggml project. Non-goals: version 1, big-endian files, arrays of arrays.
// A model may be in several files: gguf_parts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tril {

/// The type of a tensor's values; the numbers are those in files.
enum class GgufType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
};

std::string_view name_of(GgufType type);                   ///< "Q4_K"
std::size_t values_of_block(GgufType type);                ///< 1, 32, 64 or 256
std::size_t bytes_of_block(GgufType type);                 ///< 144
std::optional<GgufType> gguf_type(std::string_view name);  ///< by its name in upper or lower case

/// The type of a key's value; the numbers are those in files.
enum class GgufKind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

std::string_view name_of(GgufKind kind);

/// One entry of the metadata.
struct GgufEntry {
  std::string key;
  GgufKind kind = GgufKind::u8;  ///< of the value, or of an array's values
  bool is_array = false;
  std::uint64_t count = 1;           ///< number of values
  std::span<const std::byte> bytes;  ///< the values as stored in the file, checked
};

struct GgufTensor {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> shape;  ///< row-major, as elsewhere in tril: the file's dims reversed
  std::span<const std::byte> bytes;
  std::size_t part = 0;  ///< of a model in several files: which file holds it

  std::int64_t elements() const;
};

class GgufFile {
 public:
  /// Maps and checks the file. @throws Error with the file, the key or tensor and the reason if anything is invalid
  static GgufFile open(const std::string& path);
  /// A file with the metadata of the first part and the tensors of all. @throws Error if a tensor is in two parts
  static GgufFile joined(std::vector<GgufFile> parts);

  const std::string& path() const { return file_.path(); }
  /// The path of the file that holds one of the tensors.
  const std::string& file_of(const GgufTensor& t) const { return t.part == 0 ? path() : others_[t.part - 1].path(); }
  std::size_t file_count() const { return 1 + others_.size(); }
  /// The paths of all its files, in order.
  std::vector<std::string> paths() const;
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  const std::vector<GgufEntry>& metadata() const { return metadata_; }  ///< sorted by key
  const std::vector<GgufTensor>& tensors() const { return tensors_; }   ///< sorted by name

  const GgufEntry* find(std::string_view key) const;           ///< null if there is none
  const GgufTensor* find_tensor(std::string_view name) const;  ///< null if there is none
  const GgufTensor& tensor(std::string_view name) const;       ///< Error with the nearest name if there is none

  /// The value of a key, or nothing if there is none. @throws Error if it has another type. T is bool,
  /// std::int64_t (any integer that fits), double (any float), std::string_view (into the file), or std::vector
  /// of the last three, of std::int64_t or of bool.
  template <class T>
  std::optional<T> get(std::string_view key) const;
  /// The same for a required key.
  template <class T>
  T at(std::string_view key) const;

  /// Throws Error(failure, path: key, text).
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {}) const;

 private:
  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::vector<MappedFile> others_;  // of a model in several files
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<GgufEntry> metadata_;
  std::vector<GgufTensor> tensors_;
};

/// True if `path` is a regular file that begins like a GGUF file.
/// @throws Error for a pointer of Git LFS, and for a dangling symbolic link
bool is_gguf_file(const std::string& path);
/// True if a path ends in .gguf, in upper or lower case.
bool has_gguf_name(const std::filesystem::path& path);

}  // namespace tril
