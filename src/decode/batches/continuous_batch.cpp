#include "decode/batches/continuous_batch.h"

#include <algorithm>

#include "base/error.h"
#include "grammar/automata/constraint.h"
#include "search/search_observer.h"

namespace tril::search {
namespace {

// Groups without sentences are kept for later ones, up to this many.
constexpr std::size_t idle_groups = 16;

}  // namespace

// Sentences with the same options object.
struct ContinuousBatch::Group {
  Group(std::uint64_t n, std::shared_ptr<const SearchPlan> o, std::int64_t vocab_size)
      : number(n),
        options(std::move(o)),
        finder(*options, vocab_size, candidates_per_row(*options), options->has_beam() || options->scores) {}

  std::unique_ptr<Search> new_search() {
    if (idle.empty()) return make_search(*options);
    std::unique_ptr<Search> search = std::move(idle.back());  // reuses its memory
    idle.pop_back();
    return search;
  }

  std::uint64_t number;  ///< in the order of creation
  std::shared_ptr<const SearchPlan> options;
  CandidateFinder finder;
  std::vector<std::unique_ptr<Search>> idle;
  std::size_t members = 0;
};

ContinuousBatch::ContinuousBatch(Step& step, Options options) : step_(&step), options_(std::move(options)) {
  check(options_.prompt_tokens >= 1, "prompt tokens", "expected at least 1 per step, got {}", options_.prompt_tokens);
}

ContinuousBatch::~ContinuousBatch() = default;

ContinuousBatch::Group& ContinuousBatch::group_of(std::shared_ptr<const SearchPlan> options) {
  for (const auto& group : groups_)
    if (group->options == options) return *group;
  check_options(*options, step_->vocab_size());
  if (groups_.size() >= idle_groups) std::erase_if(groups_, [](const auto& group) { return group->members == 0; });
  groups_.push_back(std::make_unique<Group>(made_++, std::move(options), step_->vocab_size()));
  return *groups_.back();
}

void ContinuousBatch::join(std::int32_t sentence, const Request& request, std::shared_ptr<const SearchPlan> options) {
  check_request(request, *options, step_->vocab_size());  // thrown here, it affects no other sentence
  Group& group = group_of(std::move(options));
  Sentence s{.search = group.new_search(), .number = sentence, .group = &group, .joined = joins_++};
  s.search->begin(request);
  s.given = 1 + static_cast<std::int32_t>(request.prefix.size());
  s.begun = Clock::now();
  ++group.members;
  live_.push_back(std::move(s));
}

void ContinuousBatch::cut(std::int32_t sentence, StopReason why) {
  const auto at = std::find_if(live_.begin(), live_.end(), [&](const Sentence& s) { return s.number == sentence; });
  if (at == live_.end()) return;
  try {
    at->search->cut(why);
    report(*at);
    end(*at);
  } catch (...) {
    end(*at, std::current_exception());
  }
  live_.erase(at);
}

// Cuts sentences that run out of time during prefill. The others are checked when they get a token.
void ContinuousBatch::cut_late() {
  std::vector<std::int32_t> late;
  for (const Sentence& s : live_)
    if (s.read < s.given && is_late(s.begun, *s.group->options)) late.push_back(s.number);
  for (const std::int32_t sentence : late) cut(sentence, StopReason::time_limit);
}

void ContinuousBatch::cut_all(StopReason why) {
  while (!live_.empty()) cut(live_.front().number, why);
}

std::vector<ContinuousBatch::Ended> ContinuousBatch::take_ended() {
  return std::exchange(ended_, {});
}

// Reports the sentence's result, and returns its search to the group for reuse.
void ContinuousBatch::end(Sentence& s, std::exception_ptr error) {
  Ended e{.sentence = s.number, .error = std::move(error), .proposals = s.proposals};
  if (!e.error) e.hypotheses = s.search->hypotheses();
  if (e.hypotheses.size() == 1 && !s.group->options->has_beam() && s.is_answered()) {
    // The next turn of a conversation begins with this text.
    const Request& request = s.search->request();
    std::vector<std::int32_t> text{request.start_id};
    text.insert(text.end(), request.prefix.begin(), request.prefix.end());
    text.insert(text.end(), e.hypotheses[0].tokens.begin(), e.hypotheses[0].tokens.end());
    text.resize(std::min(text.size(), s.agreed));  // the row goes on with rejected proposals
    step_->keep_prefix(s.row, text);
  }
  ended_.push_back(std::move(e));
  if (options_.speculator) options_.speculator->remove(s.number);
  s.group->idle.push_back(std::move(s.search));
  --s.group->members;
}

void ContinuousBatch::report(const Sentence& s) const {
  const auto number = static_cast<std::size_t>(s.number);
  const auto& [_, on_token, on_partial, speculator] = options_;
  if (on_token)
    for (const Search::Added& a : s.search->added()) on_token({number, a.sample, a.token, a.ended, a.score});
  if (on_partial && !s.search->done()) on_partial({number, s.search->view(s.search->best_row()).new_tokens()});
}

// Sorts by group, so that each group chooses among its rows at once. New sentences come last.
void ContinuousBatch::order() {
  const auto comes_before = [](const Sentence& a, const Sentence& b) {
    const bool a_begins = a.row < 0, b_begins = b.row < 0;
    return a_begins != b_begins ? b_begins : a.group->number < b.group->number;
  };
  if (!std::is_sorted(live_.begin(), live_.end(), comes_before))
    std::stable_sort(live_.begin(), live_.end(), comes_before);
}

// Divides the prompt tokens of this step: first come, first served, so at most one prompt is read in part.
void ContinuousBatch::divide_prompt_tokens() {
  std::vector<Sentence*> reading;
  for (Sentence& s : live_) {
    s.portion = 0;
    if (s.read < s.given) reading.push_back(&s);
  }
  std::sort(reading.begin(), reading.end(), [](const Sentence* a, const Sentence* b) { return a->joined < b->joined; });
  std::int32_t left = options_.prompt_tokens;
  last_ = {};
  for (Sentence* s : reading) {
    if (s->read == 0 && left > 0) {
      s->read = step_->reuse_prefix(s->number, s->search->view(0).tokens);
      last_.remembered += s->read;
    }
    s->portion = std::min(left, s->given - s->read);
    left -= s->portion;
  }
}

bool ContinuousBatch::may_get_proposals(const Sentence& s) const {
  return options_.speculator && s.group->options->takes_proposals() &&
         options_.speculator->may_propose(s.search->request());
}

// Asks for proposals of the sentences that continue. Room is left for the model's own token after them.
void ContinuousBatch::propose(Context& c) {
  std::vector<DraftRow> rows;
  std::size_t all = 0;
  for (Sentence& s : live_) {
    s.drafted = -1;
    if (s.read < s.given) continue;
    all += static_cast<std::size_t>(s.search->rows());
    if (!may_get_proposals(s)) continue;
    s.drafted = static_cast<std::int32_t>(rows.size());
    const RowView view = s.search->view(0);
    rows.push_back({.tokens = view.tokens,
                    .sentence = s.number,
                    .most = view.request->max_length - view.generated() - 1,
                    .request = view.request,
                    .plan = s.group->options});
  }
  options_.speculator->propose(c, std::move(rows), all);
}

// The number of tokens that are proposed in the current step.
std::size_t ContinuousBatch::proposed(const Sentence& s) const {
  return s.drafted < 0 ? 0 : options_.speculator->proposed(static_cast<std::size_t>(s.drafted)).size();
}

// Adds row r of a sentence's search: its new token, and the proposals after it.
void ContinuousBatch::add_row(Sentence& s, std::int32_t r) {
  const RowView view = s.search->view(r);
  ids_.push_back(s.search->token(r));
  views_.push_back(view);
  s.agreed = view.tokens.size();
  if (s.drafted < 0) return;
  const std::span<const std::int32_t> more = options_.speculator->proposed(static_cast<std::size_t>(s.drafted));
  ids_.insert(ids_.end(), more.begin(), more.end());
  s.text.assign(view.tokens.begin(), view.tokens.end());
  s.text.insert(s.text.end(), more.begin(), more.end());
  for (std::size_t n = view.tokens.size() + 1; n <= s.text.size(); ++n) {
    views_.push_back(view);
    views_.back().tokens = std::span(s.text).first(n);
  }
}

StepInput ContinuousBatch::make_input() {
  ids_.clear(), counts_.clear(), parents_.clear(), numbers_.clear(), cuts_.clear(), answers_.clear(),
      prompt_lengths_.clear(), views_.clear();
  bool one_answer_each = true, cuts = false;
  for (Sentence& s : live_) {
    const auto first = static_cast<std::int32_t>(counts_.size());
    const auto next_row = [&](std::int32_t parent, std::size_t count, std::size_t answers) {
      counts_.push_back(static_cast<std::int32_t>(count)), parents_.push_back(parent), numbers_.push_back(s.number);
      answers_.push_back(static_cast<std::int32_t>(answers)), prompt_lengths_.push_back(s.given);
      cuts_.push_back(std::exchange(s.wrong, 0));
      one_answer_each &= answers == 1, cuts |= cuts_.back() > 0;
    };
    if (s.read == s.given) {
      for (std::int32_t r = 0; r < s.search->rows(); ++r) {
        add_row(s, r);
        next_row(s.row + s.search->parent(r), 1 + proposed(s), 1 + proposed(s));
      }
    } else if (s.portion > 0) {
      const RowView view = s.search->view(0);
      const auto tokens = view.tokens.subspan(s.read, s.portion);
      ids_.insert(ids_.end(), tokens.begin(), tokens.end());
      s.read += s.portion;
      const bool whole = s.read == s.given;
      next_row(s.row, tokens.size(), whole ? 1 : 0);
      if (whole) views_.push_back(view), s.agreed = view.tokens.size();
      last_.prompt_tokens += tokens.size();
    }
    s.row = first < static_cast<std::int32_t>(counts_.size()) ? first : -1;
  }
  last_.rows = counts_.size();
  const bool looks = std::any_of(live_.begin(), live_.end(),
                                 [](const Sentence& s) { return s.is_answered() && s.group->options->attention; });
  return {.ids = ids_,
          .counts = counts_,
          .parents = parents_,
          .sentences = numbers_,
          .cuts = cuts ? std::span<const std::int32_t>(cuts_) : std::span<const std::int32_t>{},
          .answers = one_answer_each ? std::span<const std::int32_t>{} : answers_,
          .prompt_lengths = prompt_lengths_,
          .attention = looks};
}

void ContinuousBatch::step(Context& c) {
  if (live_.empty()) return;
  order();
  divide_prompt_tokens();
  if (options_.speculator) propose(c);
  StepInput input = make_input();
  if (views_.empty()) {
    input.wanted = Wanted::nothing;
    step_->step(c, input);
    return cut_late();
  }
  // A phrase may need the logit of a token that is not among the best.
  const bool best_suffice = std::all_of(live_.begin(), live_.end(), [](const Sentence& s) {
    return s.group->finder.may_skip_logits() && s.search->request().phrases.empty();
  });
  input.wanted = best_suffice ? Wanted::candidates : Wanted::logits;
  const StepOutput output = step_->step(c, input);
  offer_prefixes();
  check(!input.attention || !output.attention.lengths.empty(), "decode",
        "attention is requested, but the step returned none");
  if (options_.speculator) options_.speculator->keep_states(output.hidden);
  advance(c, output);
  if (options_.speculator) options_.speculator->end_step(/*read_prompt=*/last_.prompt_tokens > 0);
  cut_late();
}

// Offers the prompts that have been completely read in this step for the prefix cache.
void ContinuousBatch::offer_prefixes() {
  for (const Sentence& s : live_)
    if (s.portion > 0 && s.read == s.given) step_->keep_prefix(s.row, s.search->view(0).tokens);
}

// Consecutive sentences of one group in live_, up to `end`, and their rows that are answered. The continuing and the new sentences of
// a group are two runs.
struct ContinuousBatch::Run {
  Group* group;
  std::size_t end = 0;
  std::span<const RowView> rows = {};
};

std::vector<ContinuousBatch::Run> ContinuousBatch::runs() const {
  std::vector<Run> runs;
  std::size_t row = 0, first = 0;  // the current row, and the first row of the run
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (i == 0 || live_[i].group != live_[i - 1].group) {
      runs.push_back({.group = live_[i].group});
      first = row;
    }
    if (live_[i].is_answered()) row += static_cast<std::size_t>(live_[i].search->rows()) + proposed(live_[i]);
    runs.back().end = i + 1;
    runs.back().rows = std::span(views_).subspan(first, row - first);
  }
  return runs;
}

