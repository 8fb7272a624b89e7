// Shows what a search considers:
//   POST /search
#include <algorithm>
#include <stop_token>

#include "decode/texts/text_form.h"
#include "serve/api/model_choice.h"
#include "serve/api/request_terms.h"
#include "serve/api/search_bounds.h"
#include "serve/api/search_fields.h"
#include "serve/api/sentence_plan.h"
#include "serve/api/split_text.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr SearchBounds search_bounds;
constexpr std::size_t most_form_bytes = std::size_t{64} << 10;
constexpr std::int64_t most_shown = 16;

struct SearchRequest {
  std::string model, text, source_language, target_language, prefix;
  std::int64_t n = 1;
  SearchOptions search;
  std::string regex, draft;
  std::string json_schema;  // not among the fields: an object
  std::int64_t lookup = 0, proposals = 4, forbidden = 3, others = 3;
};
Fields fields_of(SearchRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first");
  f.add("text", &r.text, "the text that is translated or, by a model without an encoder, continued").required();
  f.add("source-language", &r.source_language, "source language, for a model with language tokens");
  f.add("target-language", &r.target_language, "target language, for a multilingual model");
  f.add("prefix", &r.prefix, "beginning of the translation");
  f.add("n", &r.n, "number of hypotheses or samples").at_least(1).at_most(static_cast<double>(search_bounds.rows));
  add_search_fields(f, r.search, true);
  f.add("regex", &r.regex, "the output must match this regular expression as a whole");
  f.add("draft", &r.draft, "name of a model with the same vocabulary, which proposes tokens in a greedy search");
  f.add("lookup", &r.lookup,
        "propose what followed an equal sequence of up to this many tokens in the text; 0: nothing")
      .at_least(0)
      .at_most(most_shown);
  f.add("proposals", &r.proposals, "number of tokens that are proposed at a time").at_least(1).at_most(most_shown);
  f.add("forbidden", &r.forbidden, "show so many of the likeliest forbidden tokens after each token")
      .at_least(0)
      .at_most(most_shown);
  f.add("others", &r.others, "in greedy search and sampling: show so many of the likeliest tokens that are not taken")
      .at_least(0)
      .at_most(most_shown);
  return f;
}

Json search_schema() {
  Json schema = schema_of_request<SearchRequest>();
  schema["properties"]["json_schema"] = {{"type", "object"},
                                         {"description", "the output must be JSON that is valid against this schema"}};
  return schema;
}

SearchRequest read_search_request(const Json& body, Warnings& warnings) {
  auto r = read_request<SearchRequest>(body, warnings, {"json_schema"});
  if (const auto given = body.find("json_schema"); given != body.end() && !given->is_null()) {
    if (!given->is_object()) throw field_error("json_schema", "expected an object, such as {\"type\": \"object\"}");
    r.json_schema = json_text(*given);
  }
  if (!r.json_schema.empty() && !r.regex.empty()) throw field_error("regex", "cannot be combined with json_schema");
  for (const auto& [name, text] : {std::pair("json_schema", &r.json_schema), {"regex", &r.regex}})
    if (text->size() > most_form_bytes)
      throw field_error(name, fmt::format("has {} bytes, but {} are allowed", text->size(), most_form_bytes));
  if (!r.draft.empty() && r.lookup > 0)
    throw field_error("lookup", "cannot be combined with draft: choose one of them");
  return r;
}

// One text as a search, and its results as texts.
class WatchedText {
 public:
  virtual ~WatchedText() = default;
  trace::SearchQuestion question;
  virtual std::vector<std::string> texts(const std::vector<search::Hypothesis>& hypotheses) const = 0;
};

