#include "base/lock_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace tril {
namespace {

constexpr std::size_t longest_word = 64;
constexpr off_t first_lock = 1024;  // bytes after the word; the file need not have them

}  // namespace

LockFile::Lock::~Lock() {
  if (file_) file_->set_lock(number_, F_UNLCK);
}

LockFile::Lock::Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, nullptr)), number_(other.number_) {}

LockFile::LockFile(std::string path) : path_(std::move(path)) {
  do descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0)
    fail(printable(path_, 400), fmt::format("cannot be opened for locking: {}", std::strerror(errno)),
         "check the permissions of the directory");
}

LockFile::~LockFile() {
  ::close(descriptor_);
}

bool LockFile::set_lock(std::int64_t number, short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = first_lock + number;
  lock.l_len = 1;
  int result = 0;
  do result = ::fcntl(descriptor_, F_SETLK, &lock);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

std::optional<LockFile::Lock> LockFile::take(std::int64_t number, short kind) {
  if (set_lock(number, kind)) return Lock(*this, number);
  if (errno != EACCES && errno != EAGAIN)
    fail(printable(path_, 400), fmt::format("cannot be locked: {}", std::strerror(errno)),
         "choose a directory on a file system that supports locks (fcntl)");
  return std::nullopt;
}

std::optional<LockFile::Lock> LockFile::try_lock(std::int64_t number) {
  return take(number, F_WRLCK);
}

std::optional<LockFile::Lock> LockFile::try_share(std::int64_t number) {
  return take(number, F_RDLCK);
}

bool LockFile::is_there() const {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::string LockFile::word() const {
  std::array<char, longest_word + 1> bytes{};
  ssize_t n = 0;
  do n = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n < 0) fail(printable(path_, 400), fmt::format("cannot be read: {}", std::strerror(errno)));
  const std::string_view text(bytes.data(), as_size(n));
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? "" : std::string(text.substr(0, end));
}

void LockFile::set_word(std::string_view word) {
  check(word.size() <= longest_word, "a lock file's word", "has {} bytes, at most {} are allowed", word.size(),
        longest_word);
  const std::string line = std::string(word) + "\n";
  if (::lseek(descriptor_, 0, SEEK_SET) != 0)
    fail(printable(path_, 400), fmt::format("cannot be written: {}", std::strerror(errno)));
  detail::write_all(descriptor_, std::as_bytes(std::span(line)), path_, 0);
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP)
    fail(printable(path_, 400), fmt::format("cannot be synced to disk: {}", std::strerror(errno)));
}

}  // namespace tril
