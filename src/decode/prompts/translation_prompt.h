// The prompt that asks a language model for a translation: a template in the language of chat templates, and how the
// model reads what the template writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/chat_template.h"
#include "chat/conversation.h"
#include "language/match.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// What a prompt is made of: the variables of its template.
struct PromptInput {
  std::string text;  ///< `text`
  /// Codes in any form (language/code.h). A template reads them as `source_code` and `target_code` in the form of BCP 47 ("de",
  /// "pt-BR"), and the English names as `source_language` and `target_language`. An empty source is not given: its two
  /// variables are undefined.
  std::string source, target;
  std::vector<std::string> context;                        ///< `context`: the sentences before the text, in order
  std::vector<std::pair<std::string, std::string>> terms;  ///< `terms`: a list of {source, target}
  std::string style;                                       ///< `style`; empty: undefined
};

/// The English name of a language, as prompts write it: "German" for "de" and "deu_Latn".
/// @param where  the place in errors
/// @throws Error(usage) for a code of no language
std::string name_in_prompts(std::string_view code, const std::string& where);

/// How a model reads what the template of a prompt writes.
enum class PromptForm : std::uint8_t {
  message,     ///< as a user's message, in the model's chat template
  structured,  ///< there is none: the chat template itself asks for the translation, as TranslateGemma's does
  text,        ///< as it is, after the tokens that begin a text
};

/// A prompt, as a model's publisher describes it.
struct PromptDescription {
  std::string name;  ///< "Hunyuan-MT", for messages
  PromptForm form = PromptForm::message;
  std::optional<std::string> system = {};   ///< the template of a system message before the user's; nullopt: none
  std::string user = {};                    ///< the template of the user's message, or of the text
  bool needs_source = false;                ///< cannot be written without the language of the text
  std::vector<std::string> languages = {};  ///< the codes that the publisher lists; empty: not listed
};

class TranslationPrompt {
 public:
  /// @param tokenizer  supplies the chat template and the special tokens
  /// @param where      the model, for errors
  /// @throws Error for a template with a mistake, or a chat template that does not write the user's message; Error(usage) if the
  ///         form needs a chat template that is missing
  TranslationPrompt(PromptDescription description, const Tokenizer& tokenizer, const std::string& where);

  const PromptDescription& description() const { return description_; }
  /// True if the template reads a variable, such as "context".
  bool reads(std::string_view variable) const;

  /// @param where  the place in errors
  /// @throws Error(usage) for a language that the prompt cannot name, or that is not in the table of a chat template of
  ///   PromptForm::structured
  void check_language(const std::string& code, const std::string& where) const;

  /// The whole prompt. With PromptForm::text, the model expects Tokenizer::frame() before it; otherwise special tokens are
  /// spelled out.
  /// @throws Error if a template fails; Error(usage) for a language that check_language() refuses
  std::string written(const PromptInput& input) const;
  /// The whole prompt and a given answer with the tokens that end it; nullopt with PromptForm::text.
  std::optional<std::string> answered(const PromptInput& input, const std::string& answer) const;
  /// The text between the prompt and the answer: one space after a text that ends with a colon.
  std::string_view joint(std::string_view prompt) const;

 private:
  std::string code_in_table(const std::string& code, const std::string& where) const;
  void find_form_of_messages(const std::string& where);
  nlohmann::ordered_json message_of(const char* role, const std::string& text) const;
  nlohmann::ordered_json messages(const PromptInput& input) const;
  std::string rendered(const nlohmann::ordered_json& messages, bool asks) const;

  PromptDescription description_;
  std::optional<ChatTemplate> system_, user_, chat_;
  std::string chat_source_;
  MessageForm form_ = MessageForm::text;
  KnownLanguages table_;  // of the chat template, with PromptForm::structured
  std::vector<std::pair<std::string, std::string>> special_tokens_;
};

}  // namespace tril::search
