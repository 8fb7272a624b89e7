#include "search/processors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "grammar/automata/constraint.h"
#include "grammar/automata/id_bits.h"

namespace tril::search {
namespace {

// A processor that changes the logits of allowed tokens.
class ValueProcessor : public LogitsProcessor {
 public:
  bool changes_values() const final { return true; }
};

// x + bias
class LogitBias : public ValueProcessor {
 public:
  explicit LogitBias(std::span<const std::pair<std::int32_t, float>> biases) {
    for (const auto& [id, bias] : biases) ids_.push_back(id), values_.push_back(bias);
  }
  bool changes_logits() const override { return true; }
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::int64_t r = 0; r < std::ssize(rows); ++r)
      logits.change(r, ids_, [this](float x, std::size_t i) { return x + values_[i]; });
  }

 private:
  std::vector<std::int32_t> ids_;
  std::vector<float> values_;
};

// For tokens of the prompt and the generated text: x / p if x is positive, else x p [Keskar et al. 2019, section 4.1; the
// negative case as in `transformers`]. A tiny p gives the largest float and not infinity, because several infinities could
// not be ranked.
class RepetitionPenalty : public ValueProcessor {
 public:
  explicit RepetitionPenalty(double penalty)
      : penalty_(static_cast<float>(std::clamp<double>(penalty, Float::min(), Float::max()))) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    const auto penalised = [p = penalty_](float x, std::size_t) {
      if (x < 0) return x * p;
      return std::isfinite(x) ? std::min(x / p, Float::max()) : x;
    };
    std::vector<std::int32_t> ids;
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
      ids.assign(rows[r].tokens.begin(), rows[r].tokens.end());
      std::sort(ids.begin(), ids.end());
      ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
      logits.change(r, ids, penalised);
    }
  }

 private:
  using Float = std::numeric_limits<float>;
  float penalty_;
};

// x - presence - frequency n for a token that was generated n times.
class CountPenalty : public ValueProcessor {
 public:
  CountPenalty(double presence, double frequency) : presence_(presence), frequency_(frequency) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    std::vector<std::int32_t> sorted, ids;
    std::vector<float> penalties;
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
      const auto tokens = rows[r].new_tokens();
      sorted.assign(tokens.begin(), tokens.end());
      std::sort(sorted.begin(), sorted.end());
      ids.clear(), penalties.clear();
      for (auto at = sorted.begin(); at != sorted.end();) {
        const auto next = std::upper_bound(at, sorted.end(), *at);
        ids.push_back(*at);
        penalties.push_back(static_cast<float>(presence_ + frequency_ * static_cast<double>(next - at)));
        at = next;
      }
      logits.change(r, ids, [&](float x, std::size_t i) { return x - penalties[i]; });
    }
  }

 private:
  double presence_, frequency_;
};

// A processor that only forbids or forces tokens: apply() carries out rule().
class RuleProcessor : public LogitsProcessor {
 public:
  bool has_rule() const final { return true; }
  void apply(std::span<const RowView> rows, StepLogits& logits) const final {
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
      RowRule own;
      rule(rows[r], own);
      if (own.forced >= 0) logits.force(r, own.forced);
      for (std::int32_t id : own.forbidden) logits.forbid(r, id);
    }
  }
};

// Forbids each token that would complete an n-gram of `text` after the last n - 1 tokens of `row`.
void forbid_ngrams_of(std::span<const std::int32_t> text, std::span<const std::int32_t> row, std::size_t n,
                      RowRule& rule) {
  if (row.size() + 1 < n) return;
  const auto last = row.last(n - 1);
  for (std::size_t i = 0; i + n <= text.size(); ++i)
    if (std::equal(last.begin(), last.end(), text.begin() + static_cast<std::ptrdiff_t>(i)))
      rule.forbidden.push_back(text[i + n - 1]);
}

class NoRepeatNgram : public RuleProcessor {
 public:
  explicit NoRepeatNgram(std::int32_t n) : n_(n) {}
  void rule(const RowView& row, RowRule& rule) const override { forbid_ngrams_of(row.tokens, row.tokens, n_, rule); }

