// The lines of a server's access log, from whatever thread: they are gathered and written together, several times a
// second, by a thread of the log's own, so that nobody who answers waits for a disk.
#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace tril::cli {

class AccessLog {
 public:
  /// @param path  a file, at whose end they come; "-": standard output; empty: nowhere
  /// @throws Error where it cannot be written
  explicit AccessLog(const std::string& path);
  /// Writes what is left.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// Adds a line, given without its end. Where lines come faster than they can be written they are left out.
  void write(const std::string& line);

 private:
  void run();
  void put(const std::string& lines);

  std::string path_;
  std::ofstream file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  bool stopping_ = false, lost_ = false;
  std::thread thread_;
};

}  // namespace tril::cli
