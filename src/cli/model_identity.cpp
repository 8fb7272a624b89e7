#include "cli/model_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/hash.h"

namespace tril::cli {
namespace {

void add_file(Hash& hash, const std::string& path) {
  hash.add(std::filesystem::path(path).filename().string());
  hash.add(static_cast<std::int64_t>(content_hash(MappedFile::open(path).bytes())));
}

}  // namespace

std::string model_identity(const DecodingOptions& o) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (fs::is_directory(o.model)) {
    for (const auto& entry : fs::directory_iterator(o.model)) {
      const std::string name = entry.path().filename().string(), kind = entry.path().extension().string();
      if (entry.is_regular_file() && (name == "config.json" || kind == ".safetensors" || kind == ".gguf"))
        files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(o.model);
  }
  Hash hash;
  for (const std::string& file : files) add_file(hash, file);
  return fmt::format("{:016x} {}", hash.value(), o.precision.value_or("stored"));
}

}  // namespace tril::cli
