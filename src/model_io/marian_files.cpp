#include "model_io/marian_files.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/yaml_file.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_listed = 10'000;
constexpr JsonLimits yaml_limits{.bytes = std::uint64_t{4} << 20, .depth = 8, .values = 100'000};

// The last part of a path, of whichever system.
std::string last_part(const std::string& path) {
  const std::size_t at = path.find_last_of("/\\");
  return at == path.npos ? path : path.substr(at + 1);
}

std::vector<std::string> names_ending(const FileShelf& shelf, std::string_view end) {
  std::vector<std::string> found;
  for (const std::string& name : shelf.names())
    if (name.ends_with(end)) found.push_back(name);
  return found;
}

std::vector<std::string> weights_on(const FileShelf& shelf, std::string_view end) {
  std::vector<std::string> found = names_ending(shelf, end);
  std::erase_if(found, [&](const std::string& name) { return !shelf.is_weights(name); });
  return found;
}

// The file of this name; else the only one that ends in ".NAME".
std::optional<std::string> named(const FileShelf& shelf, const std::string& name) {
  if (shelf.has(name)) return name;
  const std::vector<std::string> found = names_ending(shelf, "." + name);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

std::vector<std::string> texts(const nlohmann::json& object, const char* key) {
  std::vector<std::string> found;
  const auto at = object.find(key);
  if (at == object.end()) return found;
  if (at->is_string()) return {at->get<std::string>()};
  if (at->is_array())
    for (const nlohmann::json& one : *at)
      if (one.is_string()) found.push_back(one.get<std::string>());
  return found;
}

nlohmann::json read_options(const FileShelf& shelf, const std::string& name) {
  const std::string where = shelf.place_of(name);
  nlohmann::json json = parse_yaml(shelf.text(name, yaml_limits.bytes), where, yaml_limits);
  if (!json.is_object()) fail(where, "is no mapping of options");
  return json;
}

class MarianFinder {
 public:
  MarianFinder(FileShelf shelf, std::string where) : where_(printable(where, 400)) { files_.shelf = std::move(shelf); }

  /// @param weights  the file that is asked for; "": the one that is there
  MarianFiles find(const std::string& weights) {
    find_decoder(weights);
    files_.weights = weights.empty() ? chosen_weights() : weights;
    find_vocabularies();
    files_.source_spm = named(files_.shelf, "source.spm");
    files_.target_spm = named(files_.shelf, "target.spm");
    return std::move(files_);
  }

 private:
  void find_decoder(const std::string& weights) {
    if (!weights.empty() && files_.shelf.has(weights + ".decoder.yml"))
      files_.decoder = weights + ".decoder.yml";
    else
      files_.decoder = named(files_.shelf, "decoder.yml");
    files_.decoding = files_.decoder ? read_options(files_.shelf, *files_.decoder) : nlohmann::json::object();
  }

  std::string chosen_weights() const {
    const std::vector<std::string> named_there = texts(files_.decoding, "models");
    if (named_there.size() > 1)
      fail(files_.shelf.place_of(*files_.decoder),
           fmt::format("names {} models, an ensemble; one is read", named_there.size()),
           "pass the file of one of them");
    if (named_there.size() == 1 && files_.shelf.has(last_part(named_there[0]))) return last_part(named_there[0]);
    if (files_.shelf.has("model.npz")) return "model.npz";
    std::vector<std::string> found = weights_on(files_.shelf, ".npz");
    if (found.empty()) found = weights_on(files_.shelf, ".bin");
    if (found.size() != 1)
      fail(where_,
           fmt::format("holds {} files of weights, expected one: {}", found.size(),
                       printable(fmt::format("{}", fmt::join(found, ", ")), 200)),
           "pass the path of the one that is meant");
    return found[0];
  }

  void find_vocabularies() {
    std::vector<std::string> named_there = texts(files_.decoding, "vocabs");
    if (named_there.empty() && files_.shelf.has(files_.weights + ".yml"))
      named_there = texts(read_options(files_.shelf, files_.weights + ".yml"), "vocabs");
    for (std::string& path : named_there) path = last_part(path);
    const bool are_there = std::all_of(named_there.begin(), named_there.end(),
                                       [this](const std::string& name) { return files_.shelf.has(name); });
    if (!named_there.empty() && are_there) {
      if (named_there.size() == 1) named_there.push_back(named_there[0]);
      if (named_there.size() > 2)
        fail(where_,
             fmt::format("has {} vocabularies, expected one of the source and one of the target", named_there.size()));
      files_.vocabularies = named_there;
      return;
    }
    for (const char* end : {"vocab.yml", ".spm"}) {
      const std::vector<std::string> found = names_ending(files_.shelf, end);
      if (found.size() == 1) {
        files_.vocabularies = {found[0], found[0]};
        return;
      }
    }
    const std::vector<std::string> source = spm_of("src"), target = spm_of("trg");  // as Firefox calls them
    if (source.size() == 1 && target.size() == 1) {
      files_.vocabularies = {source[0], target[0]};
      return;
    }
    if (!named_there.empty())
      fail(where_, fmt::format("lacks the vocabulary {}", printable(named_there[0], 200)),
           "put the vocabularies that the model was trained with beside it");
  }

  std::vector<std::string> spm_of(std::string_view begin) const {
    std::vector<std::string> found = names_ending(files_.shelf, ".spm");
    std::erase_if(found, [&](const std::string& name) { return !name.starts_with(begin); });
    return found;
  }

  std::string where_;
  MarianFiles files_;
};

}  // namespace

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
  return printable((fs::path(where_) / name).string(), 400);
}

