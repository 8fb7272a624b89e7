#include "search/candidates.h"

#include <algorithm>
#include <cmath>

namespace tril::search {
namespace {

// log(sum(exp(row))) of each row
std::vector<float> sums(Context& c, const Tensor& logits) {
  Tensor lse = c.empty({logits.size(0)});
  c.kernels().log_sum_exp(logits.data<float>(), lse.data<float>(), logits.size(0), logits.size(1));
  return host_copy<float>(lse);
}

}  // namespace

void check_number(double log_prob) {
  if (std::isnan(log_prob))
    fail("search", "the model's scores are not numbers (NaN)", "check the weights with `tril inspect`");
}

CandidateFinder::CandidateFinder(const SearchPlan& options, std::int64_t vocab_size, std::int32_t k, bool scores)
    : processors_(make_processors(options)),
      sampling_(options.sampling),
      k_(sampling_.on ? k : static_cast<std::int32_t>(std::min<std::int64_t>(k, vocab_size))),
      top_(static_cast<std::int32_t>(std::clamp<std::int64_t>(options.top_log_probs, 0, vocab_size))),
      observed_count_(options.observed_tokens),
      scores_(scores),
      renormalize_(options.renormalize),
      on_log_probs_(options.has_beam() && options.repetition_penalty != 1) {
  may_skip_logits_ = !sampling_.on && !renormalize_ && !on_log_probs_ && top_ == 0;
  for (const auto& p : processors_) {
    may_skip_logits_ &= p->has_rule();
    before_sums_ += p->changes_logits() || (p->changes_values() && !options.has_beam());
  }
}

std::span<const Candidate> CandidateFinder::find(Context& c, const StepOutput& output, std::span<const RowView> rows,
                                                 std::span<const std::int32_t> columns) {
  if (output.logits) return find(c, output.logits, rows, columns);
  const ProjectedFinder::Part all{this, rows};
  const std::span<const Candidate> found = projected_.find(c, output, {&all, 1});
  width_ = projected_.k();
  observed_ = projected_.observed();
  return found;
}

std::span<const Candidate> CandidateFinder::find(Context& c, Tensor logits, std::span<const RowView> rows,
                                                 std::span<const std::int32_t> columns) {
  const auto [R, V] = logits.dims<2>("logits");
  const auto rest = processors_.begin() + before_sums_;
  StepLogits weighed(c, logits, {}, columns);
  for (auto p = processors_.begin(); p != rest; ++p) (*p)->apply(rows, weighed);
  // Only the repetition penalty gives different results for logits and log-probabilities.
  if (on_log_probs_) c.kernels().log_softmax(logits.data<float>(), logits.data<float>(), R, V);
  const bool normalised = on_log_probs_ && !renormalize_;

  std::vector<float> log_sums;
  if (scores_ && !renormalize_ && !normalised) log_sums = sums(c, logits);
  if (observed_count_ > 0)
    likely_ = likely_tokens(c, logits, log_sums.empty() && !normalised ? sums(c, logits) : log_sums, observed_count_,
                            columns);
  StepLogits editable(c, logits, log_sums, columns);
  for (auto p = rest; p != processors_.end(); ++p) (*p)->apply(rows, editable);
  if (observed_count_ > 0) mark_forbidden(editable, likely_);
  observed_ = likely_;
  if (scores_ && renormalize_) log_sums = sums(c, logits);
  if (log_sums.empty()) log_sums.assign(R, 0.0f);

  std::size_t wanted = 0;
  for (const RowView& row : rows) wanted = std::max(wanted, row.wanted.size());
  width_ = k_ + static_cast<std::int32_t>(wanted);
  found_.assign(R * width_, {-INFINITY, -1});
  tops_.assign(R * top_, {-INFINITY, -1});
  const Scores scores{logits, log_sums};
  if (top_ > 0) take_best(c, scores, top_, top_, tops_);
  for (Candidate& top : tops_)
    if (top.log_prob == -INFINITY) top.token = -1;  // forbidden
  sampling_.on ? draw_each(scores, rows) : take_best(c, scores, k_, width_, found_);
  if (!columns.empty())
    for (std::vector<Candidate>* list : {&found_, &tops_})
      for (Candidate& f : *list)
        if (f.token >= 0) f.token = columns[f.token];
  if (wanted > 0) take_wanted(c, scores, rows, columns);
  return found_;
}

void CandidateFinder::rule(const RowView& row, RowRule& rule) const {
  rule.forced = -1;
  rule.forbidden.clear();
  for (const auto& p : processors_) p->rule(row, rule);
}

std::span<const Candidate> ProjectedFinder::find(Context& c, const StepOutput& output, std::span<const Part> parts) {
  std::size_t n = 0;
  k_ = 1, observed_count_ = 0;
  bool scores = false;
  for (const Part& part : parts) {
    if (rules_.size() < n + part.rows.size()) rules_.resize(n + part.rows.size());
    if (forbidden_.size() < rules_.size()) forbidden_.resize(rules_.size());
    for (const RowView& row : part.rows) {
      part.finder->rule(row, rules_[n]);
      forbidden_[n].swap(rules_[n].forbidden);
      ++n;
    }
    k_ = std::max(k_, part.finder->candidates_wanted());
    observed_count_ = std::max(observed_count_, part.finder->observed_count());
    scores |= part.finder->scores();
  }
  const std::span<const std::vector<std::int32_t>> forbidden(forbidden_.data(), n);
  const ops::OutputPart whole{.rows = static_cast<std::int64_t>(n), .w = output.weight, .b = output.bias};
  const std::span<const ops::OutputPart> layers = output.parts.empty() ? std::span(&whole, 1) : output.parts;
  const ops::Best best = ops::projected_top_k(c, output.hidden, layers, k_, forbidden, scores);
  if (observed_count_ > 0) {
    const ops::Best likely = ops::projected_top_k(c, output.hidden, layers, observed_count_, {}, /*log_sums=*/true);
    observed_ = likely_tokens(likely);
    for (std::size_t i = 0; i < observed_.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(observed_count_);
      observed_[i].forbidden = !rules_[row].allows(observed_[i].token, forbidden_[row]);
    }
  }
  const std::vector<float> value = host_copy<float>(best.values),
                           sum = scores ? host_copy<float>(best.log_sums) : std::vector<float>(n, 0.0f);
  const std::vector<std::int32_t> id = host_copy<std::int32_t>(best.ids);
  const std::size_t k = k_;
  found_.resize(n * k);
  for (std::size_t i = 0; i < found_.size(); ++i) found_[i] = {value[i] - sum[i / k], id[i]};
  for (std::size_t r = 0; r < n; ++r) {
    const std::int32_t forced = rules_[r].forced;
    if (forced < 0) continue;
    std::fill_n(&found_[r * k], k, Candidate{-INFINITY, -1});
    const auto& not_allowed = forbidden_[r];
    if (std::find(not_allowed.begin(), not_allowed.end(), forced) == not_allowed.end()) found_[r * k] = {0, forced};
  }
  return found_;
}

void CandidateFinder::take_best(Context& c, const Scores& scores, std::int32_t wanted, std::int32_t width,
                                std::vector<Candidate>& to) {
  const auto& [logits, log_sums] = scores;
  const auto [R, V] = logits.dims<2>("logits");
  const std::int64_t k = std::min<std::int64_t>(wanted, V);  // there may be fewer columns
  Tensor values = c.empty({R, k});
  Tensor ids = c.empty({R, k}, DType::i32);
  c.kernels().top_k(logits.data<float>(), R, V, k, values.data<float>(), ids.data<std::int32_t>());
  const std::vector<float> value = host_copy<float>(values);
  const std::vector<std::int32_t> id = host_copy<std::int32_t>(ids);
  for (std::int64_t i = 0; i < R * k; ++i) to[i / k * width + i % k] = {value[i] - log_sums[i / k], id[i]};
  // All of the row is forbidden, or the rest is NaN, which top_k ranks last.
  for (std::int64_t r = 0; k > 0 && r < R; ++r) {
    if (value[r * k] != -INFINITY) continue;
    const std::vector<float> row = host_copy<float>(logits.rows(r, r + 1));
    if (std::any_of(row.begin(), row.end(), [](float x) { return std::isnan(x); })) to[r * width].log_prob = NAN;
  }
}

// Adds the wanted tokens of each row that are not among its candidates yet.
void CandidateFinder::take_wanted(Context& c, const Scores& scores, std::span<const RowView> rows,
                                  std::span<const std::int32_t> columns) {
  const auto& [logits, log_sums] = scores;
  StepLogits values(c, logits, {}, columns);
  for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
    const std::vector<float> value = values.at(r, rows[r].wanted);
    const auto best = std::span(found_).subspan(r * width_, k_);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::int32_t token = rows[r].wanted[i];
      if (std::none_of(best.begin(), best.end(), [&](const Candidate& other) { return other.token == token; }))
        found_[r * width_ + k_ + i] = {value[i] - log_sums[r], token};
    }
  }
}

// Draws one candidate for each sample that continues from a row. Their log-probabilities are the model's, before the
// warpers.
void CandidateFinder::draw_each(const Scores& scores, std::span<const RowView> rows) {
  const auto& [logits, log_sums] = scores;
  for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
    const std::vector<float> x = host_copy<float>(logits.rows(r, r + 1));
    Candidate* const found = &found_[r * k_];
    choices_.clear();
    for (std::size_t v = 0; v < x.size(); ++v) {
      if (!(x[v] < INFINITY)) found[0].log_prob = NAN;
      if (x[v] > -INFINITY) choices_.push_back({static_cast<double>(x[v]), static_cast<std::int32_t>(v)});
    }
    if (std::isnan(found[0].log_prob) || choices_.empty()) continue;
    warp(choices_, sampling_);
    const std::vector<double> sums_so_far = running_sums(choices_);
    for (std::int32_t s = 0; s < rows[r].samples; ++s) {
      const double number =
          sampling_number(sampling_.seed, rows[r].request->number, rows[r].first_sample + s, rows[r].generated());
      const std::int32_t token = draw(choices_, sums_so_far, number);
      found[s] = {x[token] - log_sums[r], token};
    }
  }
}

}  // namespace tril::search
