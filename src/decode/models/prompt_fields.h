// Options for translation with a language model: its prompt.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"

namespace tril {

struct PromptOptions {
  std::string prompt_template, style;
  std::int64_t context = 0;
};

/// prompt-template.
Field& add_prompt_template_field(Fields& f, std::string& prompt_template);
/// prompt-template, context, style.
void add_prompt_fields(Fields& f, PromptOptions& o);

}  // namespace tril