 private:
  std::size_t n_;
};

class EncoderNoRepeatNgram : public RuleProcessor {
 public:
  explicit EncoderNoRepeatNgram(std::int32_t n) : n_(n) {}
  void rule(const RowView& row, RowRule& rule) const override {
    const std::span<const std::int32_t> source = row.request->source;
    forbid_ngrams_of(source.empty() ? row.given() : source, row.tokens, n_, rule);
  }

 private:
  std::size_t n_;
};

class BadWords : public RuleProcessor {
 public:
  // An EOS alone is never a bad word.
  BadWords(const std::vector<std::vector<std::int32_t>>& words, const std::vector<std::int32_t>& eos_ids) {
    for (const auto& word : words)
      if (word.size() > 1)
        sequences_.push_back(word);
      else if (std::find(eos_ids.begin(), eos_ids.end(), word[0]) == eos_ids.end())
        singles_.push_back(word[0]);
  }
  void rule(const RowView& row, RowRule& rule) const override {
    const auto t = row.tokens;
    rule.forbidden.insert(rule.forbidden.end(), singles_.begin(), singles_.end());
    for (const auto& word : sequences_) {
      const std::size_t n = word.size() - 1;
      if (t.size() >= n && std::equal(t.end() - static_cast<std::ptrdiff_t>(n), t.end(), word.begin()))
        rule.forbidden.push_back(word.back());
    }
  }

 private:
  std::vector<std::int32_t> singles_;
  std::vector<std::vector<std::int32_t>> sequences_;
};

class MinLength : public RuleProcessor {
 public:
  explicit MinLength(std::vector<std::int32_t> eos_ids) : eos_ids_(std::move(eos_ids)) {}
  void rule(const RowView& row, RowRule& rule) const override {
    if (row.generated() < row.request->min_length)
      rule.forbidden.insert(rule.forbidden.end(), eos_ids_.begin(), eos_ids_.end());
  }

 private:
  std::vector<std::int32_t> eos_ids_;
};

// Forces the first token that the request or the options name.
class ForcedFirst : public RuleProcessor {
 public:
  explicit ForcedFirst(std::int32_t forced_bos) : forced_bos_(forced_bos) {}
  void rule(const RowView& row, RowRule& rule) const override {
    if (row.generated() > 0) return;
    if (const std::int32_t id = forced_first(*row.request, forced_bos_); id >= 0) rule.force(id);
  }

 private:
  std::int32_t forced_bos_;
};

class ForcedEos : public RuleProcessor {
 public:
  explicit ForcedEos(std::int32_t id) : id_(id) {}
  void rule(const RowView& row, RowRule& rule) const override {
    if (row.generated() == row.request->max_length - 1) rule.force(id_);
  }

 private:
  std::int32_t id_;
};

class Suppress : public RuleProcessor {
 public:
  explicit Suppress(std::vector<std::int32_t> ids) : ids_(std::move(ids)) {}
  void rule(const RowView&, RowRule& rule) const override {
    rule.forbidden.insert(rule.forbidden.end(), ids_.begin(), ids_.end());
  }

 private:
  std::vector<std::int32_t> ids_;
};

// Forbids these as the first token. If the first token is forced, forbids them as the second.
class SuppressAtBeginning : public RuleProcessor {
 public:
  SuppressAtBeginning(std::vector<std::int32_t> ids, std::int32_t forced_bos)
      : ids_(std::move(ids)), forced_bos_(forced_bos) {}
  void rule(const RowView& row, RowRule& rule) const override {
    if (row.generated() == (forced_first(*row.request, forced_bos_) >= 0 ? 1 : 0))
      rule.forbidden.insert(rule.forbidden.end(), ids_.begin(), ids_.end());
  }

 private:
  std::vector<std::int32_t> ids_;
  std::int32_t forced_bos_;
};

