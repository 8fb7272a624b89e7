#include "chat/conversation.h"

#include "base/error.h"

namespace tril {

using Json = nlohmann::ordered_json;

Json in_form(Json message, MessageForm form) {
  const auto content = message.find("content");
  if (form == MessageForm::text || content == message.end() || !content->is_string()) return message;
  Json part{{"type", "text"}, {"text", *content}};
  *content = Json::array();
  content->push_back(std::move(part));
  return message;
}

FoundForm find_message_form(const std::function<std::string(const Json& messages)>& render, bool with_system) {
  const std::string probe = "zqx7 yvw3";  // in no template
  FoundForm found;
  for (const MessageForm form : {MessageForm::text, MessageForm::parts}) try {
      Json list = Json::array();
      if (with_system) list.push_back(in_form({{"role", "system"}, {"content", ""}}, form));
      list.push_back(in_form({{"role", "user"}, {"content", probe}}, form));
      if (render(list).find(probe) != std::string::npos) return {.form = form, .writes = true, .error = {}};
    } catch (const Error&) {
      if (!found.error) found.error = std::current_exception();
    }
  return found;
}

void fail_without_messages(const std::string& where, const std::string& hint) {
  fail(where, "it does not write the user's message, neither as a text nor as a list of parts", hint);
}

ConversationTemplate::ConversationTemplate(std::string_view source,
                                           std::vector<std::pair<std::string, std::string>> special_tokens,
                                           const std::string& where)
    : template_(source, where), special_tokens_(std::move(special_tokens)) {
  const FoundForm found =
      find_message_form([&](const Json& messages) { return render_as_they_are(messages, true); }, false);
  // A template with an error may be fit for other conversations.
  if (!found.writes && !found.error) fail_without_messages(where, "is it the template of a chat?");
  form_ = found.form;
}

std::string ConversationTemplate::render(const Json& messages, bool asks) const {
  if (form_ == MessageForm::text) return render_as_they_are(messages, asks);
  Json list = Json::array();
  for (const Json& message : messages) list.push_back(in_form(message, form_));
  return render_as_they_are(list, asks);
}

std::string ConversationTemplate::render_as_they_are(const Json& messages, bool asks) const {
  return template_.render({.messages = messages,
                           .tools = nullptr,
                           .documents = nullptr,
                           .add_generation_prompt = asks,
                           .special_tokens = special_tokens_,
                           .variables = nullptr,
                           .now = {}});
}

}  // namespace tril
