#include "model_io/families/model_names.h"

namespace tril::model {

std::vector<std::string> names_in_path(const std::filesystem::path& given) {
  std::filesystem::path path = std::filesystem::absolute(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::vector<std::string> names{path.filename().string()};
  if (const std::filesystem::path above = path.parent_path(); above.filename() == "snapshots")
    names.push_back(above.parent_path().filename().string());
  return names;
}

}  // namespace tril::model
