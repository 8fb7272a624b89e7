#include "decode/batches/draft_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/as_size.h"

namespace tril::search {
namespace {

std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return as_size(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

DraftModelOptions beyond_window(DraftModelOptions o) {
  o.state.beyond_window = true;
  return o;
}

}  // namespace

// A row of a call of propose().
struct DraftModel::Asked {
  std::size_t number = 0;  // in Drafts::rows
  const DraftRow* row = nullptr;
  std::int32_t most = 0;              // proposals that it may still get
  std::int32_t parent = -1, cut = 0;  // in the next step
  std::vector<std::int32_t> read;     // before the next step
  std::vector<std::int32_t> next;     // what the next step reads
  bool answers = false;               // whether it needs a candidate then
  Candidate likeliest = {-INFINITY, -1};
  bool was_partial = false, is_partial = false;  // whether the last call, and this one, leave tokens of its text unread
};

DraftModel::DraftModel(Context& c, const model::Model& model, DraftModelOptions options)
    : options_(beyond_window(std::move(options))),
      state_(c, model, options_.state),
      step_(state_.new_step()),
      least_log_prob_(options_.min_prob > 0 ? std::log(static_cast<double>(options_.min_prob)) : -HUGE_VAL),
      candidates_(model.vocab_size(), /*scores=*/options_.min_prob > 0) {}

void DraftModel::add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) {
  state_.add(sentences, sources);
}

void DraftModel::remove(std::int32_t sentence) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].sentence != sentence) continue;
    step_->keep_prefix(static_cast<std::int32_t>(i), rows_[i].read);  // for the next turn of a conversation
    rows_[i].sentence = -1;
  }
  state_.remove(sentence);
  if (std::all_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.sentence < 0; })) {
    state_.drop_rows();
    rows_.clear();
  }
}

void DraftModel::clear() {
  state_.clear();
  step_ = state_.new_step();
  rows_.clear();
  candidates_.clear();
}

// The rows that it can read, in the order of a step: those of the last step first.
std::vector<DraftModel::Asked> DraftModel::ask(const Drafts& drafts) {
  const std::int64_t positions = state_.model().max_positions();
  std::vector<Asked> known, fresh;
  for (std::size_t r = 0; r < drafts.rows.size(); ++r) {
    const DraftRow& row = drafts.rows[r];
    Asked a{.number = r, .row = &row, .most = row.most};
    if (positions > 0)
      a.most = static_cast<std::int32_t>(std::min<std::int64_t>(a.most, positions + 1 - std::ssize(row.tokens)));
    if (positions > 0 && std::ssize(row.tokens) > positions) continue;
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& x) { return x.sentence == row.sentence; });
    if (at == rows_.end()) {
      if (a.most <= 0) continue;
      const std::int32_t cached = step_->reuse_prefix(row.sentence, row.tokens);
      a.read.assign(row.tokens.begin(), row.tokens.begin() + cached);
      fresh.push_back(std::move(a));
    } else {
      a.parent = static_cast<std::int32_t>(at - rows_.begin());
      const std::size_t same = std::min(common_prefix(at->read, row.tokens), row.tokens.size() - 1);
      a.cut = static_cast<std::int32_t>(at->read.size() - same);
      a.was_partial = at->is_partial;
      a.read.assign(row.tokens.begin(), row.tokens.begin() + static_cast<std::ptrdiff_t>(same));
      known.push_back(std::move(a));
    }
  }
  std::move(fresh.begin(), fresh.end(), std::back_inserter(known));
  return known;
}

// What the first step reads: the tokens that are new since the last call, as many as the portion allows. A row that has nothing to
// propose reads on when it has.
void DraftModel::divide(std::vector<Asked>& asked) const {
  std::size_t left = as_size(options_.portion);
  for (Asked& a : asked) {
    const std::span<const std::int32_t> unread = a.row->tokens.subspan(a.read.size());
    if (a.most <= 0) continue;
    const std::size_t n = std::min(unread.size(), left);
    left -= n;
    a.next.assign(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(n));
    a.answers = n == unread.size();
    a.is_partial = !a.answers;
  }
}

// Reads each row's next tokens. Returns the rows that need a candidate, and have it now.
std::vector<DraftModel::Asked*> DraftModel::step(Context& c, std::vector<Asked>& asked) {
  std::vector<std::int32_t> ids, counts, parents, sentences, cuts, answers;
  std::vector<DraftCandidates::Row> views;
  std::vector<Asked*> answered;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Asked& a = asked[i];
    ids.insert(ids.end(), a.next.begin(), a.next.end());
    counts.push_back(static_cast<std::int32_t>(a.next.size()));
    parents.push_back(std::exchange(a.parent, static_cast<std::int32_t>(i)));
    sentences.push_back(a.row->sentence);
    cuts.push_back(std::exchange(a.cut, 0));
    answers.push_back(a.answers ? 1 : 0);
    a.read.insert(a.read.end(), a.next.begin(), a.next.end());
    a.next.clear();
    if (!std::exchange(a.answers, false)) continue;
    answered.push_back(&a);
    views.push_back({a.read, a.row->request, a.row->plan});
  }
  StepInput input{
      .ids = ids, .counts = counts, .parents = parents, .sentences = sentences, .cuts = cuts, .answers = answers};
  if (answered.empty()) input.wanted = Wanted::nothing;
  const StepOutput output = step_->step(c, input);
  if (answered.empty()) return answered;
  const std::vector<Candidate> found = candidates_.find(c, output.logits, views);
  for (std::size_t i = 0; i < found.size(); ++i) answered[i]->likeliest = found[i];
  return answered;
}

void DraftModel::propose(Context& c, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(drafts.rows.size(), {});
  if (std::none_of(drafts.rows.begin(), drafts.rows.end(), [](const DraftRow& row) { return row.most > 0; })) return;
  std::vector<Asked> asked = ask(drafts);
  divide(asked);
  is_reading_ = std::any_of(asked.begin(), asked.end(), [](const Asked& a) { return a.was_partial || a.is_partial; });
  const auto reads = [&] {
    return std::any_of(asked.begin(), asked.end(), [](const Asked& a) { return !a.next.empty(); });
  };
  if (!reads()) return;
  while (reads()) {
    for (Asked* const a : step(c, asked)) {
      const std::int32_t token = a->likeliest.token;
      const std::vector<std::int32_t>& ends = a->row->plan->eos_ids;
      if (token < 0 || std::find(ends.begin(), ends.end(), token) != ends.end()) continue;
      proposals[a->number].push_back(token);
      if (--a->most == 0 || a->likeliest.log_prob < least_log_prob_) continue;
      a->next.push_back(token);
      a->answers = true;
    }
  }
  rows_.clear();
  for (Asked& a : asked) rows_.push_back({a.row->sentence, std::move(a.read), a.is_partial});
}

}  // namespace tril::search
