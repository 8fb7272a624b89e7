#include "learn/exercises.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "learn/chapters.h"

namespace tril::learn {
namespace {

double number_of(const std::string& text, Language l) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc{} && at == end && std::isfinite(value)) return value;
  const std::string shown = printable(text);
  if (l == Language::english)
    fail_usage("answer", fmt::format("\"{}\" is not a number", shown),
               "give plain numbers with spaces between them, without commas or a plus: 0.25 -1 11000");
  fail_usage("答案", fmt::format("“{}” 不是数字", shown), "请写普通的数，用空格隔开，不用逗号和加号：0.25 -1 11000");
}

bool is_near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

bool agree(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!is_near(a[i], b[i], tolerance)) return false;
  return true;
}

std::string what_is_wrong(const Exercise& e, const std::vector<double>& given, Language l) {
  for (const Mistake& m : e.mistakes)
    if (agree(given, m.gives, e.tolerance)) return std::string(m.because.in(l));
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!is_near(given[i], e.answer[i], e.tolerance)) wrong.push_back(i + 1);
  return fmt::format(fmt::runtime(l == Language::english ? "{} of {} numbers are right; wrong is number {}"
                                                         : "{1} 个数中对了 {0} 个，错的是第 {2} 个"),
                     given.size() - wrong.size(), given.size(), fmt::join(wrong, l == Language::english ? ", " : "、"));
}

}  // namespace

Exercise exercise(int chapter_number, int number) {
  const int c = chapter(chapter_number).number;
  check(number == 1 || number == 2, "exercise", "chapter {} has the exercises 1 and 2, not {}", c, number);
  static const std::vector<TwoExercises> all{
      exercises_on_ids(),         exercises_on_positions(), exercises_on_a_head(),       exercises_on_the_mask(),
      exercises_on_heads(),       exercises_on_norms(),     exercises_on_feed_forward(), exercises_on_cross_attention(),
      exercises_on_the_decoder(), exercises_on_the_loss(),  exercises_on_gradients(),    exercises_on_training(),
      exercises_on_decoding(),    exercises_on_changes()};
  return all.at(as_size(c - 1)).at(as_size(number - 1))();
}

Verdict check_answer(const Exercise& e, const std::vector<std::string>& answer, Language l) {
  if (e.problem_of_file) {
    if (l == Language::english)
      check(answer.size() == 1, "answer", "expected the name of one file, got {} words", answer.size());
    else
      check(answer.size() == 1, "答案", "应为一个文件名，得到 {} 个词", answer.size());
    const std::string problem = e.problem_of_file(answer[0], l);
    return {problem.empty(), problem};
  }
  std::vector<double> given;
  for (const std::string& text : answer) given.push_back(number_of(text, l));
  if (l == Language::english)
    check(given.size() == e.answer.size(), "answer", "expected {} numbers, got {}", e.answer.size(), given.size());
  else
    check(given.size() == e.answer.size(), "答案", "应为 {} 个数，得到 {} 个", e.answer.size(), given.size());
  if (agree(given, e.answer, e.tolerance)) return {true, ""};
  return {false, what_is_wrong(e, given, l)};
}

}  // namespace tril::learn