// As POST /translate translates it, as one sentence.
class WatchedTranslation : public WatchedText {
 public:
  WatchedTranslation(const CallPtr& call, const ModelPtr& m, const SearchRequest& r) {
    requested_languages(m, r.source_language, r.target_language);  // names the fields of languages that the model lacks
    TranslateRequest asked;
    asked.search = r.search;
    asked.alternatives = r.n - 1;
    ModelChoice choice;
    choice.source = r.source_language, choice.target = r.target_language;
    Json body = parse_object(call->request.body);
    body["alternatives"] = asked.alternatives;  // the plan's key
    plan_ = std::make_unique<SentencePlan>(m, choice, asked, body, RequestTerms());
    plan_->settle(/*any_marks=*/false);
    TagsOfText tags(*m, plan_->tag(), "target_language");
    const PlannedSentence sentence = plan_->sentence({.text = tags.put_before(r.text), .prefix = r.prefix}, 0);
    if (!sentence.work) throw field_error("text", "has nothing to translate");
    warn_if_truncated(call->warnings, *sentence.text, *m);
    text_ = sentence.text;
    question.source = sentence.work->source;
    question.request = sentence.work->request;
    question.plan = *sentence.work->options;
  }
  std::vector<std::string> texts(const std::vector<search::Hypothesis>& hypotheses) const override {
    Outcome outcome;
    outcome.hypotheses = hypotheses;
    std::vector<std::string> list;
    for (search::Translation& t : plan_->translations(*text_, outcome)) list.push_back(std::move(t.text));
    return list;
  }

 private:
  std::unique_ptr<SentencePlan> plan_;
  std::shared_ptr<const search::TextToTranslate> text_;
};

class WatchedContinuation : public WatchedText {
 public:
  WatchedContinuation(const ModelPtr& m, const SearchRequest& r) : model_(m), lengths_(m->loaded().continuation) {
    for (const auto& [name, given] : {std::pair("source_language", !r.source_language.empty()),
                                      {"target_language", !r.target_language.empty()},
                                      {"prefix", !r.prefix.empty()},
                                      {"coverage_penalty", r.search.coverage_penalty.has_value()},
                                      {"max_length_factor", r.search.max_length_factor.has_value()}})
      if (given) throw field_error(name, "is only for translations");
    const std::int64_t least = r.search.min_length.value_or(0);
    const std::int64_t most = r.search.max_length.value_or(std::max(default_completion_tokens, least));
    if (least > most) throw field_error("min_length", fmt::format("{} is above max_length {}", least, most));
    lengths_.max_new_tokens = static_cast<std::int32_t>(most);
    if (least > 0) lengths_.min_new_tokens = static_cast<std::int32_t>(least);
    question.plan = m->continuation().completed(search_plan(r.search, m->loaded().asked, r.n, *m), lengths_);
    question.request = m->continuation().request_for(m->continuation().prompt_ids(r.text, "text"), 0, lengths_);
  }
  std::vector<std::string> texts(const std::vector<search::Hypothesis>& hypotheses) const override {
    std::vector<std::string> list;
    for (const search::Hypothesis& h : hypotheses)
      list.push_back(model_->continuation().finish(h, question.request, lengths_).text);
    return list;
  }

 private:
  ModelPtr model_;
  search::ContinuationOptions lengths_;
};

std::unique_ptr<WatchedText> watched_text(const CallPtr& call, const SearchRequest& r, const ModelPtr& m) {
  try {
    if (m->model().has_encoder()) return std::make_unique<WatchedTranslation>(call, m, r);
    return std::make_unique<WatchedContinuation>(m, r);
  } catch (const HttpError& error) {
    const std::string ours = "n_best", message = error.what();
    if (error.parameter() != ours || !message.starts_with(ours)) throw;
    throw HttpError(error.status(), "n" + message.substr(ours.size())).of_field("n");
  }
}

void set_form(const SearchRequest& r, const ModelPtr& m, Warnings& warnings, search::SearchPlan& plan) {
  const std::string field = r.regex.empty() ? "json_schema" : "regex";
  try {
    if (!r.regex.empty()) plan.constraint = m->regex_constraint(r.regex);
    if (r.json_schema.empty()) return;
    const search::JsonForm form = m->json_constraint(&r.json_schema);
    plan.constraint = form.constraint;
    for (const std::string& word : form.notes.passed_over)
      warnings.pass_over(field, field + ": no draft of JSON Schema defines " + word);
    for (const std::string& part : form.notes.left_out)
      warnings.tell(field + ": never generated, because it is not supported: " + part);
  } catch (const Error& error) {
    throw field_error(field, error.what());
  }
}