// The candidates of a run's rows, taken sentence by sentence.
struct ContinuousBatch::Found {
  std::span<const Candidate> candidates, likeliest = {};  // [rows, k] and [rows, top]
  std::span<const LikelyToken> observed = {};             // [rows, looked]
  std::int32_t k = 0, top = 0, looked = 0;

  // Takes those of the next n rows.
  Found take(std::size_t n) {
    const auto next = [n](auto& from, std::int32_t each) {
      const auto taken = from.first(n * static_cast<std::size_t>(each));
      from = from.subspan(taken.size());
      return taken;
    };
    return {next(candidates, k), next(likeliest, top), next(observed, looked), k, top, looked};
  }
};

// The candidates of a run that begins with `row`. If there are no logits, `projected` has those of all rows. Valid until the next
// call of the finder.
ContinuousBatch::Found ContinuousBatch::find(Context& c, const StepOutput& output, const Run& run, std::size_t row,
                                             std::span<const Candidate> projected) {
  const std::size_t n = run.rows.size();
  if (n == 0) return {};
  if (!output.logits) {
    const std::int32_t k = projected_.k();
    const std::int32_t looked = projected_.observed_count();
    return {.candidates = projected.subspan(row * k, n * k),
            .observed = projected_.observed().subspan(row * looked, n * looked),
            .k = k,
            .looked = looked};
  }
  CandidateFinder& finder = run.group->finder;
  const auto candidates = finder.find(c, output.logits.rows(row, row + n), run.rows, output.columns);
  return {.candidates = candidates,
          .likeliest = finder.tops(),
          .observed = finder.observed(),
          .k = finder.k(),
          .top = finder.top_count(),
          .looked = finder.observed_count()};
}

