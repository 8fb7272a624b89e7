// GGUF, the file form of ggml and llama.cpp: typed metadata and named tensors in one file, read from its map.
//
// A file of version 2 or 3 is, little-endian throughout:
//   "GGUF"  u32 version  u64 tensors  u64 entries
//   entries:  string key  u32 type  value              string: u64 length, bytes; array: u32 type  u64 count  values
//   tensors:  string name  u32 rank  u64 dims[rank]  u32 type  u64 offset       dims[0] is the one that lies together
//   zeros up to a multiple of the alignment (general.alignment, 32 unless said), where the data begins
//   data:     each tensor at its offset, a multiple of the alignment, one after the other without gaps beyond padding
// Values of a tensor lie in blocks along its rows: kern/gguf_blocks.h. Opening checks every count, length and offset
// against the file's size before it is used, and allocates a small multiple of what the header takes. Source: the
// format's description in the ggml project. Non-goals: version 1, big-endian files, arrays of arrays.
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

/// What a tensor's values are stored as; the numbers are the files'.
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
  iq4_nl = 20,
  iq4_xs = 23,
  f64 = 28,
  bf16 = 30,
};

std::string_view name_of(GgufType type);                   ///< "Q4_K"
std::size_t values_of_block(GgufType type);                ///< 1, 32 or 256
std::size_t bytes_of_block(GgufType type);                 ///< 144
std::optional<GgufType> gguf_type(std::string_view name);  ///< by its name in lower or upper case

/// What kind of value a key has; the numbers are the files'.
enum class GgufKind : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

std::string_view name_of(GgufKind kind);

/// One entry of the metadata.
struct GgufEntry {
  std::string key;
  GgufKind kind = GgufKind::u8;  ///< of the value, or of an array's values
  bool is_array = false;
  std::uint64_t count = 1;           ///< of values
  std::span<const std::byte> bytes;  ///< the values as they lie in the file, checked
};

struct GgufTensor {
  std::string name;
  GgufType type = GgufType::f32;
  std::vector<std::int64_t> shape;  ///< row-major, as elsewhere in tril: the reverse of the file's dims
  std::span<const std::byte> bytes;

  std::int64_t elements() const;
};

class GgufFile {
 public:
  /// Maps and checks the file; Error with the file, the key or tensor and the reason where anything is not as it should
  /// be.
  static GgufFile open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  const std::vector<GgufEntry>& metadata() const { return metadata_; }  ///< in order of key
  const std::vector<GgufTensor>& tensors() const { return tensors_; }   ///< in order of name

  const GgufEntry* find(std::string_view key) const;           ///< null where there is none
  const GgufTensor* find_tensor(std::string_view name) const;  ///< null where there is none
  const GgufTensor& tensor(std::string_view name) const;       ///< Error, with the nearest name, where there is none

  /// The value of a key, or nothing where there is none; Error where it is of another kind. T is one of bool,
  /// std::int64_t (any kind of whole number that fits), double (any float), std::string_view (into the file), and
  /// std::vector of the last three, std::int64_t and bool.
  template <class T>
  std::optional<T> get(std::string_view key) const;
  /// The same of a key that must be there.
  template <class T>
  T at(std::string_view key) const;

  /// Throws Error(failure, path: key, text).
  [[noreturn]] void fail_at(std::string_view key, const std::string& text, const std::string& hint = {}) const;

 private:
  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<GgufEntry> metadata_;
  std::vector<GgufTensor> tensors_;
};

/// Whether `path` is a regular file that begins as GGUF files do.
/// @throws Error for a pointer of Git LFS, and for a symbolic link to nothing
bool is_gguf_file(const std::string& path);
/// Whether a path ends in .gguf, in letters of any case.
bool has_gguf_name(const std::filesystem::path& path);

}  // namespace tril
