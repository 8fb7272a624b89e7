// Chat templates: equal to `transformers` on the same conversations, unsupported features refused.
#include "chat/chat_template.h"

#include <gtest/gtest.h>

#include <array>

#include "chat/chat_input.h"

namespace tril::chat_test {
namespace {

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

TEST(ChatTemplate, SnippetsAreAsJinjaWritesThemOrRefused) {
  const Json file = Json::parse(read_text(test::test_dir() + "/chat/chat_cases/snippets.json", 1 << 24));
  ChatInput input;
  input.messages = Json::array();
  input.variables = file["given"];
  int compared = 0, refused = 0;
  for (const Json& c : file["cases"]) {
    const auto source = c["source"].get<std::string>();
    SCOPED_TRACE(source);
    const auto render = [&] { return ChatTemplate(source).render(input); };
    if (c.contains("error") || c.contains("refused")) {
      EXPECT_THROW(render(), Error);
      ++refused;
      continue;
    }
    try {
      EXPECT_EQ(render(), c["text"].get<std::string>());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    ++compared;
  }
  EXPECT_GT(compared, 70);
  EXPECT_GT(refused, 70);
}

TEST(ChatTemplate, ExpressionsAreWhatJinjaMakesOfThem) {
  const Json file = Json::parse(read_text(test::test_dir() + "/chat/chat_cases/expressions.json", 1 << 24));
  ChatInput input;
  input.messages = Json::array();
  int compared = 0, refused = 0;
  for (const Json& c : file) {
    const auto source = c[0].get<std::string>();
    SCOPED_TRACE(source);
    const auto render = [&] { return ChatTemplate(source).render(input); };
    if (c[1].is_null()) {
      EXPECT_THROW(render(), Error);
      ++refused;
      continue;
    }
    try {
      EXPECT_EQ(render(), c[1].get<std::string>());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    ++compared;
  }
  EXPECT_GT(compared, 4000);
  EXPECT_GT(refused, 1000);
}

TEST(ChatTemplate, WhatIsNotSupportedIsRefusedByNameAndLine) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"{{ x.y }}", "\"x\" is undefined"},
      {"{{ messages.append(1) }}", "cannot be called"},
      {"{% for x in [1] %}{{ loop(x) }}{% endfor %}", "not recursive"},
      {"{% if x %}", "endif"},
      {"{{ x", "missing"},
      {"{% endfor %}", "endfor"},
      {"{{ raise_exception('no such role') }}", "no such role"},
      {"{{ range(*a) }}", "range()"},
      {"{{ 9223372036854775807 + 1 }}", "too large"},
      {"{{ 1 // 0 }}", "zero"},
      {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "macro \"m\" takes 1 arguments, not 2"},
      {"{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "macro \"m\" has no parameter \"b\""},
      {"{{ [1] | map('upper') }}", "a generator cannot be written; make it a list: | list"},
      {"{{ range(3) }}", "a range cannot be written"},
      {"{{ {[1]: 2} }}", "a list cannot be a mapping's key"},
      {"{{ ' x' | trim(letters=' ') }}", "the filter \"trim\" has no argument \"letters\""},
      {"{{ 'x'.upper(1) }}", "upper() takes 0 arguments"},
      {"a\n{{ '\xff' }}", "line 2: is not valid UTF-8 (byte 0xFF)"},
  };
  for (const auto& [source, part] : cases) EXPECT_TRUE(contains(says(source), part)) << source << ": " << says(source);
}

// Reported when the model is loaded, not at the first conversation.
TEST(ChatTemplate, WhatNoTalkCouldRenderIsRefusedWhenItIsRead) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"a\nb{% include 'x' %}", "line 2: {% include %} is not supported"},
      {"{% extends 'x' %}", "{% extends %} is not supported"},
      {"\n\n{% import 'x' as y %}", "line 3: {% import %} is not supported"},
      {"{% autoescape true %}{% endautoescape %}", "{% autoescape %} is not supported"},
      {"{% block x %}{% endblock %}", "{% block %} is not supported"},
      {"{% do x.y() %}", "{% do %} is not supported"},
      {"{% trans %}x{% endtrans %}", "{% trans %} is not supported"},
      {"\n{{ 'x' | urlize }}", "line 2: the filter \"urlize\" is not supported"},
      {"{% if x %}{{ 'x' | random }}{% endif %}", "the filter \"random\" is not supported"},
      {"{{ 1 | nosuch }}", "the filter \"nosuch\" is not supported"},
      {"{{ 1 is prime }}", "the test \"prime\" is not supported"},
      {"{{ 'x'.encode() }}", "encode() is not supported"},
      {"{{ lipsum() }}", "lipsum() is not supported"},
      {"{% break %}", "outside a loop"},
      {"{{ f(a=1, 2) }}", "follows one with a name"},
  };
  for (const auto& [source, part] : cases) {
    const std::string found = error_of([&text = source] { ChatTemplate{text}; });
    EXPECT_TRUE(contains(found, part)) << source << ": " << found;
  }
  // Jinja looks up such a name only when the branch is taken.
  EXPECT_EQ(rendered("{% if false %}{{ 1 | nosuch }}{% endif %}{{ (1 is prime) if false else 'ok' }}"), "ok");
}

