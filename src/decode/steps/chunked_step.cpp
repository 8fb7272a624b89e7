#include "decode/steps/chunked_step.h"

#include <numeric>

namespace tril::search {
namespace {

// The tokens of a step that have not been read yet. Each chunk takes some of them.
class Portions {
 public:
  explicit Portions(const StepInput& input) : input_(&input), left_(input.counts.begin(), input.counts.end()) {}

  std::int64_t left() const { return std::reduce(left_.begin(), left_.end(), std::int64_t{0}); }
  // Takes at most `most` tokens, and none that need an answer.
  void take_before_answers(std::int32_t most) {
    ids.clear(), counts.clear();
    for (std::size_t r = 0; r < left_.size(); ++r)
      take(r, std::min(left_[r] - answers(r), most - static_cast<std::int32_t>(ids.size())));
  }
  void take_rest() {
    ids.clear(), counts.clear();
    for (std::size_t r = 0; r < left_.size(); ++r) take(r, left_[r]);
  }

  std::vector<std::int32_t> ids, counts;

 private:
  std::int32_t answers(std::size_t r) const { return input_->answers.empty() ? 1 : input_->answers[r]; }
  void take(std::size_t r, std::int32_t n) {
    if (r == 0) end_ = 0;
    end_ += input_->counts[r];
    const auto begin = input_->ids.begin() + end_ - left_[r];
    ids.insert(ids.end(), begin, begin + n);
    counts.push_back(n);
    left_[r] -= n;
  }

  const StepInput* input_;
  std::vector<std::int32_t> left_;
  std::ptrdiff_t end_ = 0;  ///< end of the row's tokens in StepInput::ids
};

}  // namespace

// If the step does not give prompt lengths, each row counts as one prompt.
std::vector<std::int32_t> ChunkedStep::prompt_lengths_of(const StepInput& input) const {
  if (!input.prompt_lengths.empty()) return {input.prompt_lengths.begin(), input.prompt_lengths.end()};
  std::vector<std::int32_t> lengths;
  for (std::size_t r = 0; r < input.counts.size(); ++r)
    lengths.push_back(input.counts[r] + (input.parents[r] < 0 ? 0 : cache_->length(input.parents[r])) -
                      (input.cuts.empty() ? 0 : input.cuts[r]));
  return lengths;
}

StepOutput ChunkedStep::step(Context& c, const StepInput& input) {
  const std::int64_t rows = std::ssize(input.counts), total = std::ssize(input.ids);
  if (total <= chunk_ || total <= rows) return StepDecorator::step(c, input);
  if (cache_->options().window == 0)  // once, with some room for generated tokens
    cache_->reserve(cache_->used_slots() + total + total / 16 + 64);

  const std::vector<std::int32_t> prompt_lengths = prompt_lengths_of(input), none(rows, 0);
  std::vector<std::int32_t> same(rows);
  std::iota(same.begin(), same.end(), 0);
  std::int64_t answered = rows;
  if (!input.answers.empty()) answered = std::reduce(input.answers.begin(), input.answers.end(), std::int64_t{0});
  Portions portions(input);
  StepInput part = input;
  part.prompt_lengths = prompt_lengths, part.answers = none, part.wanted = Wanted::nothing, part.attention = false;
  while (portions.left() > chunk_ && portions.left() > answered) {
    portions.take_before_answers(chunk_);
    part.ids = portions.ids, part.counts = portions.counts;
    StepDecorator::step(c, part);
    part.parents = same, part.cuts = {};
  }
  portions.take_rest();
  part.ids = portions.ids, part.counts = portions.counts;
  part.answers = input.answers, part.wanted = input.wanted, part.attention = input.attention;
  return StepDecorator::step(c, part);
}

}  // namespace tril::search
