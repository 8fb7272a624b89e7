// The golden conversations, and templates rendered with one of them.
#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "chat/chat_template.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace tril::chat_test {

using Json = nlohmann::ordered_json;

inline const Json& golden() {
  static const Json json = Json::parse(read_text(test::test_dir() + "/chat/chat_cases/cases.json", 1 << 24));
  return json;
}

inline ChatInput input_of(const Json& chat, const Json& variant) {
  ChatInput input;
  input.messages = chat;
  if (variant.contains("tools")) input.tools = variant["tools"];
  if (variant.contains("documents")) input.documents = variant["documents"];
  input.add_generation_prompt = variant.value("add_generation_prompt", false);
  if (variant.contains("enable_thinking")) input.variables["enable_thinking"] = variant["enable_thinking"];
  for (const auto& [name, text] : golden()["special_tokens"].items()) input.special_tokens.emplace_back(name, text);
  std::tm time{};
  ::strptime(golden()["now"].get<std::string>().c_str(), "%Y-%m-%d %H:%M:%S", &time);
  time.tm_isdst = -1;
  input.now = std::mktime(&time);
  return input;
}

inline std::string rendered(const std::string& source) {
  return ChatTemplate(source).render(input_of(golden()["chats"]["turns"], Json::object()));
}

inline std::string says(const std::string& source) {
  return error_of([&] { rendered(source); });
}

}  // namespace tril::chat_test
