// Files: read through a memory map, written so that no reader ever sees a partial file (temporary file, sync, rename).
//
// Only regular files are accepted. A directory, a FIFO or a device is a clear error and never blocks, and so is a Git
// LFS pointer (lfs_pointer.h), which is never the wanted content. Every failing system call throws an Error that names
// the path, the system's message and what to try; no other exception leaves this file. Non-goals: standard input and
// output, pipes and devices that the user names (streams.h), compressed files, locking of files that others read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The bytes of a file, memory-mapped and read only: a page is read when it is first touched, and nothing is
/// copied. If another process shortens the file while it is mapped, touching the lost part ends this process
/// (SIGBUS). If a file is replaced by renaming, as AtomicFile does, the old bytes stay mapped.
class MappedFile {
 public:
  /// An empty file is valid and has no bytes.
  static MappedFile open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }  ///< keeps its address when the MappedFile is moved
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}
  void unmap() noexcept;

  std::string path_;
  std::span<const std::byte> bytes_;
};

/// The content of a file of at most `limit` bytes.
std::string read_text(const std::string& path, std::uint64_t limit);

/// True if something exists at a path, for optional files. A dangling symbolic link is an error, because the file
/// was meant to exist.
/// @throws Error for such a link
bool is_present(const std::string& path);

/// The path with all symbolic links resolved. Nothing need exist at the result.
std::string behind_links(const std::string& path);

/// True if two paths lead to the same file or directory; false if one of them does not exist.
bool same_file(const std::string& a, const std::string& b);

/// Writes a file completely or not at all. The bytes go to PATH.tmp-PID-N beside it; commit() syncs that file,
/// renames it to PATH and syncs the directory. Without commit() the destructor removes it and PATH stays as it was.
/// The next AtomicFile for the same path removes such a file if a killed process left it. A symbolic link at PATH
/// is replaced, not followed; an existing file's permissions are kept.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

  /// Puts the file at its path, so that it survives a power cut. Call it once, last.
  void commit();

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }
  std::uint64_t size() const { return written_ + buffer_.size(); }  ///< bytes written so far

 private:
  void create();
  void remove_abandoned() const;
  void flush();
  void write_through(std::span<const std::byte> bytes);

  std::string path_, temporary_;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  int descriptor_ = -1;
};

void write_file_atomic(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::string& path, std::string_view text);

/// Creates a directory and its parents; an existing directory is fine, a file in its place is an Error.
void create_directories(const std::string& path);

/// Renames a file or directory within one file system and syncs both directories, so that the change survives a
/// power cut. A file may replace a file, a directory an empty directory.
void rename_durably(const std::string& from, const std::string& to);

/// Syncs a directory's list of names to disk.
void sync_directory(const std::string& path);

namespace detail {
/// Writes all bytes to an open file, or throws. For errors, `path` names it and `before` is the number of bytes
/// already written.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& path, std::uint64_t before);
}  // namespace detail

}  // namespace tril
