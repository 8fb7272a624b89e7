// A server's access log. Any thread may add lines; the log's own thread writes them several times a second, so that
// request threads never wait for a disk.
#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace tril::cli {

class AccessLog {
 public:
  /// @param path  a file to append to; "-": standard output; empty: no log
  /// @throws Error if it cannot be written
  explicit AccessLog(const std::string& path);
  /// Writes the remaining lines.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// Adds a line, without its line end. Lines that come faster than they can be written are dropped.
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
