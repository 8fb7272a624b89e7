#include "cli/options/prompt_options.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "decode/prompts/choose_prompt.h"

namespace tril::cli {

Field& add_prompt_template_field(Fields& f, std::string& prompt_template) {
  return f
      .add("prompt-template", &prompt_template,
           "prompt for a language model: a template in the language of chat templates with {{ text }}, {{ "
           "source_language }}, {{ target_language }}, {{ context }}, {{ terms }} and {{ style }}; a file that holds "
           "one; or the name of a known prompt (general, hunyuan-mt, tower-plus, ...); unset: chosen by the model's "
           "name and chat template")
      .value_name("TEXT|FILE|NAME");
}

void add_prompt_fields(Fields& f, PromptOptions& o) {
  add_prompt_template_field(f, o.prompt_template);
  f.add("context", &o.context, "number of lines before each line that the prompt of a language model shows")
      .at_least(0)
      .at_most(1000)
      .value_name("N");
  f.add("style", &o.style, "style that the prompt of a language model asks for, such as \"formal\"").value_name("TEXT");
}

std::shared_ptr<const search::TranslationPrompt> load_prompt(const model::ModelSource& source,
                                                             const model::Model& model,
                                                             const std::string& prompt_template) {
  if (model.has_encoder()) {
    if (!prompt_template.empty())
      fail_usage("prompt_template",
                 fmt::format("is for language models, and a {} model reads no prompt", model.family()), "leave it out");
    return nullptr;
  }
  const search::ChosenPrompt chosen = search::choose_prompt(source, prompt_template);
  auto prompt = std::make_shared<const search::TranslationPrompt>(chosen.prompt, *source.tokenizer(), source.name());
  const std::string told = fmt::format("{}: translates with {}{} prompt: {}", source.name(), chosen.prompt.name,
                                       chosen.prompt.name.starts_with("the ") ? "" : "'s", chosen.reason);
  if (chosen.general)
    spdlog::warn("{}; pass --prompt-template to give its own", told);
  else
    spdlog::info("{}", told);
  return prompt;
}

}  // namespace tril::cli
