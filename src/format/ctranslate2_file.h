// model.bin of CTranslate2: the name of a specification, named variables, and aliases of variables.
//
// Numbers are little-endian. A text is a u16 length, which includes a final zero byte, then the bytes. A file holds, in order:
//   u32 version
//   version 2 and later: text, the name of the specification; u32, its revision
//   u32 number of variables; for each: text, its name; u8 rank; u32 sizes; its values
//     version 4 and later: u8 type, u32 number of bytes, the bytes
//     earlier: u8 bytes per value, u32 number of values, the bytes
//   version 3 and later: u32 number of aliases; for each: text, its name; text, the name of its variable
// Versions 2 to 6 are read. Version 1 is refused: it names no specification. Source: CTranslate2's
// python/ctranslate2/specs/model_spec.py and src/models/model.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/safetensors.h"

namespace tril {

class Ctranslate2File {
 public:
  static constexpr std::uint32_t newest_version = 6;

  /// Maps the file and checks every length, shape and alias against its bytes. Beyond the map, memory grows only with the names.
  /// @throws Error with the file, the variable and the reason
  static Ctranslate2File open(const std::string& path);
  /// A file in memory, such as a member of an archive. @param path  its name in errors  @param owner  keeps `bytes` alive
  Ctranslate2File(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const std::string& path() const { return path_; }
  std::uint32_t version() const { return version_; }
  const std::string& specification() const { return specification_; }  ///< "TransformerSpec"
  std::uint32_t revision() const { return revision_; }                 ///< of the specification

  /// Sorted by name, without aliases. Types: F32, I8, I16, I32, F16, BF16.
  const std::vector<WeightView>& variables() const { return variables_; }
  /// The name of the variable, by alias.
  const std::map<std::string, std::string, std::less<>>& aliases() const { return aliases_; }
  /// The variable with this name or alias; null if there is none.
  const WeightView* find(std::string_view name) const;

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;
  std::uint32_t version_ = 0, revision_ = 0;
  std::string specification_;
  std::vector<WeightView> variables_;
  std::map<std::string, std::string, std::less<>> aliases_;
};

/// True if the bytes begin like a model.bin of version 2 or later.
bool begins_as_ctranslate2(std::span<const std::byte> bytes);

}  // namespace tril
