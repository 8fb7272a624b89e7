#include "chat/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/line_of.h"
#include "base/utf8.h"
#include "chat/template_evaluator.h"
#include "chat/template_syntax.h"

namespace tril {

// A parsed template takes some eighty times its source's size; the largest in use have some ten thousand bytes.
constexpr std::size_t largest_template = 4 << 20;

struct ChatTemplate::Impl {
  std::string where;
  chat::Block block;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string where) {
  if (source.size() > largest_template)
    fail(where, fmt::format("has {} bytes; a chat template has at most {} (4 MiB)", source.size(), largest_template),
         "is this file a chat template?");
  if (const auto fault = find_utf8_fault(source))
    fail(fmt::format("{}: line {}", where, line_of(source, fault->offset)),
         fmt::format("is not valid UTF-8 (byte 0x{:02X})", fault->byte));
  chat::Block block = chat::parse_template(source, where);
  impl_ = std::make_unique<const Impl>(Impl{std::move(where), std::move(block)});
}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

namespace {

// Messages as `transformers` passes them: without null members, and with the reasoning under every name that templates
// use for it.
nlohmann::ordered_json handed_over(const nlohmann::ordered_json& messages) {
  if (!messages.is_array()) return messages;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& message : messages) {
    if (!message.is_object()) {
      all.push_back(message);
      continue;
    }
    const nlohmann::ordered_json* thoughts = nullptr;
    for (const char* name : {"reasoning_content", "thinking", "reasoning"})
      if (const auto found = message.find(name); !thoughts && found != message.end() && !found->is_null())
        thoughts = &*found;
    nlohmann::ordered_json one = nlohmann::ordered_json::object();
    if (thoughts) one["thinking"] = *thoughts;
    for (const auto& [name, value] : message.items())
      if (!value.is_null()) one[name] = value;
    if (thoughts) one["reasoning_content"] = *thoughts;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::string ChatTemplate::render(const ChatInput& input, std::size_t work) const {
  chat::Evaluator evaluator(input.now.value_or(std::time(nullptr)), work);
  chat::Scope& names = evaluator.globals();
  for (const auto& [name, text] : input.special_tokens) names.set(name, chat::Value(text));
  try {
    names.set("messages", chat::from_json(handed_over(input.messages)));
    names.set("tools", chat::from_json(input.tools));
    names.set("documents", chat::from_json(input.documents));
    names.set("add_generation_prompt", chat::Value(input.add_generation_prompt));
    if (input.variables.is_object())
      for (const auto& [name, value] : input.variables.items()) names.set(name, chat::from_json(value));
    return evaluator.run(impl_->block);
  } catch (const Error& error) {
    throw error.within(fmt::format("{}: line {}", impl_->where, evaluator.line()));
  }
}

std::vector<std::string> ChatTemplate::table_keys(std::string_view name) const {
  for (const chat::Statement& statement : impl_->block) {
    if (statement.kind != chat::Statement::set || statement.target.name != name || !statement.target.member.empty())
      continue;
    const chat::Expression* table = statement.expression.get();
    if (!table || table->kind != chat::Expression::dict) return {};
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < table->parts.size(); i += 2) {
      const chat::Expression& key = *table->parts[i];
      const auto* text = key.kind == chat::Expression::constant ? key.value.get<std::string>() : nullptr;
      if (!text) return {};
      keys.push_back(*text);
    }
    return keys;
  }
  return {};
}

}  // namespace tril
