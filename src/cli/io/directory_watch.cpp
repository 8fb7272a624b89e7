#include "cli/io/directory_watch.h"

#ifdef __linux__
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>
#endif

#include <array>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace tril::cli {
namespace {

using WatchClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_wait{100};  // until a stop is noticed

}  // namespace

#ifdef __linux__

class DirectoryWatch::Events {
 public:
  explicit Events(const std::string& directory) : queue_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (queue_ >= 0 && inotify_add_watch(queue_, directory.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_MODIFY) < 0) {
      close(queue_);
      queue_ = -1;
    }
  }
  ~Events() {
    if (queue_ >= 0) close(queue_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  bool work() const { return queue_ >= 0; }

  /// Waits for events, and takes all that came. @return whether a file was closed or moved there
  bool take(std::set<std::string>& writing, std::set<std::string>& closed) {
    pollfd ready{.fd = queue_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, static_cast<int>(longest_wait.count())) <= 0) return false;
    alignas(inotify_event) std::array<char, 65536> bytes{};
    for (ssize_t size = 0; (size = read(queue_, bytes.data(), bytes.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        inotify_event event{};
        std::memcpy(&event, bytes.data() + at, sizeof event);
        const std::string name = event.len > 0 ? bytes.data() + at + sizeof event : "";
        at += static_cast<ssize_t>(sizeof event + event.len);
        if ((event.mask & IN_Q_OVERFLOW) != 0) writing.clear();  // then the quiet time decides
        if (name.empty()) continue;
        if ((event.mask & IN_MODIFY) != 0) {
          writing.insert(name);
        } else {
          writing.erase(name);
          closed.insert(name);
        }
      }
    return !closed.empty();
  }

 private:
  int queue_;
};

#else

class DirectoryWatch::Events {
 public:
  explicit Events(const std::string&) {}
  bool work() const { return false; }
  bool take(std::set<std::string>&, std::set<std::string>&) { return false; }
};

#endif

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  FileStamp stamp{.time = std::filesystem::last_write_time(path, error), .size = 0};
  if (!error) stamp.size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional(stamp);
}

DirectoryWatch::DirectoryWatch(std::string directory, const Options& options)
    : directory_(std::move(directory)), options_(options) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory_, error))
    fail(directory_, "is not a directory", "name the directory whose documents are to be translated");
  if (options.by == By::events) events_ = std::make_unique<Events>(directory_);
  if (events_ && !events_->work()) events_.reset();
}

DirectoryWatch::~DirectoryWatch() = default;

void DirectoryWatch::list() {
  std::error_code error;
  std::map<std::string, File> now;
  for (auto entry = std::filesystem::directory_iterator(directory_, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::optional<FileStamp> stamp = stamp_of(entry->path());
    if (!stamp || stamp->size == 0) continue;
    const std::string name = entry->path().filename().string();
    const auto before = files_.find(name);
    now[name] = before != files_.end() && before->second.stamp == *stamp ? before->second
                                                                         : File{*stamp, WatchClock::now(), false};
  }
  if (error) fail(directory_, "can no longer be listed: " + error.message());
  files_ = std::move(now);
}

std::vector<std::string> DirectoryWatch::next(const std::stop_token& stop) {
  WatchClock::time_point listed{};
  while (!stop.stop_requested()) {
    bool look = WatchClock::now() - listed >= options_.interval;
    if (events_)
      look = events_->take(writing_, closed_) || look;
    else if (!look)
      std::this_thread::sleep_for(longest_wait);
    if (!look) continue;
    list();
    listed = WatchClock::now();
    std::vector<std::string> complete;
    for (auto& [name, file] : files_) {
      const bool quiet = listed - file.since >= options_.quiet && !writing_.contains(name);
      if (file.returned || !(quiet || closed_.contains(name))) continue;
      file.returned = true;
      complete.push_back(name);
    }
    closed_.clear();
    if (!complete.empty()) return complete;
  }
  return {};
}

}  // namespace tril::cli
