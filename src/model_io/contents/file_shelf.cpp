#include "model_io/contents/file_shelf.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 10'000;

}  // namespace

std::string last_part(const std::string& path) {
  const std::size_t at = path.find_last_of("/\\");
  return at == path.npos ? path : path.substr(at + 1);
}

FileShelf FileShelf::of_directory(const fs::path& directory) {
  FileShelf shelf;
  shelf.where_ = directory.string();
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, problem)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) || shelf.names_.size() == most_listed) continue;
    shelf.names_.push_back(entry.path().filename().string());
  }
  if (problem) fail(printable(shelf.where_, 400), "cannot be listed: " + problem.message());
  std::sort(shelf.names_.begin(), shelf.names_.end());
  return shelf;
}

FileShelf FileShelf::of_archive(const fs::path& path) {
  FileShelf shelf;
  shelf.where_ = path.string();
  shelf.archive_ = std::make_shared<const ZipArchive>(ZipArchive::open(path.string()));
  for (const ZipMember& member : shelf.archive_->members()) {
    const std::string where = fmt::format("{}: {}", printable(shelf.where_, 400), printable(member.name, 200));
    if (leads_outside(member.name)) fail(where, "is a path that leads out of the archive");
    const std::string name = last_part(member.name);
    if (name.empty()) continue;  // a directory
    if (!shelf.members_.emplace(name, &member).second)
      fail(where, fmt::format("is the second file called {}", printable(name, 200)),
           "unpack the archive, and pass a directory");
    shelf.names_.push_back(name);
  }
  std::sort(shelf.names_.begin(), shelf.names_.end());
  return shelf;
}

FileShelf FileShelf::of_archive_folder(std::shared_ptr<const ZipArchive> archive, const std::string& folder) {
  FileShelf shelf;
  shelf.where_ = folder.empty() ? archive->path() : archive->path() + ": " + folder;
  shelf.archive_ = std::move(archive);
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (const ZipMember& member : shelf.archive_->members()) {
    if (leads_outside(member.name))
      fail(fmt::format("{}: {}", printable(shelf.archive_->path(), 400), printable(member.name, 200)),
           "is a path that leads out of the archive");
    if (!member.name.starts_with(prefix)) continue;
    const std::string name = member.name.substr(prefix.size());
    if (name.empty() || name.find('/') != name.npos) continue;
    shelf.members_.emplace(name, &member);
    shelf.names_.push_back(name);
  }
  std::sort(shelf.names_.begin(), shelf.names_.end());
  return shelf;
}

bool FileShelf::has(const std::string& name) const {
  return std::binary_search(names_.begin(), names_.end(), name);
}

std::string FileShelf::place_of(const std::string& name) const {
  if (archive_) return fmt::format("{}: {}", printable(where_, 400), printable(name, 200));
  return printable(path_of(name), 400);
}

std::string FileShelf::path_of(const std::string& name) const {
  return archive_ ? place_of(name) : (fs::path(where_) / name).string();
}

std::string FileShelf::text(const std::string& name, std::uint64_t limit) const {
  if (archive_) return archive_->read(*members_.at(name), limit);
  return read_text(path_of(name), limit);
}

bool FileShelf::is_file(const std::string& name) const {
  std::error_code ignored;
  return archive_ || fs::is_regular_file(path_of(name), ignored);
}

bool FileShelf::is_packed(const std::string& name) const {
  return archive_ && !members_.at(name)->is_stored();
}

FileShelf::Content FileShelf::content(const std::string& name) const {
  if (!archive_) {
    const auto file = std::make_shared<const MappedFile>(MappedFile::open(path_of(name)));
    return {file->bytes(), file};
  }
  const ZipMember& member = *members_.at(name);
  if (member.is_stored()) return {member.packed, archive_};
  const auto bytes = std::make_shared<const std::string>(archive_->read(member, archive_->most_unpacked()));
  return {std::as_bytes(std::span(*bytes)), bytes, /*mapped=*/false};
}

}  // namespace tril::model
