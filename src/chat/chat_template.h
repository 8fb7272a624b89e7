// Chat templates: how a model wants a conversation written down. A template is a small program in Jinja that comes with a
// model (tokenizer_config.json, chat_template.jinja); it runs here as `transformers` runs it, in a language cut down to
// what chat templates use (template_syntax.h). A template is not trusted: it can read what it is given and write text,
// within bounds of time, depth and size, and nothing else.
#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

/// What a conversation is written down from.
struct ChatInput {
  /// [{"role": "user", "content": "..."}, ...]. A member that is null is taken for one that is not there, as `transformers`
  /// does; "reasoning" and "thinking" are "reasoning_content" too.
  nlohmann::ordered_json messages;
  nlohmann::ordered_json tools, documents;                          ///< lists, or null
  bool add_generation_prompt = false;                               ///< ends with the beginning of an answer
  std::vector<std::pair<std::string, std::string>> special_tokens;  ///< "bos_token" and its text, ...
  nlohmann::ordered_json variables;  ///< an object of whatever else a template may ask for ("enable_thinking"), or null
  std::optional<std::time_t> now;    ///< what strftime_now() says the time is, in local time; the present unless set
};

class ChatTemplate {
 public:
  /// @param where  names the template in errors
  /// @throws Error with the line for what is no template, and by its name for what is not supported
  explicit ChatTemplate(std::string_view source, std::string where = "chat template");
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// The text that a model reads. Its special tokens are spelt out: encode it without Tokenizer::frame().
  /// May be called by many threads at once.
  /// @throws Error with the line for what goes wrong, also where the template itself refuses (raise_exception)
  std::string render(const ChatInput& input) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace tril
