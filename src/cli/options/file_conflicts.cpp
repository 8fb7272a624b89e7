#include "cli/options/file_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The path in a value such as NAME=DIR or MODEL:NAME=DIR.
std::string path_in(const std::string& text) {
  std::error_code ignored;
  const std::size_t equals = text.find('=');
  return equals == std::string::npos || fs::exists(text, ignored) ? text : text.substr(equals + 1);
}

// Whether a file in a model's directory belongs to the model. Other files there, such as a shortlist, may be replaced.
bool belongs_to_model(const fs::path& file) {
  static constexpr std::array ends{".safetensors", ".gguf", ".spm", ".npz", ".bin", ".argosmodel", ".tril"};
  static constexpr std::array names{"config.json",
                                    "generation_config.json",
                                    "adapter_config.json",
                                    "model.safetensors.index.json",
                                    "shared_vocabulary.json",
                                    "source_vocabulary.json",
                                    "target_vocabulary.json",
                                    "shared_vocabulary.txt",
                                    "source_vocabulary.txt",
                                    "target_vocabulary.txt",
                                    "vocab.txt"};
  const std::string name = file.filename().string();
  const auto is_name = [&](const char* other) { return name == other; };
  return std::any_of(names.begin(), names.end(), is_name) ||
         std::any_of(tokenizer_file_names.begin(), tokenizer_file_names.end(), is_name) ||
         std::any_of(ends.begin(), ends.end(), [&](const char* end) { return name.ends_with(end); });
}

bool is_in(const std::string& path, const std::string& directory) {
  const fs::path parent = fs::path(path).parent_path();
  return same_file(parent.empty() ? "." : parent.string(), directory);
}

void check_output(const Field& output, const std::string& path, const Fields& fields, const FileUses& uses) {
  for (const Field& input : fields) {
    if (!input.names_files() || is_one_of(uses.outputs, input.name())) continue;
    for (const std::string& text : input.texts()) {
      const std::string read = path_in(text);
      const bool replaces_model = is_one_of(uses.models, input.name()) && belongs_to_model(path) && is_in(path, read);
      if (!replaces_model && !same_file(path, read)) continue;
      fail_usage(
          "--" + output.name(),
          fmt::format("{} is {} --{}", printable(path, 300), replaces_model ? "a file of" : "also", input.name()),
          "pass another output file");
    }
  }
}

void check_standard_input(const Fields& fields, const FileUses& uses) {
  const Field* reader = nullptr;
  for (const Field& field : fields) {
    if (!field.names_files() || is_one_of(uses.models, field.name()) || is_one_of(uses.outputs, field.name())) continue;
    for (const std::string& text : field.texts()) {
      if (text != "-") continue;
      if (reader)
        fail_usage("--" + field.name(),
                   reader == &field ? "standard input can be only one of the files"
                                    : fmt::format("standard input is already --{}", reader->name()),
                   "pass a file");
      reader = &field;
    }
  }
}

}  // namespace

void check_file_conflicts(const Fields& fields, const FileUses& uses) {
  check_standard_input(fields, uses);
  for (const std::string& name : uses.outputs) {
    const Field& output = fields.at(name);
    for (const std::string& path : output.texts()) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored))  // pipes, devices and "-" can be both
        check_output(output, path, fields, uses);
    }
  }
}

}  // namespace tril::cli
