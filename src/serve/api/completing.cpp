#include "serve/api/completing.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "decode/batches/prompt_score.h"
#include "decode/texts/answer_tokens.h"
#include "serve/api/completion_form.h"
#include "serve/api/completion_plan.h"

namespace tril::serve {
namespace {

// A request in progress.
class Completing : public std::enable_shared_from_this<Completing> {
 public:
  Completing(Service& service, CallPtr call, ModelPtr model, CompletionRequest r, std::vector<Prompt> prompts)
      : service_(service),
        call_(std::move(call)),
        model_(std::move(model)),
        r_(std::move(r)),
        n_(static_cast<std::size_t>(r_.n)),
        prompts_(std::move(prompts)),
        form_(r_, prompts_, *model_, call_->id) {}

  void start() {
    check_priority(r_.schedule, call_->admin);
    plan_ = plan_completion(r_, std::ssize(prompts_), *model_, service_.options());
    if (r_.prediction) set_prediction();
    if (r_.format == CompletionRequest::Format::text && (!r_.logprobs || model_->knows_bytes_of_tokens()))
      return settle();
    // Compiling a schema into masks, or scanning a vocabulary for one, may take seconds: no other request should wait.
    service_.aside(call_, [self = shared_from_this()](search::WorkerPool&) { self->settle(); });
  }

 private:
  void set_prediction() {
    const search::SpeculativeOptions& proposals = model_->loaded().engine.session.speculative;
    if (const char* const why = search::why_not_undone(model_->model()))
      return call_->warnings.tell(fmt::format("prediction: has no effect on this model, because {}", why));
    const char* const why = r_.prediction->empty()                  ? ": it is empty"
                            : proposals.draft || proposals.heads    ? ": the model has a draft, which proposes tokens"
                            : model_->loaded().engine.deterministic ? ": the server is deterministic"
                            : !proposals.on()                       ? ": the server proposes no tokens for this model"
                            : !plan_.search.takes_proposals()
                                ? " with a beam or several samples: pass beam_size 1 and n 1"
                                : nullptr;
    if (why) return call_->warnings.tell(fmt::format("prediction: has no effect{}", why));
    prediction_ =
        std::make_shared<const std::vector<std::int32_t>>(model_->tokenizer().encode(*r_.prediction, Side::target));
  }

  // Completes the search plan, then begins.
  void settle() {
    search::SearchPlan s = plan_.search;
    set_constraint(r_, *model_, call_->warnings, s);
    s = model_->continuation().completed(std::move(s), plan_.lengths);
    rows_ = static_cast<std::size_t>(s.n_best);
    if (r_.logprobs) form_.bytes = model_->bytes_of_tokens();
    options_ = model_->options("", [&] { return std::move(s); });

    choices_.resize(prompts_.size() * rows_);
    form_.prompt_scores.resize(prompts_.size());
    if (r_.echo && r_.logprobs) {
      service_.aside(call_, [self = shared_from_this()](search::WorkerPool& worker) {
        const AdapterOf adapter(worker, *self->model_);
        for (std::size_t i = 0; i < self->prompts_.size(); ++i)
          self->form_.prompt_scores[i] = search::prompt_scores(
              worker.context(0), self->model_->model(), self->prompts_[i].ids,
              static_cast<std::int32_t>(*self->r_.logprobs), self->model_->tokenizer().size(Side::target));
        self->go();
      });
    } else {
      go();
    }
  }

  // A choice, decoded as one row.
  struct Choice {
    std::unique_ptr<search::TextStream> stream;    ///< without log-probabilities
    std::unique_ptr<search::AnswerTokens> tokens;  ///< with log-probabilities
    std::vector<search::TokenScore> scores;        ///< of the tokens so far
    std::vector<ScoredToken> kept;                 ///< for an answer that is not streamed
    search::Generation result;
  };

  void begin_stream() {
    call_->out->begin({.content_type = "text/event-stream", .body = {}});
    for (std::size_t place = 0; place < places(); ++place) {
      if (r_.chat) event(form_.chunk(place, {.begins = true}));
      if (!r_.echo) continue;
      const std::size_t prompt = place / n_;
      event(form_.chunk(place, {.text = prompts_[prompt].text, .logprobs = form_.logprobs_of_prompt(prompt)}));
    }
  }

