// The files that users of CTranslate2 have: a directory with model.bin, config.json and vocabularies, or an Argos Translate package
// (.argosmodel, or the folder that it unpacks to) with such a directory called model, metadata.json and a SentencePiece model.
// Nothing else in a package is read, such as its models that split sentences (stanza/).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model_io/file_shelf.h"

namespace tril::model {

struct Ctranslate2Files {
  FileShelf model;                   ///< model.bin, config.json, the vocabularies
  std::optional<FileShelf> package;  ///< the folder around it, where the SentencePiece model may lie
  std::filesystem::path directory;   ///< of the model; empty in an archive
  nlohmann::json config;             ///< CTranslate2's config.json; an empty object where there is none
  std::string from, to;              ///< the package's languages, "en", "de"; "": it does not say
};

/// @param path  a directory, an .argosmodel or .zip, or the path of a model.bin
/// @return nothing for anything else
std::optional<Ctranslate2Files> find_ctranslate2_files(const std::filesystem::path& path);

/// A vocabulary by its name without its ending (.json or .txt): pieces in the order of their ids; nothing where there is none.
/// @throws Error if it is no list of texts
std::optional<std::vector<std::string>> read_ctranslate2_vocabulary(const FileShelf& model, const std::string& name);

}  // namespace tril::model
