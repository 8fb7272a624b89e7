#include "serve/api/suggestions.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"
#include "format/json_text.h"
#include "serve/api/service.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

[[noreturn]] void fail_write(const std::string& path) {
  fail(printable(path, 400), fmt::format("suggestions cannot be written ({})", std::strerror(errno)));
}

}  // namespace

Suggestions::Suggestions(std::string path, std::uint64_t most_bytes)
    : path_(std::move(path)),
      most_bytes_(most_bytes),
      file_(open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) fail_write(path_);
}

Suggestions::~Suggestions() {
  close(file_);
}

void Suggestions::add(const Suggestion& s) {
  try {
    append(s);
  } catch (const Error& error) {  // it names the file, which is none of the client's business
    spdlog::error("{}", error.what());
    throw HttpError(500, "the suggestion could not be stored", "server_error");
  }
}

void Suggestions::append(const Suggestion& s) {
  const std::string line =
      json_text(nlohmann::ordered_json{
          {"time", now_as_text()}, {"q", s.text}, {"s", s.translation}, {"source", s.source}, {"target", s.target}}) +
      "\n";
  const std::lock_guard lock(mutex_);
  struct stat now {};
  if (fstat(file_, &now) != 0) fail_write(path_);
  const auto size = static_cast<std::uint64_t>(now.st_size);
  if (S_ISREG(now.st_mode) && size + line.size() > most_bytes_)
    throw HttpError(507, "no more suggestions are taken: their file is full", "server_error");
  const ssize_t written = write(file_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  if (written >= 0) errno = ENOSPC;
  const int why = errno;
  if (written > 0 && S_ISREG(now.st_mode)) (void)!ftruncate(file_, now.st_size);  // removes the part of the line
  errno = why;
  fail_write(path_);
}

}  // namespace tril::serve
