// Where the golden tokenizers lie, and their JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "support/paths.h"

namespace tril::test {

inline std::string golden_directory(const std::string& name) {
  return test_dir() + "/golden/hf/tokenizers/" + name;
}

inline nlohmann::json parsed(const std::string& path) {
  return nlohmann::json::parse(read_text(path, 1 << 28));
}

}  // namespace tril::test
