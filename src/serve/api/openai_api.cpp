// Continues text for OpenAI's clients:
//   POST /v1/completions   POST /v1/chat/completions   GET /v1/models
#include <algorithm>
#include <mutex>

#include "base/allowed.h"
#include "base/error.h"
#include "base/number_text.h"
#include "decode/batches/prompt_score.h"
#include "decode/texts/answer_tokens.h"
#include "decode/texts/logit_bias.h"
#include "serve/api/completion_request.h"
#include "serve/api/logprobs.h"
#include "serve/api/search_fields.h"
#include "serve/api/service.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

std::string finish_reason(search::Finish finish) {
  switch (finish) {
    case search::Finish::end_token:
    case search::Finish::stop:
    case search::Finish::dead_end:
      return "stop";
    default:
      return "length";
  }
}

// A request in progress.
class Completing : public std::enable_shared_from_this<Completing> {
 public:
  Completing(Service& service, CallPtr call, ModelPtr model, CompletionRequest r, std::vector<Prompt> prompts)
      : service_(service),
        call_(std::move(call)),
        model_(std::move(model)),
        r_(std::move(r)),
        prompts_(std::move(prompts)) {}

  void start() {
    if (r_.priority > 0 && !call_->admin)
      throw HttpError(403, "priority: above 0 only for administrators", "permission_error").of_field("priority");
    if (r_.stop.size() > 16) throw field_error("stop", "at most 16 texts are allowed");
    for (const std::string& stop : r_.stop)
      if (stop.empty() || stop.size() > 1000) throw field_error("stop", "expected texts of 1 to 1000 bytes");
    if (r_.chat) {
      if (r_.top_logprobs && !r_.chat_logprobs) throw field_error("top_logprobs", "needs logprobs");
      if (r_.chat_logprobs) r_.logprobs = r_.top_logprobs.value_or(0);
    }
    draws_ = std::max(r_.n, r_.best_of.value_or(r_.n));
    if (r_.best_of.value_or(r_.n) < r_.n) throw field_error("best_of", "must be at least n");
    if (draws_ > r_.n && r_.stream) throw field_error("best_of", "cannot be combined with stream");
    if (draws_ * static_cast<std::int64_t>(prompts_.size()) > service_.options().most_hypotheses)
      throw field_error("n", fmt::format("at most {} answers in total", service_.options().most_hypotheses));
    set_lengths();

    // Beam search only on request: by default tokens are chosen greedily or sampled.
    SearchOptions wanted = r_.search;
    const bool beamed = wanted.beam_size.value_or(1) > 1;
    if (!beamed) wanted.beam_size = 1;
    if (!wanted.temperature && !beamed && !model_->loaded().search.sampling.on) wanted.temperature = 1;
    search::SearchPlan s = search_plan(wanted, beamed ? draws_ : 1, *model_);
    if (s.sampling.on) s.n_best = static_cast<std::int32_t>(draws_);
    if (r_.stream && s.has_beam())
      throw field_error("stream", "cannot be combined with a beam, whose text is known only at the end");
    s.scores = r_.logprobs.has_value() || draws_ > r_.n || s.has_beam();
    if (r_.logprobs) {
      if (s.has_beam()) throw field_error("logprobs", "cannot be combined with a beam");
      s.top_log_probs = static_cast<std::int32_t>(*r_.logprobs);
    }
    check_biases();
    if (r_.format == CompletionRequest::Format::text && (!r_.logprobs || model_->knows_bytes_of_tokens()))
      return settle(std::move(s));
    // Compiling a schema into masks, or scanning a vocabulary for one, may take seconds: no other request should wait.
    service_.aside(call_, [self = shared_from_this(), s = std::move(s)](search::WorkerPool&) { self->settle(s); });
  }

