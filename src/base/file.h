// Files: read through a memory map, written so that nobody ever sees half of one (beside, synced, renamed).
//
// Regular files only: a directory, a FIFO or a device is a clear error and never a wait, and so is a pointer of Git LFS
// (lfs_pointer.h), which nobody means. Every failing system call is an Error that names the path, what the system said and
// what to try; no other exception leaves this file. Non-goals: standard input and output, pipes and devices that a person
// names (streams.h), compressed files, locking of files that others read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The bytes of a file as the system maps them, read only: nothing is read until touched, nothing is copied.
/// A file that is shortened by somebody else while it is mapped ends the process when the lost part is touched
/// (SIGBUS); files replaced by renaming, as AtomicFile does, keep their bytes for those who have them open.
class MappedFile {
 public:
  /// An empty file is fine and has no bytes.
  static MappedFile open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }  ///< stays put when the MappedFile moves
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}
  void unmap() noexcept;

  std::string path_;
  std::span<const std::byte> bytes_;
};

/// The whole of a file of at most `limit` bytes.
std::string read_text(const std::string& path, std::uint64_t limit);

/// Whether there is something at a path. For files that need not be there: one that is a symbolic link to nothing was meant
/// to be.
/// @throws Error for such a link
bool is_present(const std::string& path);

/// Where a path leads in the end, behind symbolic links; itself where it is none. What it names need not be there.
std::string behind_links(const std::string& path);

/// Whether two paths lead to one file or directory; no, where one of them names nothing.
bool same_file(const std::string& a, const std::string& b);

/// A file that comes into being whole or not at all. The bytes go to PATH.tmp-PID-N beside it; commit() syncs that
/// file, renames it to PATH and syncs the directory; without commit() the destructor removes it and PATH stays as it
/// was. What a killed process left behind under such a name is removed by the next AtomicFile for the same path. A
/// symbolic link at PATH is replaced, not followed; an existing file's permissions are kept.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

  /// After this the file is at its path, and survives a power cut. Called once, last.
  void commit();

  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_; }
  std::uint64_t size() const { return written_ + buffer_.size(); }  ///< bytes taken so far

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

/// Creates a directory and those above it; one that is there already is fine, a file in its place is an Error.
void create_directories(const std::string& path);

/// Renames a file or directory within one file system, and syncs the directories, so that it is done also after a power
/// cut. A file replaces a file; a directory replaces an empty directory.
void rename_durably(const std::string& from, const std::string& to);

/// Writes a directory's list of names to disk.
void sync_directory(const std::string& path);

namespace detail {
/// Writes everything to an open file, or throws: `path` names it, `before` counts the bytes it already has.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& path, std::uint64_t before);
}  // namespace detail

}  // namespace tril
