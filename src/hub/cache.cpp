#include "hub/cache.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parent_of.h"
#include "base/printable.h"

namespace tril::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_ref = 4096;

constexpr std::string_view folder_start = "models--";

std::string folder_of(const std::string& repo) {
  std::string name(folder_start);
  for (const char c : repo) name += c == '/' ? std::string("--") : std::string(1, c);
  return name;
}

}  // namespace

RepoCache::RepoCache(const std::string& cache, const std::string& repo)
    : directory_(cache + "/" + folder_of(repo)), locks_(cache + "/.locks/" + folder_of(repo)) {}

bool RepoCache::has(const RemoteFile& file) const {
  std::error_code none;
  const std::uint64_t size = fs::file_size(blob(file), none);
  return !none && size == file.size;
}

std::optional<std::string> RepoCache::commit_of(const std::string& revision) const {
  if (is_hex(revision, 40)) return revision;
  const std::string path = directory_ + "/refs/" + revision;
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return std::nullopt;
  std::string commit = read_text(path, longest_ref);
  while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r')) commit.pop_back();
  return is_hex(commit, 40) ? std::optional(commit) : std::nullopt;
}

void RepoCache::make_directories() const {
  for (const char* name : {"/blobs", "/snapshots", "/refs"}) create_directories(directory_ + name);
  create_directories(locks_);
}

void RepoCache::link(const std::string& commit, const RemoteFile& file) const {
  const fs::path at = fs::path(snapshot(commit)) / file.name;
  create_directories(at.parent_path().string());
  const fs::path to = fs::path(blob(file)).lexically_relative(at.parent_path());
  std::error_code problem, none;
  fs::create_symlink(to, at, problem);
  if (!problem || fs::read_symlink(at, none) == to) return;
  if (problem == std::errc::file_exists) {  // an existing entry: a new link is renamed over it
    const std::string beside =
        fmt::format("{}.tmp-{}-{}", at.string(), ::getpid(), std::hash<std::thread::id>()(std::this_thread::get_id()));
    fs::remove(beside, none);
    fs::create_symlink(to, beside, problem);
    if (!problem) return rename_durably(beside, at.string());
  }
  fail(printable(at.string(), 400), fmt::format("cannot be created as a link: {}", problem.message()),
       "HF_HUB_CACHE must be on a file system with symbolic links");
}

void RepoCache::set_commit(const std::string& revision, const std::string& commit) const {
  if (revision == commit || commit_of(revision) == commit) return;
  const std::string path = directory_ + "/refs/" + revision;
  create_directories(parent_of(path));
  write_file_atomic(path, commit);
}

std::vector<std::string> names_in(const std::string& snapshot) {
  std::vector<std::string> names;
  std::error_code none;
  for (fs::recursive_directory_iterator at(snapshot, none), end; !none && at != end; at.increment(none))
    if (std::error_code dangles; at->is_regular_file(dangles))
      names.push_back(at->path().lexically_relative(snapshot).string());
  return names;
}

std::optional<std::string> repo_of_snapshot(const std::string& path) {
  for (fs::path at = path; at.has_filename(); at = at.parent_path()) {
    const std::string folder = at.parent_path().parent_path().filename().string();
    if (at.parent_path().filename() != "snapshots" || !is_hex(at.filename().string(), 40) ||
        !folder.starts_with(folder_start))
      continue;
    std::string repo = folder.substr(folder_start.size());
    if (const std::size_t dashes = repo.find("--"); dashes != repo.npos) repo.replace(dashes, 2, "/");
    return repo;
  }
  return std::nullopt;
}

BlobLock::BlobLock(const std::string& path) {
  bool announced = false;
  for (;;) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0664);
    if (descriptor_ < 0)
      fail(printable(path, 400), fmt::format("cannot be opened: {}", std::strerror(errno)),
           "check the permissions of the cache, or set HF_HUB_CACHE to another directory");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && !announced) {
      logger()->info("waiting for another process that is downloading the same file");
      announced = true;
    }
    int result = 0;
    do result = ::flock(descriptor_, LOCK_EX);
    while (result != 0 && errno == EINTR);
    if (result != 0) return;  // the file system has no locks
    // If the file was removed meanwhile, its lock excludes no other process.
    struct stat opened {
    }, named{};
    if (::fstat(descriptor_, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev)
      return;
    ::close(descriptor_);
  }
}

BlobLock::~BlobLock() {
  ::close(descriptor_);
}

}  // namespace tril::hub
