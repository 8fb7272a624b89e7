#include "cli/io/partial_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>

#include "cli/io/standard_output.h"

namespace tril::cli {
namespace {

class OpenDescriptor {
 public:
  explicit OpenDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~OpenDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenDescriptor(const OpenDescriptor&) = delete;
  OpenDescriptor& operator=(const OpenDescriptor&) = delete;

 private:
  int descriptor_;
};

// Another process may write the same file: its lines must not get between the renames of these.
int lock_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int descriptor = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) static_cast<void>(::flock(descriptor, LOCK_EX));
  return descriptor;
}

}  // namespace

void check_output(const std::string& path) {
  if (path != "-" && !takes_a_stream(path)) const AtomicFile possible(path);
}

AwaitedReader::AwaitedReader(const std::string& path, const std::stop_token& stop) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor_ >= 0 || errno != ENXIO || stop.stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

AwaitedReader::~AwaitedReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PartialOutput::PartialOutput(const std::string& path, const std::stop_token& stop) : path_(path) {
  if (path == "-") return;
  if (takes_a_stream(path)) {
    const AwaitedReader reader(path, stop);
    if (!stop.stop_requested() || reader.is_there()) stream_.emplace(path);
    return;
  }
  check_output(path_);
  path_ = behind_links(path_);  // replaces the file, not a link to it
  file_.emplace(path_ + ".partial");
}

void PartialOutput::write(const std::string& text) {
  if (file_)
    file_->write(std::string_view(text));
  else if (stream_)
    stream_->write(text);
  else if (path_ == "-")
    write_stdout(text);
}

void PartialOutput::commit() {
  if (stream_) stream_->commit();
  if (!file_) return;
  const OpenDescriptor lock(lock_directory_of(path_));
  file_->commit();
  rename_durably(file_->path(), path_);
}

std::string PartialOutput::leave() {
  if (!file_) return path_ == "-" ? "standard output" : path_;
  const OpenDescriptor lock(lock_directory_of(path_));
  file_->commit();
  return file_->path();
}

}  // namespace tril::cli
