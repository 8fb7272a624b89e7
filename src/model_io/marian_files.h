// The files that users of the Marian toolkit hold, found in a directory, beside the weights, or in a ZIP archive as OPUS-MT publishes it:
// the weights (*.npz, *.bin), how to decode (decoder.yml), the vocabularies, and for OPUS-MT the SentencePiece models that cut text.
//
// decoder.yml gives paths of the machine that trained the model; only their last parts count, and only files beside it are read.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model_io/file_shelf.h"

namespace tril::model {

struct MarianFiles {
  FileShelf shelf;
  std::string weights;                                ///< the .npz or .bin
  std::optional<std::string> decoder;                 ///< decoder.yml
  nlohmann::json decoding;                            ///< its keys; an object
  std::vector<std::string> vocabularies;              ///< of the source and of the target; none where no file is one
  std::optional<std::string> source_spm, target_spm;  ///< OPUS-MT's, for vocabularies that cut no text
};

/// @param path  a directory with weights and without config.json, a file of weights, or a .zip with one
/// @return nothing for anything else
/// @throws Error where the files do not say which of several is meant
std::optional<MarianFiles> find_marian_files(const std::filesystem::path& path);

}  // namespace tril::model
