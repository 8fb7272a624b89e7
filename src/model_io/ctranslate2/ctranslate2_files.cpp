#include "model_io/ctranslate2/ctranslate2_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/ctranslate2_file.h"
#include "format/json_file.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* model_name = "model.bin";
constexpr const char* folder_of_packages = "model";
constexpr JsonLimits list_limits{.bytes = largest_tokenizer_file, .depth = 2, .values = 20'000'000};

bool holds_model(const fs::path& directory) {
  std::error_code ignored;
  const fs::path path = directory / model_name;
  if (!fs::is_regular_file(path, ignored)) return false;
  return begins_as_ctranslate2(MappedFile::open(path.string()).bytes());
}

nlohmann::json read_object(const FileShelf& shelf, const char* name) {
  if (!shelf.has(name)) return nlohmann::json::object();
  const std::string where = shelf.place_of(name);
  nlohmann::json json = parse_json(shelf.text(name, JsonLimits().bytes), where);
  if (!json.is_object()) fail(where, "is not a JSON object");
  return json;
}

void read_metadata(Ctranslate2Files& files) {
  files.config = read_object(files.model, "config.json");
  if (!files.package) return;
  const nlohmann::json json = read_object(*files.package, "metadata.json");
  const JsonObject metadata(json, files.package->place_of("metadata.json"));
  files.from = metadata.get<std::string>("from_code", "");
  files.to = metadata.get<std::string>("to_code", "");
}

// A directory with model.bin, alone or in a package.
Ctranslate2Files of_directory(const fs::path& directory) {
  Ctranslate2Files files{.model = FileShelf::of_directory(directory),
                         .package = {},
                         .directory = directory,
                         .config = {},
                         .from = {},
                         .to = {}};
  std::error_code ignored;
  const fs::path absolute = fs::absolute(directory / ".", ignored).parent_path();
  const fs::path parent = absolute.parent_path();
  if (absolute.filename() == folder_of_packages && fs::is_regular_file(parent / "metadata.json", ignored))
    files.package = FileShelf::of_directory(parent);
  read_metadata(files);
  return files;
}

// The folder of NAME/model/model.bin or model.bin in an archive; "": the top level. Nothing if there is no such member.
std::optional<std::string> folder_of_model(const ZipArchive& archive) {
  std::vector<std::string> found;
  for (const ZipMember& member : archive.members()) {
    if (member.name == model_name) found.emplace_back();
    if (member.name.ends_with(std::string("/") + model_name))
      found.push_back(member.name.substr(0, member.name.size() - std::string_view(model_name).size() - 1));
  }
  if (found.size() > 1)
    fail(printable(archive.path(), 400),
         fmt::format("holds {} files called {}, expected one", found.size(), model_name),
         "unpack the archive, and pass the directory of one of them");
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

bool has_vocabulary(const FileShelf& model) {
  const auto is_one = [](const std::string& name) {
    return name.ends_with("vocabulary.json") || name.ends_with("vocabulary.txt");
  };
  return std::any_of(model.names().begin(), model.names().end(), is_one);
}

std::optional<Ctranslate2Files> of_archive(const fs::path& path) {
  const auto archive = std::make_shared<const ZipArchive>(ZipArchive::open(path.string()));
  const std::optional<std::string> folder = folder_of_model(*archive);
  if (!folder) {
    if (path.extension() == ".zip") return std::nullopt;  // perhaps Marian's
    fail(printable(path.string(), 400), "holds no model.bin, so it is no package of Argos Translate with a model");
  }
  Ctranslate2Files files{.model = FileShelf::of_archive_folder(archive, *folder),
                         .package = {},
                         .directory = {},
                         .config = {},
                         .from = {},
                         .to = {}};
  if (path.extension() == ".zip" && !has_vocabulary(files.model)) return std::nullopt;  // Marian has a model.bin too
  const std::size_t slash = folder->find_last_of('/');
  const std::string parent = slash == folder->npos ? "" : folder->substr(0, slash);
  if (!folder->empty()) files.package = FileShelf::of_archive_folder(archive, parent);
  read_metadata(files);
  return files;
}

}  // namespace

std::optional<Ctranslate2Files> find_ctranslate2_files(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    if (holds_model(path)) return of_directory(path);
    if (fs::is_regular_file(path / "metadata.json", ignored) && holds_model(path / folder_of_packages))
      return of_directory(path / folder_of_packages);
    return std::nullopt;
  }
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  if (path.filename() == model_name) {
    const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
    return holds_model(parent) ? std::optional(of_directory(parent)) : std::nullopt;
  }
  if (path.extension() != ".argosmodel" && path.extension() != ".zip") return std::nullopt;
  return of_archive(path);
}

std::optional<std::vector<std::string>> read_ctranslate2_vocabulary(const FileShelf& model, const std::string& name) {
  std::vector<std::string> pieces;
  if (const std::string file = name + ".json"; model.has(file)) {
    const std::string where = model.place_of(file);
    const nlohmann::json json = parse_json(model.text(file, largest_tokenizer_file), where, list_limits);
    if (!json.is_array()) fail(where, "is not a list of pieces");
    for (const nlohmann::json& piece : json) {
      if (!piece.is_string()) fail(where, fmt::format("piece {} is not a text", pieces.size()));
      pieces.push_back(piece.get<std::string>());
    }
    return pieces;
  }
  const std::string file = name + ".txt";
  if (!model.has(file)) return std::nullopt;
  const std::string text = model.text(file, largest_tokenizer_file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    pieces.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  // A carriage return at a line's end is part of the piece, unless all lines have one.
  const auto returns = [](const std::string& piece) { return piece.ends_with('\r'); };
  if (std::all_of(pieces.begin(), pieces.end(), returns))
    for (std::string& piece : pieces) piece.pop_back();
  return pieces;
}

}  // namespace tril::model
