// A MarianMT tokenizer of 70 pieces, learned from three lines about dogs and snow.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "corpus/vocabulary.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril::test {

inline std::shared_ptr<const Tokenizer> small_tokenizer() {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "a dog runs in the snow\ntwo men play with a red ball\nthe old dog and the ball, in the house of snow.\n";
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tril_small_tokenizer_" + std::to_string(::getpid()))).string();
  std::ofstream(path) << text;
  VocabularyOptions options;
  options.size = 70;
  MarianParts parts;
  parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{path, -1}}, options);
  std::filesystem::remove(path);
  return make_marian_tokenizer(parts);
}

}  // namespace tril::test
