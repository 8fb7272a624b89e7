#include "decode/prompts/choose_prompt.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/allowed.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/streams.h"
#include "model_io/families/model_names.h"
#include "unicode/letter_case.h"

namespace tril::search {
namespace {

constexpr std::uint64_t most_template_bytes = std::uint64_t{4} << 20;

// True if the text contains the parts between the stars, in order.
bool contains_pattern(std::string_view text, std::string_view pattern) {
  while (true) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const std::size_t at = text.find(part);
    if (at == text.npos) return false;
    if (star == pattern.npos) return true;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
  }
}

// The names that a model may be known by, in lower case: "models--tencent--hunyuan-mt-7b" for a directory in the hub's
// cache.
std::vector<std::string> names_of(const model::ModelSource& source) {
  std::vector<std::string> names;
  if (const auto name = source.config().find<std::string>("_name_or_path")) names.push_back(lower_case(*name));
  for (const std::string& name : model::names_in_path(source.path())) names.push_back(lower_case(name));
  return names;
}

std::string listed_keys() {
  std::string keys;
  for (const KnownPrompt& known : known_prompts()) keys += std::string(known.key) + ", ";
  return keys + "translategemma, general";
}

// The prompt of a family, with the languages of the model of these names.
PromptDescription prompt_for(const KnownPrompt& known, const std::vector<std::string>& names) {
  PromptDescription prompt = known.prompt;
  for (const NamedLanguages& group : known.languages_of)
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return contains_pattern(name, group.part); }))
      prompt.languages = group.languages;
  return prompt;
}

PromptDescription asked_prompt(const std::string& asked, const model::ModelSource& source,
                               const std::optional<std::string>& chat) {
  if (asked == "general") return general_prompt();
  if (asked == "translategemma") return structured_prompt(chat.value_or(""));
  if (const KnownPrompt* known = find_prompt(asked)) return prompt_for(*known, names_of(source));
  std::string text = asked;
  if (asked.find("{{") == asked.npos && asked.find("{%") == asked.npos) {
    if (!std::filesystem::exists(asked))
      fail_usage("prompt_template",
                 fmt::format("\"{}\" is no template, no file and not the name of a known prompt", printable(asked)),
                 fmt::format("a template has variables, such as {{{{ text }}}}; known prompts: {}", listed_keys()));
    text = read_any_text(asked, most_template_bytes);
    if (text.ends_with('\n')) text.pop_back();
  }
  if (text.find("text") == text.npos)
    fail_usage("prompt_template", "does not contain the text to translate", "write {{ text }} where it belongs");
  return {.name = "the given", .form = chat ? PromptForm::message : PromptForm::text, .user = std::move(text)};
}

}  // namespace

const KnownPrompt* prompt_of_names(const std::vector<std::string>& names, const std::string& type) {
  const auto has = [&](const std::vector<std::string_view>& patterns) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return std::any_of(patterns.begin(), patterns.end(),
                         [&](std::string_view pattern) { return contains_pattern(name, pattern); });
    });
  };
  for (const KnownPrompt& known : known_prompts())
    if (std::find(known.types.begin(), known.types.end(), type) != known.types.end() && has(known.names) &&
        !has(known.without))
      return &known;
  return nullptr;
}

std::optional<ChosenPrompt> known_prompt(const model::ModelSource& source) {
  const std::optional<std::string> chat = source.tokenizer()->chat_template();
  if (chat && chat->find("source_lang_code") != chat->npos && chat->find("target_lang_code") != chat->npos)
    return ChosenPrompt{structured_prompt(*chat), "the chat template takes source_lang_code"};
  const std::vector<std::string> names = names_of(source);
  const std::string type = source.config().get<std::string>("model_type", std::string());
  if (const KnownPrompt* known = prompt_of_names(names, type))
    return ChosenPrompt{prompt_for(*known, names), fmt::format("a {} model with this name", type)};
  return std::nullopt;
}

ChosenPrompt choose_prompt(const model::ModelSource& source, const std::string& asked) {
  const std::optional<std::string> chat = source.tokenizer()->chat_template();
  if (!asked.empty()) return {asked_prompt(asked, source, chat), "it was asked for"};
  if (std::optional<ChosenPrompt> known = known_prompt(source)) return *known;
  if (chat) return {general_prompt(), "the model is not among those whose prompt is known", true};
  fail_usage(
      "prompt_template",
      fmt::format("{} has no chat template, and its prompt for translations is not known", source.name()),
      fmt::format("pass a template with {{{{ text }}}} and {{{{ target_language }}}}, or one of {}", listed_keys()));
}

}  // namespace tril::search