 private:
  // Completes the search plan, then begins.
  void settle(search::SearchPlan s) {
    set_constraint(s);
    s = model_->continuation().completed(std::move(s), lengths_);
    rows_ = s.n_best;
    if (r_.logprobs) bytes_ = model_->bytes_of_tokens();
    options_ = model_->options("", [&] { return std::move(s); });

    choices_.resize(prompts_.size() * static_cast<std::size_t>(rows_));
    prompt_scores_.resize(prompts_.size());
    if (r_.echo && r_.logprobs) {
      service_.aside(call_, [self = shared_from_this()](search::WorkerPool& worker) {
        for (std::size_t i = 0; i < self->prompts_.size(); ++i)
          self->prompt_scores_[i] = search::prompt_scores(
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
    std::vector<ScoredToken> told;                 ///< for an answer that is not streamed
    search::Generation result;
  };

  void set_lengths() {
    const std::int64_t positions = model_->model().max_positions();
    const char* const name = length_name();
    lengths_ = model_->loaded().continuation;
    lengths_.stops = r_.stop;
    std::optional<std::int64_t> most = r_.max_completion_tokens ? r_.max_completion_tokens : r_.max_tokens;
    if (most == 0 && !r_.echo) throw field_error("max_tokens", "0 is allowed only with echo");
    check_length(name, most.value_or(0));
    check_length("min_tokens", r_.min_tokens);
    if (positions > 0 && r_.min_tokens > positions)
      throw field_error("min_tokens", fmt::format("{} is above the model's {} positions", r_.min_tokens, positions));
    if (most && r_.min_tokens > *most)
      throw field_error("min_tokens", fmt::format("{} is above {} {}", r_.min_tokens, name, *most));
    if (!most && !r_.chat && !lengths_.max_new_tokens) most = default_completion_tokens;
    if (!most && r_.chat) most = service_.options().most_new_tokens;
    nothing_new_ = most == 0;
    if (most) lengths_.max_new_tokens = static_cast<std::int32_t>(std::max({std::int64_t{1}, *most, r_.min_tokens}));
    if (r_.min_tokens > 0) {
      lengths_.min_new_tokens = static_cast<std::int32_t>(r_.min_tokens);
      if (lengths_.max_new_tokens)
        lengths_.max_new_tokens = std::max(*lengths_.max_new_tokens, *lengths_.min_new_tokens);
    }
  }
  // The shortest text of the format may exceed the token limit.
  void check_format_fits(const search::Request& request) const {
    if (!options_->constraint) return;
    const std::int64_t least = options_->constraint->least_tokens() + (options_->eos_ids.empty() ? 0 : 1);
    if (least <= request.max_length) return;
    const bool asked = lengths_.max_new_tokens.value_or(0) <= request.max_length;
    const std::string needs =
        fmt::format("the shortest answer that response_format allows has {}{}", counted(least, "token"),
                    options_->eos_ids.empty() ? "" : " with its end token");
    const std::string name = asked ? length_name() : r_.chat ? "messages" : "prompt";
    throw HttpError(400, asked ? fmt::format("{}: {}, but {}: allow more", name, needs, allowed(request.max_length))
                               : fmt::format("{}: {}, but the model's positions leave {}: shorten the text", name,
                                             needs, request.max_length))
        .of_field(name)
        .with_code(asked ? "" : "context_length_exceeded");
  }
  const char* length_name() const { return r_.max_completion_tokens ? "max_completion_tokens" : "max_tokens"; }
  void check_length(const char* name, std::int64_t tokens) const {
    const std::int64_t bound = service_.options().most_new_tokens;
    if (tokens > bound) throw field_error(name, fmt::format("at most {}, the server's `max_new_tokens`", bound));
  }

  void check_biases() const {
    for (const auto& [id, bias] : r_.logit_bias)
      if (id >= model_->tokenizer().size(Side::target))
        throw field_error("logit_bias", fmt::format("there is no token {}", id));
  }

  // Sets the answer's format, forbidden tokens and biases.
  void set_constraint(search::SearchPlan& s) {
    for (const auto& [id, bias] : r_.logit_bias) search::add_bias(id, bias, s);
    if (r_.format == CompletionRequest::Format::text) return;
    if (!r_.stop.empty())
      throw field_error("stop", "cannot be combined with response_format: a stopped text may not match it");
    try {
      const search::JsonForm form =
          model_->json_constraint(r_.format == CompletionRequest::Format::json_schema ? &r_.schema : nullptr);
      s.constraint = form.constraint;
      for (const std::string& word : form.notes.passed_over)
        call_->warnings.pass_over("response_format", "response_format: no draft of JSON Schema defines " + word);
      for (const std::string& part : form.notes.left_out)
        call_->warnings.tell("response_format: never generated, because it is not supported: " + part);
    } catch (const Error& error) {
      throw HttpError(400, std::string("response_format: ") + error.what()).of_field("response_format");
    }
  }

  void begin_stream() {
    call_->out->begin({.content_type = "text/event-stream", .body = {}});
    for (std::size_t place = 0; place < places(); ++place) {
      if (r_.chat) event(chunk(place, {.begins = true}));
      if (!r_.echo) continue;
      const std::size_t prompt = place / static_cast<std::size_t>(r_.n);
      event(
          chunk(place, {.text = prompts_[prompt].text, .logprobs = logprobs_of(prompt_tokens(prompt), prompt, true)}));
    }
  }

  void go() {
    left_ = nothing_new_ ? 0 : prompts_.size();
    if (nothing_new_) {
      for (Choice& choice : choices_) choice.result.finish = search::Finish::length;
      if (r_.stream) begin_stream();
      return finish();
    }
    std::vector<WorkPtr> works;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      auto work = std::make_shared<Work>();
      work->request = model_->continuation().request_for(prompts_[i].ids, i, lengths_);
      check_format_fits(work->request);
      for (std::int64_t n = 0; n < rows_; ++n) {
        Choice& choice = choices_[choice_of(i, static_cast<std::int32_t>(n))];
        const std::vector<std::int32_t> before = search::end_of(work->request);
        if (r_.logprobs)
          choice.tokens =
              std::make_unique<search::AnswerTokens>(model_->continuation().tokenizer(), *bytes_, r_.stop, before);
        else
          choice.stream = std::make_unique<search::TextStream>(model_->continuation().tokenizer(), r_.stop, before);
      }
      work->options = options_;
      work->priority = static_cast<int>(r_.priority);
      if (r_.time_limit)
        work->deadline = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(*r_.time_limit * 1000));
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

  std::size_t choice_of(std::size_t prompt, std::int32_t sample) const {
    return prompt * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(sample);
  }
  bool is_end(std::int32_t token) const {
    return std::find(options_->eos_ids.begin(), options_->eos_ids.end(), token) != options_->eos_ids.end();
  }

  // The number of choices in the answer. Greedy decoding gives the same tokens n times, so they are computed once and repeated.
  std::size_t places() const { return prompts_.size() * static_cast<std::size_t>(r_.n); }
  std::size_t row_of(std::size_t place) const {
    const auto n = static_cast<std::size_t>(r_.n), rows = static_cast<std::size_t>(rows_);
    return place / n * rows + std::min(place % n, rows - 1);
  }

  // Streams one more token.
  void tell(std::size_t prompt, const search::NewToken& t) {
    const std::size_t row = choice_of(prompt, t.sample);
    Choice& choice = choices_[row];
    Told told;
    if (r_.logprobs) {
      const std::vector<ScoredToken> tokens = scored(choice, t.token, t.score, t.ended, told.text);
      if (tokens.empty() && told.text.empty()) return;
      told.logprobs = logprobs_of(tokens, prompt);
    } else {
      if (t.token >= 0) told.text = choice.stream->push(t.token);
      if (t.ended) told.text += choice.stream->finish();
      if (told.text.empty()) return;
    }
    const auto n = static_cast<std::size_t>(r_.n);
    for (std::size_t place = prompt * n; place < (prompt + 1) * n; ++place)
      if (row_of(place) == row) event(chunk(place, told));
  }

  // Takes a token (-1: none) and returns the tokens whose text has become final, with that text; of tokens that end an
  // answer, only those with text.
  std::vector<ScoredToken> scored(Choice& choice, std::int32_t token, const search::TokenScore* score, bool ended,
                                  std::string& text) const {
    std::vector<ScoredToken> tokens;
    const auto take = [&](search::AnswerTokens::Part part) {
      text += part.text;
      for (search::AnswerToken& t : part.tokens)
        if (!t.bytes.empty() || !is_end(t.id))
          tokens.push_back({.token = std::move(t), .score = std::move(choice.scores[t.number])});
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
      std::vector<search::Hypothesis>& list = outcome.hypotheses;
      const auto mean = [](const search::Hypothesis& h) {
        return h.log_prob / static_cast<double>(std::max<std::size_t>(1, h.tokens.size()));
      };
      if (draws_ > r_.n)
        std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return mean(a) > mean(b); });
      for (std::size_t n = 0; n < list.size() && n < static_cast<std::size_t>(rows_); ++n) {
        Choice& choice = choices_[choice_of(prompt, static_cast<std::int32_t>(n))];
        choice.result = model_->continuation().finish(list[n], request, lengths_, *options_);
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
        choice.told.push_back(std::move(t));
    }
  }

  // --- the answer ---

  // Of the tokens of an answer to this prompt; those of a prompt also have its number.
  Json logprobs_of(std::span<const ScoredToken> tokens, std::size_t prompt, bool of_prompt = false) const {
    if (!r_.logprobs) return nullptr;
    const LogprobsForm form(model_->tokenizer(), *bytes_);
    if (r_.chat) return form.of_chat(tokens);
    return form.of_completion(tokens, of_prompt ? 0 : characters_in(prompts_[prompt].text), *r_.logprobs > 0);
  }

  // The first token of a prompt has no predecessor.
  std::vector<ScoredToken> prompt_tokens(std::size_t prompt) const {
    std::vector<ScoredToken> tokens;
    if (!r_.logprobs) return tokens;
    const Prompt& p = prompts_[prompt];
    for (search::AnswerToken& t : search::tokens_of_text(model_->continuation().tokenizer(), *bytes_, p.ids, p.text)) {
      const std::size_t at = tokens.size();
      tokens.push_back({.token = std::move(t),
                        .score = at > 0 ? prompt_scores_[prompt][at - 1] : search::TokenScore(),
                        .first = at == 0});
    }
    return tokens;
  }

  Json frame(bool chunk) const {
    return {{"id", (r_.chat ? "chatcmpl-" : "cmpl-") + call_->id},
            {"object", !r_.chat ? "text_completion"
                       : chunk  ? "chat.completion.chunk"
                                : "chat.completion"},
            {"created", std::time(nullptr)},
            {"model", model_->name()}};
  }

  struct Told {
    std::string text = {};
    Json logprobs = nullptr;
    std::string finish = {};
    bool begins = false;
  };
  // An event of a stream.
  Json chunk(std::size_t place, const Told& told) const {
    Json choice{{"index", place}};
    if (r_.chat) {
      choice["delta"] = Json::object();
      if (told.begins) choice["delta"]["role"] = "assistant";
      if (told.begins || !told.text.empty()) choice["delta"]["content"] = told.text;
    } else {
      choice["text"] = told.text;
    }
    choice["logprobs"] = told.logprobs;
    choice["finish_reason"] = told.finish.empty() ? Json(nullptr) : Json(told.finish);
    Json json = frame(true);
    json["choices"] = Json::array({std::move(choice)});
    if (r_.include_usage) json["usage"] = nullptr;
    return json;
  }
  void event(const Json& json) { call_->out->write("data: " + json_text(json) + "\n\n"); }

  void fail_stream(const std::exception_ptr& error) {
    event({{"error", openai_error(service_.answer_to(*call_, error))}});
    call_->out->finish();
  }

  Json usage() const {
    std::size_t read = 0, made = 0;
    for (const Prompt& p : prompts_) read += p.ids.size();
    for (const Choice& c : choices_) made += c.result.tokens.size();
    if (rows_ == 1) made *= static_cast<std::size_t>(r_.n);
    return {{"prompt_tokens", read}, {"completion_tokens", made}, {"total_tokens", read + made}};
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
    for (std::size_t place = 0; place < places(); ++place) choices.push_back(choice_json(place));
    Json json = frame(false);
    json["choices"] = std::move(choices);
    json["usage"] = usage();
    call_->send(std::move(json));
  }

  // The last event contains the warnings.
  void end_stream() {
    for (std::size_t place = 0; place < places(); ++place) {
      Json json = chunk(place, {.finish = finish_reason(choices_[row_of(place)].result.finish)});
      if (place + 1 == places() && !r_.include_usage) call_->warnings.put_into(json);
      event(json);
    }
    if (r_.include_usage) {
      Json json = frame(true);
      json["choices"] = Json::array();
      json["usage"] = usage();
      call_->warnings.put_into(json);
      event(json);
    }
    call_->out->write("data: [DONE]\n\n");
    call_->out->finish();
  }

  Json choice_json(std::size_t place) const {
    const std::size_t prompt = place / static_cast<std::size_t>(r_.n);
    const Choice& choice = choices_[row_of(place)];
    Json logprobs = logprobs_of(choice.told, prompt);
    if (r_.echo && r_.logprobs) {
      Json all = logprobs_of(prompt_tokens(prompt), prompt, true);
      for (auto& [name, list] : all.items())
        for (Json& one : logprobs[name]) list.push_back(std::move(one));
      logprobs = std::move(all);
    }
    Json json{{"index", place}};
    if (r_.chat)
      json["message"] = {{"role", "assistant"}, {"content", choice.result.text}, {"refusal", nullptr}};
    else
      json["text"] = (r_.echo ? prompts_[prompt].text : "") + choice.result.text;
    json["logprobs"] = std::move(logprobs);
    json["finish_reason"] = finish_reason(choice.result.finish);
    return json;
  }

  Service& service_;
  CallPtr call_;
  ModelPtr model_;
  CompletionRequest r_;
  std::vector<Prompt> prompts_;
  search::ContinuationOptions lengths_;
  std::shared_ptr<const search::SearchPlan> options_;
  std::vector<std::vector<search::TokenScore>> prompt_scores_;
  std::shared_ptr<const std::vector<std::string>> bytes_;  ///< by token; for log-probabilities
  std::vector<Choice> choices_;  ///< prompt after prompt; each is written only by the thread that decodes its prompt
  std::int64_t draws_ = 1, rows_ = 1;
  bool nothing_new_ = false;
  std::atomic<std::size_t> left_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

void Service::add_openai_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/v1/completions",
                     .summary = "Continues a text",
                     .request_schema = completion_schema(false),
                     .response = "the choices; with stream, events of them",
                     .handle = [this](const CallPtr& call) {
                       check_room(call, false);
                       const Json body = parse_object(call->request.body);
                       CompletionRequest r = read_completion_request(body, false, call->warnings);
                       const ModelPtr model = model_for(call, r.model, false);
                       check_room(call, *model);
                       check_texts(texts_of_prompts(body), "prompt");
                       std::vector<Prompt> prompts = prompts_of(body, *model);
                       std::make_shared<Completing>(*this, call, model, std::move(r), std::move(prompts))->start();
                     }});
  routes_.push_back(
      {.method = "POST",
       .path = "/v1/chat/completions",
       .summary = "Gives the next message of a chat",
       .request_schema = completion_schema(true),
       .response = "the choices; with stream, events of them",
       .handle = [this](const CallPtr& call) {
         check_room(call, false);
         const Json body = parse_object(call->request.body);
         CompletionRequest r = read_completion_request(body, true, call->warnings);
         const ModelPtr model = model_for(call, r.model, false);
         check_room(call, *model);
         const Json messages = messages_of(body, call->warnings);
         check_texts(texts_of_messages(messages), "messages");
         if (!model->loaded().chat)
           throw HttpError(
               400, fmt::format("model {} has no chat template; /v1/completions continues text with it", model->name()))
               .of_field("model");
         std::vector<Prompt> prompts{chat_prompt(*model, messages)};
         std::make_shared<Completing>(*this, call, model, std::move(r), std::move(prompts))->start();
       }});
  const auto described = [](const ServedModel& model) {
    Json told{{"id", model.name()},
              {"object", "model"},
              {"created", model.created()},
              {"owned_by", "tril"},
              {"translates", model.translates()}};
    if (!model.translates()) return told;
    // The choices of a request, and of the page: a model without language selection has at most one of each.
    const ServedModel::Languages& l = model.languages();
    told["sources"] = l.from_each ? l.targets : std::vector<std::string>(l.source.empty() ? 0 : 1, l.source);
    told["targets"] = l.targets;
    return told;
  };
  routes_.push_back({.method = "GET",
                     .path = "/v1/models",
                     .summary = "Lists the models that are ready",
                     .request_schema = nullptr,
                     .response = "a list of the models",
                     .handle = [this, described](const CallPtr& call) {
                       Json list = Json::array();
                       for (const ModelPtr& model : models_.ready()) list.push_back(described(*model));
                       call->send({{"object", "list"}, {"data", std::move(list)}});
                     }});
  routes_.push_back({.method = "GET",
                     .path = "/v1/models/{model}",
                     .summary = "Describes one model",
                     .request_schema = nullptr,
                     .response = "the model",
                     .handle = [this, described](const CallPtr& call) {
                       const std::string name = call->request.path.substr(std::string_view("/v1/models/").size());
                       call->send(described(*model_for(call, name, std::nullopt)));
                     }});
}

}  // namespace tril::serve
