#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/as_size.h"
#include "base/error.h"
#include "base/lfs_pointer.h"
#include "base/parent_of.h"
#include "base/printable.h"
#include "base/streams.h"
#include "base/unfinished_outputs.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBytesAtOnce = std::size_t{1} << 30;  // Linux moves at most 2 GiB per call

std::string shown(const std::string& path) {
  return path.empty() ? "\"\"" : printable(path, 400);
}

std::string text_of(int error) {
  return std::system_category().message(error);
}

// Returns "did you mean model.safetensors?", from the names beside a missing path.
std::string near_name(const std::string& path) {
  constexpr int most_names = 2000;
  std::vector<std::string> names;
  std::error_code ignored;
  fs::directory_iterator entry(parent_of(path), ignored);
  for (int n = 0; !ignored && entry != fs::directory_iterator() && n < most_names; ++n, entry.increment(ignored))
    names.push_back(entry->path().filename().string());
  return did_you_mean(fs::path(path).filename().string(), names);
}

struct Link {
  std::string path, target;
};

// The dangling symbolic link that `path` is or leads through.
std::optional<Link> find_dangling_link(const std::string& path) {
  std::error_code ignored;
  for (fs::path at = path; !at.empty(); at = at.parent_path()) {
    if (fs::is_symlink(at, ignored) && !fs::exists(at, ignored))
      return Link{at.string(), fs::read_symlink(at, ignored).string()};
    if (at == at.parent_path()) break;
  }
  return std::nullopt;
}

std::string hint_for(int error, const std::string& path) {
  switch (error) {
    case ENOENT: {
      if (const auto link = find_dangling_link(path))
        return fmt::format("{} is a dangling link to {}: restore its target, or remove the link", shown(link->path),
                           shown(link->target));
      const std::string parent = parent_of(path);
      if (::access(parent.c_str(), F_OK) != 0) return fmt::format("the directory {} does not exist", shown(parent));
      return near_name(path);
    }
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the directories above it";
    case EROFS:
      return "the file system is read-only: write elsewhere";
    case ENOSPC:
    case EDQUOT:
      return "free some space there, or write elsewhere";
    case EFBIG:
      return "the file would exceed a size limit (ulimit -f, or the file system's own)";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise ulimit -n";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case ENOTDIR:
      return "a component of the path is a file, not a directory";
    case ENOMEM:
      return "there is not enough address space to map it";
    default:
      return "";
  }
}

// The hint if the system reports that the path of a new file does not exist.
std::string hint_for_new(const std::string& path) {
  const std::string parent = parent_of(path);
  return ::access(parent.c_str(), F_OK) == 0
             ? fmt::format("{} does not accept new files: write elsewhere", shown(parent))
             : fmt::format("the directory {} does not exist", shown(parent));
}

[[noreturn]] void fail_system(const std::string& path, std::string_view doing, int error) {
  fail(shown(path), fmt::format("cannot {}: {}", doing, text_of(error)), hint_for(error, path));
}

void check_path(const std::string& path) {
  if (path.empty()) fail(shown(path), "the file name is empty", "give a file name");
  if (path.find('\0') != std::string::npos) fail(shown(path), "the file name contains a NUL byte");
}

std::string_view kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a pipe (FIFO)"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISCHR(mode)  ? "a device"
         : S_ISBLK(mode)  ? "a disk"
                          : "not a regular file";
}

void check_regular(const std::string& path, mode_t mode) {
  if (!S_ISREG(mode)) fail(shown(path), fmt::format("expected a regular file, got {}", kind_of(mode)));
}

// Closes the descriptor on every return path.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

struct Opened {
  int fd;
  std::uint64_t size;
};

Opened open_for_reading(const std::string& path) {
  check_path(path);
  const int fd = open_retrying(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);  // O_NONBLOCK: opening a FIFO must not block
  if (fd < 0) fail_system(path, "open it", errno);
  struct stat status {};
  const int error = ::fstat(fd, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) ::close(fd);
  if (error != 0) fail_system(path, "stat it", error);
  check_regular(path, status.st_mode);
  return {fd, static_cast<std::uint64_t>(status.st_size)};
}