std::string FileShelf::text(const std::string& name, std::uint64_t limit) const {
  if (archive_) return archive_->read(*members_.at(name), limit);
  return read_text((fs::path(where_) / name).string(), limit);
}

bool FileShelf::is_weights(const std::string& name) const {
  if (name.ends_with(".npz")) return !name.ends_with(".optimizer.npz");
  if (!name.ends_with(".bin")) return false;
  if (!archive_) {
    std::error_code ignored;
    const std::string path = (fs::path(where_) / name).string();
    return fs::is_regular_file(path, ignored) && begins_as_marian_bin(MappedFile::open(path).bytes());
  }
  const ZipMember& member = *members_.at(name);
  return member.is_stored() ? begins_as_marian_bin(member.packed) : !name.starts_with("lex");
}

MarianTensors FileShelf::weights(const std::string& name) const {
  const bool is_npz = name.ends_with(".npz");
  if (!archive_) {
    const std::string path = (fs::path(where_) / name).string();
    return is_npz ? MarianTensors(NpzFile::open(path), true) : MarianTensors(MarianBinFile::open(path), true);
  }
  const Content file = content(name);
  return is_npz ? MarianTensors(NpzFile(ZipArchive(place_of(name), file.bytes, file.owner)), file.mapped)
                : MarianTensors(MarianBinFile(place_of(name), file.bytes, file.owner), file.mapped);
}

FileShelf::Content FileShelf::content(const std::string& name) const {
  if (!archive_) {
    const auto file = std::make_shared<const MappedFile>(MappedFile::open((fs::path(where_) / name).string()));
    return {file->bytes(), file};
  }
  const ZipMember& member = *members_.at(name);
  if (member.is_stored()) return {member.packed, archive_};
  const auto bytes = std::make_shared<const std::string>(archive_->read(member, archive_->most_unpacked()));
  return {std::as_bytes(std::span(*bytes)), bytes, /*mapped=*/false};
}

std::optional<MarianFiles> find_marian_files(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    FileShelf shelf = FileShelf::of_directory(path);
    if (shelf.has("config.json") || (names_ending(shelf, ".npz").empty() && weights_on(shelf, ".bin").empty()))
      return std::nullopt;
    return MarianFinder(std::move(shelf), path.string()).find("");
  }
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const std::string name = path.filename().string();
  if (path.extension() == ".npz" || path.extension() == ".bin") {
    FileShelf shelf = FileShelf::of_directory(path.has_parent_path() ? path.parent_path() : ".");
    if (path.extension() == ".bin" && !(shelf.has(name) && shelf.is_weights(name))) return std::nullopt;
    return MarianFinder(std::move(shelf), path.string()).find(name);
  }
  if (path.extension() != ".zip") return std::nullopt;
  return MarianFinder(FileShelf::of_archive(path), path.string()).find("");
}

}  // namespace tril::model
