// A language model of random weights that translates by a prompt.
#pragma once

#include <nlohmann/json.hpp>

#include "decode/prompts/choose_prompt.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "serve/engine/served_model.h"
#include "support/paths.h"

namespace tril::serve::testing {

/// @param name  of a directory in tests/golden/lm_translation
inline Loaded prompted(const std::string& name, const std::vector<std::string>& languages) {
  const std::string directory = test::test_dir() + "/golden/lm_translation/" + name;
  const auto source = model::ModelSource::open(directory);
  Loaded l;
  l.model = model::load(source, nn::Precision::fp32);
  l.tokenizer = source.tokenizer();
  l.search.eos_ids = {l.model->special_ids().eos};
  l.text.max_length = 10;
  l.engine.deterministic = true;
  l.engine.session.prefix_tokens = 1000;
  l.languages = languages;
  l.prompt = std::make_shared<const search::TranslationPrompt>(search::choose_prompt(source, "").prompt, *l.tokenizer,
                                                               directory);
  l.chat = [](const nlohmann::ordered_json&, bool) { return std::string("a"); };
  return l;
}

}  // namespace tril::serve::testing
