#include "corpus/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/as_size.h"
#include "base/error.h"
#include "base/lfs_pointer.h"
#include "base/printable.h"

namespace tril {

namespace {

constexpr std::size_t buffer_size = 1 << 16;
constexpr std::string_view gzip_begins = "\x1f\x8b";

struct Magic {
  std::string_view bytes, what;
};

// Other kinds of file, recognised by their first bytes.
constexpr std::array<Magic, 6> foreign_kinds = {{
    {{"\x28\xb5\x2f\xfd", 4}, "zstd data"},
    {{"\xfd"
      "7zXZ",
      5},
     "xz data"},
    {{"BZh", 3}, "bzip2 data"},
    {{"PK\x03\x04", 4}, "a zip archive"},
    {{"\xff\xfe", 2}, "UTF-16 text"},
    {{"\xfe\xff", 2}, "UTF-16 text"},
}};

}  // namespace

Input::Input(const std::string& path)
    : name_(path == "-" ? "standard input" : printable(path, 400)), packed_(buffer_size) {
  if (path.empty()) fail("\"\"", "the file name is empty", "pass a file, or - for standard input");
  if (path == "-") {
    descriptor_ = STDIN_FILENO;
    return;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    fail(name_, "expected a text file, got a directory", "pass a file in it");
  // Opening a pipe (FIFO) would wait for its writer, and nothing could interrupt it. fill() waits instead.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int reason = errno;
    fail(name_, fmt::format("cannot be read: {}", std::strerror(reason)),
         reason == ENOENT         ? "check the path"
         : reason == ENOTDIR      ? "a component of the path is a file, not a directory"
         : reason == EACCES       ? "check its permissions"
         : reason == ENAMETOOLONG ? "check the path"
                                  : "");
  }
  owned_ = true;
  static_cast<void>(::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK));
  refuse_pointer(path);
}

Input::~Input() {
  if (owned_) ::close(descriptor_);
}

// A short file is examined as a whole, and is then read from its start.
void Input::refuse_pointer(const std::string& path) const {
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::uint64_t>(info.st_size) > most_lfs_pointer_bytes)
    return;
  std::array<char, most_lfs_pointer_bytes> text{};
  const ssize_t n = ::pread(descriptor_, text.data(), text.size(), 0);
  if (n > 0) check_fetched(path, {text.data(), as_size(n)});
}

bool Input::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::copy(packed_.begin() + static_cast<std::ptrdiff_t>(begin_),
              packed_.begin() + static_cast<std::ptrdiff_t>(end_), packed_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  pollfd ready{descriptor_, POLLIN, 0};  // a pipe that no writer has opened yet would seem to be at its end
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
  ssize_t n;
  do {
    n = ::read(descriptor_, packed_.data() + end_, packed_.size() - end_);
  } while (n < 0 && errno == EINTR);
  if (n < 0) fail(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
  at_end_ = n == 0;
  end_ += as_size(n);
  return n > 0;
}

void Input::check_kind() {
  // Two bytes identify gzip; a pipe may deliver them one at a time.
  while (end_ - begin_ < 2 && fill()) {
  }
  const std::string_view head = unused();
  if (head.starts_with(gzip_begins)) {
    gzip_.emplace(DeflateForm::gzip);
    in_member_ = true;
    unpacked_.resize(buffer_size * 4);
    return;
  }
  for (const Magic& kind : foreign_kinds)
    if (head.starts_with(kind.bytes))
      fail(name_, fmt::format("expected UTF-8 text, plain or gzip, got {}", kind.what), "convert it first");
  if (name_.ends_with(".gz") && !head.empty())
    fail(name_, "is named .gz but is not gzip data", "rename it if it is plain text, or download it again");
}

std::string_view Input::unpack() {
  while (true) {
    if (begin_ == end_ && !fill()) {
      if (in_member_) fail(name_, "its gzip data is truncated", "download or compress it again");
      return {};
    }
    if (padding_) {
      if (unused().find_first_not_of('\0') != std::string_view::npos)
        fail(name_, "has other data after its gzip data, which may be a damaged part of the text",
             "download or compress it again");
      begin_ = end_;
      continue;
    }
    if (!in_member_) {  // another member may follow, or padding: zeros
      while (end_ - begin_ < 2 && fill()) {
      }
      if (!unused().starts_with(gzip_begins)) {
        padding_ = true;
        continue;
      }
      gzip_->restart();
      in_member_ = true;
    }
    const Inflater::Step step = gzip_->step(std::span(packed_).subspan(begin_, end_ - begin_), unpacked_);
    begin_ += step.read;
    if (step.state == Inflater::Step::damaged) {
      const char* const message = gzip_->message();
      fail(name_, fmt::format("its gzip data is damaged{}{}", message ? ": " : "", message ? message : ""),
           "download or compress it again");
    }
    if (step.state == Inflater::Step::end) in_member_ = false;
    if (step.written > 0) return {reinterpret_cast<const char*>(unpacked_.data()), step.written};
  }
}

bool Input::seek(std::int64_t offset) {
  if (!started_ || gzip_ || ::lseek(descriptor_, offset, SEEK_SET) < 0) return false;
  begin_ = end_ = 0;
  at_end_ = false;
  return true;
}

std::string_view Input::read() {
  if (!started_) {
    started_ = true;
    check_kind();
  }
  if (gzip_) return unpack();
  if (begin_ == end_ && !fill()) return {};
  const std::string_view bytes = unused();
  begin_ = end_;
  return bytes;
}

}  // namespace tril