TEST(ChatTemplate, MembersThatAreNullAreNotThere) {
  ChatInput input;
  input.messages = Json::parse(R"([{"role": "assistant", "content": null, "tool_calls": [{"id": "a"}]}])");
  EXPECT_EQ(ChatTemplate("{{ messages[0].content is none }}{{ messages[0]['content'] is string }}"
                         "{{ 'content' in messages[0] }}{{ messages[0].get('content', 'x') }}{{ messages[0].content }}")
                .render(input),
            "FalseFalseFalsex");
  // Nulls at deeper levels, and outside of messages, are kept.
  input.messages = Json::parse(R"([{"role": "user", "content": [{"text": null}]}])");
  input.tools = Json::parse(R"([{"a": null}])");
  EXPECT_EQ(ChatTemplate("{{ messages[0].content[0].text is none }}{{ tools[0].a is none }}").render(input),
            "TrueTrue");
}

TEST(ChatTemplate, ThoughtsHaveTheNamesThatTemplatesAskFor) {
  ChatInput input;
  input.messages = Json::parse(R"([{"role": "assistant", "reasoning": "r", "content": "c"},
                                   {"thinking": "t", "reasoning_content": null}, {"content": "d"}])");
  EXPECT_EQ(ChatTemplate("{% for m in messages %}{{ m.reasoning_content }}{{ m.thinking }}{{ m | list }};{% endfor %}")
                .render(input),
            "rr['thinking', 'role', 'reasoning', 'content', 'reasoning_content'];tt['thinking', "
            "'reasoning_content'];['content'];");
}

TEST(ChatTemplate, MappingsAndViewsAreEqualWhateverTheirOrder) {
  EXPECT_EQ(
      rendered("{{ {'a': 1, 'b': [2], 3: {'c': none}} == {3: {'c': none}, 'b': [2], 'a': 1} }}"
               "{{ {'a': 1, 'b': 2} == {'b': 1, 'a': 2} }}{{ {'a': 1, 'b': 2} == {'b': 2, 'c': 1} }}"
               "{{ {1: 'x', 'y': 2} == {'y': 2.0, true: 'x'} }}{{ {(1, 'a'): 1, (1, 'b'): 2} == {(1, 'b'): 2, (1, "
               "'a'): 1} }}"),
      "TrueFalseFalseTrueTrue");
  EXPECT_EQ(rendered("{% set a = {'a': [1], 'b': {}} %}{% set b = {'b': {}, 'a': [1]} %}{{ a.keys() == b.keys() }}"
                     "{{ a.items() == b.items() }}{{ a.items() == {'b': {}, 'a': [2]}.items() }}"
                     "{{ {('k', 1): 0}.keys() == {'k': 1}.items() }}{{ a.values() == b.values() }}"),
            "TrueTrueFalseTrueFalse");
  // No integer is rounded when it is compared with a float.
  EXPECT_EQ(rendered("{{ 9007199254740993 == 9007199254740992.0 }}{{ 9007199254740993 > 9007199254740992.0 }}"
                     "{{ 9223372036854775807 < 9223372036854775808.0 }}{{ 2 == 2.0 }}{{ -3 < -2.5 }}{{ -2 < -2.5 }}"),
            "FalseTrueTrueTrueTrueFalse");
  EXPECT_EQ(rendered("{% set n = 'nan' | float %}{% set d = dict([(n, 1), ('b', 2)]) %}{{ d | items | list }}"
                     "{{ d == dict([('b', 2), (n, 1)]) }}{{ [n] < [n] }}"),
            "[(nan, 1), ('b', 2)]FalseFalse");
}

TEST(ChatTemplate, TheLeastAndTheGreatestIntegerAreTakenForWidths) {
  const std::string least = "{% set least = -9223372036854775807 - 1 %}{% set most = 9223372036854775807 %}";
  EXPECT_EQ(rendered(least + "{{ '-ab'.zfill(least) }}|{{ 'ab'.rjust(least) }}|{{ 'ab'.ljust(least) }}|"
                             "{{ 'ab'.center(least) }}|{{ 'ab' | center(least) }}"),
            "-ab|ab|ab|ab|ab");
  EXPECT_EQ(rendered(least + "{{ 'a b' | truncate(most, leeway=most) }}|{{ 'a,b'.split(',', least) }}|"
                             "{{ 'a b'.rsplit(none, least) }}|{{ 'aa'.replace('a', 'b', least) }}|"
                             "{{ [1, 2] | batch(least, 0) | list }}"),
            "a b|['a', 'b']|['a', 'b']|bb|[[1, 2]]");
  EXPECT_EQ(rendered("{{ -1e30 | filesizeformat }}|{{ -0.5 | filesizeformat }}"),
            "-1000000000000000019884624838656 Bytes|0 Bytes");
}

TEST(ChatTemplate, RoundsToTheFirstDigitOfANumber) {
  EXPECT_EQ(rendered("{{ 0.05 | round(1) }} {{ 0.005 | round(2) }} {{ 0.04 | round(1) }}"), "0.1 0.01 0.0");
}

TEST(ChatTemplate, ListsTheKeysOfItsTables) {
  using Keys = std::vector<std::string>;
  const ChatTemplate chat(
      "{%- set names = {'de': 'German', \"pt-BR\": 1} -%}{% set other = {1: 2} %}{% set one = 'x' %}"
      "{% if true %}{% set inner = {'a': 'b'} %}{% endif %}");
  EXPECT_EQ(chat.table_keys("names"), (Keys{"de", "pt-BR"}));
  for (const char* none : {"other", "one", "inner", "missing"}) EXPECT_EQ(chat.table_keys(none), Keys{}) << none;
}

}  // namespace
}  // namespace tril::chat_test
