// Finds the complete files of a directory: those that exist, and those that appear or change later.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace tril::cli {

/// The state of a file by which a change is noticed.
struct FileStamp {
  std::filesystem::file_time_type time;
  std::uintmax_t size = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
/// Nothing if it is not a regular file.
std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

class DirectoryWatch {
 public:
  enum class By : std::uint8_t {
    events,  ///< the system reports a file that was closed or moved there (inotify); on other systems, by polling
    polling  ///< the directory is listed repeatedly
  };
  struct Options {
    By by = By::events;
    /// A file whose writer is not known, as on network file systems, is complete if it does not change for this time.
    std::chrono::milliseconds quiet{1500};
    std::chrono::milliseconds interval{1000};  ///< between two lists
  };

  /// @throws Error if it is not a directory
  explicit DirectoryWatch(std::string directory) : DirectoryWatch(std::move(directory), Options{}) {}
  DirectoryWatch(std::string directory, const Options& options);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  /// Waits until regular, non-empty files are complete that were not returned before in this state. @return their names, in
  /// order; none after a stop
  /// @throws Error if the directory is gone
  std::vector<std::string> next(const std::stop_token& stop);

 private:
  class Events;  ///< of the system
  struct File {
    FileStamp stamp;
    std::chrono::steady_clock::time_point since;  ///< when it was seen to change
    bool returned = false;
  };

  void list();

  std::string directory_;
  Options options_;
  std::unique_ptr<Events> events_;  ///< null: only lists
  std::map<std::string, File> files_;
  std::set<std::string> writing_, closed_;  ///< by events: written since the last close, and closed since the last list
};

}  // namespace tril::cli
