// Translation with a language model: a text becomes a prompt (decode/prompts/), and the translation is extracted from the
// model's answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/prompts/reasoning.h"
#include "decode/prompts/translation_prompt.h"
#include "decode/texts/translation_text.h"

namespace tril::search {

class PromptedText : public TranslationText {
 public:
  /// The model must outlive it.
  /// @throws Error(usage) as check_language_model()
  PromptedText(const model::Model& model, std::shared_ptr<const Tokenizer> tokenizer,
               std::shared_ptr<const TranslationPrompt> prompt);

  void check(const TextOptions& options, const SearchPlan& search) const override;
  /// If the prompt does not leave as many positions free as the text takes, its context is shortened, the oldest text first. A text
  /// that is too long without any context is truncated.
  TextToTranslate prepare(TextInput input, std::uint64_t number, const TextOptions& options,
                          const SearchPlan& search) const override;
  std::int64_t positions_of(const TextInput& input, const TextOptions& options) const override;
  std::string partial(const TextToTranslate& t, std::span<const std::int32_t> tokens) const override;

  bool places_terms() const override { return !prompt_->reads("terms"); }

  const TranslationPrompt& prompt() const { return *prompt_; }
  /// The ids of the prompt for a text, which is not truncated. @param terms  those in the text
  std::vector<std::int32_t> prompt_ids(const TextInput& input, const TextOptions& options,
                                       const std::vector<Term>& terms = {}) const;
  /// A given translation after its prompt, and the token that ends it, for a score.
  struct Given {
    std::vector<std::int32_t> ids;
    std::size_t prompt = 0;  ///< how many of the ids are the prompt's
  };
  /// @param eos_ids  SearchPlan::eos_ids. A chat template may end a message with any of them
  Given given_translation(const std::string& source, const std::string& target, const TextOptions& options,
                          std::span<const std::int32_t> eos_ids) const;

 private:
  Translation translation(const TextToTranslate& t, const Hypothesis& h, const TextOptions& options) const override;
  PromptInput input_of(const TextInput& input, const TextOptions& options, const std::vector<Term>& terms) const;
  std::vector<std::int32_t> ids_of(const PromptInput& input, std::string_view begin) const;
  Request request_for(std::vector<std::int32_t> ids, const TextOptions& options, TextToTranslate& t) const;
  std::string answer_of(const TextToTranslate& t, std::span<const std::int32_t> tokens,
                        std::vector<RemovedPart>& removed) const;

  std::shared_ptr<const TranslationPrompt> prompt_;
  ReasoningMarks marks_;
};

/// The end of a text that has at most this many tokens. It begins with a whole word, where the text has spaces.
std::string ending_of(const Tokenizer& tokenizer, std::string text, std::size_t tokens);

/// The text form of a model's translations. @param prompt  null: the model has an encoder
std::unique_ptr<const TranslationText> make_translation_text(const model::Model& model,
                                                             std::shared_ptr<const Tokenizer> tokenizer,
                                                             std::shared_ptr<const TranslationPrompt> prompt);

}  // namespace tril::search