bool is_sync_failure(int error) {
  return error != EINVAL && error != ENOTSUP;
}  // such file systems cannot sync

}  // namespace

MappedFile MappedFile::open(const std::string& path) {
  const Opened opened = open_for_reading(path);
  const Descriptor file(opened.fd);
  if (opened.size == 0) return MappedFile(path, {});
  void* const start = ::mmap(nullptr, opened.size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) fail_system(path, fmt::format("map its {} bytes", opened.size), errno);
  MappedFile mapped(path, {static_cast<const std::byte*>(start), opened.size});
  check_fetched(path, {static_cast<const char*>(start), opened.size});
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    path_ = std::move(other.path_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() {
  unmap();
}

void MappedFile::unmap() noexcept {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string read_text(const std::string& path, std::uint64_t limit) {
  const Opened opened = open_for_reading(path);
  const Descriptor file(opened.fd);
  const auto too_long = [&](std::uint64_t size) {
    fail(shown(path), fmt::format("has {} bytes, at most {} are allowed for such a file", size, limit),
         "check that it is the right file");
  };
  if (opened.size > limit) too_long(opened.size);

  // The size is only a first guess: some file systems report 0, and a file may grow while it is read.
  std::string text;
  for (std::size_t used = 0;;) {
    text.resize(std::max<std::size_t>(used + 4096, opened.size + 1));
    const ssize_t n = ::read(file.get(), text.data() + used, std::min(text.size() - used, kMostBytesAtOnce));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_system(path, "read it", errno);
    used += as_size(n);
    if (used > limit) too_long(used);
    if (n == 0) {
      text.resize(used);
      check_fetched(path, text);
      return text;
    }
  }
}

namespace detail {

void write_all(int descriptor, std::span<const std::byte> bytes, const std::string& path, std::uint64_t before) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(descriptor, bytes.data() + done, std::min(bytes.size() - done, kMostBytesAtOnce));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : EIO;
      if (error == EPIPE) throw ReaderGone(shown(path));
      struct statvfs space {};
      const auto mebibytes = [&](auto blocks) { return static_cast<double>(blocks) * space.f_frsize / (1 << 20); };
      std::string room;
      if ((error == ENOSPC || error == EDQUOT) && ::fstatvfs(descriptor, &space) == 0 && space.f_blocks > 0)
        room = fmt::format(" (the file system has {:.1f} of {:.1f} MiB left)", mebibytes(space.f_bavail),
                           mebibytes(space.f_blocks));
      fail(shown(path),
           fmt::format("cannot write {} bytes after the first {}: {}{}", bytes.size() - done, before + done,
                       text_of(error), room),
           hint_for(error, path));
    }
    done += as_size(n);
  }
}

}  // namespace detail

bool is_present(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return true;
  if (fs::is_symlink(path, ignored))
    fail(shown(path), fmt::format("is a dangling link to {}", shown(fs::read_symlink(path, ignored).string())),
         "restore its target, or remove the link");
  return false;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code not_there;
  return fs::equivalent(a, b, not_there);
}

std::string behind_links(const std::string& path) {
  constexpr int most_links = 40;
  fs::path at = path;
  for (int n = 0; n < most_links; ++n) {
    std::error_code problem;
    if (!fs::is_symlink(at, problem)) return at.string();
    const fs::path to = fs::read_symlink(at, problem);
    if (problem) return at.string();
    at = at.parent_path() / to;
  }
  fail(shown(path), fmt::format("too many symbolic links: more than {}", most_links));
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  check_path(path_);
  struct stat status {};
  const bool replaces = ::stat(path_.c_str(), &status) == 0;
  if (replaces) check_regular(path_, status.st_mode);
  if (parent_of(path_) == "/dev")  // links there may lead to regular files, which a new file would replace
    fail(shown(path_), "expected a file, got a device", "use - for standard output, where that is supported");
  if (fs::path(path_).filename().empty()) fail(shown(path_), "expected a file, got a directory");
  remove_abandoned();
  create();
  if (replaces) static_cast<void>(::fchmod(descriptor_, status.st_mode & 0777));  // keep the old permissions if allowed
  buffer_.reserve(kBufferBytes);
}

