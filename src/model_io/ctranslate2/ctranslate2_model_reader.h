// Reads CTranslate2 models and Argos Translate packages (ctranslate2_files.h) like equivalent model directories
// (ctranslate2_model.h).
#pragma once

#include "model_io/contents/model_reader.h"

namespace tril::model {

/// @return null if the path has no model of CTranslate2
std::unique_ptr<ModelReader> open_ctranslate2(const std::filesystem::path& path);

}  // namespace tril::model
