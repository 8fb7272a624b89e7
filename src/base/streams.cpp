#include "base/streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/as_size.h"
#include "base/printable.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

// Returns 1 for /dev/stdout, 63 for /dev/fd/63 and /proc/self/fd/63, and the same for links to them. The name must
// be recognised: if a file were opened again, it would be overwritten from its beginning.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  constexpr int most_links = 40;
  const std::string own = fmt::format("/proc/{}/", ::getpid());
  fs::path at = path;
  for (int n = 0; n < most_links; ++n) {
    std::error_code problem;
    const std::string folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", problem).string();
    if (problem) return std::nullopt;
    const std::string name = at.filename().string();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool open_files = folder == "/dev/fd" || (folder.starts_with(own) && folder.ends_with("/fd"));
    if (open_files && error == std::errc() && end == name.data() + name.size()) return number;
    const fs::path to = fs::read_symlink(at, problem);
    if (problem) return std::nullopt;
    at = at.parent_path() / to;
  }
  return std::nullopt;
}

bool is_pipe_or_device(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
}

int open_stream(const std::string& path) {
  const std::optional<int> own = descriptor_of(path);
  const int fd = own ? ::fcntl(*own, F_DUPFD_CLOEXEC, 3) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    fail(path == "-" ? "standard output" : printable(path, 400),
         "cannot be opened for writing: " + std::system_category().message(errno));
  return fd;
}

}  // namespace

std::string read_any_text(const std::string& path, std::uint64_t limit) {
  if (!is_pipe_or_device(path)) return read_text(path, limit);
  const std::string shown = printable(path, 400);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) fail(shown, "cannot open it: " + std::system_category().message(errno));
  std::string text;
  ssize_t n = 0;
  for (char bytes[1 << 16]; text.size() <= limit; text.append(bytes, as_size(n))) {
    do n = ::read(fd, bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n <= 0) break;
  }
  const int error = n < 0 ? errno : 0;
  ::close(fd);
  if (error != 0) fail(shown, "cannot read it: " + std::system_category().message(error));
  if (text.size() > limit)
    fail(shown, fmt::format("is larger than the {} bytes allowed for such a file", limit),
         "check that it is the right file");
  return text;
}

bool takes_a_stream(const std::string& path) {
  return descriptor_of(path).has_value() || is_pipe_or_device(path);
}

OutputFile::OutputFile(const std::string& path)
    : path_(path == "-" ? "standard output" : path), streams_(takes_a_stream(path)) {
  if (streams_)
    descriptor_ = open_stream(path);
  else
    const AtomicFile possible(path);
}

AtomicFile& OutputFile::file() {
  if (!file_) file_.emplace(path_);
  return *file_;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view text) {
  if (!streams_) return file().write(text);
  detail::write_all(descriptor_, std::as_bytes(std::span(text.data(), text.size())), path_, written_);
  written_ += text.size();
}

void OutputFile::commit() {
  if (!streams_) return file().commit();
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    fail(printable(path_, 400), "cannot be closed: " + std::system_category().message(errno));
}

void write_output(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tril
