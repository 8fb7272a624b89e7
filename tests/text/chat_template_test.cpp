// Chat templates: what `transformers` makes of the same conversations, what is refused, and that nothing runs on and on.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/rng.h"
#include "support/paths.h"
#include "text/temporary.h"

namespace tril {
namespace {

using Json = nlohmann::ordered_json;

const Json& golden() {
  static const Json json = Json::parse(read_text(test::test_dir() + "/text/chat_cases/cases.json", 1 << 24));
  return json;
}

ChatInput input_of(const Json& chat, const Json& variant) {
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

TEST(ChatTemplate, WritesWhatTransformersWrites) {
  int compared = 0, refused = 0;
  for (const Json& c : golden()["cases"]) {
    const auto name = c["template"].get<std::string>();
    SCOPED_TRACE(name + " of " + c["chat"].get<std::string>() + " with " + c["variant"].dump());
    const ChatTemplate chat(golden()["templates"][name].get<std::string>(), name);
    const ChatInput input = input_of(golden()["chats"][c["chat"].get<std::string>()], c["variant"]);
    if (c.contains("error")) {
      EXPECT_THROW(chat.render(input), Error);
      ++refused;
      continue;
    }
    EXPECT_EQ(chat.render(input), c["text"].get<std::string>());
    ++compared;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(refused, 5);
}

std::string rendered(const std::string& source) {
  return ChatTemplate(source).render(input_of(golden()["chats"]["turns"], Json::object()));
}

std::string says(const std::string& source) {
  return error_of([&] { rendered(source); });
}

TEST(ChatTemplate, WhatIsNotSupportedIsRefusedByNameAndLine) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"a\nb{% include 'x' %}", "line 2: {% include %} is not supported"},
      {"{% call x() %}{% endcall %}", "{% call %}"},
      {"{{ 'x' | urlize }}", "\"urlize\""},
      {"{{ 1 is prime }}", "\"prime\""},
      {"{{ '%s' % 1 }}", "%"},
      {"{{ x.y }}", "\"x\" is undefined"},
      {"{{ messages.append(1) }}", "cannot be called"},
      {"{% for x in y recursive %}{% endfor %}", "recursive"},
      {"{% if x %}", "endif"},
      {"{{ x", "missing"},
      {"{% endfor %}", "endfor"},
      {"{{ raise_exception('no such role') }}", "no such role"},
      {"{{ f(*a) }}", "not supported"},
      {"{{ 9223372036854775807 + 1 }}", "too large"},
      {"{{ 1 // 0 }}", "zero"},
  };
  for (const auto& [source, part] : cases) EXPECT_TRUE(contains(says(source), part)) << source << ": " << says(source);
}

TEST(ChatTemplate, WhatHasNoEndIsStopped) {
  const std::vector<std::string> sources = {
      "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s "
      "}}",
      "{{ 'x' * 1000000000000 }}",
      "{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}",
      "{% set ns = namespace() %}{% set ns.self = ns %}{{ ns }}",
      "{{ " + std::string(100000, '(') + std::string(100000, ')') + " }}",
      "{{ " + std::string(100000, '-') + "1 }}",
      "{{ x" +
          [] {
            std::string s;
            for (int i = 0; i < 100000; ++i) s += "[0]";
            return s;
          }() +
          " }}",
      [] {
        std::string s;
        for (int i = 0; i < 10000; ++i) s += "{% if 1 %}";
        return s;
      }(),
      "{{ [" +
          [] {
            std::string s;
            for (int i = 0; i < 10000; ++i) s += "[";
            return s;
          }() +
          " }}",
  };
  for (const std::string& source : sources) EXPECT_NE(says(source), "") << source.substr(0, 60);
}

TEST(ChatTemplate, DamagedTemplatesAreErrorsOrRunToAnEnd) {
  RandomSequence random(7, 7);
  const std::string marks = "{}%#-+|()[]'\".,:=~<>0a \n\\";
  int ran = 0;
  for (const auto& [name, source] : golden()["templates"].items())
    for (int round = 0; round < 100; ++round) {
      std::string damaged = source.get<std::string>();
      for (std::uint64_t n = random.below(4) + 1; n > 0; --n) {
        const std::size_t at = random.below(damaged.size());
        switch (random.below(3)) {
          case 0:
            damaged[at] = marks[random.below(marks.size())];
            break;
          case 1:
            damaged.erase(at, random.below(20) + 1);
            break;
          default:
            damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(30)));
        }
        if (damaged.empty()) damaged = "x";
      }
      try {
        rendered(damaged);
        ++ran;
      } catch (const Error&) {
      }
    }
  EXPECT_GT(ran, 20);
}

}  // namespace
}  // namespace tril
