// The files of another toolkit's model, in a directory or in an archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/zip_archive.h"

namespace tril::model {

/// A directory or an archive as a list of files. Thread-safe.
class FileShelf {
 public:
  /// The files of a directory, without subdirectories.
  static FileShelf of_directory(const std::filesystem::path& directory);
  /// The members of an archive, by the last parts of their names. @throws Error for a name that leads out of the archive, and
  /// for two members with one name
  static FileShelf of_archive(const std::filesystem::path& path);
  /// The files of one folder of an archive, without subfolders. @param folder  "translate-en_de/model"; "": the top level
  /// @throws Error for a name that leads out of the archive
  static FileShelf of_archive_folder(std::shared_ptr<const ZipArchive> archive, const std::string& folder);

  const std::vector<std::string>& names() const { return names_; }  ///< in order
  bool has(const std::string& name) const;
  std::string place_of(const std::string& name) const;  ///< "opus/decoder.yml", "opus.zip: decoder.yml"
  std::string path_of(const std::string& name) const;  ///< the whole path of a directory's file; of a member, its place
  std::string text(const std::string& name, std::uint64_t limit) const;
  bool is_file(const std::string& name) const;    ///< false for a pipe or a device of a directory
  bool is_packed(const std::string& name) const;  ///< true for a compressed member of an archive

  /// The bytes of a file: mapped, or unpacked into memory, at most 64 times the archive's size.
  struct Content {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  ///< keeps the bytes alive
    bool mapped = true;                 ///< false: in memory
  };
  Content content(const std::string& name) const;

 private:
  std::string where_;
  std::vector<std::string> names_;
  std::shared_ptr<const ZipArchive> archive_;  // null: a directory
  std::map<std::string, const ZipMember*> members_;
};

/// The last part of a path, with slashes or backslashes.
std::string last_part(const std::string& path);

}  // namespace tril::model