// Passes each sentence its candidates. Finished sentences leave.
void ContinuousBatch::advance(Context& c, const StepOutput& output) {
  const auto V = output.columns.empty() ? step_->vocab_size() : std::ssize(output.columns);
  if (output.logits) check_shape(output.logits, {std::ssize(views_), V}, "logits");
  const std::vector<Run> runs = this->runs();
  std::span<const Candidate> projected;
  if (!output.logits) {
    std::vector<ProjectedFinder::Part> parts;
    for (const Run& run : runs) parts.push_back({&run.group->finder, run.rows});
    projected = projected_.find(c, output, parts);
  }
  std::vector<std::size_t> first_weight(1, 0);  // by row of the step
  for (const std::int32_t length : output.attention.lengths) first_weight.push_back(first_weight.back() + length);

  // Ended sentences have no search any more. They leave even if an exception is thrown.
  struct Leave {
    ~Leave() {
      std::erase_if(*live, [](const Sentence& s) { return !s.search; });
    }
    std::vector<Sentence>* live;
  } const leave{&live_};
  std::size_t i = 0, row = 0;
  for (const Run& run : runs) {
    Found found = find(c, output, run, row, projected);
    for (; i < run.end; ++i) {
      Sentence& s = live_[i];
      if (!s.is_answered()) continue;
      const auto rows = static_cast<std::size_t>(s.search->rows());
      const std::size_t answers = rows + proposed(s);
      std::span<const float> attention;
      if (run.group->options->attention) {
        const std::size_t first = first_weight[s.row];
        attention = std::span(output.attention.weights).subspan(first, first_weight[s.row + rows] - first);
      }
      Found own = found.take(answers);
      advance(s, own, row, attention);
      row += answers;
    }
  }
}

