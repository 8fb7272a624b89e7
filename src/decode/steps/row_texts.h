// The tokens that each row of a step has read, from its first one. A step that may have to read a row again keeps them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/step.h"

namespace tril::search {

class RowTexts {
 public:
  /// The sentence's row begins in the next step, and these tokens come before those that the step gives it.
  void begin(std::int32_t sentence, std::span<const std::int32_t> tokens);
  /// The rows become those of this step, whose tokens they have read then.
  void follow(const StepInput& input);

  std::size_t rows() const { return texts_.size(); }
  std::span<const std::int32_t> operator[](std::size_t row) const { return texts_[row]; }

 private:
  std::vector<std::vector<std::int32_t>> texts_, next_;
  std::map<std::int32_t, std::vector<std::int32_t>> begun_;  ///< by sentence
};

}  // namespace tril::search