  void go() {
    left_ = plan_.nothing_new ? 0 : prompts_.size();
    if (plan_.nothing_new) {
      for (Choice& choice : choices_) choice.result.stop_reason = search::StopReason::length;
      if (r_.stream) begin_stream();
      return finish();
    }
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      auto work = std::make_shared<Work>();
      work->request = model_->continuation().request_for(prompts_[i].ids, i, plan_.lengths);
      check_format_fits(r_, plan_, *options_, work->request);
      work->request.prediction = prediction_;
      for (std::size_t n = 0; n < rows_; ++n) {
        Choice& choice = choices_[i * rows_ + n];
        const std::vector<std::int32_t> before = search::end_of(work->request);
        if (r_.logprobs)
          choice.tokens =
              std::make_unique<search::AnswerTokens>(model_->continuation().tokenizer(), *form_.bytes, r_.stop, before);
        else
          choice.stream = std::make_unique<search::TextStream>(model_->continuation().tokenizer(), r_.stop, before);
      }
      work->options = options_;
      set_schedule(r_.schedule, *work);
      if (r_.stream) work->on_token = [self = shared_from_this(), i](const search::NewToken& t) { self->tell(i, t); };
      work->on_end = [self = shared_from_this(), i, request = work->request](Outcome&& o) {
        self->take(i, request, std::move(o));
      };
      works.push_back(std::move(work));
    }
    std::function<void()> begin;
    if (r_.stream) begin = [this] { begin_stream(); };
    service_.submit(call_, model_, std::move(works), begin);
  }

  bool is_end(std::int32_t token) const {
    return std::find(options_->eos_ids.begin(), options_->eos_ids.end(), token) != options_->eos_ids.end();
  }

  // The number of choices in the answer. Greedy decoding gives the same tokens n times, so they are computed once and repeated.
  std::size_t places() const { return prompts_.size() * n_; }
  std::size_t row_of(std::size_t place) const { return place / n_ * rows_ + std::min(place % n_, rows_ - 1); }

  // Streams one more token.
  void tell(std::size_t prompt, const search::NewToken& t) {
    const std::size_t row = prompt * rows_ + static_cast<std::size_t>(t.sample);
    Choice& choice = choices_[row];
    AnswerPart part;
    if (r_.logprobs) {
      const std::vector<ScoredToken> tokens = scored(choice, t.token, t.score, t.ended, part.text);
      if (tokens.empty() && part.text.empty()) return;
      part.logprobs = form_.logprobs(tokens, prompt);
    } else {
      if (t.token >= 0) part.text = choice.stream->push(t.token);
      if (t.ended) part.text += choice.stream->finish();
      if (part.text.empty()) return;
    }
    for (std::size_t place = prompt * n_; place < (prompt + 1) * n_; ++place)
      if (row_of(place) == row) event(form_.chunk(place, part));
  }

  // Takes a token (-1: none) and returns the tokens whose text has become final, with that text; of tokens that end an
  // answer, only those with text.
  std::vector<ScoredToken> scored(Choice& choice, std::int32_t token, const search::TokenScore* score, bool ended,
                                  std::string& text) const {
    std::vector<ScoredToken> tokens;
    const auto take = [&](search::AnswerTokens::Part part) {
      text += part.text;
      for (search::AnswerToken& t : part.tokens)
        if (!t.bytes.empty() || !is_end(t.id)) {
          search::TokenScore& score_of_t = choice.scores[t.number];
          tokens.push_back({.token = std::move(t), .score = std::move(score_of_t)});
        }
    };
    if (token >= 0) {
      choice.scores.push_back(score ? *score : search::TokenScore());
      take(choice.tokens->push(token));
    }
    if (ended) take(choice.tokens->finish());
    return tokens;
  }

