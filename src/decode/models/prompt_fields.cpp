#include "decode/models/prompt_fields.h"

namespace tril {

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

}  // namespace tril
