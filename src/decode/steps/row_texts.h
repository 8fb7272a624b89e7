// All tokens that each row of a step has read. For steps that may read a row again.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/step.h"

namespace tril::search {

class RowTexts {
 public:
  /// A new sentence begins in the next step. These tokens come before those of the step.
  void begin(std::int32_t sentence, std::span<const std::int32_t> tokens);
  /// Follows a step: makes the rows those of the step and appends its tokens.
  void follow(const StepInput& input);

  std::size_t rows() const { return texts_.size(); }
  std::span<const std::int32_t> operator[](std::size_t row) const { return texts_[row]; }

 private:
  std::vector<std::vector<std::int32_t>> texts_, next_;
  std::map<std::int32_t, std::vector<std::int32_t>> begun_;  ///< by sentence
};

}  // namespace tril::search
