// Chat templates: equal to `transformers` on the same conversations, unsupported features refused, and everything
// bounded in time.
#include "chat/chat_template.h"

#include <gtest/gtest.h>

#include <ctime>

#include "base/file.h"
#include "base/rng.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril {
namespace {

using Json = nlohmann::ordered_json;

const Json& golden() {
  static const Json json = Json::parse(read_text(test::test_dir() + "/chat/chat_cases/cases.json", 1 << 24));
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

std::string rendered(const std::string& source) {
  return ChatTemplate(source).render(input_of(golden()["chats"]["turns"], Json::object()));
}

std::string says(const std::string& source) {
  return error_of([&] { rendered(source); });
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

// Lazy values in the hands of a hostile template.
TEST(ChatTemplate, GeneratorsAndFormatsStayWithinTheirBounds) {
  const std::vector<std::string> sources = {
      "{% set ns = namespace(g=[1]) %}{% for i in range(1000) %}{% set ns.g = ns.g | map('string') %}{% endfor %}",
      "{% set l = [1] %}" +
          [] {
            std::string s;
            for (int i = 0; i < 1000; ++i) s += "{% set l = [l.count] %}";
            return s;
          }(),
      "{{ '%1000000000d' % 1 }}",
      "{{ '{:1000000000}'.format(1) }}",
      "{{ '%.1000f' % 1.5 }}",
      "{{ 'x'.center(1000000000000) }}",
      "{{ [0] * 1000000000000 }}",
      "{{ [1] | batch(1000000000000, 0) | list }}",
      "{{ [1] | slice(1000000000000) | list }}",
      "{{ 'x'.expandtabs(1000000000000) }}",
      "{{ ('a' * 1000000).replace('', 'x' * 1000) }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% macro m() %}{{ caller() }}{% endmacro %}{% macro f() %}{% call m() %}{{ f() }}{% endcall %}{% endmacro %}{{ "
      "f() }}",
      "{% for i in range(100000) %}{{ range(100000) | map('string') | select | list | length }}{% endfor %}",
      "{% for i in range(100000) %}{{ range(100000) | batch(1) | list | length }}{% endfor %}",
      "{% for i in range(100000) %}{{ (range(100000) | list).count(i) }}{% endfor %}",
      "{% for i in range(100000) %}{% set x = range(2000) | groupby(0, default=1) | list %}{% endfor %}",
  };
  for (const std::string& source : sources) EXPECT_NE(says(source), "") << source.substr(0, 90);
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

// Each does far more than any real template, by loops, by output or by comparisons.
TEST(ChatTemplate, WhatTakesLongIsStoppedWithinASecond) {
  const std::string nest = "{% for a in range(100000) %}{% for b in range(100000) %}",
                    ends = "{% endfor %}{% endfor %}";
  const std::string twice =
      "{% set ns = namespace(l=['0123456789abcdef']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor "
      "%}";
  const std::string many = [] {
    std::string s;
    for (int i = 0; i < 20000; ++i) s += "{% set name_" + std::to_string(i) + " = 1 %}";
    return s;
  }();
  const std::vector<std::string> sources = {
      nest + ends,
      nest + "x" + ends,
      nest + "{{ a + b }}" + ends,
      nest + "{% set c = a * b %}{% if c is odd %}{{ c }}{% endif %}" + ends,
      nest + "{% set x = messages | tojson %}" + ends,
      nest + "{% set x = messages == messages %}" + ends,
      nest + "{% set x = messages | map(attribute='content') | join %}" + ends,
      nest + "{% set x = range(100000) | list %}" + ends,
      nest + "{% set x = ('a' * 100000) | title %}" + ends,
      nest + "{% set x = ('é' * 100000) | upper %}" + ends,
      nest + "{% set x = ('a' * 100000).split('a') %}" + ends,
      nest + "{% set x = ('a' * 100000) | list | sort | unique %}" + ends,
      "{% set a = 'a' * 4000000 %}{% for i in range(1000) %}{% set x = (a ~ 'b') in a %}{% endfor %}",
      "{% set a = 'a' * 2000000 %}{{ a.rsplit('a' * 1000000 ~ 'b') }}{{ a.strip('b' * 1000000 ~ 'a') }}",
      "{% set a = 'a' * 1000000 %}{% set ns = namespace(t=(a ~ 'b', a ~ 'c')) %}{% for i in range(12) %}{% set ns.t = "
      "ns.t + ns.t %}{% endfor %}{{ a.startswith(ns.t) }}",
      "{% set a = 'a' * 16000000 %}{% for i in range(100000) %}{% if a is lower %}{% endif %}{% endfor %}",
      "{% set a = 'a' * 16000000 %}{% for i in range(100000) %}{% if a.islower() %}{% endif %}{% endfor %}",
      "{% set a = '1' * 16000000 %}{% for i in range(100000) %}{% if a.isdigit() %}{% endif %}{% endfor %}",
      "{% set a = ' ' * 16000000 %}{% for i in range(100000) %}{% set x = a | int + a | float %}{% endfor %}",
      twice + "{{ ns.l }}",
      twice + "{{ ns.l | tojson }}",
      twice + "{% set a = ns.l %}{% set ns.l = [[1]] %}{{ a == [a][0] }}{{ [a] | unique | list | length }}",
      twice + "{{ ns.l is in [1, [2]] }}{{ [ns.l] | join }}",
      many + nest + "{% set x = name_19999 %}" + ends,
  };
  for (const std::string& source : sources) {
    SCOPED_TRACE(source.substr(source.size() > 200 ? source.size() - 200 : 0));
    const std::clock_t begun = std::clock();
    EXPECT_TRUE(contains(says(source), "it does too much work")) << says(source);
    // Processor time, which sanitizers multiply by ten.
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 15);
  }
}

// Searching a text costs its length, whatever operation searches.
TEST(ChatTemplate, SearchesPayForWhatTheyLookThrough) {
  ChatInput input;
  input.messages = Json::array({{{"role", "user"}, {"content", std::string(1 << 20, 'a')}}});
  const std::string what = "'b" + std::string(20, 'a') + "'", last = "'" + std::string(20, 'a') + "b'";
  for (const std::string& search :
       {what + " in s", what + " not in s", "s | replace(" + what + ", 'c')", "s.replace(" + last + ", '')",
        "s.split(" + what + ")", "s.rsplit(" + last + ")", "s.partition(" + what + ")", "s.rpartition(" + last + ")",
        "s.count(" + what + ")", "s.find(" + what + ")", "s.rfind(" + last + ")"}) {
    SCOPED_TRACE(search);
    const auto rounds = [&](int n) {
      return error_of([&] {
        ChatTemplate("{% set s = messages[0].content %}{% for i in range(" + std::to_string(n) +
                     ") %}{% set x = " + search + " %}{% endfor %}")
            .render(input);
      });
    };
    EXPECT_EQ(rounds(10), "");
    EXPECT_TRUE(contains(rounds(120), "it does too much work")) << rounds(120);
  }
}

TEST(ChatTemplate, OneThatIsFarTooLargeIsNotRead) {
  const auto of_size = [](std::size_t bytes) { return ChatTemplate(std::string(bytes, 'x'), "big"); };
  EXPECT_EQ(of_size(4 << 20).render({}).size(), 4u << 20);
  EXPECT_TRUE(
      contains(error_of([&] { of_size((4 << 20) + 1); }), "big: has 4194305 bytes; a chat template has at most"));
}

// Likewise for mappings with many members, compared with one in reverse order.
TEST(ChatTemplate, WhatTakesLongOfLargeMappingsIsStoppedWithinASecond) {
  constexpr int members = 6000;
  ChatInput input;
  Json up = Json::object(), down = Json::object();
  for (int i = 0; i < members; ++i) up["key " + std::to_string(i)] = i;
  for (int i = members; i-- > 0;) down["key " + std::to_string(i)] = i;
  input.messages = Json::array({up, down});
  const std::string begin =
      "{% set a = messages[0] %}{% set b = messages[1] %}{% set p = a | items | list %}"
      "{% set keys = (a.keys(), b.keys()) %}{% set items = (a.items(), b.items()) %}{% for i in range(100000) %}";
  for (const char* what :
       {"a == b", "keys[0] == keys[1]", "items[0] == items[1]", "([[a]] * 9).count([b])", "[b] in [[i], [a]]",
        "a | items | list", "a.get(i)", "a.items() | first", "dict(p)", "namespace(p)", "('%(key 5999)s' * 10000) % a",
        "('{x}' * 10000).format(**a)", "loop.changed(b if loop.index is odd else a)", "[[a, i], [b, i]] | sort"}) {
    SCOPED_TRACE(what);
    const std::clock_t begun = std::clock();
    const auto render = [&] { return ChatTemplate(begin + "{% set x = " + what + " %}{% endfor %}").render(input); };
    const std::string found = error_of(render);
    EXPECT_TRUE(contains(found, "it does too much work") || contains(found, "has no value for")) << found;
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 15);  // as above
  }
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

TEST(ChatTemplate, TextsStayBelowTheirBound) {
  for (const char* source :
       {"{{ (range(1000) | list | tojson(separators=('x' * 100000, ':'))) | length }}",
        "{% set ns = namespace(l=range(20000) | list) %}{% for i in range(55) %}{% set ns.l = [ns.l] %}"
        "{% endfor %}{{ ns.l | tojson(indent=32) | length }}",
        "{{ ('a\n' * 400000) | indent(100) | length }}"})
    EXPECT_TRUE(contains(says(source), "becomes too long")) << says(source);
}

TEST(ChatTemplate, RoundsToTheFirstDigitOfANumber) {
  EXPECT_EQ(rendered("{{ 0.05 | round(1) }} {{ 0.005 | round(2) }} {{ 0.04 | round(1) }}"), "0.1 0.01 0.0");
}

TEST(ChatTemplate, ALongTalkWithManyToolsIsWritten) {
  Json tools = Json::array(), chat = Json::array();
  const Json tool = golden()["cases"][1]["variant"]["tools"][0];
  for (int i = 0; i < 200; ++i) tools.push_back(tool);
  const std::string long_text(2000, 'x');
  const Json calls = golden()["chats"]["tool"][1]["tool_calls"];
  chat.push_back({{"role", "user"}, {"content", long_text}});
  for (int i = 0; i < 1000; ++i) {
    chat.push_back({{"role", "assistant"}, {"content", ""}, {"tool_calls", calls}});
    chat.push_back({{"role", "tool"}, {"name", "weather"}, {"content", long_text}});
    chat.push_back({{"role", "assistant"}, {"content", long_text}});
    chat.push_back({{"role", "user"}, {"content", std::to_string(i) + long_text}});
  }
  for (const char* family : {"chatml", "llama3", "mistral", "qwen3", "granite", "olmo2", "phi3", "generation"}) {
    SCOPED_TRACE(family);
    ChatInput input = input_of(chat, {{"tools", tools}, {"add_generation_prompt", true}});
    const std::string text = ChatTemplate(golden()["templates"][family].get<std::string>(), family).render(input);
    EXPECT_GT(text.size(), std::size_t{3} << 20);
  }
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
