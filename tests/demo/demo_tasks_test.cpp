// The text of the applications is right, by independent rules, and unambiguous.
#include "demo/demo_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.h"

namespace tril::train {
namespace {

std::vector<DemoPair> some(DemoPair (*pair)(RandomSequence&), int count) {
  RandomSequence random(7, 7);
  std::vector<DemoPair> list;
  for (int i = 0; i < count; ++i) list.push_back(pair(random));
  return list;
}

TEST(DemoTasks, AreFunctionsOfTheSeedAndGiveManyLines) {
  for (const DemoTask& task : demo_tasks()) {
    const auto a = some(task.pair, 2000), b = some(task.pair, 2000);
    EXPECT_EQ(a, b) << task.name;
    std::set<std::string> sources;
    for (const DemoPair& p : a) {
      EXPECT_FALSE(p.source.empty() || p.target.empty()) << task.name;
      EXPECT_EQ((p.source + p.target).find('\n'), std::string::npos);
      sources.insert(p.source);
    }
    EXPECT_GT(sources.size(), task.is_text ? 700u : 1500u) << task.name;
    EXPECT_NE(demo_config(task.name + ".yml").find("after:"), std::string_view::npos) << task.name;
  }
  EXPECT_EQ(demo_config("nothing.yml"), "");
}

TEST(DemoTasks, GiveAsManyLinesAsTheDemoTrainsOn) {
  for (const DemoTask& task : demo_tasks())
    EXPECT_EQ(make_demo_corpus({.train = task.lines, .valid = 1000, .test = 1000}, task.pair).train.size(),
              static_cast<std::size_t>(task.lines))
        << task.name;
}

TEST(DemoTasks, GermanSentencesAgree) {
  // Possible articles before nouns of known gender, adjectives aside.
  const std::map<std::string, std::set<std::string>> articles{{"Mann", {"der", "den", "ein", "einen"}},
                                                              {"Frau", {"die", "eine"}},
                                                              {"Kind", {"das", "ein"}},
                                                              {"Buch", {"das", "ein"}},
                                                              {"Garten", {"im"}},
                                                              {"Stadt", {"der"}}};
  const std::set<std::string> known{"der", "die", "das", "den", "ein", "eine", "einen", "im"};
  const std::string finite =
      "(hat|kann|muss|will|braucht|sieht|findet|liebt|sucht|ruft|l\u00e4dt|holt|kauft|malt|bringt|nimmt|zeigt)";
  const std::regex begins("^" + finite + " .*\\?$"), because(", weil .*" + finite + "\\.$");
  int seen = 0, questions = 0, reasons = 0;
  for (const DemoPair& p : some(translation_pair, 3000)) {
    std::vector<std::string> words;
    std::istringstream stream(std::regex_replace(p.target, std::regex("[.,?]"), ""));
    for (std::string word; stream >> word;) words.push_back(word);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto noun = articles.find(words[i]);
      if (noun == articles.end()) continue;
      const std::string& article = known.contains(words[i - 1]) ? words[i - 1] : words.at(i - 2);
      EXPECT_TRUE(noun->second.contains(article)) << p.target;
      ++seen;
    }
    // A question begins with its finite verb, and a subordinate clause ends with it.
    if (p.source.ends_with("?")) {
      EXPECT_TRUE(std::regex_search(p.target, begins)) << p.target;
      ++questions;
    }
    if (p.target.find(", weil ") != std::string::npos) {
      EXPECT_TRUE(std::regex_search(p.target, because)) << p.target;
      ++reasons;
    }
  }
  EXPECT_GT(seen, 1000);
  EXPECT_GT(questions, 300);
  EXPECT_GT(reasons, 80);
}

// The facts that a text tells, in its order, each as {person, value}, by phrases of this test's own.
std::vector<std::pair<std::string, std::string>> facts_of(const std::string& text) {
  static const std::regex sentence("([^.]+)\\. ?"),
      by_person(
          "(\\w+) (?:lives in|works as a|is a|has become a|plays the|has "
          "learned the|likes|eats) (\\w+)"),
      of_person("The (?:home|favourite food) of (\\w+) is (\\w+)"),
      by_value("(?:In|The) (\\w+) (?:lives|is played by) (\\w+)");
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::sregex_iterator at(text.begin(), text.end(), sentence), end; at != end; ++at) {
    const std::string words = (*at)[1];
    std::smatch m;
    if (std::regex_match(words, m, by_person) || std::regex_match(words, m, of_person))
      facts.emplace_back(m[1], m[2]);
    else if (std::regex_match(words, m, by_value))
      facts.emplace_back(m[2], m[1]);
    else
      ADD_FAILURE() << "not a fact: " << words;
  }
  return facts;
}

