// model.bin of CTranslate2: a specification's name, named variables, and aliases of them.
//
// All numbers are little-endian; a text is u16 length with its final zero byte, then the bytes. The file is: u32 version; from
// version 2 on the text of the specification and its u32 revision; u32 count, then for each variable its name, u8 rank, u32 sizes,
// and its values: u8 type and u32 bytes from version 4 on, u8 bytes of a value and u32 values before; from version 3 on u32 count,
// then for each alias its name and that of the variable. Versions 2 to 6 are read. Version 1, which names no specification, is
// refused. Source: CTranslate2's python/ctranslate2/specs/model_spec.py and src/models/model.cc.
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

  /// Maps the file and checks every length, shape and alias against its bytes. Memory beyond the map grows with the names only.
  /// @throws Error with the file, the variable and the reason
  static Ctranslate2File open(const std::string& path);
  /// A file in memory, such as a member of an archive. @param path  its name in errors  @param owner  keeps `bytes` alive
  Ctranslate2File(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const std::string& path() const { return path_; }
  std::uint32_t version() const { return version_; }
  const std::string& specification() const { return specification_; }  ///< "TransformerSpec"
  std::uint32_t revision() const { return revision_; }                 ///< of the specification

  /// In order of name, without aliases. Types: F32, I8, I16, I32, F16, BF16.
  const std::vector<WeightView>& variables() const { return variables_; }
  /// From an alias to the name of its variable.
  const std::map<std::string, std::string, std::less<>>& aliases() const { return aliases_; }
  /// A variable by its name or an alias; null where there is none.
  const WeightView* find(std::string_view name) const;

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;
  std::uint32_t version_ = 0, revision_ = 0;
  std::string specification_;
  std::vector<WeightView> variables_;
  std::map<std::string, std::string, std::less<>> aliases_;
};

/// Whether the bytes begin as model.bin of versions that name a specification does.
bool begins_as_ctranslate2(std::span<const std::byte> bytes);

}  // namespace tril
