#include "cli/options/new_directory.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::cli {

namespace {

bool holds(const std::string& directory, const char* name) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(directory) / name, ignored);
}

std::string advice(const std::string& option) {
  return fmt::format("choose another directory with {}", option);
}

}  // namespace

void refuse_models(const std::string& directory, const std::string& option) {
  for (const char* name : {"config.json", "model.safetensors"})
    if (holds(directory, name)) fail_usage(directory, "already holds a model", advice(option));
}

void refuse_files_of_models(const std::string& directory, const std::string& option) {
  refuse_models(directory, option);
  std::vector<const char*> names{"generation_config.json", "model.safetensors.index.json"};
  names.insert(names.end(), tokenizer_file_names.begin(), tokenizer_file_names.end());
  for (const char* name : names)
    if (holds(directory, name))
      fail_usage(directory, fmt::format("holds {}, which does not belong to the model to be written", name),
                 advice(option));
}

}  // namespace tril::cli