// What the answer's last sentence says, by how the question begins or ends.
std::string verb_asked_for(const std::string& question) {
  const auto is = [&](const char* form) { return std::regex_search(question, std::regex(form)); };
  if (is("^(Where|In which city) ")) return " lives in ";
  if (is("^(What is the job|As what) ")) return " works as a ";
  if (is("^Which instrument | play\\?$")) return " plays the ";
  return is("^What is the favourite food | like\\?$") ? " likes " : "no such question";
}

TEST(DemoTasks, AnswersFollowFromThePassage) {
  using Facts = std::vector<std::pair<std::string, std::string>>;
  std::map<std::string, int> seen;
  for (const DemoPair& p : some(reading_pair, 3000)) {
    const std::size_t bar = p.source.find(" | ");
    ASSERT_NE(bar, std::string::npos) << p.source;
    const std::string question = p.source.substr(bar + 3);
    const Facts passage = facts_of(p.source.substr(0, bar)), answer = facts_of(p.target);
    EXPECT_TRUE(question.ends_with("?")) << question;
    const auto about = [&](const std::string& person) {
      Facts facts;
      for (const auto& fact : passage)
        if (fact.first == person) facts.push_back(fact);
      return facts;
    };
    // Names and values of the question: those words of the passage's facts that stand in it.
    const auto asks = [&](const std::string& word) {
      return std::regex_search(question, std::regex("\\b" + word + "\\b"));
    };
    Facts named;
    for (const auto& fact : passage)
      if (asks(fact.first) || asks(fact.second)) named.push_back(fact);

    if (question == "Who is who?") {
      Facts wanted;
      std::set<std::string> done;
      for (const auto& fact : passage)
        if (done.insert(fact.first).second)
          for (const auto& own : about(fact.first)) wanted.push_back(own);
      EXPECT_EQ(answer, wanted) << p.source << " -> " << p.target;
      ++seen["all"];
    } else if (question.starts_with("What do we know of ")) {
      EXPECT_EQ(answer, about(named.at(0).first)) << p.source << " -> " << p.target;
      ++seen["person"];
    } else if (named.size() == 2) {  // by a name, which has two facts
      EXPECT_EQ(answer.size(), 1u) << p.target;
      EXPECT_NE(std::find(named.begin(), named.end(), answer.at(0)), named.end()) << p.source << " -> " << p.target;
      EXPECT_NE(p.target.find(verb_asked_for(question)), std::string::npos) << question << " -> " << p.target;
      ++seen["value"];
    } else {
      ASSERT_EQ(named.size(), 1u) << p.source;
      EXPECT_EQ(answer.at(0), named[0]) << p.source << " -> " << p.target;
      if (answer.size() == 2) {  // by another fact, which is the reason
        const Facts own = about(named[0].first);
        EXPECT_EQ(answer[1], own.at(0) == named[0] ? own.at(1) : own[0]) << p.source << " -> " << p.target;
        EXPECT_NE(p.target.find(verb_asked_for(question), p.target.find('.')), std::string::npos) << p.target;
      }
      ++seen[answer.size() == 2 ? "another fact" : "name"];
    }
  }
  for (const char* kind : {"all", "person", "value", "another fact", "name"}) EXPECT_GT(seen[kind], 200) << kind;
}

TEST(DemoTasks, RepliesHoldWhatWasSaidLast) {
  int booked = 0, complete = 0;
  const std::regex whole("A table for (\\w+) with (\\w+) food on (\\w+) at ([\\w ]+)\\. Is that right\\?$");
  for (const DemoPair& p : some(dialogue_pair, 5000)) {
    EXPECT_TRUE(p.source.starts_with("G: "));
    std::smatch m;
    if (p.target == "Your table is booked.") {
      ++booked;
      EXPECT_NE(p.source.find("Is that right? G: "), std::string::npos) << p.source;
    } else if (std::regex_search(p.target, m, whole)) {
      ++complete;
      for (int part : {1, 2, 3, 4})
        EXPECT_NE(p.source.find(m[part].str()), std::string::npos) << p.source << " -> " << p.target;
    } else {
      EXPECT_TRUE(p.target.ends_with("?")) << p.target;
    }
  }
  EXPECT_GT(booked, 200);
  EXPECT_GT(complete, 800);
}

