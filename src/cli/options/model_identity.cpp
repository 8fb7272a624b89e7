#include "cli/options/model_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/hash.h"
#include "format/gguf.h"
#include "format/gguf_parts.h"

namespace tril::cli {
namespace {

void add_file(Hash& hash, const std::string& path) {
  hash.add(std::filesystem::path(path).filename().string());
  hash.add(static_cast<std::int64_t>(content_hash(MappedFile::open(path).bytes())));
}

// A hash of all files in a directory whose names satisfy `takes`, or of a single file with the other parts of its model.
template <class Takes>
std::uint64_t hash_of_files(const std::string& path, const Takes& takes) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_regular_file() && takes(entry.path())) files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
  } else {
    files = gguf_part_paths(path);
  }
  Hash hash;
  for (const std::string& file : files) add_file(hash, file);
  return hash.value();
}

bool holds_model(const std::filesystem::path& file) {
  const std::string kind = file.extension().string();
  return file.filename() == "config.json" || kind == ".safetensors" || kind == ".npz" || kind == ".bin" ||
         has_gguf_name(file);
}

bool holds_adapter(const std::filesystem::path& file) {
  return file.filename() == "adapter_config.json" || file.stem() == "adapter_model";
}

bool is_read_in_decoding(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 11> kinds{".json",  ".safetensors", ".npz",   ".bin",   ".yml", ".spm",
                                                   ".model", ".txt",         ".jinja", ".vocab", ".bpe"};
  return has_gguf_name(file) || std::find(kinds.begin(), kinds.end(), file.extension().string()) != kinds.end();
}

}  // namespace

std::string model_identity(const DecodingOptions& o) {
  std::string model = fmt::format("{:016x} {}", hash_of_files(o.model, holds_model), o.precision.value_or("stored"));
  if (o.adapter.empty()) return model;
  return fmt::format("{} {:016x}", model, hash_of_files(o.adapter, holds_adapter));
}

std::string directory_identity(const std::string& path) {
  return fmt::format("{:016x}", hash_of_files(path, is_read_in_decoding));
}

}  // namespace tril::cli
