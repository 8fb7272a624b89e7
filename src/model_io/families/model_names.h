// The names of a model by its path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tril::model {

/// The last part of a path, and the name of the repository if the path is a snapshot in the hub's cache:
/// "models--tencent--Hunyuan-MT-7B".
std::vector<std::string> names_in_path(const std::filesystem::path& path);

}  // namespace tril::model