// Advances one sentence by its answers, of which the first one is answer `first` of the step. A sentence with proposals goes on as long as
// the model agrees with them. It ends if it is done or out of time.
void ContinuousBatch::advance(Sentence& s, Found& found, std::size_t first, std::span<const float> attention) {
  try {
    const auto rows = static_cast<std::size_t>(s.search->rows());
    const std::size_t most = proposed(s), known = s.agreed;
    std::size_t taken = 0;
    std::int32_t tokens = 0;
    if (SearchObserver* const observer = s.search->request().observer; observer && s.drafted >= 0)
      observer->propose(std::span(s.text).subspan(known, most));
    for (bool agrees = true; agrees && taken <= most && !s.search->done(); ++taken) {
      const Found one = found.take(rows);
      s.search->advance(one.candidates, one.k,
                        {.attention = attention, .likeliest = one.likeliest, .observed = one.observed});
      report(s);
      for (const Search::Added& a : s.search->added()) tokens += a.token >= 0;
      agrees = taken < most && one.candidates[0].token == s.text[known + taken];
      s.agreed += agrees;
    }
    if (may_get_proposals(s)) {
      s.wrong = static_cast<std::int32_t>(known + most - s.agreed);
      s.proposals.proposed += static_cast<std::int64_t>(most);
      s.proposals.accepted += static_cast<std::int64_t>(s.agreed - known);
      options_.speculator->accept({.sentence = s.number,
                                   .row = s.drafted,
                                   .proposals = static_cast<std::int32_t>(s.agreed - known),
                                   .tokens = tokens,
                                   .last = static_cast<std::int32_t>(first + s.agreed - known)});
    }
    const bool done = s.search->done();
    if (!done && !is_late(s.begun, *s.group->options)) return;
    if (!done) {
      s.search->cut(StopReason::time_limit);
      report(s);
    }
    end(s);
  } catch (...) {
    end(s, std::current_exception());
  }
}

}  // namespace tril::search
