// The exercises of the course: right answers, known errors, and answers of another form.
#include "learn/exercises.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/chapters.h"
#include "learn/worked.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/run_program.h"

namespace tril::learn {
namespace {

std::vector<std::string> as_words(const std::vector<double>& numbers) {
  std::vector<std::string> words;
  for (const double x : numbers) words.push_back(fmt::format("{:.3f}", x));
  return words;
}

TEST(Exercises, TellRightAnswersFromKnownErrors) {
  int mistakes = 0;
  for (const Chapter& c : chapters())
    for (const int number : {1, 2}) {
      const int chapter = c.number;
      SCOPED_TRACE(fmt::format("{}.{}", chapter, number));
      const Exercise e = exercise(chapter, number);
      EXPECT_FALSE(e.task.english.empty());
      EXPECT_FALSE(e.task.chinese.empty());
      if (e.problem_of_file) continue;
      EXPECT_TRUE(check_answer(e, as_words(e.answer), Language::english).is_right);
      for (const Mistake& m : e.mistakes) {
        ASSERT_EQ(m.gives.size(), e.answer.size());
        for (const Language l : {Language::english, Language::chinese}) {
          const Verdict v = check_answer(e, as_words(m.gives), l);
          EXPECT_FALSE(v.is_right);
          EXPECT_EQ(v.text, m.because.in(l));
        }
        ++mistakes;
      }
    }
  EXPECT_GT(mistakes, 50);
}

// Truths that are known without the engine.
TEST(Exercises, AnswersAreThoseOfTheFormulas) {
  const auto near = [](int chapter, int number, const std::vector<double>& truth) {
    const Exercise e = exercise(chapter, number);
    ASSERT_EQ(e.answer.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(e.answer[i], truth[i], 1e-4) << chapter << "." << number;
  };
  near(1, 1, {2, 3, 4, 5, 2, 1, 0});
  near(1, 2, {16'384'000});
  near(2, 1, {std::sin(1), std::cos(1), std::sin(0.01), std::cos(0.01)});
  near(2, 2, {0.2 + std::sin(1), -0.4 + std::cos(1), 0.6 + std::sin(0.01), std::cos(0.01)});
  const double a = 1, b = std::exp(2 / std::sqrt(2)), c = std::exp(-1 / std::sqrt(2)),
               sum = a + b + c;  // the scores of (1, -1) are 0, 2 and -1, over sqrt(2)
  near(3, 1, {a / sum, b / sum, c / sum, 0});
  near(3, 2, {(a + 2 * c) / sum, (b + 2 * c) / sum});
  near(4, 1, {1, 0, 0, 1, 1, 0, 1, 1, 1});
  near(4, 2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1});
  near(5, 1, {64, 4 * (512 * 512 + 512)});
  near(5, 2, {2, 8, 10, 64, 3});
  const double sigma = std::sqrt(3.5);
  near(6, 1, {-2 / sigma, -1 / sigma, 0, 3 / sigma});
  const double root = std::sqrt(12.5);
  near(6, 2, {1 / root, 2 / root, 3 / root, 6 / root});
  near(7, 1, {4.1, 1.5});
  near(7, 2, {100.0 * 2'099'712 / 3'150'336});
  near(8, 1, {10, 15, 1200});
  const double w = 1 / (1 + std::exp(std::sqrt(0.5)));
  near(8, 2, {w, 1 - w, 0});  // the scores are 1 and 2, over sqrt(2)
  near(9, 1, {11'450'640});
  near(10, 1, {std::log(1 + std::exp(-1) + std::exp(-2))});
  near(10, 2, {0, 5, 7, 9, 5, 7, 9, 2});
  const double z = std::exp(2) + std::exp(1) + 1;
  near(11, 1, {std::exp(2) / z - 1, std::exp(1) / z, 1 / z});
  near(11, 2, {0.16, -0.06, -0.1});
  near(12, 1, {1.746928, 6.987712, 3.493856});
  near(12, 2, {std::log(std::exp(2) + std::exp(1) + 2) - 1.875});  // 1.875 = 0.925 x 2 + 0.025 x 1
  const double u = 1 / (1 + std::exp(-2));  // the logits over 0.5 are 4, 2, 0, -2; the first two have more than 0.9
  near(13, 1, {u, 1 - u, 0, 0});
  near(13, 2, {2 * 6 * 2 * 64 * 4});
  near(14, 1, {std::cos(2), std::sin(2)});
  near(14, 2, {std::cos(2)});
}

TEST(Exercises, RefuseAnswersOfAnotherForm) {
  const Exercise e = exercise(3, 1);
  EXPECT_TRUE(contains(error_of([&] {
                         check_answer(e, {"1", "x", "0", "0"}, Language::english);
                       }),
                       "\"x\" is not a number", "without commas or a plus: 0.25"));
  EXPECT_TRUE(contains(error_of([&] {
                         check_answer(e, {"1", "nan", "0", "0"}, Language::english);
                       }),
                       "\"nan\" is not a number"));
  EXPECT_TRUE(contains(error_of([&] { check_answer(e, {"1", "0"}, Language::english); }), "expected 4 numbers, got 2"));
  for (const char* text : {"11,450,640", "+0.5", "\u22121"})
    EXPECT_TRUE(contains(error_of([&] {
                           check_answer(e, {text, "0", "0", "0"}, Language::chinese);
                         }),
                         "不是数", "不用逗号和加号"));
  EXPECT_TRUE(contains(error_of([&] { check_answer(e, {"1", "0"}, Language::chinese); }), "应为 4 个数，得到 2 个"));
  EXPECT_TRUE(contains(error_of([] { check_answer(exercise(9, 2), {"a", "b"}, Language::chinese); }), "一个文件名"));
  EXPECT_TRUE(contains(error_of([] { grid(2, 2, {1, 2, 3}); }), "expected 2 x 2 values, got 3"));
  EXPECT_TRUE(contains(error_of([] { exercise(15, 1); }), "no chapter 15", "1 to 14"));
  EXPECT_TRUE(contains(error_of([] { exercise(3, 3); }), "1 and 2, not 3"));
  const Verdict v = check_answer(e, {"0.9", "0.7337", "0.0879", "0"}, Language::english);
  EXPECT_TRUE(contains(v.text, "3 of 4", "number 1"));
  EXPECT_EQ(check_answer(e, {"0.9", "0.7337", "0.0879", "0"}, Language::chinese).text,
            "4 个数中对了 3 个，错的是第 1 个");
  EXPECT_EQ(check_answer(e, {"0.9", "0.2", "0.0879", "0"}, Language::chinese).text,
            "4 个数中对了 2 个，错的是第 1、2 个");
}

TEST(Exercises, ReadAConfigurationFile) {
  const Exercise e = exercise(9, 2);
  const ScratchFolder folder;
  const auto verdict = [&](const std::string& config) {
    folder.write("config.json", config);
    return check_answer(e, {folder.at("config.json")}, Language::english);
  };
  const auto gpt2 = [](int vocabulary, int d) {
    return fmt::format(
        R"({{"model_type": "gpt2", "vocab_size": {}, "n_embd": {}, "n_layer": 4, "n_head": 4, "n_positions": 64,
                           "bos_token_id": 0, "eos_token_id": 0}})",
        vocabulary, d);
  };
  EXPECT_TRUE(verdict(gpt2(1000, 112)).is_right) << verdict(gpt2(1000, 112)).text;
  EXPECT_TRUE(contains(verdict(gpt2(1000, 256)).text, "smaller"));
  EXPECT_TRUE(contains(verdict(gpt2(1000, 32)).text, "room for more"));
  EXPECT_TRUE(contains(verdict(gpt2(2000, 96)).text, "2,000 tokens"));
  EXPECT_TRUE(contains(verdict(R"({"model_type": "t5", "vocab_size": 1000, "d_model": 64, "d_kv": 16, "d_ff": 64,
                                  "num_layers": 2, "num_heads": 4, "pad_token_id": 0, "eos_token_id": 1,
                                  "decoder_start_token_id": 0})")
                           .text,
                       "has an encoder"));
  EXPECT_TRUE(contains(error_of([&] { verdict("{"); }), "config.json"));
  EXPECT_TRUE(contains(error_of([&] { check_answer(e, {folder.at("none")}, Language::english); }), "none"));
  EXPECT_TRUE(contains(error_of([&] { check_answer(e, {"a", "b"}, Language::english); }), "one file, got 2"));
}

}  // namespace
}  // namespace tril::learn
