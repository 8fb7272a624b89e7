// Better translations that users suggest (LibreTranslate's POST /suggest), in a file of JSON lines.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace tril::serve {

struct Suggestion {
  std::string text, translation;
  std::string source, target;  ///< languages, as the client names them
};

class Suggestions {
 public:
  /// Opens the file, or makes it. Others may append to it, too.
  /// @param most_bytes  the file does not grow beyond this
  /// @throws Error if it cannot be written
  Suggestions(std::string path, std::uint64_t most_bytes);
  ~Suggestions();
  Suggestions(const Suggestions&) = delete;
  Suggestions& operator=(const Suggestions&) = delete;

  /// Appends a line {"time", "q", "s", "source", "target"}, whole or not at all.
  /// @throws HttpError: 507 if the file is full, 500 if it cannot be written
  void add(const Suggestion& suggestion);

 private:
  void append(const Suggestion& suggestion);

  const std::string path_;
  const std::uint64_t most_bytes_;
  std::mutex mutex_;
  int file_ = -1;
};

}  // namespace tril::serve