// After a prefix that ends a word, the first token must begin a word or be an EOS.
class NewWord : public RuleProcessor {
 public:
  NewWord(const std::vector<bool>& begins_word, const std::vector<std::int32_t>& eos_ids) {
    for (std::size_t id = 0; id < begins_word.size(); ++id)
      if (!begins_word[id] && std::find(eos_ids.begin(), eos_ids.end(), id) == eos_ids.end())
        others_.push_back(static_cast<std::int32_t>(id));
  }
  void rule(const RowView& row, RowRule& rule) const override {
    if (row.request->new_word && row.generated() == 0)
      rule.forbidden.insert(rule.forbidden.end(), others_.begin(), others_.end());
  }

 private:
  std::vector<std::int32_t> others_;
};

// Allows only tokens after which the text can still match the constraint within max_length. If other processors have
// forbidden all of these, the next token of the shortest matching text is forced: the constraint takes precedence.
class ConstraintProcessor : public LogitsProcessor {
 public:
  ConstraintProcessor(std::shared_ptr<const Constraint> constraint, std::vector<std::int32_t> eos_ids)
      : constraint_(std::move(constraint)), eos_ids_(std::move(eos_ids)) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) apply(rows[r], r, logits);
  }

 private:
  void apply(const RowView& row, std::int64_t r, StepLogits& logits) const {
    const std::int64_t left = row.request->max_length - row.generated() - (eos_ids_.empty() ? 0 : 1);
    if (row.generated() == 0) constraint_->check_room(row.request->max_length, !eos_ids_.empty());
    Constraint::Allowed allowed = constraint_->after(row.new_tokens(), left);
    if (!allowed.possible) return;  // after a proposed token, which the search will reject
    allowed.mask.resize(words_for(constraint_->vocab_size()));
    if (allowed.complete)
      for (const std::int32_t id : eos_ids_) {
        allowed.mask.resize(std::max(allowed.mask.size(), words_for(id + std::int64_t{1})));
        set_bit(allowed.mask, id);
        ++allowed.count;
      }
    const bool any = logits.keep(r, allowed.mask, allowed.count);
    if (any || allowed.count == 0) return;
    // A complete text without EOS ids ends here: every continuation is forbidden.
    const std::int32_t shortest = constraint_->shortest_after(row.new_tokens(), left);
    const std::int32_t next = shortest >= 0 || eos_ids_.empty() ? shortest : eos_ids_[0];
    if (next >= 0) logits.force(r, next);
  }

  std::shared_ptr<const Constraint> constraint_;
  std::vector<std::int32_t> eos_ids_;
};

}  // namespace

Processors make_processors(const SearchPlan& o) {
  Processors list;
  if (!o.logit_bias.empty()) list.push_back(std::make_unique<LogitBias>(o.logit_bias));
  if (o.repetition_penalty != 1) list.push_back(std::make_unique<RepetitionPenalty>(o.repetition_penalty));
  if (o.presence_penalty != 0 || o.frequency_penalty != 0)
    list.push_back(std::make_unique<CountPenalty>(o.presence_penalty, o.frequency_penalty));
  if (o.no_repeat_ngram > 0) list.push_back(std::make_unique<NoRepeatNgram>(o.no_repeat_ngram));
  if (o.encoder_no_repeat_ngram > 0) list.push_back(std::make_unique<EncoderNoRepeatNgram>(o.encoder_no_repeat_ngram));
  if (!o.bad_words.empty()) list.push_back(std::make_unique<BadWords>(o.bad_words, o.eos_ids));
  if (!o.eos_ids.empty()) list.push_back(std::make_unique<MinLength>(o.eos_ids));
  list.push_back(std::make_unique<ForcedFirst>(o.forced_bos_id));
  if (o.forced_eos_id >= 0) list.push_back(std::make_unique<ForcedEos>(o.forced_eos_id));
  if (!o.suppress_ids.empty()) list.push_back(std::make_unique<Suppress>(o.suppress_ids));
  if (!o.begin_suppress_ids.empty())
    list.push_back(std::make_unique<SuppressAtBeginning>(o.begin_suppress_ids, o.forced_bos_id));
  if (!o.begins_word.empty()) list.push_back(std::make_unique<NewWord>(o.begins_word, o.eos_ids));
  if (o.constraint) list.push_back(std::make_unique<ConstraintProcessor>(o.constraint, o.eos_ids));
  return list;
}

}  // namespace tril::search
