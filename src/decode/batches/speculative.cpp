#include "decode/batches/speculative.h"

#include <algorithm>

#include "decode/batches/continuous_batch.h"
#include "search/candidates.h"
#include "search/sampling_search.h"
#include "search/search_observer.h"

namespace tril::search {
namespace {

constexpr std::size_t portion = ContinuousBatch::default_prompt_tokens;

// A sentence in the batch.
struct Sentence {
  SamplingSearch search;
  std::int32_t number = 0;
  std::vector<std::int32_t> text;  // its tokens, then the proposals
  std::size_t known = 0;           // tokens of text that are not proposals
  std::size_t unread = 0;          // how many of them, at the end, the model has not read
  std::int32_t row = -1;           // in the last step
  std::int32_t wrong = 0;          // tokens at the end of this row that were rejected
  std::size_t drafted = 0;         // tokens that the proposer has seen
  std::int32_t state = -1;         // of states_: what its last token was chosen from; -1: that token is of the prompt
  Clock::time_point begun = Clock::now();

  std::size_t proposed() const { return text.size() - known; }
};

// One call of decode_speculatively(). `live_` has the running sentences. A step is propose(), read(), accept().
class SpeculativeSearch {
 public:
  SpeculativeSearch(Step& step, const Proposals& proposals, const RequestList& list)
      : step_(&step),
        from_(&proposals),
        list_(&list),
        finder_(list.options, step.vocab_size(), 1, list.options.scores),
        results_(list.requests.size()) {}

  std::vector<std::vector<Hypothesis>> run(Context& c) {
    const std::int64_t all = std::ssize(list_->requests), most_live = list_->max_live == 0 ? all : list_->max_live;
    while (!list_->watch.stop.stop_requested()) {
      start_waiting(most_live);
      if (live_.empty()) return std::move(results_);
      if (!read_beginnings(c)) continue;
      timed_step(c);
    }
    start_waiting(all);
    cancel();
    return std::move(results_);
  }

 private:
  const Request& request_of(const Sentence& s) const { return list_->requests[s.number]; }

  void start_waiting(std::int64_t most_live) {
    for (; std::ssize(live_) < most_live && waiting_ < list_->requests.size(); ++waiting_) {
      const Request& request = list_->requests[waiting_];
      Sentence s{.search = SamplingSearch(list_->options), .number = static_cast<std::int32_t>(waiting_), .text = {}};
      s.search.begin(request);
      s.text.push_back(request.start_id);
      s.text.insert(s.text.end(), request.prefix.begin(), request.prefix.end());
      s.known = s.unread = s.text.size();
      live_.push_back(std::move(s));
    }
  }

  // Reads long prompts in portions, checking time limits and stop requests in between. read() gets the rest of each.
  // @return true if there are running sentences and no stop request
  bool read_beginnings(Context& c) {
    const auto is_long = [](const Sentence& s) { return s.unread > portion; };
    while (std::any_of(live_.begin(), live_.end(), is_long)) {
      std::vector<std::int32_t> ids, counts, parents, cuts, answers(live_.size(), 0), prompt_lengths;
      std::size_t left = portion;
      numbers_.clear();
      for (std::size_t i = 0; i < live_.size(); ++i) {
        Sentence& s = live_[i];
        const std::size_t n = is_long(s) ? std::min(left, s.unread - 1) : 0;
        const auto begin = s.text.end() - static_cast<std::ptrdiff_t>(s.unread);
        ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
        counts.push_back(static_cast<std::int32_t>(n));
        parents.push_back(std::exchange(s.row, static_cast<std::int32_t>(i)));
        cuts.push_back(std::exchange(s.wrong, 0));
        prompt_lengths.push_back(static_cast<std::int32_t>(1 + request_of(s).prefix.size()));
        numbers_.push_back(s.number);
        s.unread -= n, left -= n;
      }
      step_->step(c, {ids, counts, parents, numbers_, cuts, answers, prompt_lengths, Wanted::nothing});
      std::erase_if(live_, [&](Sentence& s) {
        if (!is_late(s.begun, list_->options)) return false;
        cut(s, StopReason::time_limit);
        finish(s);
        return true;
      });
      if (list_->watch.stop.stop_requested()) return false;
    }
    return !live_.empty();
  }

  void cancel() {
    for (Sentence& s : live_) {
      cut(s, StopReason::cancelled);
      finish(s);
    }
  }

