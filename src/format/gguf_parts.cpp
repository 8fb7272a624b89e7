#include "format/gguf_parts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/printable.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_parts = 99'999;  // five digits

// What the keys of a part say.
struct PartKeys {
  std::int64_t number = 0;  // from 0
  std::int64_t parts = 0, tensors = 0;

  static PartKeys of(const GgufFile& file) {
    return {file.at<std::int64_t>("split.no"), file.at<std::int64_t>("split.count"),
            file.at<std::int64_t>("split.tensors.count")};
  }
};

std::string part_name(std::string_view stem, std::int64_t number, std::int64_t parts) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", stem, number, parts);
}

// The path of part `keys.number` without its number and what follows.
fs::path stem_of(const GgufFile& file, const PartKeys& keys) {
  const fs::path path = file.path();
  const std::string name = path.filename().string(), ending = part_name("", keys.number + 1, keys.parts);
  if (!name.ends_with(ending))
    file.fail_at("split.no",
                 fmt::format("makes the file part {} of {}, so its name should end in \"{}\"", keys.number + 1,
                             keys.parts, ending),
                 "give all parts the names that they were published under");
  return path.parent_path() / name.substr(0, name.size() - ending.size());
}

// Only split.* and general.alignment: another model's first file has more.
void check_only_tensors(const GgufFile& part) {
  for (const GgufEntry& e : part.metadata())
    if (!e.key.starts_with("split.") && e.key != "general.alignment" && e.key != "general.architecture")
      part.fail_at(e.key, "is in a later part of a model, where only the first has such keys",
                   "the files belong to different models: download them again");
}

GgufFile open_part(const std::string& path, std::int64_t number, const PartKeys& expected) {
  if (!is_gguf_file(path))
    fail(printable(path, 400),
         fs::exists(path) ? "is not a GGUF file, but a part of the model should be here"
                          : fmt::format("is missing: the model has {} parts", expected.parts),
         "download all parts into one directory");
  GgufFile part = GgufFile::open(path);
  const PartKeys keys = PartKeys::of(part);
  const auto need = [&](const char* key, std::int64_t got, std::int64_t wanted) {
    if (got != wanted)
      part.fail_at(key, fmt::format("is {}, expected {}", got, wanted),
                   "the files belong to different models: download them again");
  };
  need("split.no", keys.number, number);
  need("split.count", keys.parts, expected.parts);
  need("split.tensors.count", keys.tensors, expected.tensors);
  if (number > 0) check_only_tensors(part);
  return part;
}

}  // namespace

GgufFile open_gguf_parts(const std::string& path) {
  GgufFile given = GgufFile::open(path);
  if (given.get<std::int64_t>("split.count").value_or(0) <= 1) return given;
  const PartKeys keys = PartKeys::of(given);
  if (keys.parts > most_parts) given.fail_at("split.count", fmt::format("{} is above {}", keys.parts, most_parts));
  if (keys.number < 0 || keys.number >= keys.parts)
    given.fail_at("split.no", fmt::format("{} is not one of {} parts, numbered from 0", keys.number, keys.parts));
  const fs::path stem = stem_of(given, keys);
  std::vector<GgufFile> parts;
  for (std::int64_t i = 0; i < keys.parts; ++i)
    parts.push_back(open_part(part_name(stem.string(), i + 1, keys.parts), i, keys));
  GgufFile model = GgufFile::joined(std::move(parts));
  if (!std::cmp_equal(model.tensors().size(), keys.tensors))
    model.fail_at("split.tensors.count",
                  fmt::format("is {}, but the parts have {} tensors", keys.tensors, model.tensors().size()),
                  "the files belong to different models: download them again");
  return model;
}

std::vector<std::string> gguf_part_paths(const std::string& path) {
  return is_gguf_file(path) ? open_gguf_parts(path).paths() : std::vector{path};
}

}  // namespace tril
