#include "base/atomic_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/parent_of.h"
#include "base/printable.h"
#include "base/unfinished_outputs.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

// A temporary directory beside `path`, or inside it if `path` already exists (the parent folder may belong to
// somebody else or be on another disk). It is locked while its writer lives and is removed by the destructor.
class Beside {
 public:
  Beside(const std::string& path, bool within) {
    constexpr int most_tries = 1000;
    for (int n = 0; n < most_tries; ++n) {
      path_ = fmt::format("{}.tril-tmp-{}-{}", within ? path + "/" : path, ::getpid(), n);
      if (::mkdir(path_.c_str(), 0777) != 0) {
        const int error = errno;
        if (error == EEXIST) continue;
        fail(printable(path, 400), "cannot create the directory: " + std::system_category().message(error),
             error == EACCES || error == EROFS ? "write elsewhere" : "");
      }
      descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (descriptor_ < 0) {
        const int error = errno;
        ::rmdir(path_.c_str());
        fail(printable(path, 400), "cannot write the directory: " + std::system_category().message(error));
      }
      struct stat held {
      }, named{};
      if (::flock(descriptor_, LOCK_EX) == 0 && ::fstat(descriptor_, &held) == 0 &&
          ::lstat(path_.c_str(), &named) == 0 && held.st_ino == named.st_ino) {
        add_unfinished_output(path_);
        return;
      }
      ::close(std::exchange(descriptor_, -1));  // taken for abandoned between open and flock: try again
    }
    fail(printable(path, 400),
         fmt::format("cannot create a temporary directory beside it: all {} names tried are taken", most_tries),
         fmt::format("remove {}.tril-tmp-*", printable(within ? path + "/" : path, 400)));
  }
  ~Beside() {
    finish_output(path_, [&] {
      std::error_code ignored;
      fs::remove_all(path_, ignored);
    });
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Removes directories PREFIX.tril-tmp-* that killed processes left in this folder.
void remove_abandoned(const std::string& folder, std::string prefix) {
  prefix += ".tril-tmp-";
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored); !ignored && entry != fs::directory_iterator();
       entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.find_first_not_of("0123456789-", prefix.size()) == std::string::npos)
      found.push_back(entry->path());
  }
  for (const fs::path& one : found) {
    const int fd = ::open(one.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(one, ignored);
    ::close(fd);
  }
}

std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void sync_tree(const std::string& path) {
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.is_directory()) sync_tree(entry.path().string());
  sync_directory(path);
}

// If the directory exists, the files are moved into it one by one; so are the files of directories that both have.
void move_in(const std::string& beside, const std::string& path, const std::string& last) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(beside))
    if (const std::string name = entry.path().filename().string(); name != last) names.push_back(name);
  if (!last.empty() && fs::exists(fs::path(beside) / last)) names.push_back(last);
  for (const std::string& name : names) {
    const std::string from = beside + "/" + name, to = path + "/" + name;
    if (fs::is_directory(from) && fs::is_directory(to))
      move_in(from, to, {});
    else
      rename_durably(from, to);
  }
}

}  // namespace

void write_directory(const std::string& named, const std::string& last,
                     const std::function<void(const std::string& beside)>& write) {
  std::string path = behind_links(named.substr(0, named.find_last_not_of('/') + 1));
  if (path.empty()) path = named;
  create_directories(parent_of(path));
  std::error_code ignored;
  const bool there = fs::exists(path, ignored);
  if (there) create_directories(path);  // throws if something else is there
  remove_abandoned(parent_of(path), fs::path(path).filename().string());
  if (there) remove_abandoned(path, "");
  const Beside beside(path, there);
  try {
    write(beside.path());
    sync_tree(beside.path());
    finish_output(beside.path(), [&] {  // another process may have created it meanwhile
      fs::exists(path) ? move_in(beside.path(), path, last) : rename_durably(beside.path(), path);
    });
  } catch (const fs::filesystem_error& error) {
    fail(printable(path, 400), "cannot write the directory: " + error.code().message());
  } catch (const Error& error) {
    const auto shown = [](const std::string& text) { return printable(text, std::string::npos); };
    const auto in_place = [&](const std::string& text) { return renamed(text, shown(beside.path()), shown(path)); };
    throw Error(error.kind(), in_place(error.where()), in_place(error.message()), in_place(error.hint()));
  }
}

}  // namespace tril
