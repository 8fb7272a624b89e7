#include "decode/batches/continuous_batch.h"

#include <algorithm>

#include "base/error.h"
#include "grammar/automata/constraint.h"

namespace tril::search {
namespace {

// Groups that nobody is in any more are kept for those who may join later, up to so many.
constexpr std::size_t idle_groups = 16;

std::int32_t candidates_per_row(const SearchOptions& o) {
  return o.has_beam() ? BeamSearch::candidates_per_row(o) : SamplingSearch::candidates_per_row(o);
}

}  // namespace

// Sentences of the same options.
struct ContinuousBatch::Group {
  Group(std::uint64_t n, std::shared_ptr<const SearchOptions> o, std::int64_t vocab_size)
      : number(n),
        options(std::move(o)),
        finder(*options, vocab_size, candidates_per_row(*options), options->has_beam() || options->scores) {}

  Search new_search() {
    if (!idle.empty()) {  // one that has its memory already
      Search search = std::move(idle.back());
      idle.pop_back();
      return search;
    }
    return options->has_beam() ? Search(BeamSearch(*options)) : Search(SamplingSearch(*options));
  }

  std::uint64_t number;  ///< grows from group to group
  std::shared_ptr<const SearchOptions> options;
  CandidateFinder finder;
  std::vector<Search> idle;
  std::size_t members = 0;
};

ContinuousBatch::ContinuousBatch(Step& step, std::int32_t prompt_tokens, OnToken on_token, OnPartial on_partial)
    : step_(&step), prompt_tokens_(prompt_tokens), on_token_(std::move(on_token)), on_partial_(std::move(on_partial)) {
  check(prompt_tokens >= 1, "prompt tokens", "expected at least 1 a step, got {}", prompt_tokens);
}

ContinuousBatch::~ContinuousBatch() = default;

ContinuousBatch::Group& ContinuousBatch::group_of(std::shared_ptr<const SearchOptions> options) {
  for (const auto& group : groups_)
    if (group->options == options) return *group;
  check_options(*options, step_->vocab_size());
  if (groups_.size() >= idle_groups) std::erase_if(groups_, [](const auto& group) { return group->members == 0; });
  groups_.push_back(std::make_unique<Group>(made_++, std::move(options), step_->vocab_size()));
  return *groups_.back();
}

void ContinuousBatch::join(std::int32_t sentence, const Request& request,
                           std::shared_ptr<const SearchOptions> options) {
  check_request(request, *options, step_->vocab_size());  // said here, it ends nobody else
  Group& group = group_of(std::move(options));
  Sentence s{.search = group.new_search(), .number = sentence, .group = &group, .joined = joins_++};
  std::visit([&](auto& search) { search.begin(request); }, s.search);
  s.given = 1 + static_cast<std::int32_t>(request.prefix.size());
  s.begun = Clock::now();
  ++group.members;
  live_.push_back(std::move(s));
}

void ContinuousBatch::cut(std::int32_t sentence, Cut why) {
  const auto at = std::find_if(live_.begin(), live_.end(), [&](const Sentence& s) { return s.number == sentence; });
  if (at == live_.end()) return;
  try {
    std::visit([&](auto& search) { search.cut(why); }, at->search);
    tell(*at);
    end(*at);
  } catch (...) {
    end(*at, std::current_exception());
  }
  live_.erase(at);
}

// Those that are late before their prompts are read; the others are looked at when they are answered.
void ContinuousBatch::cut_late() {
  std::vector<std::int32_t> late;
  for (const Sentence& s : live_)
    if (s.read < s.given && is_late(s.begun, *s.group->options)) late.push_back(s.number);
  for (const std::int32_t sentence : late) cut(sentence, Cut::time_limit);
}

void ContinuousBatch::cut_all(Cut why) {
  while (!live_.empty()) cut(live_.front().number, why);
}

std::vector<ContinuousBatch::Ended> ContinuousBatch::take_ended() {
  return std::exchange(ended_, {});
}

// Its search goes back to the group.
void ContinuousBatch::end(Sentence& s, std::exception_ptr error) {
  Ended e{.sentence = s.number, .error = std::move(error)};
  if (!e.error) e.hypotheses = std::visit([](const auto& search) { return search.hypotheses(); }, s.search);
  if (e.hypotheses.size() == 1 && std::holds_alternative<SamplingSearch>(s.search) && s.row >= 0 && s.read == s.given) {
    // The next turn of a talk begins with all of this one.
    const Request& request = std::get<SamplingSearch>(s.search).request();
    std::vector<std::int32_t> text{request.start_id};
    text.insert(text.end(), request.prefix.begin(), request.prefix.end());
    text.insert(text.end(), e.hypotheses[0].tokens.begin(), e.hypotheses[0].tokens.end());
    step_->remember(s.row, text);
  }
  ended_.push_back(std::move(e));
  s.group->idle.push_back(std::move(s.search));
  --s.group->members;
}

void ContinuousBatch::tell(const Sentence& s) const {
  const auto number = static_cast<std::size_t>(s.number);
  if (const auto* sequences = std::get_if<SamplingSearch>(&s.search); sequences && on_token_)
    for (const SamplingSearch::Added& a : sequences->added())
      on_token_({number, a.sample, a.token, a.ended, a.token >= 0 ? sequences->last_score(a.sample) : nullptr});
  if (on_partial_)
    std::visit(
        [&](const auto& search) {
          if (!search.done()) on_partial_({number, search.view(search.best_row()).new_tokens()});
        },
        s.search);
}

// Groups beside each other, so that each chooses among its rows at once; those that begin come last.
void ContinuousBatch::order() {
  const auto comes_before = [](const Sentence& a, const Sentence& b) {
    const bool a_begins = a.row < 0, b_begins = b.row < 0;
    return a_begins != b_begins ? b_begins : a.group->number < b.group->number;
  };
  if (!std::is_sorted(live_.begin(), live_.end(), comes_before))
    std::stable_sort(live_.begin(), live_.end(), comes_before);
}

// Whose prompt is read how far in this step: first come, first served, so that at most one stops in the middle.
void ContinuousBatch::share_out() {
  std::vector<Sentence*> reading;
  for (Sentence& s : live_) {
    s.portion = 0;
    if (s.read < s.given) reading.push_back(&s);
  }
  std::sort(reading.begin(), reading.end(), [](const Sentence* a, const Sentence* b) { return a->joined < b->joined; });
  std::int32_t left = prompt_tokens_;
  last_ = {};
  for (Sentence* s : reading) {
    if (s->read == 0 && left > 0) {
      s->read =
          step_->remembered(s->number, std::visit([](const auto& search) { return search.view(0).tokens; }, s->search));
      last_.remembered += static_cast<std::size_t>(s->read);
    }
    s->portion = std::min(left, s->given - s->read);
    left -= s->portion;
  }
}

StepInput ContinuousBatch::lay_out() {
  ids_.clear(), counts_.clear(), parents_.clear(), numbers_.clear(), answers_.clear(), given_.clear(), views_.clear();
  bool all_answered = true;
  for (Sentence& s : live_) {
    const auto first = static_cast<std::int32_t>(counts_.size());
    const auto next_row = [&](std::int32_t parent, std::int32_t count, std::int32_t answers) {
      counts_.push_back(count), parents_.push_back(parent), numbers_.push_back(s.number), answers_.push_back(answers);
      given_.push_back(s.given);
    };
    std::visit(
        [&](const auto& search) {
          if (s.read == s.given) {
            for (std::int32_t r = 0; r < search.rows(); ++r) {
              ids_.push_back(search.token(r));
              next_row(s.row + search.parent(r), 1, 1);
              views_.push_back(search.view(r));
            }
          } else if (s.portion > 0) {
            const RowView view = search.view(0);
            const auto tokens =
                view.tokens.subspan(static_cast<std::size_t>(s.read), static_cast<std::size_t>(s.portion));
            ids_.insert(ids_.end(), tokens.begin(), tokens.end());
            s.read += s.portion;
            const bool whole = s.read == s.given;
            next_row(s.row, s.portion, whole ? 1 : 0);
            if (whole) views_.push_back(view);
            all_answered &= whole;
            last_.prompt_tokens += tokens.size();
          }
        },
        s.search);
    s.row = first < static_cast<std::int32_t>(counts_.size()) ? first : -1;
  }
  last_.rows = counts_.size();
  return {.ids = ids_,
          .counts = counts_,
          .parents = parents_,
          .sentences = numbers_,
          .answers = all_answered ? std::span<const std::int32_t>{} : answers_,
          .given = given_};
}

void ContinuousBatch::step(Context& c) {
  if (live_.empty()) return;
  order();
  share_out();
  const StepInput input = lay_out();
  if (views_.empty()) {
    step_->read(c, input);
    return cut_late();
  }
  // A phrase's token may be far from the best, so its logit is needed.
  const bool best_suffice = std::all_of(live_.begin(), live_.end(), [](const Sentence& s) {
    return s.group->finder.may_skip_logits() &&
           std::visit([](const auto& search) { return search.request().phrases.empty(); }, s.search);
  });
  const StepOutput output = best_suffice ? step_->output(c, input) : StepOutput{.logits = step_->logits(c, input)};
  remember_prompts();
  advance(c, output);
  cut_late();
}

// Those that have been read to their end in this step.
void ContinuousBatch::remember_prompts() {
  for (const Sentence& s : live_)
    if (s.portion > 0 && s.read == s.given)
      step_->remember(s.row, std::visit([](const auto& search) { return search.view(0).tokens; }, s.search));
}

// Hands each group's sentences their candidates, a group's sentences that go on and those that have just begun being two
// runs of rows.
void ContinuousBatch::advance(Context& c, const StepOutput& output) {
  const std::span<const std::int32_t> columns = step_->columns();
  const auto V = columns.empty() ? step_->vocab_size() : static_cast<std::int64_t>(columns.size());
  if (output.logits) check_shape(output.logits, {static_cast<std::int64_t>(views_.size()), V}, "logits");
  const auto is_answered = [](const Sentence& s) { return s.row >= 0 && s.read == s.given; };
  const auto rows_of = [](const Sentence& s) {
    return static_cast<std::size_t>(std::visit([](const auto& search) { return search.rows(); }, s.search));
  };

  std::vector<ProjectedFinder::Part> parts;
  std::vector<std::size_t> ends;  // of each run among live_
  for (std::size_t i = 0, row = 0; i < live_.size(); ++i) {
    if (i == 0 || live_[i].group != live_[i - 1].group) {
      parts.push_back({&live_[i].group->finder, {}});
      ends.push_back(i);
    }
    ends.back() = i + 1;
    if (!is_answered(live_[i])) continue;
    const std::size_t n = parts.back().rows.size() + rows_of(live_[i]);
    row += rows_of(live_[i]);
    parts.back().rows = std::span<const RowView>(views_).subspan(row - n, n);
  }
  std::span<const Candidate> all;
  if (!output.logits) all = projected_.find(c, output, parts);

  const bool looks = std::any_of(live_.begin(), live_.end(),
                                 [&](const Sentence& s) { return is_answered(s) && s.group->options->attention.on; });
  const Step::Attention* const looked = looks ? step_->attention() : nullptr;
  check(!looks || looked, "decode", "attention is to be kept and the step has none");
  std::vector<std::size_t> first_weight;  // of each row of the step
  if (looked) {
    first_weight.push_back(0);
    for (const std::int32_t length : looked->lengths)
      first_weight.push_back(first_weight.back() + static_cast<std::size_t>(length));
  }

  std::size_t kept = 0, i = 0;
  std::int64_t row = 0;  // of those that are answered
  for (std::size_t p = 0; p < parts.size(); ++p) {
    CandidateFinder& finder = live_[i].group->finder;
    const std::size_t rows = parts[p].rows.size();
    std::span<const Candidate> candidates;
    std::size_t k = 0;
    if (rows > 0 && output.logits) {
      candidates =
          finder.find(c, output.logits.rows(row, row + static_cast<std::int64_t>(rows)), parts[p].rows, columns);
      k = static_cast<std::size_t>(finder.k());
    } else if (rows > 0) {
      k = static_cast<std::size_t>(projected_.k());
      candidates = all.subspan(static_cast<std::size_t>(row) * k, rows * k);
    }
    row += static_cast<std::int64_t>(rows);
    std::size_t first = 0;  // of the sentence's rows among the part's
    for (; i < ends[p]; ++i) {
      Sentence& s = live_[i];
      bool goes_on = true;
      if (is_answered(s)) {
        const std::size_t n = rows_of(s);
        std::span<const float> weights;
        if (looked && s.group->options->attention.on) {
          const std::size_t begin = first_weight[static_cast<std::size_t>(s.row)],
                            end = first_weight[static_cast<std::size_t>(s.row) + n];
          weights = std::span(looked->weights).subspan(begin, end - begin);
        }
        const std::size_t top = output.logits ? static_cast<std::size_t>(finder.top_count()) : 0;
        const std::span<const Candidate> tops =
            top > 0 ? finder.tops().subspan(first * top, n * top) : std::span<const Candidate>{};
        goes_on = advance(s, candidates.subspan(first * k, n * k), static_cast<std::int32_t>(k), weights, tops);
        first += n;
      }
      if (!goes_on) continue;
      if (kept != i) live_[kept] = std::move(s);
      ++kept;
    }
  }
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(kept), live_.end());
}

// Whether the sentence goes on.
bool ContinuousBatch::advance(Sentence& s, std::span<const Candidate> candidates, std::int32_t k,
                              std::span<const float> weights, std::span<const Candidate> tops) {
  try {
    const bool done = std::visit(
        [&](auto& search) {
          if constexpr (std::is_same_v<std::decay_t<decltype(search)>, SamplingSearch>)
            search.advance(candidates, k, weights, tops);
          else
            search.advance(candidates, k, weights);
          return search.done();
        },
        s.search);
    tell(s);
    if (!done && !is_late(s.begun, *s.group->options)) return true;
    if (!done) {
      std::visit([](auto& search) { search.cut(Cut::time_limit); }, s.search);
      tell(s);
    }
    end(s);
  } catch (...) {
    end(s, std::current_exception());
  }
  return false;
}

}  // namespace tril::search
