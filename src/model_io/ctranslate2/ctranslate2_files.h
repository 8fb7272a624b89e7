// Finds the files of a CTranslate2 model: a directory with model.bin, config.json and vocabularies, or an Argos Translate
// package (.argosmodel, or the folder that it unpacks to), which has such a directory named model, metadata.json and a
// SentencePiece model. Nothing else in a package is read, such as its sentence splitters (stanza/).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model_io/contents/file_shelf.h"

namespace tril::model {

struct Ctranslate2Files {
  FileShelf model;                   ///< model.bin, config.json, the vocabularies
  std::optional<FileShelf> package;  ///< the folder around it, which may have the SentencePiece model
  std::filesystem::path directory;   ///< of the model; empty in an archive
  nlohmann::json config;             ///< CTranslate2's config.json; an empty object if there is none
  std::string from, to;              ///< the package's languages, "en", "de"; "": not given
};

/// @param path  a directory, an .argosmodel or .zip, or the path of a model.bin
/// @return nothing for anything else
std::optional<Ctranslate2Files> find_ctranslate2_files(const std::filesystem::path& path);

/// Reads a vocabulary, by its name without the ending .json or .txt: the pieces in the order of their ids. Nothing if there is
/// no such file. @throws Error if it is not a list of texts
std::optional<std::vector<std::string>> read_ctranslate2_vocabulary(const FileShelf& model, const std::string& name);

}  // namespace tril::model
