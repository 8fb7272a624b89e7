// Routes that look inside a pass:
//   POST /trace   GET /inside (the page that shows it)
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "serve/api/model_choice.h"
#include "serve/api/page.h"
#include "serve/api/trace_bounds.h"
#include "trace/analyses.h"
#include "trace/next.h"
#include "trace/part.h"
#include "trace/report.h"
#include "trace/write.h"

namespace tril::serve {
namespace {

constexpr TraceBounds trace_bounds;

struct TraceRequest {
  std::string model, text, target, source_language, target_language;
  std::vector<std::string> only, edit;
  std::optional<std::string> patch_text, patch_target;
  std::int64_t new_tokens = 0, max_bytes = trace_bounds.bytes;
  trace::Analyses analyses;
  bool points = false;
  std::optional<std::int64_t> head, token;
  std::int64_t top = 0;
  std::string encoding = "numbers", against;
};
Fields fields_of(TraceRequest& r) {
  Fields f;
  f.add("model", &r.model, "name of the model; unset: the first");
  f.add("text", &r.text, "text that the model reads: the source of a translation, or the beginning of a text")
      .required();
  f.add("target", &r.target, "text that should follow: the translation, or the rest of the text");
  f.add("source-language", &r.source_language, "source language, for a model with language tokens");
  f.add("target-language", &r.target_language, "target language, for a multilingual model");
  f.add("only", &r.only, "names of the points whose values are returned, with * for any characters; unset: none");
  f.add("edit", &r.edit, "changes of the pass, POINT[HEAD]@TOKEN=ACTION, applied in order");
  f.add("patch-text", &r.patch_text, "text whose values the action patch takes");
  f.add("patch-target", &r.patch_target, "text that follows it");
  f.add("against", &r.against,
        "name of another model that takes the same tokens, such as this one in int8: how its pass differs");
  f.add("new-tokens", &r.new_tokens,
        "with edits or `against`: continue the text by so many tokens, with and without them")
      .at_least(0)
      .at_most(trace_bounds.new_tokens);
  f.add("lens", &r.analyses.lens, "what the end of the model makes of the stream after each layer");
  f.add("rollout", &r.analyses.rollout, "how attention carries tokens through all layers");
  f.add("attribute", &r.analyses.attributed_token,
        "what each head and each feed-forward adds to the logit of the best token after this token")
      .at_least(0)
      .at_most(trace_bounds.tokens);
  f.add("head-scores", &r.analyses.repeated_tokens,
        "scores of each head for looking back, induction and copying, on so many random tokens that are repeated")
      .at_least(0)
      .at_most(static_cast<double>(trace_bounds.tokens) / 2);
  f.add("max-bytes", &r.max_bytes, "refuse to keep more bytes of values than this")
      .at_least(1)
      .at_most(trace_bounds.bytes);
  f.add("points", &r.points, "list the names and shapes of all points of the pass");
  f.add("head", &r.head, "of the values, this head alone; heads count from 0").at_least(0).at_most(1 << 20);
  f.add("token", &r.token, "of the values and the best tokens, this token alone").at_least(0).at_most(1 << 20);
  f.add("top", &r.top, "also return so many best next tokens with their logits, after each token or after `token`")
      .at_least(0)
      .at_most(100);
  f.add("encoding", &r.encoding, "of the values: numbers, or base64 of little-endian bytes")
      .choices({"numbers", "base64"});
  return f;
}

void put_top(Json& next, const trace::TextReader& reader, const trace::Outcome& outcome, const TraceRequest& r) {
  const std::int64_t tokens = std::ssize(next);
  if (r.token && *r.token >= tokens)
    throw field_error("token", fmt::format("there is no token {}: the decoder reads {}", *r.token, tokens));
  for (std::int64_t t = r.token.value_or(0); t < (r.token ? *r.token + 1 : tokens); ++t)
    next[as_size(t)]["top"] = top_json(reader, outcome, t, r.top);
}

Json values_of_parts(const trace::Trace& all, const TraceRequest& r) {
  trace::Trace parts(trace_bounds.bytes);
  for (const trace::Value& v : all.values()) parts.add(part_of(v, {.head = r.head, .token = r.token}));
  if (r.encoding == "numbers") {
    if (parts.bytes() > trace_bounds.number_bytes)
      throw field_error("encoding", fmt::format("as numbers, values of {} bytes are too long: {} are allowed; ask for "
                                                "\"base64\", or for fewer points",
                                                parts.bytes(), trace_bounds.number_bytes));
    return values_json(parts);
  }
  Json values = Json::object();
  for (const trace::Value& v : parts.values()) values[v.name] = bytes_json(v);
  return values;
}

// The text and the languages as the model reads them.
trace::Question question_of(const ModelPtr& m, const TraceRequest& r) {
  const bool encodes = m->model().has_encoder();
  if (!encodes)
    for (const auto& [name, value] :
         {std::pair("source_language", &r.source_language), std::pair("target_language", &r.target_language)})
      if (!value->empty()) throw field_error(name, "is only for translations");
  const Languages languages = encodes ? requested_languages(m, r.source_language, r.target_language) : Languages();
  const auto texts = [&](const std::string& text, const std::string& target) {
    const std::string read = encodes ? TagsOfText(*m, languages.prefix, "target_language").put_before(text) : text;
    return trace::Texts{read, target, languages.source, languages.target};
  };
  trace::Question q{.texts = texts(r.text, r.target), .only = r.only, .edits = r.edit, .donor = {}};
  if (r.patch_text) q.donor = texts(*r.patch_text, r.patch_target.value_or(""));
  q.new_tokens = r.new_tokens, q.most_bytes = r.max_bytes, q.adapter = m->adapter();
  return q;
}

// How the pass of the other model differs.
Json difference(const ServedModel& m, const ServedModel& other, const trace::TextReader& reader,
                const trace::Question& question) {
  if (other.model().vocab_size() != m.model().vocab_size() || other.model().has_encoder() != m.model().has_encoder() ||
      other.model().source_vocab_size() != m.model().source_vocab_size())
    throw field_error("against", fmt::format("model {} does not take the tokens of model {}", other.name(), m.name()));
  trace::Question theirs = question;
  theirs.adapter = other.adapter();
  const trace::Plain before = plain_pass(m.model(), reader, question);
  return {{"model", other.name()},
          {"change", difference_json(reader, before, plain_pass(other.model(), reader, theirs))}};
}

TraceBounds bounds_of_traces(const ServiceOptions& options) {
  TraceBounds bounds = trace_bounds;
  bounds.operations = options.most_operations;
  return bounds;
}

// @param other  of TraceRequest::against; null: none
Json traced(const ServedModel& m, const ModelPtr& other, const TraceRequest& r, trace::Question question,
            const TraceBounds& bounds) {
  const trace::TextReader reader(m.model(), m.loaded().tokenizer);
  trace::Input input = reader.read(question.texts);
  input.adapter = question.adapter, input.checkpoint = question.checkpoint;
  const TraceWork work{.edits = r.edit, .new_tokens = r.new_tokens, .analyses = r.analyses};
  check_trace(bounds, m.model(), input, work, "text");
  if (question.donor) check_trace(bounds, m.model(), reader.read(*question.donor), work, "patch_text");
  std::optional<Json> against;
  if (other) {
    check_trace(bounds, other->model(), input, work, "against");
    against = difference(m, *other, reader, question);
    question.new_tokens = 0;  // there are no edits
  }
  const trace::Answer a = answer(m.model(), reader, question);
  Json reply{{"model", m.name()}};
  reply.update(about_json(m.model(), reader, a));
  question.checkpoint();
  if (r.points) reply["points"] = points_json(trace::points_of(m.model(), input));
  if (r.top > 0) put_top(reply["next"], reader, a.outcome, r);
  reply.update(analyses_json(m.model(), reader, input, r.analyses));
  if (against) reply["against"] = std::move(*against);
  if (!r.only.empty()) reply["values"] = values_of_parts(a.trace, r);
  return reply;
}

void check_list(const std::vector<std::string>& list, const std::string& field, std::size_t most) {
  if (list.size() > most) throw field_error(field, fmt::format("more than {} of them", most));
  for (const std::string& entry : list)
    if (entry.size() > trace_bounds.entry_bytes)
      throw field_error(
          field, fmt::format("one of them has {} bytes, but {} are allowed", entry.size(), trace_bounds.entry_bytes));
}

void check_request(const TraceRequest& r) {
  if (r.patch_target && !r.patch_text) throw field_error("patch_target", "there is no patch_text that it could follow");
  if (r.analyses.any() && !r.edit.empty()) throw field_error("edit", "analyses are of a plain pass");
  if (!r.against.empty() && !r.edit.empty())
    throw field_error("against", "cannot be combined with edits: compare one change at a time");
  check_list(r.only, "only", trace_bounds.patterns);
  check_list(r.edit, "edit", trace_bounds.edits);
}

// Ends a trace that nobody waits for any more, or that takes too long.
std::function<void()> checkpoint_of(const CallPtr& call) {
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  call->out->on_gone([gone] { *gone = true; });
  return [gone, deadline = call->deadline] {
    if (*gone) throw HttpError(503, "the client is gone", "server_error");
    if (deadline <= Clock::now()) throw HttpError(503, "the trace took too long", "server_error");
  };
}

}  // namespace

void Service::add_trace_routes() {
  routes_.push_back(
      {.method = "POST",
       .path = "/trace",
       .summary = "What a model computes in one pass over a text, by name, and what changes if some of it is changed",
       .request_schema = schema_of_request<TraceRequest>(),
       .response =
           "tokens, the best next tokens, the loss, what edits change, analyses, and the values of the named points "
           "with their shapes; as numbers, -infinity is null",
       .handle = [this](const CallPtr& call) {
         auto r = read_request<TraceRequest>(parse_object(call->request.body), call->warnings);
         check_request(r);
         check_texts({r.text}, "text");
         check_texts({r.target}, "target");
         check_texts({r.patch_text.value_or("")}, "patch_text");
         check_texts({r.patch_target.value_or("")}, "patch_target");
         with_model(call, r.model, std::nullopt, [this, call, r](const ModelPtr& m) {
           if (m->adapter() >= 0 && r.analyses.repeated_tokens > 0)
             throw field_error("head_scores", "are not computed with an adapter; ask for the model without it");
           const auto run = [this, call, m, r](const ModelPtr& other) {
             call->caller->model = m->name();
             aside(call, [call, m, other, r, question = question_of(m, r),
                          bounds = bounds_of_traces(options_)](search::WorkerPool&) {
               trace::Question q = question;
               q.checkpoint = checkpoint_of(call);
               call->send(traced(*m, other, r, q, bounds));
             });
           };
           if (r.against.empty()) return run(nullptr);
           with_model(call, r.against, std::nullopt, run);
         });
       }});
  routes_.push_back({.method = "GET",
                     .path = "/inside",
                     .summary = "A web page that shows a pass of a model step by step",
                     .request_schema = nullptr,
                     .response = "a self-contained HTML page",
                     .handle = [](const CallPtr& call) { call->out->send(inside_page()); },
                     .who = Route::Who::anybody,
                     .response_type = "text/html"});
}

}  // namespace tril::serve
