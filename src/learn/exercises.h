// The exercises of the course, two for each chapter. The learner answers with numbers or with a file; the engine computes the
// truth, and the errors that people make are computed too, so that a wrong answer can be explained.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "learn/language.h"

namespace tril::learn {

/// Numbers that a known error gives.
struct Mistake {
  std::vector<double> gives;
  Text because;
};

struct Exercise {
  Text task;
  std::vector<double> answer;  ///< empty: the answer is a file
  double tolerance = 0.006;    ///< two digits after the point are enough
  std::vector<Mistake> mistakes;
  /// What is wrong with a file, or "". @throws Error if it cannot be read at all
  std::function<std::string(const std::string& path, Language)> problem_of_file;
};

/// @param number  1 or 2
/// @throws Error(usage) if there is no such exercise
Exercise exercise(int chapter, int number);

struct Verdict {
  bool is_right = false;
  std::string text;
};

/// @throws Error(usage) for an answer of another form: not a number, another count of numbers, or not one file
Verdict check_answer(const Exercise& e, const std::vector<std::string>& answer, Language language);

// By chapters; called by exercise().
Exercise input_exercise(int chapter, int number);      ///< 1, 2
Exercise attention_exercise(int chapter, int number);  ///< 3, 4, 5, 8
Exercise model_exercise(int chapter, int number);      ///< 6, 7, 9, 14
Exercise training_exercise(int chapter, int number);   ///< 10, 11, 12
Exercise decoding_exercise(int chapter, int number);   ///< 13

}  // namespace tril::learn
