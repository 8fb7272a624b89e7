// Chat templates are not trusted: whatever they say, they end in time, with bounded depth and size.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/rng.h"
#include "chat/chat_input.h"
#include "support/rounds.h"

namespace tril::chat_test {
namespace {

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

// The work that these templates may do: a tenth of the default limit, or all of it in `make soak`.
std::size_t work_limit() {
  const char* const wanted = std::getenv("TRIL_SOAK_WORK");
  return wanted ? std::stoul(wanted) : 10'000'000;
}

// The most processor time for this work: a build without optimisation takes twenty times as long.
double most_seconds() {
  return 40 * static_cast<double>(work_limit()) / 1e8;
}

// Each does far more than any real template, by loops, by output or by comparisons.
TEST(ChatTemplateSoak, WhatTakesLongIsStopped) {
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
    const std::string found = error_of([&text = source] {
      ChatTemplate(text).render(input_of(golden()["chats"]["turns"], Json::object()), work_limit());
    });
    EXPECT_TRUE(contains(found, "it does too much work"));
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, most_seconds());
  }
}

// Searching a text costs its length, whatever operation searches.
TEST(ChatTemplateSoak, SearchesPayForWhatTheyLookThrough) {
  const auto few = static_cast<int>(work_limit() / 10'000'000);
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
            .render(input, work_limit());
      });
    };
    EXPECT_EQ(rounds(few), "");
    EXPECT_TRUE(contains(rounds(12 * few), "it does too much work"));
  }
}

TEST(ChatTemplate, OneThatIsFarTooLargeIsNotRead) {
  const auto of_size = [](std::size_t bytes) { return ChatTemplate(std::string(bytes, 'x'), "big"); };
  EXPECT_EQ(of_size(4 << 20).render({}).size(), 4u << 20);
  EXPECT_TRUE(
      contains(error_of([&] { of_size((4 << 20) + 1); }), "big: has 4194305 bytes; a chat template has at most"));
}

// Likewise for mappings with many members, compared with one in reverse order.
TEST(ChatTemplateSoak, WhatTakesLongOfLargeMappingsIsStopped) {
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
    const auto render = [&] {
      return ChatTemplate(begin + "{% set x = " + what + " %}{% endfor %}").render(input, work_limit());
    };
    const std::string found = error_of(render);
    EXPECT_TRUE(contains(found, "it does too much work") || contains(found, "has no value for")) << found;
    EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, most_seconds());
  }
}

TEST(ChatTemplate, TextsStayBelowTheirBound) {
  for (const char* source :
       {"{{ (range(1000) | list | tojson(separators=('x' * 100000, ':'))) | length }}",
        "{% set ns = namespace(l=range(20000) | list) %}{% for i in range(55) %}{% set ns.l = [ns.l] %}"
        "{% endfor %}{{ ns.l | tojson(indent=32) | length }}",
        "{{ ('a\n' * 400000) | indent(100) | length }}"})
    EXPECT_TRUE(contains(says(source), "becomes too long")) << says(source);
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
  const std::string marks = "{}%#-+|()[]'\".,:=~<>0a \n\\";
  std::uint64_t files = 0, ran = 0;
  for (const auto& [name, source] : golden()["templates"].items())
    files += test::rounds(100, [&, &source = source](RandomSequence& random) {
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
    });
  EXPECT_GT(ran, files / 100);
}

}  // namespace
}  // namespace tril::chat_test
