// The files of a Hugging Face directory that hold chat templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

using ChatTemplates = std::vector<std::pair<std::string, std::string>>;  ///< names and their Jinja

/// The templates of a directory, and the files that hold them besides tokenizer_config.json.
struct ChatTemplateFiles {
  ChatTemplates templates;
  std::vector<TokenizerFile> files;
};

/// Reads the first of these that a directory has, as `transformers` 5.24 does:
///   1. chat_template.jinja, which is "default", and chat_templates/NAME.jinja
///   2. `of_config`, the templates of tokenizer_config.json
///   3. the key chat_template of processor_config.json, 4. that of chat_template.json: both belong to the processors of
///      multimodal models. The template of processor_config.json is returned as a file chat_template.jinja.
/// @throws Error naming a file that is not JSON, or a template with a name that is no file name
ChatTemplateFiles read_chat_templates(const std::string& directory, ChatTemplates of_config);

/// The value of a key chat_template: a text, an object of names and texts, or a list of objects with `name` and `template`.
/// Anything else: no templates.
ChatTemplates chat_templates_in(std::string_view json, const std::string& where);

/// "chat_templates/rag.jinja" for "rag".
std::string chat_template_file(const std::string& name);
/// The names of the files chat_templates/NAME.jinja in a directory, in alphabetical order.
std::vector<std::string> chat_template_files(const std::string& directory);

}  // namespace tril
