#include "cli/options/prompt_options.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "decode/prompts/choose_prompt.h"

namespace tril::cli {

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
  const std::string message = fmt::format("{}: translates with {}{} prompt: {}", source.name(), chosen.prompt.name,
                                          chosen.prompt.name.starts_with("the ") ? "" : "'s", chosen.reason);
  if (chosen.general)
    spdlog::warn("{}; pass --prompt-template to give its own", message);
  else
    spdlog::info("{}", message);
  return prompt;
}

}  // namespace tril::cli
