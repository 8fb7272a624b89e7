// Locks on the bytes of one file, with which processes divide work among themselves, and a short text in the file that
// records their progress.
//
// They are POSIX record locks (fcntl). The kernel releases them when their holder ends in any way, so a killed
// process leaves nothing to clean up. The server of a shared file system (NFS) keeps them for all its machines and
// releases those of a machine that has gone. flock() locks whole files, so a thousand blocks would need a thousand
// files. Record locks belong to the process: they exclude nobody within it, and any close() of the file in the
// process releases all of them. So one LockFile opens the file once, and nothing else in the process does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

class LockFile {
 public:
  /// Opens the file, or creates it.
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

  /// Takes the lock of this number, from 0; returns nothing if another process holds it. @throws Error if the
  /// file system has no locks
  std::optional<Lock> try_lock(std::int64_t number);
  /// The same for a lock that any number of processes may share. try_lock() makes such a lock exclusive.
  std::optional<Lock> try_share(std::int64_t number);

  /// True if the file is still at its path: a lock on a removed file excludes nobody.
  bool is_there() const;

  /// The word in the file, "" at first. The holder of a lock reads what was written before it got the lock. This
  /// also holds over NFS, which rereads the file when a lock is taken.
  std::string word() const;
  /// @param word  at most 64 bytes. Only the holder of the lock that protects the word may call this.
  void set_word(std::string_view word);

 private:
  bool set_lock(std::int64_t number, short kind);
  std::optional<Lock> take(std::int64_t number, short kind);

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace tril
