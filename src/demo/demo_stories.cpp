// Stories in which things change hands, for a language model: what people have follows from what was told before, and
// check_story() tells whether a model's story is consistent.
//
//   Anna has 4 nuts. Ben has 2 nuts. Anna gives Ben 3 nuts. Now Anna has 1 nut and Ben has 5 nuts. Ben eats 2 nuts. Now ...
#include <fmt/format.h>

#include <map>
#include <regex>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

// 12 * 11 pairs of people, 8 things and 6 * 6 amounts: 38,016 beginnings; no two stories share one.
constexpr std::array story_names{"Anna",  "Ben",  "Clara", "David", "Emma",  "Felix",
                                 "Greta", "Hugo", "Ida",   "Jonas", "Karla", "Leo"};
constexpr std::array story_things{"nut", "coin", "pen", "egg", "card", "shell", "stone", "stamp"};
constexpr int most = 9;

std::string amount(int n, const std::string& thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

}  // namespace

DemoPair story_pair(RandomSequence& random) {
  const std::vector<std::size_t> who = draw_distinct(random, story_names.size(), 2);
  const std::array<std::string, 2> person{story_names[who[0]], story_names[who[1]]};
  const std::string thing = draw_of(random, story_things);
  std::array<int, 2> has{draw_between(random, 1, 6), draw_between(random, 1, 6)};
  const std::string beginning =
      fmt::format("{} has {}. {} has {}.", person[0], amount(has[0], thing), person[1], amount(has[1], thing));
  std::string rest;
  const int events = draw_between(random, 2, 4);
  for (int e = 0; e < events; ++e) {
    const std::size_t a = random.below(2), b = 1 - a;
    const auto kind = random.below(3);
    if (kind == 0 && has[a] > 0 && has[b] < most) {
      const int n = draw_between(random, 1, std::min(has[a], most - has[b]));
      has[a] -= n, has[b] += n;
      rest += fmt::format(" {} gives {} {}. Now {} has {} and {} has {}.", person[a], person[b], amount(n, thing),
                          person[a], amount(has[a], thing), person[b], amount(has[b], thing));
    } else if (kind == 1 && has[a] > 0) {
      const int n = draw_between(random, 1, has[a]);
      has[a] -= n;
      rest +=
          fmt::format(" {} loses {}. Now {} has {}.", person[a], amount(n, thing), person[a], amount(has[a], thing));
    } else if (has[a] < most) {
      const int n = draw_between(random, 1, most - has[a]);
      has[a] += n;
      rest +=
          fmt::format(" {} finds {}. Now {} has {}.", person[a], amount(n, thing), person[a], amount(has[a], thing));
    }
  }
  return {beginning, rest};
}

StoryCheck check_story(std::string_view story) {
  static const std::regex sentence(" ?([^.]*)\\."),
      state("(Now )?(\\w+) has (\\d+) (\\w+?)(?: and (\\w+) has (\\d+) (\\w+?))?"),
      give("(\\w+) gives (\\w+) (\\d+) (\\w+)"), change("(\\w+) (loses|finds) (\\d+) (\\w+)");
  std::map<std::string, int> has;
  StoryCheck check;
  const std::string text(story);
  std::string thing;
  const auto singular = [](std::string word) {
    if (word.ends_with('s')) word.pop_back();
    return word;
  };
  const auto number = [](const std::string& digits) { return digits.size() > 6 ? 1'000'000 : std::stoi(digits); };
  const auto states = [&](bool now, const std::string& name, const std::string& count, const std::string& what) {
    const int n = number(count);
    const bool form = (n == 1) == !what.ends_with('s') && (thing.empty() || singular(what) == thing);
    thing = singular(what);
    if (!now) {
      has[name] = n;
      return;
    }
    ++check.statements;
    check.right += form && has.contains(name) && has[name] == n;
  };
  // An impossible statement counts as wrong, and so does one of unknown form.
  const auto possible = [&](bool ok) {
    if (!ok) ++check.statements;
    return ok;
  };
  for (std::sregex_iterator at(text.begin(), text.end(), sentence), end; at != end; ++at) {
    const std::string words = (*at)[1];
    std::smatch m;
    if (std::regex_match(words, m, give)) {
      const int n = number(m[3]);
      if (possible(has.contains(m[1]) && has.contains(m[2]) && m[1] != m[2] && has[m[1]] >= n))
        has[m[1]] -= n, has[m[2]] += n;
    } else if (std::regex_match(words, m, change)) {
      const int n = number(m[3]);
      if (possible(has.contains(m[1]) && (m[2] == "finds" || has[m[1]] >= n))) has[m[1]] += m[2] == "finds" ? n : -n;
    } else if (std::regex_match(words, m, state)) {
      states(m[1].matched, m[2], m[3], m[4]);
      if (m[5].matched) states(m[1].matched, m[5], m[6], m[7]);
    } else {
      ++check.statements;
    }
  }
  return check;
}

const std::vector<DemoTask>& demo_tasks() {
  static const std::vector<DemoTask> tasks{
      {"translation", "sentences in English, and the same in German", translation_pair, 60'000},
      {"reading", "passages with a question, and its answer", reading_pair, 60'000},
      {"dialogue", "dialogues about booking a table, and the next reply", dialogue_pair, 40'000},
      {"summary", "sales records, and their summary in words", summary_pair, 60'000},
      {"chinese", "numbers, dates and times in Chinese, and their digits", chinese_pair, 40'000},
      {"text", "stories in which things change hands", story_pair, 20'000, true}};
  return tasks;
}

}  // namespace tril::train
