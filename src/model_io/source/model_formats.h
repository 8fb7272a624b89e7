// The supported model formats, each declared once: its reader, and a sentence about it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "model_io/contents/model_reader.h"

namespace tril::model {

struct ModelFormat {
  std::string_view name;   ///< "GGUF"
  std::string_view paths;  ///< the paths that a user passes, in Markdown
  std::string_view sentence;
  /// @return null for a path of another format
  std::unique_ptr<ModelReader> (*open)(const std::filesystem::path& path) = nullptr;
};

/// All formats, in the order in which they are tried.
std::span<const ModelFormat> model_formats();

}  // namespace tril::model
