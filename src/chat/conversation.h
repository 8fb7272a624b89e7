// Conversations of texts, written by chat templates. Templates of models that also see pictures may read the content of messages
// only as lists of parts, and leave out a text without an error.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/chat_template.h"

namespace tril {

/// The form in which a template reads the content of messages.
enum class MessageForm : std::uint8_t {
  text,  ///< "..."
  parts  ///< [{"type": "text", "text": "..."}]
};

/// What a template makes of a user's message.
struct FoundForm {
  MessageForm form = MessageForm::text;
  bool writes = false;       ///< it writes the message in this form; if not, in neither
  std::exception_ptr error;  ///< of the template, if it does not write the message
};

/// @param render       writes messages, as ChatTemplate::render() does
/// @param with_system  tries it behind a system message
FoundForm find_message_form(const std::function<std::string(const nlohmann::ordered_json& messages)>& render,
                            bool with_system);
/// The message with its content in a form; a content that is no text stays.
nlohmann::ordered_json in_form(nlohmann::ordered_json message, MessageForm form);
/// Tells that a template does not write messages.
[[noreturn]] void fail_without_messages(const std::string& where, const std::string& hint);

/// A chat template for conversations of texts, in the form that it reads.
class ConversationTemplate {
 public:
  /// @param special_tokens  as in ChatInput
  /// @param where           names the template in errors
  /// @throws Error as ChatTemplate does, and for a template that leaves out the user's message
  ConversationTemplate(std::string_view source, std::vector<std::pair<std::string, std::string>> special_tokens,
                       const std::string& where = "chat template");

  /// @param messages  as in ChatInput, with texts as contents
  /// @param asks      ends with the start of the assistant's answer
  /// @throws Error as ChatTemplate::render() does
  std::string render(const nlohmann::ordered_json& messages, bool asks) const;

 private:
  std::string render_as_they_are(const nlohmann::ordered_json& messages, bool asks) const;

  ChatTemplate template_;
  std::vector<std::pair<std::string, std::string>> special_tokens_;
  MessageForm form_ = MessageForm::text;
};

}  // namespace tril
