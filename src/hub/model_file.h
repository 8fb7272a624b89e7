// Models in one file, by the ends of their names.
#pragma once

#include <string_view>

namespace tril::hub {

/// A ZIP archive of a whole model: OPUS-MT's, or Argos Translate's.
inline bool is_archive_name(std::string_view name) {
  return name.ends_with(".zip") || name.ends_with(".argosmodel");
}

/// A GGUF file: a model, or a part of one.
inline bool is_gguf_name(std::string_view name) {
  return name.ends_with(".gguf");
}

}  // namespace tril::hub
