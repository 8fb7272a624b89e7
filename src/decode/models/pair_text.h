// A text and its translation as ids for score_all() (decode/batches/score.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decode/models/target_language.h"
#include "decode/prompts/translation_prompt.h"
#include "decode/texts/prompted_text.h"
#include "model/spec/model.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/language_tag.h"

namespace tril {

class PairEncoder {
 public:
  /// A pair: its texts, and their names in errors.
  struct Pair {
    std::string source, target, source_where, target_where;
  };
  struct Ids {
    std::vector<std::int32_t> source, target;  ///< with EOS; for a language model, the source is the prompt
    std::int64_t unknown = 0;                  ///< unknown tokens in both
  };

  /// @param model, opened  of one model; both must outlive it
  /// @param languages  of choose_languages() for a model with an encoder, else as they are given
  /// @param target     the target language as it is given
  /// @param prompt     of a language model, else null
  PairEncoder(const model::Model& model, const model::ModelSource& opened, Languages languages, std::string_view target,
              std::shared_ptr<const search::TranslationPrompt> prompt);

  /// @throws Error(usage) naming a text that has more tokens than the model has positions, or no target language
  Ids ids_of(const Pair& pair) const;
  /// The decoder's start token.
  std::int32_t start() const;

 private:
  std::vector<std::int32_t> framed_ids(const std::string& text, const std::string& where, Side side,
                                       std::int64_t& unknown) const;
  Ids prompted_ids(const Pair& pair) const;

  const model::Model* model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Languages languages_;
  TargetLanguage target_language_;
  std::array<TextFrame, 2> frames_;  ///< of source and target, for a model with an encoder
  std::unique_ptr<const search::PromptedText> prompted_;
  search::TextOptions prompted_options_;
  std::vector<std::int32_t> eos_ids_;
};

}  // namespace tril
