// The exercises of the course, two for each chapter. The learner answers with numbers or with a file; the engine computes the
// truth, and the errors that people make are computed too, so that a wrong answer can be explained.
#pragma once

#include <array>
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

// By chapters; exercise() chooses among them.
using TwoExercises = std::array<Exercise (*)(), 2>;
TwoExercises exercises_on_ids();
TwoExercises exercises_on_positions();
TwoExercises exercises_on_a_head();
TwoExercises exercises_on_the_mask();
TwoExercises exercises_on_heads();
TwoExercises exercises_on_norms();
TwoExercises exercises_on_feed_forward();
TwoExercises exercises_on_cross_attention();
TwoExercises exercises_on_the_decoder();
TwoExercises exercises_on_the_loss();
TwoExercises exercises_on_gradients();
TwoExercises exercises_on_training();
TwoExercises exercises_on_decoding();
TwoExercises exercises_on_changes();

}  // namespace tril::learn