  // A step whose length is chosen, if it may be, by the times and the acceptance of those before.
  void timed_step(Context& c) {
    const double begun = from_->seconds();
    length_ = from_->length ? from_->length->next(live_.size()) : from_->most;
    const auto any = [&](auto is) { return std::any_of(live_.begin(), live_.end(), is); };
    const bool drafts = length_ > 0 && from_->proposer.has_model();
    // The first reading of a prompt says nothing of other steps.
    const bool reads_prompt = any([&](const Sentence& s) { return s.unread > 1 || (drafts && s.drafted == 0); });
    const bool catches_up = drafts && any([](const Sentence& s) { return s.known > s.drafted + 2; });
    propose(c);
    accept(read(c));
    if (from_->length && !reads_prompt) measure(from_->seconds() - begun, catches_up);
  }

  // Room is left for the model's own token after the proposals.
  void propose(Context& c) {
    std::vector<std::span<const std::int32_t>> texts;
    std::vector<std::int32_t> most, state_of;
    std::vector<const Request*> requests;
    numbers_.clear();
    for (const Sentence& s : live_) {
      const auto made = static_cast<std::int32_t>(s.known - 1 - request_of(s).prefix.size());
      texts.emplace_back(s.text);
      numbers_.push_back(s.number);
      requests.push_back(&s.search.request());
      most.push_back(std::min(length_, request_of(s).max_length - made - 1));
      state_of.push_back(s.state);
    }
    if (length_ > 0)
      from_->proposer.propose(c, {texts, numbers_, most, requests, list_->options.eos_ids, states_, state_of},
                              proposed_);
    else
      proposed_.assign(live_.size(), {});
    accepted_.assign(live_.size(), 0);
    for (std::size_t i = 0; i < live_.size(); ++i) {
      live_[i].text.insert(live_[i].text.end(), proposed_[i].begin(), proposed_[i].end());
      if (length_ > 0) live_[i].drafted = live_[i].text.size();
      from_->counts.proposed += std::ssize(proposed_[i]);
    }
    from_->counts.rows += std::ssize(live_);
  }

  // The model's own choices, sentence after sentence: after the known tokens, and after each proposal.
  std::span<const Candidate> read(Context& c) {
    std::vector<std::int32_t> ids, counts, parents, cuts, answers, prompt_lengths;
    std::vector<RowView> views;
    for (const Sentence& s : live_) {
      const std::size_t unread = s.unread + s.proposed();
      ids.insert(ids.end(), s.text.end() - static_cast<std::ptrdiff_t>(unread), s.text.end());
      counts.push_back(static_cast<std::int32_t>(unread));
      parents.push_back(s.row);
      cuts.push_back(s.wrong);
      answers.push_back(static_cast<std::int32_t>(1 + s.proposed()));
      prompt_lengths.push_back(static_cast<std::int32_t>(1 + request_of(s).prefix.size()));
      for (std::size_t n = s.known; n <= s.text.size(); ++n)
        views.push_back({std::span(s.text).first(n), &s.search.request()});
    }
    const Wanted wanted = finder_.may_skip_logits() ? Wanted::candidates : Wanted::logits;
    const StepOutput output = step_->step(c, {ids, counts, parents, numbers_, cuts, answers, prompt_lengths, wanted});
    if (output.logits) check_shape(output.logits, {std::ssize(views), step_->vocab_size()}, "logits");
    if (from_->proposer.reads_states()) {
      check(static_cast<bool>(output.hidden), "speculative decoding", "these proposals need the states of one model");
      states_ = output.hidden;
    }
    return finder_.find(c, output, views);
  }

  // Advances the sentences by the accepted tokens. Finished sentences leave. `own` is the result of read().
  void accept(std::span<const Candidate> own) {
    std::size_t first = 0, kept = 0;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      Sentence& s = live_[i];
      const std::size_t answers = 1 + s.proposed();
      const std::size_t taken = take(s, own, first);
      accepted_[i] = static_cast<std::int32_t>(taken) - 1;
      if (!s.search.done() && is_late(s.begun, list_->options)) cut(s, StopReason::time_limit);
      if (s.search.done()) {
        finish(s);
      } else {
        if (list_->watch.on_partial)
          list_->watch.on_partial({static_cast<std::size_t>(s.number), s.search.view(0).new_tokens()});
        continue_from(s, taken, own[first + taken - 1].token, static_cast<std::int32_t>(i));
        s.state = static_cast<std::int32_t>(first + taken - 1);
        if (kept != i) live_[kept] = std::move(live_[i]);
        ++kept;
      }
      first += answers;
    }
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(kept), live_.end());
  }