// The file is locked while its writer lives, so that remove_abandoned() recognises the file of a dead writer.
void AtomicFile::create() {
  constexpr int most_tries = 1000;
  for (int n = 0; n < most_tries; ++n) {
    temporary_ = fmt::format("{}.tmp-{}-{}", path_, ::getpid(), n);
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (descriptor_ < 0 && errno == EEXIST) continue;
    if (descriptor_ < 0) {
      const int error = errno;
      fail(shown(path_), fmt::format("cannot create {} to write it: {}", shown(temporary_), text_of(error)),
           error == ENOENT ? hint_for_new(path_) : hint_for(error, path_));
    }
    struct stat status {};
    static_cast<void>(::flock(descriptor_, LOCK_EX));
    if (::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) return add_unfinished_output(temporary_);
    ::close(std::exchange(descriptor_, -1));  // taken for abandoned between open and flock: try again
  }
  fail(shown(path_), fmt::format("cannot create a temporary file beside it: all {} names tried are taken", most_tries),
       fmt::format("remove the files {}.tmp-*", shown(path_)));
}

void AtomicFile::remove_abandoned() const {
  const std::string prefix = fs::path(path_).filename().string() + ".tmp-";
  std::error_code ignored;
  fs::directory_iterator entry(parent_of(path_), ignored);
  for (; !ignored && entry != fs::directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.find_first_not_of("0123456789-", prefix.size()) != std::string::npos)
      continue;
    const Descriptor file(open_retrying(entry->path().string(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    struct stat named {};
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::lstat(entry->path().c_str(), &named) == 0 &&
        named.st_ino == status.st_ino)  // otherwise its writer has renamed it meanwhile
      ::unlink(entry->path().c_str());
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  finish_output(temporary_, [&] { ::unlink(temporary_.c_str()); });
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  check(descriptor_ >= 0, shown(path_), "write after commit");
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes)
    write_through(bytes);
  else
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::span<const std::byte> bytes) {
  detail::write_all(descriptor_, bytes, path_, written_);
  written_ += bytes.size();
}

void AtomicFile::commit() {
  check(descriptor_ >= 0, shown(path_), "commit after commit");
  flush();
  if (::fsync(descriptor_) != 0 && is_sync_failure(errno))
    fail_system(path_, fmt::format("sync its {} bytes to disk", written_), errno);
  finish_output(temporary_, [&] {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      fail_system(path_, fmt::format("rename {} to it", shown(temporary_)), errno);
  });
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_system(path_, "close it", errno);
  sync_directory(parent_of(path_));
}

void write_file_atomic(const std::string& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomic(const std::string& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

void create_directories(const std::string& path) {
  check_path(path);
  std::error_code error;
  fs::create_directories(path, error);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return;
    fail(shown(path),
         fmt::format("expected a directory, got {}", S_ISREG(status.st_mode) ? "a file" : kind_of(status.st_mode)),
         "choose another name, or move that file away");
  }
  const int code = error ? error.value() : errno;
  fail(shown(path), "cannot create the directory: " + text_of(code),
       code == ENOENT ? hint_for_new(path) : hint_for(code, path));
}

void rename_durably(const std::string& from, const std::string& to) {
  check_path(from);
  check_path(to);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    const std::string hint = error == EXDEV                          ? "both must be on one file system"
                             : error == ENOTEMPTY || error == EEXIST ? "the directory in its place is not empty"
                                                                     : hint_for(error, from);
    fail(shown(from), fmt::format("cannot rename it to {}: {}", shown(to), text_of(error)), hint);
  }
  const auto parent = [](const std::string& path) {  // "a/b/" names b in a
    return parent_of(path.substr(0, path.find_last_not_of('/') + 1));
  };
  sync_directory(parent(to));
  if (parent(from) != parent(to)) sync_directory(parent(from));
}

void sync_directory(const std::string& path) {
  check_path(path);
  const Descriptor directory(open_retrying(path, O_RDONLY | O_DIRECTORY));
  if (directory.get() < 0) fail_system(path, "open the directory", errno);
  if (::fsync(directory.get()) != 0 && is_sync_failure(errno)) fail_system(path, "sync the directory to disk", errno);
}

}  // namespace tril
