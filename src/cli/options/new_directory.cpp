#include "cli/options/new_directory.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::cli {

void refuse_files_of_models(const std::string& directory, const std::string& option) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto holds = [&](const char* name) { return fs::exists(fs::path(directory) / name, ignored); };
  const std::string advice = fmt::format("choose another directory with {}", option);
  for (const char* name : {"config.json", "model.safetensors"})
    if (holds(name)) fail_usage(directory, "already holds a model", advice);
  std::vector<const char*> names{"generation_config.json", "model.safetensors.index.json"};
  names.insert(names.end(), tokenizer_file_names.begin(), tokenizer_file_names.end());
  for (const char* name : names)
    if (holds(name))
      fail_usage(directory, fmt::format("holds {}, which does not belong to the model to be written", name), advice);
}

}  // namespace tril::cli
