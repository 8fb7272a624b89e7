#include "hub/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace tril::hub {
namespace {

[[noreturn]] void fail_file(const std::string& name, const char* what) {
  const int number = errno;
  fail(printable(name, 400), fmt::format("cannot be {}: {}", what, std::strerror(number)),
       number == ENOSPC || number == EDQUOT ? "free some space; what has arrived is kept"
                                            : "check the cache's directory, or set HF_HUB_CACHE to another");
}

}  // namespace

PartialFile::PartialFile(std::string path, const RemoteFile& file)
    : path_(std::move(path)), name_(path_ + ".incomplete"), file_(file), sum_(file.kind, file.size) {
  do descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail_file(name_, "opened");
  try {
    sum_what_is_there();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PartialFile::~PartialFile() {
  ::close(descriptor_);
}

void PartialFile::sum_what_is_there() {
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0) fail_file(name_, "read");
  if (static_cast<std::uint64_t>(found.st_size) > file_.size) return clear();
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t n = ::pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_file(name_, "read");
    if (n == 0) return;
    const auto count = std::min<std::uint64_t>(static_cast<std::uint64_t>(n), file_.size - size_);
    if (count == 0) return;
    sum_.add(std::span(buffer).first(static_cast<std::size_t>(count)));
    size_ += count;
  }
}

void PartialFile::append(std::string_view bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t n =
        ::pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(size_ + (bytes.size() - rest.size())));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_file(name_, "written");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  sum_.add(std::as_bytes(std::span(bytes.data(), bytes.size())));
  size_ += bytes.size();
}

void PartialFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail_file(name_, "emptied");
  size_ = 0;
  sum_ = Checksum(file_.kind, file_.size);
}

void PartialFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail_file(name_, "synced to disk");
  rename_durably(name_, path_);
}

}  // namespace tril::hub
