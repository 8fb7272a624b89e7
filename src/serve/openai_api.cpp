// Text that goes on, as OpenAI's clients ask for it:
//   POST /v1/completions   POST /v1/chat/completions   GET /v1/models
#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "search/logit_bias.h"
#include "search/prompt_score.h"
#include "search/text_stream.h"
#include "serve/completion_request.h"
#include "serve/service.h"
#include "text/utf8.h"

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

// A request on its way.
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
      throw HttpError(403, "priority: above 0 for administrators alone", "priority", "permission_error");
    if (r_.stop.size() > 16) throw HttpError(400, "stop: at most 16 texts", "stop");
    for (const std::string& stop : r_.stop)
      if (stop.empty() || stop.size() > 1000) throw HttpError(400, "stop: expected texts of 1 to 1000 bytes", "stop");
    if (r_.chat) {
      if (r_.top_logprobs && !r_.chat_logprobs)
        throw HttpError(400, "top_logprobs: goes with logprobs", "top_logprobs");
      if (r_.chat_logprobs) r_.logprobs = r_.top_logprobs.value_or(0);
    }
    draws_ = std::max(r_.n, r_.best_of.value_or(r_.n));
    if (r_.best_of.value_or(r_.n) < r_.n) throw HttpError(400, "best_of: at least n", "best_of");
    if (draws_ > r_.n && r_.stream) throw HttpError(400, "best_of: does not go with stream", "best_of");
    if (draws_ * static_cast<std::int64_t>(prompts_.size()) > service_.options().most_hypotheses)
      throw HttpError(400, fmt::format("at most {} answers in all", service_.options().most_hypotheses), "n");
    set_lengths();

    SearchRequest wanted = r_.search;
    if (!wanted.temperature && wanted.beam_size.value_or(1) == 1 && !model_->loaded().search.sampling.on)
      wanted.temperature = 1;
    search::SearchOptions s = search_options(wanted, model_->loaded().search, draws_, model_->tokenizer());
    if (s.sampling.on || !s.has_beam()) s.n_best = s.sampling.on ? static_cast<std::int32_t>(draws_) : 1;
    if (r_.stream && s.has_beam()) throw HttpError(400, "stream: a beam knows its text only at the end", "stream");
    s.scores = r_.logprobs.has_value() || draws_ > r_.n || s.has_beam();
    if (r_.logprobs) {
      if (s.has_beam()) throw HttpError(400, "logprobs: are not told of a beam's answers", "logprobs");
      s.top_log_probs = static_cast<std::int32_t>(*r_.logprobs);
    }
    check_biases();
    if (r_.format == CompletionRequest::Format::text) return settle(std::move(s));
    // A schema may take seconds to be made into masks, which nobody else is to wait for.
    service_.aside(call_, [self = shared_from_this(), s = std::move(s)](search::WorkerPool&) { self->settle(s); });
  }

 private:
  // What is left to be said of the search; then it begins.
  void settle(search::SearchOptions s) {
    set_constraint(s);
    s = model_->continuation().completed(std::move(s), lengths_);
    rows_ = s.n_best;
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

  struct Choice {
    std::unique_ptr<search::TextStream> stream;
    std::vector<search::TokenScore> scores;  ///< of tokens that a stream has not told yet
    std::vector<std::int32_t> tokens;        ///< the same
    std::size_t told = 0;                    ///< characters of text
    search::Generation result;
    std::vector<search::TokenScore> all_scores;
  };

  void set_lengths() {
    lengths_ = model_->loaded().continuation;
    lengths_.stops = r_.stop;
    std::optional<std::int64_t> most = r_.max_completion_tokens ? r_.max_completion_tokens : r_.max_tokens;
    if (!most && !r_.chat && !lengths_.max_new_tokens) most = default_completion_tokens;
    if (!most && r_.chat) most = service_.options().most_new_tokens;
    if (most == 0 && !r_.echo) throw HttpError(400, "max_tokens: 0 goes with echo alone", "max_tokens");
    if (most > service_.options().most_new_tokens)
      throw HttpError(400, fmt::format("max_tokens: at most {}", service_.options().most_new_tokens), "max_tokens");
    nothing_new_ = most == 0;
    if (most) lengths_.max_new_tokens = static_cast<std::int32_t>(std::max<std::int64_t>(1, *most));
    if (r_.min_tokens > 0)
      lengths_.min_new_tokens =
          static_cast<std::int32_t>(std::min<std::int64_t>(r_.min_tokens, lengths_.max_new_tokens.value_or(1 << 20)));
  }

  void check_biases() const {
    for (const auto& [id, bias] : r_.logit_bias)
      if (id >= model_->tokenizer().size(Side::target))
        throw HttpError(400, fmt::format("logit_bias: there is no token {}", id), "logit_bias");
  }

  // What the answer must be, what must not be in it, and what is more or less likely to be.
  void set_constraint(search::SearchOptions& s) {
    for (const auto& [id, bias] : r_.logit_bias) search::add_bias(id, bias, s);
    if (r_.format == CompletionRequest::Format::text) return;
    if (!r_.stop.empty())
      throw HttpError(400, "stop: a text that is stopped may be none that response_format allows", "stop");
    try {
      s.constraint =
          model_->json_constraint(r_.format == CompletionRequest::Format::json_schema ? &r_.schema : nullptr);
    } catch (const Error& error) {
      throw HttpError(400, std::string("response_format: ") + error.what(), "response_format");
    }
  }

  void begin_stream() {
    call_->out->begin({.content_type = "text/event-stream", .body = {}});
    if (r_.chat)
      for (std::size_t i = 0; i < choices_.size(); ++i) chunk(i, "", nullptr, "", true);
    if (!r_.echo) return;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const std::size_t prompt = i / static_cast<std::size_t>(rows_);
      choices_[i].told = characters_in(prompts_[prompt].text);
      chunk(i, prompts_[prompt].text, r_.logprobs ? prompt_logprobs(prompt) : Json(nullptr), "");
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
      for (std::int64_t n = 0; n < rows_; ++n)
        choices_[choice_of(i, static_cast<std::int32_t>(n))].stream = std::make_unique<search::TextStream>(
            model_->continuation().tokenizer(), r_.stop, search::end_of(work->request));
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

  // One token more of a stream.
  void tell(std::size_t prompt, const search::NewToken& t) {
    const std::size_t at = choice_of(prompt, t.sample);
    Choice& choice = choices_[at];
    std::string text;
    if (t.token >= 0) {
      text = choice.stream->push(t.token);
      if (t.score && !is_end(t.token)) choice.scores.push_back(*t.score), choice.tokens.push_back(t.token);
    }
    if (t.ended) text += choice.stream->finish();
    if (text.empty()) return;
    const Json logprobs = r_.logprobs ? told_logprobs(choice.tokens, choice.scores, choice.told) : Json(nullptr);
    choice.told += characters_in(text);
    choice.scores.clear(), choice.tokens.clear();
    chunk(at, text, logprobs, "");
  }

  void take(std::size_t prompt, const search::Request& request, Outcome outcome) {
    try {
      if (outcome.error) std::rethrow_exception(outcome.error);
      if (outcome.hypotheses.empty()) throw HttpError(503, "the request waited for too long", "", "server_error");
      std::vector<search::Hypothesis>& list = outcome.hypotheses;
      const auto mean = [](const search::Hypothesis& h) {
        return h.log_prob / static_cast<double>(std::max<std::size_t>(1, h.tokens.size()));
      };
      if (draws_ > r_.n)
        std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return mean(a) > mean(b); });
      for (std::size_t n = 0; n < list.size() && n < static_cast<std::size_t>(rows_); ++n) {
        Choice& choice = choices_[choice_of(prompt, static_cast<std::int32_t>(n))];
        choice.result = model_->continuation().finish(list[n], request, lengths_, *options_);
        choice.all_scores = std::move(list[n].token_scores);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (--left_ == 0) finish();
  }

  // --- what is told ---

  // A token's text, or, where it is a part of a character, the name that it has in the vocabulary.
  std::string text_of(std::int32_t token) const {
    const std::string text = model_->tokenizer().decode({&token, 1}, Side::target);
    return text.find("\xef\xbf\xbd") == std::string::npos ? text : model_->tokenizer().piece(token, Side::target);
  }

  Json told_logprobs(std::span<const std::int32_t> tokens, std::span<const search::TokenScore> scores,
                     std::size_t offset) const {
    if (r_.chat) {
      Json content = Json::array();
      const auto one = [&](std::int32_t token, float log_prob) {
        const std::string text = text_of(token);
        Json bytes = Json::array();
        for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
        return Json{{"token", text}, {"logprob", log_prob}, {"bytes", std::move(bytes)}};
      };
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        Json entry = one(tokens[i], scores[i].log_prob);
        entry["top_logprobs"] = Json::array();
        for (const search::Candidate& c : scores[i].top)
          if (c.token >= 0) entry["top_logprobs"].push_back(one(c.token, c.log_prob));
        content.push_back(std::move(entry));
      }
      return {{"content", std::move(content)}};
    }
    Json texts = Json::array(), log_probs = Json::array(), tops = Json::array(), offsets = Json::array();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      texts.push_back(text_of(tokens[i]));
      log_probs.push_back(scores[i].log_prob);
      Json top = Json::object();
      for (const search::Candidate& c : scores[i].top)
        if (c.token >= 0) top[text_of(c.token)] = c.log_prob;
      tops.push_back(std::move(top));
      offsets.push_back(offset);
      offset += characters_in(texts.back().get_ref<const std::string&>());
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(log_probs)},
            {"top_logprobs", std::move(tops)},
            {"text_offset", std::move(offsets)}};
  }

  // The first token of a prompt follows nothing.
  Json prompt_logprobs(std::size_t prompt) const {
    std::vector<search::TokenScore> scores{{}};
    scores.insert(scores.end(), prompt_scores_[prompt].begin(), prompt_scores_[prompt].end());
    Json told = told_logprobs(prompts_[prompt].ids, scores, 0);
    told["token_logprobs"][0] = nullptr;
    told["top_logprobs"][0] = nullptr;
    return told;
  }

  Json frame(bool chunk) const {
    return {{"id", (r_.chat ? "chatcmpl-" : "cmpl-") + call_->id},
            {"object", !r_.chat ? "text_completion"
                       : chunk  ? "chat.completion.chunk"
                                : "chat.completion"},
            {"created", std::time(nullptr)},
            {"model", model_->name()}};
  }

  void chunk(std::size_t at, const std::string& text, const Json& logprobs, const std::string& finish,
             bool begins = false) {
    Json choice{{"index", at}};
    if (r_.chat) {
      choice["delta"] = Json::object();
      if (begins) choice["delta"]["role"] = "assistant";
      if (begins || !text.empty()) choice["delta"]["content"] = text;
    } else {
      choice["text"] = text;
    }
    choice["logprobs"] = logprobs;
    choice["finish_reason"] = finish.empty() ? Json(nullptr) : Json(finish);
    Json json = frame(true);
    json["choices"] = Json::array({std::move(choice)});
    call_->out->write("data: " + dumped(json) + "\n\n");
  }

  void fail_stream(const std::string& message) {
    call_->out->write("data: " + dumped({{"error", {{"message", message}, {"type", "server_error"}}}}) + "\n\n");
    call_->out->finish();
  }

  Json usage() const {
    std::size_t read = 0, made = 0;
    for (const Prompt& p : prompts_) read += p.ids.size();
    for (const Choice& c : choices_) made += c.result.tokens.size();
    return {{"prompt_tokens", read}, {"completion_tokens", made}, {"total_tokens", read + made}};
  }

  // Called where nobody waits for what it throws.
  void finish() {
    try {
      if (error_) std::rethrow_exception(error_);
      answer();
    } catch (const std::exception& e) {
      r_.stream ? fail_stream(e.what()) : service_.fail(call_, std::current_exception());
    }
  }

  void answer() {
    if (r_.stream) {
      for (std::size_t i = 0; i < choices_.size(); ++i) chunk(i, "", nullptr, finish_reason(choices_[i].result.finish));
      if (r_.include_usage) {
        Json json = frame(true);
        json["choices"] = Json::array();
        json["usage"] = usage();
        call_->out->write("data: " + dumped(json) + "\n\n");
      }
      call_->out->write("data: [DONE]\n\n");
      return call_->out->finish();
    }
    Json choices = Json::array();
    for (std::size_t p = 0; p < prompts_.size(); ++p)
      for (std::size_t n = 0;
           n < std::min<std::size_t>(static_cast<std::size_t>(r_.n), static_cast<std::size_t>(rows_)); ++n)
        choices.push_back(choice_json(p, choices_[choice_of(p, static_cast<std::int32_t>(n))], choices.size()));
    Json json = frame(false);
    json["choices"] = std::move(choices);
    json["usage"] = usage();
    call_->send(json);
  }

  Json choice_json(std::size_t prompt, const Choice& choice, std::size_t index) const {
    const std::string echoed = r_.echo ? prompts_[prompt].text : "";
    Json logprobs = nullptr;
    if (r_.logprobs) {
      std::vector<std::int32_t> tokens = choice.result.tokens;
      if (!tokens.empty() && is_end(tokens.back())) tokens.pop_back();
      tokens.resize(std::min(tokens.size(), choice.all_scores.size()));
      logprobs = told_logprobs(tokens, choice.all_scores, characters_in(echoed));
      if (r_.echo) {
        Json all = prompt_logprobs(prompt);
        for (const char* name : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
          for (Json& one : logprobs[name]) all[name].push_back(std::move(one));
        logprobs = std::move(all);
      }
    }
    Json json{{"index", index}};
    if (r_.chat)
      json["message"] = {{"role", "assistant"}, {"content", choice.result.text}};
    else
      json["text"] = echoed + choice.result.text;
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
  std::shared_ptr<const search::SearchOptions> options_;
  std::vector<std::vector<search::TokenScore>> prompt_scores_;
  std::vector<Choice> choices_;  ///< prompt after prompt; each written by the one thread that decodes its prompt
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
                     .summary = "What follows a text",
                     .request_schema = completion_schema(false),
                     .response = "choices, or with stream events of them",
                     .handle = [this](const CallPtr& call) {
                       check_room(call, false);
                       const Json body = parse_object(call->request.body);
                       CompletionRequest r = read_completion_request(body, false);
                       const ModelPtr model = model_for(call, r.model, false);
                       check_room(call, *model);
                       check_texts(texts_of_prompts(body), "prompt");
                       std::vector<Prompt> prompts = prompts_of(body, *model);
                       std::make_shared<Completing>(*this, call, model, std::move(r), std::move(prompts))->start();
                     }});
  routes_.push_back(
      {.method = "POST",
       .path = "/v1/chat/completions",
       .summary = "The next message of a chat",
       .request_schema = completion_schema(true),
       .response = "choices, or with stream events of them",
       .handle = [this](const CallPtr& call) {
         check_room(call, false);
         const Json body = parse_object(call->request.body);
         CompletionRequest r = read_completion_request(body, true);
         const ModelPtr model = model_for(call, r.model, false);
         check_room(call, *model);
         const Json messages = messages_of(body);
         std::vector<std::string> texts;
         for (const Json& m : messages) texts.push_back(m["content"].get<std::string>());
         check_texts(texts, "messages");
         if (!model->loaded().chat)
           throw HttpError(
               400, fmt::format("model {} has no chat template; /v1/completions continues text with it", model->name()),
               "model");
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
    // Those that a request may choose among, and so the page: a model that is told nothing has one of each at most.
    const ServedModel::Languages& l = model.languages();
    told["sources"] = l.from_each ? l.targets : std::vector<std::string>(l.source.empty() ? 0 : 1, l.source);
    told["targets"] = l.targets;
    return told;
  };
  routes_.push_back({.method = "GET",
                     .path = "/v1/models",
                     .summary = "The models that are ready",
                     .request_schema = nullptr,
                     .response = "a list of them",
                     .handle = [this, described](const CallPtr& call) {
                       Json list = Json::array();
                       for (const ModelPtr& model : models_.ready()) list.push_back(described(*model));
                       call->send({{"object", "list"}, {"data", std::move(list)}});
                     }});
  routes_.push_back({.method = "GET",
                     .path = "/v1/models/{model}",
                     .summary = "One of them",
                     .request_schema = nullptr,
                     .response = "what it is",
                     .handle = [this, described](const CallPtr& call) {
                       const std::string name = call->request.path.substr(std::string_view("/v1/models/").size());
                       call->send(described(*model_for(call, name, std::nullopt)));
                     }});
}

}  // namespace tril::serve
