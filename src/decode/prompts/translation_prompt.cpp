#include "decode/prompts/translation_prompt.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "base/printable.h"
#include "decode/prompts/known_prompts.h"
#include "language/code.h"
#include "language/name.h"
#include "unicode/trim.h"

namespace tril::search {

std::string name_in_prompts(std::string_view code, const std::string& where) {
  return language_name(language_of(code, where), "en");
}

namespace {

std::string code_in_prompts(std::string_view code, const std::string& where) {
  return code_of(language_of(code, where));
}

using Messages = nlohmann::ordered_json;

Messages variables_of(const PromptInput& input) {
  Messages v{{"text", input.text},
             {"target_code", code_in_prompts(input.target, "target_language")},
             {"target_language", name_in_prompts(input.target, "target_language")},
             {"context", input.context},
             {"terms", Messages::array()}};
  if (!input.source.empty()) {
    v["source_code"] = code_in_prompts(input.source, "source_language");
    v["source_language"] = name_in_prompts(input.source, "source_language");
  }
  for (const auto& [source, target] : input.terms) v["terms"].push_back({{"source", source}, {"target", target}});
  if (!input.style.empty()) v["style"] = input.style;
  return v;
}

std::string from_variables(const ChatTemplate& t, const Messages& variables) {
  return t.render({.messages = Messages::array(),
                   .tools = nullptr,
                   .documents = nullptr,
                   .add_generation_prompt = true,
                   .special_tokens = {},
                   .variables = variables,
                   .now = {}});
}

bool mentions(std::string_view text, std::string_view name) {
  const std::regex word(fmt::format("\\b{}\\b", name));
  return std::regex_search(text.begin(), text.end(), word);
}

}  // namespace

TranslationPrompt::TranslationPrompt(PromptDescription description, const Tokenizer& tokenizer,
                                     const std::string& where)
    : description_(std::move(description)), special_tokens_(tokenizer.special_tokens()) {
  const std::string name = description_.name + " prompt";
  if (description_.system) system_.emplace(*description_.system, name);
  if (description_.form != PromptForm::structured) user_.emplace(description_.user, name);
  if (description_.form == PromptForm::text) return;
  const std::optional<std::string> chat = tokenizer.chat_template();
  if (!chat)
    fail_usage(where, fmt::format("has no chat template, which {} needs", name),
               "pass a prompt that is a text with `prompt_template`");
  chat_source_ = *chat;
  chat_.emplace(chat_source_, where + ": chat template");
  if (description_.form == PromptForm::structured)
    table_ = KnownLanguages(chat_->table_keys(languages_table));
  else
    find_form_of_messages(where);
}

void TranslationPrompt::find_form_of_messages(const std::string& where) {
  const FoundForm found =
      find_message_form([&](const Messages& messages) { return rendered(messages, true); }, system_.has_value());
  form_ = found.form;
  if (found.writes) return;
  if (found.error) std::rethrow_exception(found.error);
  fail_without_messages(
      where + ": chat template",
      "is it the template of a chat? if the model needs none, remove it and pass a text with `prompt_template`");
}

Messages TranslationPrompt::message_of(const char* role, const std::string& text) const {
  return in_form({{"role", role}, {"content", text}}, form_);
}

bool TranslationPrompt::reads(std::string_view variable) const {
  return mentions(description_.user, variable) || (description_.system && mentions(*description_.system, variable));
}

// The chat template's own code: "tl" for "fil".
std::string TranslationPrompt::code_in_table(const std::string& code, const std::string& where) const {
  if (table_.empty()) return code_in_prompts(code, where);
  const std::optional<std::size_t> found = table_.find(code);
  if (!found)
    fail_usage(where, fmt::format("the model's chat template has no language \"{}\"", printable(code)),
               table_.hint(code));
  return table_.names()[*found];
}

void TranslationPrompt::check_language(const std::string& code, const std::string& where) const {
  name_in_prompts(code, where);
  if (description_.form == PromptForm::structured) code_in_table(code, where);
}

Messages TranslationPrompt::messages(const PromptInput& input) const {
  if (description_.form == PromptForm::structured)
    return {{{"role", "user"},
             {"content",
              {{{"type", "text"},
                {"source_lang_code", code_in_table(input.source, "source_language")},
                {"target_lang_code", code_in_table(input.target, "target_language")},
                {"text", input.text}}}}}};
  const Messages variables = variables_of(input);
  Messages list = Messages::array();
  if (system_) list.push_back(message_of("system", from_variables(*system_, variables)));
  list.push_back(message_of("user", from_variables(*user_, variables)));
  return list;
}

// A general model is asked to answer without reasoning, if its template knows how.
std::string TranslationPrompt::rendered(const Messages& messages, bool asks) const {
  Messages variables = Messages::object();
  if (mentions(chat_source_, "enable_thinking")) variables["enable_thinking"] = false;
  if (mentions(chat_source_, "reasoning_effort")) variables["reasoning_effort"] = "low";
  return chat_->render({.messages = messages,
                        .tools = nullptr,
                        .documents = nullptr,
                        .add_generation_prompt = asks,
                        .special_tokens = special_tokens_,
                        .variables = variables,
                        .now = {}});
}

std::string TranslationPrompt::written(const PromptInput& input) const {
  if (description_.form == PromptForm::text) return from_variables(*user_, variables_of(input));
  return rendered(messages(input), true);
}

std::optional<std::string> TranslationPrompt::answered(const PromptInput& input, const std::string& answer) const {
  if (description_.form == PromptForm::text) return std::nullopt;
  Messages list = messages(input);
  list.push_back(message_of("assistant", answer));
  return rendered(list, false);
}

std::string_view TranslationPrompt::joint(std::string_view prompt) const {
  return description_.form == PromptForm::text && prompt.ends_with(':') ? " " : "";
}

}  // namespace tril::search