TEST(DemoTasks, SummariesSayWhatTheFiguresAre) {
  for (const DemoPair& p : some(summary_pair, 2000)) {
    std::map<int, std::string, std::greater<>> sold;
    std::istringstream records(p.source);
    for (std::string name, number, mark; records >> name >> number; records >> mark) sold[std::stoi(number)] = name;
    ASSERT_GE(sold.size(), 3u) << p.source;
    int above = 0;
    for (const auto& [n, name] : sold) above += n > 50;
    const auto capital = [](std::string word) {
      word[0] = static_cast<char>(std::toupper(word[0]));
      return word;
    };
    const auto first = sold.begin(), second = std::next(first), last = std::prev(sold.end());
    const char* const words[] = {"None", "One", "Two", "Three", "Four", "Five", "Six"};
    EXPECT_EQ(p.target, capital(first->second) + " led with " + std::to_string(first->first) + " , before " +
                            second->second + " with " + std::to_string(second->first) + " . " + capital(last->second) +
                            " came last with " + std::to_string(last->first) + " . " + words[above] + " passed 50 .");
  }
}

TEST(DemoTasks, ChineseNumbersAreThoseOfTheLanguage) {
  const std::pair<int, const char*> numbers[] = {{0, "零"},
                                                 {2, "二"},
                                                 {10, "十"},
                                                 {15, "十五"},
                                                 {20, "二十"},
                                                 {105, "一百零五"},
                                                 {110, "一百一十"},
                                                 {1005, "一千零五"},
                                                 {1050, "一千零五十"},
                                                 {10'010, "一万零一十"},
                                                 {30'050, "三万零五十"},
                                                 {45'678, "四万五千六百七十八"},
                                                 {120'000, "十二万"},
                                                 {3'000'001, "三百万零一"}};
  for (const auto& [n, text] : numbers) EXPECT_EQ(chinese_number(n), text);
  std::set<std::string> forms;
  for (const DemoPair& p : some(chinese_pair, 2000)) {
    const bool date = p.source.find("年") != std::string::npos, time = p.source.find("点") != std::string::npos;
    forms.insert(date ? "date" : time ? "time" : "number");
    if (date) {
      EXPECT_TRUE(std::regex_match(p.target, std::regex("(19|20)\\d\\d-[01]\\d-[0-2]\\d"))) << p.source << p.target;
    } else if (time) {
      EXPECT_TRUE(std::regex_match(p.target, std::regex("[0-2]\\d:[0-5]\\d"))) << p.source << p.target;
    } else {
      EXPECT_EQ(p.source, chinese_number(std::stoi(p.target)));
    }
  }
  EXPECT_EQ(forms.size(), 3u);
}

TEST(DemoTasks, StoriesAreRightAndWrongOnesAreFound) {
  for (const DemoPair& p : some(story_pair, 2000)) {
    const StoryCheck c = check_story(p.source + p.target);
    EXPECT_EQ(c.right, c.statements) << p.source << p.target;
    EXPECT_GE(c.statements, 1) << p.target;
  }
  const auto check = [](const char* story, int right, int statements) {
    const StoryCheck c = check_story(story);
    EXPECT_EQ(c.right, right) << story;
    EXPECT_EQ(c.statements, statements) << story;
  };
  const std::string begin = "Anna has 3 nuts. Ben has 1 nut.";
  check((begin + " Anna gives Ben 2 nuts. Now Anna has 1 nut and Ben has 3 nuts.").c_str(), 2, 2);
  check((begin + " Anna gives Ben 2 nuts. Now Anna has 2 nuts and Ben has 3 nuts.").c_str(), 1, 2);
  check((begin + " Anna finds 2 nuts. Now Anna has 5 nut.").c_str(), 0, 1);
  check((begin + " Ben loses 2 nuts. Now Ben has 1 nut.").c_str(), 1, 2);
  check((begin + " Clara finds 1 nut. Now Anna has 3 nuts.").c_str(), 1, 2);
  check((begin + " Anna sings. Now Anna has 3 eggs.").c_str(), 0, 2);
  check((begin + " Anna finds 99999999999 nuts. Now Anna has 5 nuts.").c_str(), 0, 1);
}

}  // namespace
}  // namespace tril::train