  // Takes the model's own tokens, which begin at own[first], up to the first that was not proposed. Returns their number.
  std::size_t take(Sentence& s, std::span<const Candidate> own, std::size_t first) {
    const std::span<const std::int32_t> proposed = std::span(s.text).subspan(s.known);
    const std::size_t tops = finder_.top_count(), observed = finder_.observed_count();
    if (SearchObserver* const observer = request_of(s).observer) observer->propose(proposed);
    std::size_t taken = 0;
    bool agreed = true;
    while (agreed && taken <= proposed.size() && !s.search.done()) {
      const std::size_t at = first + taken;
      s.search.advance(own.subspan(at, 1), 1,
                       {.likeliest = finder_.tops().subspan(at * tops, tops),
                        .observed = finder_.observed().subspan(at * observed, observed)});
      agreed = taken < proposed.size() && own[at].token == proposed[taken];
      ++taken;
      from_->counts.tokens += s.search.added()[0].token >= 0;
      from_->counts.accepted += agreed;
      report(s);
    }
    return taken;
  }

  // Continues from this row: `taken` - 1 proposals were accepted, and the model's own token `last` comes after them.
  static void continue_from(Sentence& s, std::size_t taken, std::int32_t last, std::int32_t row) {
    s.wrong = static_cast<std::int32_t>(s.proposed() - (taken - 1));
    s.text.resize(s.known + taken - 1);
    s.text.push_back(last);
    s.known = s.text.size();
    s.unread = 1;
    s.row = row;
  }

  void measure(double seconds, bool catches_up) const {
    std::vector<std::int32_t> proposed;
    bool some = false;
    for (const std::vector<std::int32_t>& p : proposed_)
      proposed.push_back(static_cast<std::int32_t>(p.size())), some |= !p.empty();
    const bool takes_time = from_->proposer.has_model() || from_->proposer.reads_states();
    const std::int32_t length = some || takes_time ? length_ : 0;
    from_->length->add({length, proposed, accepted_, seconds, catches_up});
  }

  void cut(Sentence& s, StopReason why) {
    s.search.cut(why);
    report(s);
  }
  void finish(const Sentence& s) { results_[s.number] = s.search.hypotheses(); }
  void report(const Sentence& s) const {
    if (list_->watch.on_token)
      for (const Search::Added& a : s.search.added())
        list_->watch.on_token({static_cast<std::size_t>(s.number), a.sample, a.token, a.ended, a.score});
  }

  Step* step_;
  const Proposals* from_;
  const RequestList* list_;
  CandidateFinder finder_;
  std::vector<Sentence> live_;
  std::size_t waiting_ = 0;            // the first request that has not started
  std::vector<std::int32_t> numbers_;  // of live_
  Tensor states_;                      // [answers of the last step, D], if the proposer reads them
  std::int32_t length_ = 0;            // of the proposals of this step, at most
  std::vector<std::vector<std::int32_t>> proposed_;
  std::vector<std::int32_t> accepted_;  // how many of each row's proposals
  std::vector<std::vector<Hypothesis>> results_;
};

}  // namespace

void check_speculative(const SearchPlan& o) {
  check(o.is_greedy(), "speculative decoding",
        "needs greedy search, got a beam of {}, {} hypotheses, alternatives {}, sampling {}", o.beam_size, o.n_best,
        o.alternatives, o.sampling.on);
  check(!o.attention, "speculative decoding",
        "does not record attention, which alignments and the replacement of unknown words need");
  check(!o.shortlist, "speculative decoding", "does not support a shortlist");
}

std::vector<std::vector<Hypothesis>> decode_speculatively(Context& c, Step& step, const Proposals& proposals,
                                                          const RequestList& list) {
  check_options(list.options, step.vocab_size());
  check_speculative(list.options);
  check(list.max_live >= 0, "speculative decoding", "expected at least 0 live sentences, got {}", list.max_live);
  for (const Request& request : list.requests) check_request(request, list.options, step.vocab_size());
  check(proposals.most >= 1, "speculative decoding", "expected at least 1 token to propose, got {}", proposals.most);
  return SpeculativeSearch(step, proposals, list).run(c);
}

}  // namespace tril::search
