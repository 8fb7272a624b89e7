// Locks on the bytes of one file, by which processes share out work among themselves, and a word in it about how far that is.
//
// They are POSIX record locks (fcntl): the kernel releases them when their holder ends, however it ends, so that a killed
// process leaves nothing behind that somebody would have to find out about; the server of a shared file system (NFS) keeps
// them for all its machines, and releases those of a machine that is gone. flock() would lock whole files, a thousand for a
// thousand blocks. They are the process's own: they keep nobody out within it, and any close() of the file in it gives up all
// of them. So one LockFile opens the file, once, and nothing else in the process does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

class LockFile {
 public:
  /// Opens the file, or makes it.
  explicit LockFile(std::string path);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// A lock, held until it goes out of scope. The file must outlive it.
  class Lock {
   public:
    Lock(LockFile& file, std::int64_t number) : file_(&file), number_(number) {}
    ~Lock();
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&&) = delete;

   private:
    LockFile* file_;
    std::int64_t number_;
  };

  /// The lock of this number, from 0, unless another process holds it. @throws Error where the file system has no locks
  std::optional<Lock> try_lock(std::int64_t number);
  /// The same, of a lock that any number of processes may share. try_lock() of it makes it the holder's alone.
  std::optional<Lock> try_share(std::int64_t number);

  /// Whether the file is still at its path: a lock of one that was removed keeps nobody out.
  bool is_there() const;

  /// The word in the file, "" at first. Whoever holds a lock reads what was written before he got it, also over NFS, which
  /// looks at the file anew where a lock is taken.
  std::string word() const;
  /// @param word  of at most 64 bytes. To be called by the holder of the lock by which processes agree on it.
  void set_word(std::string_view word);

 private:
  bool set_lock(std::int64_t number, short kind);
  std::optional<Lock> take(std::int64_t number, short kind);

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace tril