void set_proposals(const SearchRequest& r, const ModelPtr& draft, trace::SearchQuestion& q) {
  if (r.draft.empty() && r.lookup == 0) return;
  const char* const field = r.draft.empty() ? "lookup" : "draft";
  if (q.plan.has_beam() || q.plan.n_best > 1)
    throw field_error(field, "needs greedy search, or sampling of one text: beam_size 1 and n 1");
  if (draft && draft->adapter() >= 0) throw field_error(field, "a draft has no adapter; name the model without it");
  q.speculative = {.draft = draft ? &draft->model() : nullptr,
                   .lookup = static_cast<std::int32_t>(r.lookup),
                   .tokens = static_cast<std::int32_t>(r.proposals)};
}

// Ends with the client, and in time.
class Ending {
 public:
  Ending(const CallPtr& call, trace::SearchQuestion& q) : source_(std::make_shared<std::stop_source>()) {
    call->out->on_gone([source = source_] { source->request_stop(); });
    q.stop = source_->get_token();
    const double left = std::chrono::duration<double>(call->deadline - Clock::now()).count();
    if (left <= 0) throw HttpError(503, "the request waited too long", "server_error");
    q.plan.time_limit = q.plan.time_limit > 0 ? std::min(q.plan.time_limit, left) : left;
  }
  bool is_gone() const { return source_->stop_requested(); }

 private:
  std::shared_ptr<std::stop_source> source_;
};

SearchBounds bounds_of_search(const ServiceOptions& options) {
  SearchBounds bounds = search_bounds;
  bounds.operations = options.most_operations;
  return bounds;
}

void search_aside(const CallPtr& call, const SearchRequest& r, const ModelPtr& m, const ModelPtr& draft,
                  const SearchBounds& bounds) {
  const std::unique_ptr<WatchedText> text = watched_text(call, r, m);
  trace::SearchQuestion& q = text->question;
  q.request.adapter = m->adapter();
  if (!r.search.max_length)
    q.request.max_length =
        std::max(q.request.min_length, std::min<std::int32_t>(q.request.max_length, search_bounds.new_tokens));
  q.cache = m->loaded().engine.session.cache;
  q.bounds = {.nodes = search_bounds.nodes,
              .forbidden = static_cast<std::int32_t>(r.forbidden),
              .others = static_cast<std::int32_t>(r.others)};
  set_proposals(r, draft, q);
  if (q.speculative.on() || !r.regex.empty() || !r.json_schema.empty())
    q.plan.shortlist = nullptr;  // it goes with neither
  check_search(bounds, m->model(), q);
  set_form(r, m, call->warnings, q.plan);
  const Ending ending(call, q);
  search::WorkerPool worker(1, kernels_of(m->loaded().engine));  // those of the model's other requests
  const trace::SearchAnswer answer = trace::watch_search(worker.context(0), m->model(), q);
  if (ending.is_gone()) throw HttpError(503, "the client is gone", "server_error");
  const trace::TextReader reader(m->model(), m->loaded().tokenizer);
  Json reply{{"model", m->name()}, {"family", m->model().family()}};
  reply.update(trace::search_json(reader, q, answer, text->texts(answer.hypotheses)));
  call->send(std::move(reply));
}

}  // namespace

void Service::add_search_routes() {
  routes_.push_back(
      {.method = "POST",
       .path = "/search",
       .summary =
           "What the search of one text considers, as a tree: hypotheses that live, are cut or finish, forbidden "
           "tokens, and proposals",
       .request_schema = search_schema(),
       .response =
           "the given tokens, the plan, the nodes of the tree (parent, token, log-probability, sum, fate), and the "
           "results with their nodes",
       .handle = [this](const CallPtr& call) {
         auto r = read_search_request(parse_object(call->request.body), call->warnings);
         check_texts({r.text}, "text");
         check_texts({r.prefix}, "prefix");
         with_model(call, r.model, std::nullopt, [this, call, r](const ModelPtr& m) {
           const auto run = [this, call, r, m](const ModelPtr& draft) {
             call->caller->model = m->name();
             aside(call, [call, r, m, draft, bounds = bounds_of_search(options_)](search::WorkerPool&) {
               search_aside(call, r, m, draft, bounds);
             });
           };
           if (r.draft.empty()) return run(nullptr);
           with_model(call, r.draft, std::nullopt, run);
         });
       }});
}

}  // namespace tril::serve
