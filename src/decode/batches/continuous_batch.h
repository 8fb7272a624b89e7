// Continuous batching: sentences with different options share one step function. They join and leave between two steps. Each
// step processes the live rows of all sentences, and a finished sentence leaves at once:
//
//   ContinuousBatch batch(step);
//   batch.join(0, request, options);
//   while (!batch.empty()) {
//     batch.step(c);
//     ... batch.take_ended(), join(), cut()
//   }
//
// Prompts are read in portions, in the order of joining, in the same steps in which other sentences are decoded. With a speculator
// (speculator.h), a step may read several proposed tokens of a row. The result of a sentence depends neither on the others nor on
// proposals, except for the rounding of products of other sizes.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/speculator.h"
#include "search/candidates.h"
#include "search/search.h"

namespace tril::search {

class ContinuousBatch {
 public:
  /// The default limit of prompt tokens per step. More than a few thousand do not make products faster, but need memory.
  static constexpr std::int32_t default_prompt_tokens = 4096;

  struct Options {
    std::int32_t prompt_tokens = default_prompt_tokens;  ///< maximum number of prompt tokens per step
    /// Callbacks, which may be empty; their `request` is the sentence's number.
    OnToken on_token = {};
    OnPartial on_partial = {};
    Speculator* speculator = nullptr;  ///< must outlive the batch; null: nothing is proposed
  };
  /// The step must outlive the batch.
  explicit ContinuousBatch(Step& step, Options options);
  ~ContinuousBatch();
  ContinuousBatch(const ContinuousBatch&) = delete;
  ContinuousBatch& operator=(const ContinuousBatch&) = delete;

  /// Adds a sentence, which takes part from the next step on. `sentence` must not be in use; it is the sentence's number in
  /// StepInput::sentences. Sentences with the same options object are searched together, which is faster.
  /// @throws Error(usage) if the options or the request are contradictory
  void join(std::int32_t sentence, const Request& request, std::shared_ptr<const SearchPlan> options);
  /// Ends a sentence before the next step. Its result is the best hypothesis so far.
  void cut(std::int32_t sentence, StopReason why);
  void cut_all(StopReason why);
  /// Runs one step: prompts are read further, and every sentence with a complete prompt gets one token. If the step function
  /// throws, the batch cannot be used any more.
  void step(Context& c);

  struct Ended {
    std::int32_t sentence = 0;
    std::vector<Hypothesis> hypotheses;  ///< best first, or in the samples' order
    std::exception_ptr error;  ///< an error of this sentence's search, for example NaN scores; then no hypotheses
    ProposalCounts proposals;
  };
  /// The sentences that have ended since the last call: finished, out of time or cut.
  std::vector<Ended> take_ended();

  bool empty() const { return live_.empty(); }
  std::size_t sentences() const { return live_.size(); }
  /// Counts of the last step: rows, prompt tokens read, and prompt tokens found in the prefix cache.
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
    std::uint64_t joined = 0;          ///< increases with every join()
    std::int32_t row = -1;             ///< its first row in the last step; -1: it had none
    std::int32_t given = 0, read = 0;  ///< prompt tokens (start and prefix), and how many of them have been read
    bool is_answered() const { return row >= 0 && read == given; }  ///< in the current step
    std::int32_t portion = 0;                                       ///< prompt tokens to read in the current step
    Clock::time_point begun = {};
    // Of a sentence that may get proposals:
    std::vector<std::int32_t> text = {};  ///< its tokens, then the proposals of the current step
    std::int32_t drafted = -1;            ///< its row of Speculator::propose() in the current step; -1: none
    std::int32_t wrong = 0;               ///< proposals at the end of `row` that were rejected
    std::size_t agreed = 0;               ///< tokens of `row` that are those of the sentence
    ProposalCounts proposals = {};
  };
  Group& group_of(std::shared_ptr<const SearchPlan> options);
  void order();
  void divide_prompt_tokens();
  bool may_get_proposals(const Sentence& s) const;
  void propose(Context& c);
  std::size_t proposed(const Sentence& s) const;
  StepInput make_input();
  void add_row(Sentence& s, std::int32_t r);
  void offer_prefixes();
  void cut_late();
  struct Run;
  struct Found;
  std::vector<Run> runs() const;
  Found find(Context& c, const StepOutput& output, const Run& run, std::size_t row,
             std::span<const Candidate> projected);
  void advance(Context& c, const StepOutput& output);
  void advance(Sentence& s, Found& found, std::size_t first, std::span<const float> attention);
  void end(Sentence& s, std::exception_ptr error = {});
  void report(const Sentence& s) const;

  Step* step_;
  Options options_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Sentence> live_;  ///< ordered by group; new sentences come last
  std::vector<Ended> ended_;
  std::uint64_t joins_ = 0, made_ = 0;  ///< numbers of sentences and groups so far
  StepSize last_;
  ProjectedFinder projected_;
  // The input of the next step, and the views of the rows that it answers.
  std::vector<std::int32_t> ids_, counts_, parents_, numbers_, cuts_, answers_, prompt_lengths_;
  std::vector<RowView> views_;
};

}  // namespace tril::search
