#include "search/speculative.h"

#include <algorithm>
#include <cmath>

#include "search/beam_search.h"
#include "search/candidates.h"

namespace tril::search {
namespace {

std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

DraftModel::DraftModel(const model::Model& model, const Sources* sources, nn::KvCache* cache,
                       const CacheOptions& options, float min_prob)
    : model_(&model), step_(model, sources, cache, options), min_prob_(min_prob) {}

DraftModel::Next DraftModel::take(Context& c, const StepInput& input) {
  const Tensor logits = step_.logits(c, input);
  const auto [R, V] = logits.dims<2>("logits");
  const Tensor values = c.empty({R, 1}), ids = c.empty({R, 1}, DType::i32);
  c.kernels().top_k(logits.data<float>(), static_cast<std::size_t>(R), static_cast<std::size_t>(V), 1,
                    values.data<float>(), ids.data<std::int32_t>());
  Next next{host_copy<std::int32_t>(ids), std::vector<float>(static_cast<std::size_t>(R), 1.0f)};
  if (min_prob_ <= 0) return next;
  const Tensor sums = c.empty({R});
  c.kernels().log_sum_exp(logits.data<float>(), sums.data<float>(), static_cast<std::size_t>(R),
                          static_cast<std::size_t>(V));
  const std::vector<float> most = host_copy<float>(values), sum = host_copy<float>(sums);
  for (std::size_t r = 0; r < most.size(); ++r) next.probabilities[r] = std::exp(most[r] - sum[r]);
  return next;
}

void DraftModel::propose(Context& c, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) {
  const std::size_t n = rows.tokens.size();
  proposals.assign(n, {});
  std::size_t longest = 0;
  std::int32_t most = 0;
  for (std::size_t r = 0; r < n; ++r) {
    longest = std::max(longest, rows.tokens[r].size());
    most = std::max(most, rows.most[r]);
  }
  if (model_->max_positions() > 0)
    most = static_cast<std::int32_t>(
        std::min<std::int64_t>(most, model_->max_positions() - static_cast<std::int64_t>(longest) + 1));
  if (most <= 0) return;

  // What is new since the last time, and what was not accepted of the last proposals.
  std::vector<std::int32_t> ids, counts, parents, cuts;
  std::vector<std::vector<std::int32_t>> read(n);
  for (std::size_t r = 0; r < n; ++r) {
    const auto at = std::find(sentences_.begin(), sentences_.end(), rows.sentences[r]);
    const bool known = at != sentences_.end();
    if (known) read[r] = std::move(read_[static_cast<std::size_t>(at - sentences_.begin())]);
    const std::size_t same = std::min(common_prefix(read[r], rows.tokens[r]), rows.tokens[r].size() - 1);
    parents.push_back(known ? static_cast<std::int32_t>(at - sentences_.begin()) : -1);
    cuts.push_back(static_cast<std::int32_t>(read[r].size() - same));
    counts.push_back(static_cast<std::int32_t>(rows.tokens[r].size() - same));
    ids.insert(ids.end(), rows.tokens[r].begin() + static_cast<std::ptrdiff_t>(same), rows.tokens[r].end());
    read[r].assign(rows.tokens[r].begin(), rows.tokens[r].end());
  }
  sentences_.assign(rows.sentences.begin(), rows.sentences.end());
  read_ = std::move(read);
  Next next = take(
      c, {.ids = ids, .counts = counts, .parents = parents, .sentences = rows.sentences, .cuts = cuts, .answers = {}});
  counts.assign(n, 1);
  for (std::size_t r = 0; r < n; ++r) parents[r] = static_cast<std::int32_t>(r);
  std::vector<bool> ended(n, false);  // rows that get no more; they are read on while others are
  for (std::int32_t i = 1;; ++i) {
    bool all_ended = true;
    for (std::size_t r = 0; r < n; ++r) {
      const bool end = std::find(rows.ends.begin(), rows.ends.end(), next.tokens[r]) != rows.ends.end();
      if (!ended[r] && !end && i <= rows.most[r]) proposals[r].push_back(next.tokens[r]);
      ended[r] = ended[r] || end || i >= rows.most[r] || next.probabilities[r] < min_prob_;
      all_ended &= ended[r];
    }
    if (all_ended || i == most) return;
    for (std::size_t r = 0; r < n; ++r) read_[r].push_back(next.tokens[r]);
    next = take(c, {.ids = next.tokens,
                    .counts = counts,
                    .parents = parents,
                    .sentences = rows.sentences,
                    .cuts = {},
                    .answers = {}});
  }
}

namespace {

// Where `ngram` last came in `text`: the position behind it, or 0.
std::size_t behind_last(std::span<const std::int32_t> text, std::span<const std::int32_t> ngram) {
  const auto at = std::find_end(text.begin(), text.end(), ngram.begin(), ngram.end());
  return at == text.end() ? 0 : static_cast<std::size_t>(at - text.begin()) + ngram.size();
}

}  // namespace

void Lookup::propose(Context&, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(rows.tokens.size(), {});
  for (std::size_t r = 0; r < rows.tokens.size(); ++r) {
    const std::span<const std::int32_t> text = rows.tokens[r];
    const std::span<const std::int32_t> source =
        sources_.empty() ? std::span<const std::int32_t>{} : sources_[static_cast<std::size_t>(rows.sentences[r])];
    const std::size_t longest = std::min(static_cast<std::size_t>(ngram_), text.size());
    for (std::size_t n = longest; n > 0 && proposals[r].empty() && rows.most[r] > 0; --n) {
      const std::span<const std::int32_t> ngram = text.last(n);
      for (const std::span<const std::int32_t> in : {text, source}) {
        const std::size_t own = in.data() == text.data() ? 1 : 0;  // the n-gram itself is no find
        const std::size_t at = behind_last(in.first(in.size() - own), ngram);
        if (at == 0 || at == in.size() || !proposals[r].empty()) continue;
        const std::size_t count = std::min(in.size() - at, static_cast<std::size_t>(rows.most[r]));
        proposals[r].assign(in.begin() + static_cast<std::ptrdiff_t>(at),
                            in.begin() + static_cast<std::ptrdiff_t>(at + count));
        proposals[r].erase(
            std::find_first_of(proposals[r].begin(), proposals[r].end(), rows.ends.begin(), rows.ends.end()),
            proposals[r].end());
      }
    }
  }
}

namespace {

// One sentence on its way. `text`: its tokens, and behind them what is proposed.
struct Sentence {
  Sequences search;
  std::int32_t number = 0;
  std::vector<std::int32_t> text;
  std::size_t known = 0;   // tokens of text that are the sentence's
  std::size_t unread = 0;  // the last of them, which the model has not read
  std::int32_t row = -1;   // of the last step
  std::int32_t wrong = 0;  // tokens that it read there and that were not accepted
  Clock::time_point begun = Clock::now();
};

}  // namespace

std::vector<std::vector<Hypothesis>> decode_speculatively(Context& c, Step& step, Proposer& proposer,
                                                          std::int32_t draft_tokens, std::span<const Request> requests,
                                                          const SearchOptions& options, std::int64_t max_live,
                                                          const Watch& watch, Speculation& counts) {
  check_options(options, step.vocab_size());
  check(options.beam_size == 1 && options.n_best == 1 && !options.sampling.on, "speculative decoding",
        "it is greedy: a beam of {}, {} hypotheses, sampling {}", options.beam_size, options.n_best,
        options.sampling.on);
  check(draft_tokens >= 1, "speculative decoding", "{} tokens to propose, expected at least 1", draft_tokens);
  const std::size_t most_live = max_live == 0 ? requests.size() : static_cast<std::size_t>(max_live);
  CandidateFinder finder(options, step.vocab_size(), 1, options.scores);
  const auto top_count = static_cast<std::size_t>(finder.top_count());
  std::vector<std::vector<Hypothesis>> results(requests.size());
  std::vector<Sentence> live;
  std::size_t waiting = 0;
  std::vector<std::vector<std::int32_t>> proposals;
  const auto tell = [&](const Sentence& s) {
    if (watch.on_token)
      for (const Sequences::Added& a : s.search.added())
        watch.on_token({static_cast<std::size_t>(s.number), a.sample, a.token, a.ended,
                        a.token >= 0 ? s.search.last_score(a.sample) : nullptr});
  };
  for (;;) {
    const bool stopped = watch.stop.stop_requested();
    for (; live.size() < (stopped ? requests.size() : most_live) && waiting < requests.size(); ++waiting) {
      Sentence s{.search = Sequences(options), .number = static_cast<std::int32_t>(waiting), .text = {}};
      s.search.begin(requests[waiting]);
      s.text.push_back(requests[waiting].start_id);
      s.text.insert(s.text.end(), requests[waiting].prefix.begin(), requests[waiting].prefix.end());
      s.known = s.unread = s.text.size();
      live.push_back(std::move(s));
    }
    if (stopped)
      for (Sentence& s : live) {
        s.search.cut(Cut::cancelled);
        tell(s);
        results[static_cast<std::size_t>(s.number)] = s.search.hypotheses();
      }
    if (live.empty() || stopped) return results;

    // Behind the proposals comes one token of the model's own.
    std::vector<std::span<const std::int32_t>> texts;
    std::vector<std::int32_t> sentences, most;
    for (const Sentence& s : live) {
      const Request& request = requests[static_cast<std::size_t>(s.number)];
      const auto made = static_cast<std::int32_t>(s.known - 1 - request.prefix.size());
      texts.emplace_back(s.text);
      sentences.push_back(s.number);
      most.push_back(std::min(draft_tokens, request.max_length - made - 1));
    }
    proposer.propose(c, {texts, sentences, most, options.eos_ids}, proposals);

    std::vector<std::int32_t> ids, new_counts, parents, cuts, answers;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Sentence& s = live[i];
      s.text.insert(s.text.end(), proposals[i].begin(), proposals[i].end());
      const auto proposed = static_cast<std::int32_t>(proposals[i].size());
      ids.insert(ids.end(), s.text.end() - proposed - static_cast<std::ptrdiff_t>(s.unread), s.text.end());
      new_counts.push_back(static_cast<std::int32_t>(s.unread) + proposed);
      answers.push_back(1 + proposed);
      parents.push_back(s.row);
      cuts.push_back(s.wrong);
      counts.proposed += proposed;
    }
    counts.rows += static_cast<std::int64_t>(live.size());
    const StepInput input{ids, new_counts, parents, sentences, cuts, answers};
    const Following following =
        finder.may_skip_logits() ? step.following(c, input) : Following{.logits = step.logits(c, input)};
    std::vector<RowView> views;
    for (const Sentence& s : live)
      for (std::size_t n = s.known; n <= s.text.size(); ++n)
        views.push_back({std::span(s.text).first(n), &s.search.request()});
    if (following.logits)
      check_shape(following.logits, {static_cast<std::int64_t>(views.size()), step.vocab_size()}, "logits");
    const std::span<const Candidate> candidates = finder.find(c, following, views);

    std::size_t first = 0, kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Sentence& s = live[i];
      const std::size_t proposed = proposals[i].size();
      std::size_t taken = 0;
      bool agreed = true;
      while (agreed && taken <= proposed && !s.search.done()) {
        const Candidate& candidate = candidates[first + taken];
        s.search.advance({&candidate, 1}, 1, {}, finder.tops().subspan((first + taken) * top_count, top_count));
        agreed = taken < proposed && candidate.token == proposals[i][taken];
        ++taken;
        counts.tokens += s.search.added()[0].token >= 0;
        counts.accepted += agreed;
        tell(s);
      }
      if (!s.search.done() && is_late(s.begun, options)) {
        s.search.cut(Cut::time_limit);
        tell(s);
      }
      if (!s.search.done() && watch.on_partial)
        watch.on_partial({static_cast<std::size_t>(s.number), s.search.view(0).new_tokens()});
      if (s.search.done()) {
        results[static_cast<std::size_t>(s.number)] = s.search.hypotheses();
      } else {
        const std::int32_t last = candidates[first + taken - 1].token;
        s.text.resize(s.known + taken - 1);  // the proposals that were right
        s.text.push_back(last);
        s.known = s.text.size();
        s.unread = 1;
        s.row = static_cast<std::int32_t>(i);
        s.wrong = static_cast<std::int32_t>(proposed - (taken - 1));
        if (kept != i) live[kept] = std::move(live[i]);
        ++kept;
      }
      first += 1 + proposed;
    }
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(kept), live.end());
  }
}

}  // namespace tril::search
