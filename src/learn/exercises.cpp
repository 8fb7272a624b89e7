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

double number_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || at != end || !std::isfinite(value))
    fail_usage("answer", fmt::format("\"{}\" is not a number", printable(text)),
               "give numbers with spaces between them: 0.25 0.5 -1");
  return value;
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
                     given.size() - wrong.size(), given.size(), fmt::join(wrong, ", "));
}

}  // namespace

Exercise exercise(int chapter_number, int number) {
  const int c = chapter(chapter_number).number;
  check(number == 1 || number == 2, "exercise", "chapter {} has the exercises 1 and 2, not {}", c, number);
  switch (c) {
    case 1:
    case 2:
      return input_exercise(c, number);
    case 3:
    case 4:
    case 5:
    case 8:
      return attention_exercise(c, number);
    case 10:
    case 11:
    case 12:
      return training_exercise(c, number);
    case 13:
      return decoding_exercise(c, number);
    default:
      return model_exercise(c, number);
  }
}

Verdict check_answer(const Exercise& e, const std::vector<std::string>& answer, Language l) {
  if (e.problem_of_file) {
    check(answer.size() == 1, "answer", "expected the name of one file, got {} words", answer.size());
    const std::string problem = e.problem_of_file(answer[0], l);
    return {problem.empty(), problem};
  }
  std::vector<double> given;
  for (const std::string& text : answer) given.push_back(number_of(text));
  check(given.size() == e.answer.size(), "answer", "expected {} numbers, got {}", e.answer.size(), given.size());
  if (agree(given, e.answer, e.tolerance)) return {true, ""};
  return {false, what_is_wrong(e, given, l)};
}

}  // namespace tril::learn