  void take(std::size_t prompt, const search::Request& request, Outcome outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      if (outcome.hypotheses.empty()) throw HttpError(503, "the request waited too long", "server_error");
      if (prediction_) proposed_ += outcome.proposals.proposed, accepted_ += outcome.proposals.accepted;
      std::vector<search::Hypothesis>& list = outcome.hypotheses;
      const auto mean = [](const search::Hypothesis& h) {
        return h.log_prob / static_cast<double>(std::max<std::size_t>(1, h.tokens.size()));
      };
      if (plan_.draws > r_.n)
        std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return mean(a) > mean(b); });
      for (std::size_t n = 0; n < list.size() && n < rows_; ++n) {
        Choice& choice = choices_[prompt * rows_ + n];
        choice.result = model_->continuation().finish(list[n], request, plan_.lengths);
        if (r_.logprobs && !r_.stream) set_told(choice, list[n]);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--left_ == 0) finish();
  }

  void set_told(Choice& choice, const search::Hypothesis& h) const {
    std::string text;
    for (std::size_t i = 0; i <= h.tokens.size(); ++i) {
      const bool ended = i == h.tokens.size();
      const search::TokenScore* const score = i < h.token_scores.size() ? &h.token_scores[i] : nullptr;
      for (ScoredToken& t : scored(choice, ended ? -1 : h.tokens[i], score, ended, text))
        choice.kept.push_back(std::move(t));
    }
  }

  // --- the answer ---

  void event(const Json& json) { call_->out->write("data: " + json_text(json) + "\n\n"); }

  void fail_stream(const std::exception_ptr& error) {
    event({{"error", openai_error(service_.answer_to(*call_, error))}});
    call_->out->finish();
  }

  CompletionForm::Tokens tokens() const {
    std::int64_t made = 0;
    for (const Choice& c : choices_) made += std::ssize(c.result.tokens);
    // A greedy answer is made once, however often it is repeated.
    return {.made = rows_ == 1 ? made * static_cast<std::int64_t>(n_) : made, .of_prediction = {proposed_, accepted_}};
  }

  // Called where no caller can handle an exception.
  void finish() {
    try {
      if (error_) std::rethrow_exception(error_);
      answer();
    } catch (...) {
      r_.stream ? fail_stream(std::current_exception()) : service_.fail(call_, std::current_exception());
    }
  }

  void answer() {
    if (r_.stream) return end_stream();
    Json choices = Json::array();
    for (std::size_t place = 0; place < places(); ++place)
      choices.push_back(form_.choice(place, choices_[row_of(place)].result, choices_[row_of(place)].kept));
    Json json = form_.frame(false);
    json["choices"] = std::move(choices);
    json["usage"] = form_.usage(tokens());
    call_->send(std::move(json));
  }

  // The last event contains the warnings.
  void end_stream() {
    for (std::size_t place = 0; place < places(); ++place) {
      Json json = form_.chunk(place, {.finish = finish_reason(choices_[row_of(place)].result.stop_reason)});
      if (place + 1 == places() && !r_.include_usage) call_->warnings.put_into(json);
      event(json);
    }
    if (r_.include_usage) {
      Json json = form_.frame(true);
      json["choices"] = Json::array();
      json["usage"] = form_.usage(tokens());
      call_->warnings.put_into(json);
      event(json);
    }
    call_->out->write("data: [DONE]\n\n");
    call_->out->finish();
  }

  Service& service_;
  CallPtr call_;
  ModelPtr model_;
  CompletionRequest r_;
  std::size_t n_;  ///< answers to each prompt
  std::vector<Prompt> prompts_;
  CompletionForm form_;
  CompletionPlan plan_;
  std::shared_ptr<const search::SearchPlan> options_;
  std::vector<Choice> choices_;  ///< prompt after prompt; each is written only by the thread that decodes its prompt
  std::size_t rows_ = 1;         ///< answers that are computed for each prompt
  std::shared_ptr<const std::vector<std::int32_t>> prediction_;  ///< null: there is none, or it has no effect
  std::atomic<std::int64_t> proposed_ = 0, accepted_ = 0;        ///< tokens, if there is a prediction
  std::atomic<std::size_t> left_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

void complete(Service& service, const CallPtr& call, const ModelPtr& model, CompletionRequest r,
              std::vector<Prompt> prompts) {
  std::make_shared<Completing>(service, call, model, std::move(r), std::move(prompts))->start();
}

}  // namespace tril::serve
