// The golden MarianMT model with a small tokenizer of its own, in a folder of a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "corpus/vocabulary.h"
#include "support/paths.h"
#include "support/run_program.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {

/// @return its directory
inline std::string write_tiny_marian(const ScratchFolder& folder) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "a dog runs in the snow\ntwo men play with a red ball\nthe old dog and the ball\n";
  const std::string corpus = folder.write("corpus", text);
  VocabularyOptions options;
  options.size = 60;
  MarianParts parts;
  parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{corpus, -1}}, options);
  const std::string model = folder.at("model");
  std::filesystem::create_directory(model);
  for (const char* file : {"config.json", "generation_config.json", "model.safetensors"})
    std::filesystem::copy(std::filesystem::path(test::test_dir()) / "golden/hf/marian" / file, model);
  nlohmann::json generation = nlohmann::json::parse(file_text(model + "/generation_config.json"));
  generation["max_length"] = 13, generation["num_beams"] = 4;
  std::filesystem::permissions(model + "/generation_config.json", std::filesystem::perms::owner_all);
  std::ofstream(model + "/generation_config.json") << generation;
  save_tokenizer(*make_marian_tokenizer(parts), model);
  return model;
}

}  // namespace tril
