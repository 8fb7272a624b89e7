// Chat templates: the text form of a conversation that a model expects. A template is a small Jinja program that comes
// with a model (tokenizer_config.json, chat_template.jinja); it runs here as `transformers` runs it, in the subset of
// the language that chat templates use (template_syntax.h). Templates are not trusted: a template can only read its
// input and write text, within limits of time, depth and size.
#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

/// The input of a template.
struct ChatInput {
  /// [{"role": "user", "content": "..."}, ...]. A null member counts as absent, as in `transformers`; "reasoning" and
  /// "thinking" are also available as "reasoning_content".
  nlohmann::ordered_json messages;
  nlohmann::ordered_json tools, documents;                          ///< lists, or null
  bool add_generation_prompt = false;                               ///< ends with the start of the assistant's answer
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...
  nlohmann::ordered_json variables;  ///< an object of further variables ("enable_thinking"), or null
  std::optional<std::time_t> now;    ///< local time that strftime_now() returns; unset: the current time
};

class ChatTemplate {
 public:
  /// @param where  names the template in errors
  /// @throws Error with the line for a syntax error, and naming what is not supported
  explicit ChatTemplate(std::string_view source, std::string where = "chat template");
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// The text for the model. Special tokens are spelt out: encode it without Tokenizer::frame(). Thread-safe.
  /// @param work  the most that the template may do, in units of some nanoseconds: with the default, a hostile template
  ///              ends within a second, and four thousand messages with two hundred tools are rendered
  /// @throws Error with the line for an error, also if the template itself raises one (raise_exception)
  std::string render(const ChatInput& input, std::size_t work = 100'000'000) const;

  /// The keys of a table that the template sets outside of loops and conditions: {% set NAME = {"de": "German"} %} has "de".
  /// Empty if there is no such table, or if one of its keys is not written as a string.
  std::vector<std::string> table_keys(std::string_view name) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tril
