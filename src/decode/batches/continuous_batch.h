// Sentences that are searched together over one step function, each by options of its own. Between two steps any of them
// may join or leave; a step's batch holds the live rows of all, a sentence that is done leaves at once. As it goes:
//
//   ContinuousBatch batch(step);
//   batch.join(0, request, options);
//   while (!batch.empty()) {
//     batch.step(c);
//     ... batch.take_ended(); join() and cut() as wanted
//   }
//
// Prompts are read in portions, in the order of joining, beside the tokens of those who go on. What comes of a sentence
// does not depend on who else is there (but for the rounding of products of other sizes).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "decode/batches/decode.h"
#include "search/candidates.h"
#include "search/search.h"

namespace tril::search {

class ContinuousBatch {
 public:
  /// Tokens of prompts that one step reads at most: more than a few thousand make products no faster and take memory.
  static constexpr std::int32_t default_prompt_tokens = 4096;

  /// The step must outlive it. Callbacks may be empty; NewToken::request and Partial::request are sentences' numbers.
  explicit ContinuousBatch(Step& step, std::int32_t prompt_tokens = default_prompt_tokens, OnToken on_token = {},
                           OnPartial on_partial = {});
  ~ContinuousBatch();
  ContinuousBatch(const ContinuousBatch&) = delete;
  ContinuousBatch& operator=(const ContinuousBatch&) = delete;

  /// `sentence` takes part from the next step on; the step function knows it by this number (StepInput::sentences), which
  /// no other one that is here may have. Sentences of one and the same options object share the work of choosing.
  /// @throws Error(usage) where options or request contradict themselves
  void join(std::int32_t sentence, const Request& request, std::shared_ptr<const SearchPlan> options);
  /// Ends a sentence where it is, before the next step; what is best by now is its result.
  void cut(std::int32_t sentence, StopReason why);
  void cut_all(StopReason why);
  /// One token more for everyone whose prompt has been read. What the step function throws ends this batch.
  void step(Context& c);

  struct Ended {
    std::int32_t sentence = 0;
    std::vector<Hypothesis> hypotheses;  ///< best first, or in the samples' order
    std::exception_ptr error;  ///< of this sentence's own search (scores that are not numbers), then no hypotheses
  };
  /// Those that were done, late or cut since the last call.
  std::vector<Ended> take_ended();

  bool empty() const { return live_.empty(); }
  std::size_t sentences() const { return live_.size(); }
  /// Of the last step: rows, tokens of prompts among what they read, and those that had been read before for others.
  struct StepSize {
    std::size_t rows = 0, prompt_tokens = 0, remembered = 0;
  };
  const StepSize& last() const { return last_; }

 private:
  struct Group;
  struct Sentence {
    std::unique_ptr<Search> search;
    std::int32_t number = 0;
    Group* group = nullptr;
    std::uint64_t joined = 0;          ///< a number that grows
    std::int32_t row = -1;             ///< its first row in the last step; -1: it was in none
    std::int32_t given = 0, read = 0;  ///< tokens of start and prefix, and how many of them have been read
    bool is_answered() const { return row >= 0 && read == given; }  ///< in the present step
    std::int32_t portion = 0;                                       ///< of those, in the present step
    Clock::time_point begun = {};
  };
  Group& group_of(std::shared_ptr<const SearchPlan> options);
  void order();
  void share_out();
  StepInput lay_out();
  void remember_prompts();
  void cut_late();
  struct Run;
  struct Found;
  std::vector<Run> runs() const;
  Found find(Context& c, const StepOutput& output, const Run& run, std::size_t row,
             std::span<const Candidate> projected);
  void advance(Context& c, const StepOutput& output);
  void advance(Sentence& s, std::span<const Candidate> candidates, std::int32_t k, const Search::Seen& seen);
  void end(Sentence& s, std::exception_ptr error = {});
  void tell(const Sentence& s) const;

  Step* step_;
  std::int32_t prompt_tokens_;
  OnToken on_token_;
  OnPartial on_partial_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Sentence> live_;  ///< those of a group beside each other, those that begin after the others
  std::vector<Ended> ended_;
  std::uint64_t joins_ = 0, made_ = 0;  ///< sentences and groups so far
  StepSize last_;
  ProjectedFinder projected_;
  // The next step's input, and what is known of its rows that are answered.
  std::vector<std::int32_t> ids_, counts_, parents_, numbers_, answers_, prompt_lengths_;
  std::vector<RowView> views_;
};

}  // namespace tril::search
