// Reads the files of the Marian toolkit (marian_files.h) as the equivalent model directory of the family marian_nmt.
#pragma once

#include "model_io/contents/model_reader.h"

namespace tril::model {

/// @return null if the path has no model of Marian
std::unique_ptr<ModelReader> open_marian(const std::filesystem::path& path);

}  // namespace tril::model
