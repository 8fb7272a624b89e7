// The files of a model that another toolkit keeps in a directory or in an archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/zip_archive.h"
#include "model_io/marian_tensors.h"

namespace tril::model {

/// A directory or an archive as a list of files. Thread-safe.
class FileShelf {
 public:
  /// @param directory  files in it, but not below it
  static FileShelf of_directory(const std::filesystem::path& directory);
  /// Members by the last parts of their names. @throws Error for an archive with a name that leads out of it, or twice the same file
  static FileShelf of_archive(const std::filesystem::path& path);
  /// The files of one folder of an archive, but not below it. @param folder  "translate-en_de/model"; "": the outermost
  /// @throws Error for an archive with a name that leads out of it
  static FileShelf of_archive_folder(std::shared_ptr<const ZipArchive> archive, const std::string& folder);

  const std::vector<std::string>& names() const { return names_; }  ///< in order
  bool has(const std::string& name) const;
  std::string place_of(const std::string& name) const;  ///< "opus/decoder.yml", "opus.zip: decoder.yml"
  std::string text(const std::string& name, std::uint64_t limit) const;
  /// Whether a file is one of weights: an .npz, or a .bin that begins as marian-conv's do.
  bool is_weights(const std::string& name) const;
  MarianTensors weights(const std::string& name) const;  ///< of such a file

  /// The bytes of a file where they lie, or unpacked into memory, at most 64 times the archive.
  struct Content {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;  ///< keeps them
    bool mapped = true;                 ///< they lie in a file
  };
  Content content(const std::string& name) const;

 private:
  std::string where_;
  std::vector<std::string> names_;
  std::shared_ptr<const ZipArchive> archive_;  // null: a directory
  std::map<std::string, const ZipMember*> members_;
};

/// The last part of a path, of whichever system.
std::string last_part(const std::string& path);

}  // namespace tril::model
