// Finds the files of a Marian model in a directory, next to the weights, or in a ZIP archive as OPUS-MT publishes it: the
// weights (*.npz, *.bin), the decoding options (decoder.yml), the vocabularies, and OPUS-MT's SentencePiece models.
//
// decoder.yml has paths of the machine that trained the model. Only their last parts are used, for files next to decoder.yml.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model_io/contents/file_shelf.h"

namespace tril::model {

struct MarianFiles {
  FileShelf shelf;
  std::string weights;                                ///< the .npz or .bin
  std::optional<std::string> decoder;                 ///< decoder.yml
  nlohmann::json decoding;                            ///< its keys; an object
  std::vector<std::string> vocabularies;              ///< of source and target; empty if there is none
  std::optional<std::string> source_spm, target_spm;  ///< OPUS-MT's, for vocabularies that do not split text
};

/// @param path  a directory with weights and without config.json, a file of weights, or a .zip with one
/// @return nothing for anything else
/// @throws Error if there are several candidates and decoder.yml names none
std::optional<MarianFiles> find_marian_files(const std::filesystem::path& path);

}  // namespace tril::model
