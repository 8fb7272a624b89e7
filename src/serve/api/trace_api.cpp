// Routes that look inside a pass:
//   POST /trace   GET /inside (the page that shows it)
#include <algorithm>

#include "inside/page.h"
#include "serve/api/model_choice.h"
#include "serve/api/page.h"
#include "trace/analyses.h"
#include "trace/next.h"
#include "trace/part.h"
#include "trace/report.h"
#include "trace/write.h"

namespace tril::serve {
namespace {

/// Of one request: it runs in the side worker, one at a time, on one core.
namespace trace_limits {
constexpr std::int64_t tokens = 256;  // of the source and of what the decoder reads, together
constexpr std::int64_t new_tokens = 32;
constexpr std::int64_t bytes = std::int64_t{16} << 20;  // of the values
constexpr std::int64_t logits_bytes = std::int64_t{64} << 20;
constexpr std::int64_t patterns = 256;
constexpr double operations = 4e12;  // about a minute
}  // namespace trace_limits

struct TraceRequest {
  std::string model, text, target, source_language, target_language;
  std::vector<std::string> only, edit;
  std::optional<std::string> patch_text, patch_target;
  std::int64_t new_tokens = 0, max_bytes = trace_limits::bytes;
  trace::Analyses analyses;
  bool points = false;
  std::optional<std::int64_t> head, token;
  std::int64_t top = 0;
  std::string encoding = "numbers";
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
  f.add("new-tokens", &r.new_tokens, "with edits: continue the text by so many tokens, with and without them")
      .at_least(0)
      .at_most(trace_limits::new_tokens);
  f.add("lens", &r.analyses.lens, "what the end of the model makes of the stream after each layer");
  f.add("rollout", &r.analyses.rollout, "how attention carries tokens through all layers");
  f.add("attribute", &r.analyses.attributed_token,
        "what each head and each feed-forward adds to the logit of the best token after this token")
      .at_least(0)
      .at_most(trace_limits::tokens);
  f.add("head-scores", &r.analyses.repeated_tokens,
        "scores of each head for looking back, induction and copying, on so many random tokens that are repeated")
      .at_least(0)
      .at_most(trace_limits::tokens / 2);
  f.add("max-bytes", &r.max_bytes, "refuse to keep more bytes of values than this")
      .at_least(1)
      .at_most(trace_limits::bytes);
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

// A product of a matrix with the stream is 2 operations for each weight and token. Experts that a token leaves out are counted too.
double operations_of(const model::Model& m, std::int64_t tokens) {
  double weights = 0;
  for (const nn::Parameter& p : m.parameters().all()) weights += static_cast<double>(p.shape.count());
  return 2 * weights * static_cast<double>(tokens);
}

std::int64_t heads_of(const trace::Trace& points) {
  std::int64_t heads = 0;
  for (const trace::Value& v : points.values())
    if (v.name.starts_with("decoder.") && v.name.ends_with(".heads") && v.shape.size() == 3) heads += v.shape[1];
  return heads;
}

// Refuses what would take a worker's memory or its time, before the first pass.
void check_size(const model::Model& m, const trace::Input& input, const TraceRequest& r) {
  const std::int64_t tokens = std::ssize(input.tokens) + std::ssize(input.source);
  if (tokens > trace_limits::tokens)
    throw field_error(
        "text", fmt::format("has {} tokens with what follows it, but {} may be traced", tokens, trace_limits::tokens));
  const std::int64_t logits = std::ssize(input.tokens) * m.vocab_size() * std::int64_t{sizeof(float)};
  if (logits > trace_limits::logits_bytes)
    throw field_error("text", fmt::format("its logits take {} bytes, but {} are allowed; give a shorter text", logits,
                                          trace_limits::logits_bytes));
  // Passes over the text: with the recorder, for the points, without edits, and over the other text; greedy search makes two of
  // each length. The end of the model is a part of a pass.
  double passes = 4;
  if (r.new_tokens > 0) passes += 2.0 * static_cast<double>(r.new_tokens);
  if (r.analyses.lens) passes += 8;
  if (r.analyses.rollout) passes += 2;
  double work = passes * operations_of(m, tokens + r.new_tokens);
  if (r.analyses.attributed_token || r.analyses.repeated_tokens > 0) {  // a pass without each head
    const auto heads = work <= trace_limits::operations ? static_cast<double>(heads_of(trace::points_of(m, input))) : 1;
    if (r.analyses.attributed_token) work += (heads + 4) * operations_of(m, tokens);
    if (r.analyses.repeated_tokens > 0)
      work += 3 * (heads + 1) * operations_of(m, 2 * r.analyses.repeated_tokens + std::ssize(input.source));
  }
  if (work > trace_limits::operations)
    throw HttpError(
        413, fmt::format("this takes about {:.1e} operations, but {:.1e} are allowed in a request: give a shorter "
                         "text, fewer new tokens, or fewer analyses",
                         work, trace_limits::operations))
        .of_field("text");
}

void put_top(Json& next, const trace::TextReader& reader, const trace::Outcome& outcome, const TraceRequest& r) {
  const std::int64_t tokens = std::ssize(next);
  if (r.token && *r.token >= tokens)
    throw field_error("token", fmt::format("there is no token {}: the decoder reads {}", *r.token, tokens));
  for (std::int64_t t = r.token.value_or(0); t < (r.token ? *r.token + 1 : tokens); ++t)
    next[as_size(t)]["top"] = top_json(reader, outcome, t, r.top);
}

Json values_of_parts(const trace::Trace& all, const TraceRequest& r) {
  trace::Trace parts(trace_limits::bytes);
  for (const trace::Value& v : all.values()) parts.add(part_of(v, {.head = r.head, .token = r.token}));
  if (r.encoding == "numbers") return values_json(parts);
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

Json traced(const ServedModel& m, const TraceRequest& r, const trace::Question& question) {
  const trace::TextReader reader(m.model(), m.loaded().tokenizer);
  trace::Input input = reader.read(question.texts);
  input.adapter = question.adapter;
  check_size(m.model(), input, r);
  if (question.donor) check_size(m.model(), reader.read(*question.donor), r);
  const trace::Answer a = answer(m.model(), reader, question);
  Json reply{{"model", m.name()}};
  reply.update(about_json(m.model(), reader, a));
  if (r.points) reply["points"] = points_json(trace::points_of(m.model(), input));
  if (r.top > 0) put_top(reply["next"], reader, a.outcome, r);
  reply.update(analyses_json(m.model(), reader, input, r.analyses));
  if (!r.only.empty()) reply["values"] = values_of_parts(a.trace, r);
  return reply;
}

void check_request(const TraceRequest& r) {
  if (r.patch_target && !r.patch_text) throw field_error("patch_target", "there is no patch_text that it could follow");
  if (r.analyses.any() && !r.edit.empty()) throw field_error("edit", "analyses are of a plain pass");
  if (std::ssize(r.only) > trace_limits::patterns || std::ssize(r.edit) > trace_limits::patterns)
    throw field_error(std::ssize(r.only) > trace_limits::patterns ? "only" : "edit",
                      fmt::format("more than {} of them", trace_limits::patterns));
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
         check_texts({r.text, r.target, r.patch_text.value_or(""), r.patch_target.value_or("")}, "text");
         with_model(call, r.model, std::nullopt, [this, call, r](const ModelPtr& m) {
           if (m->adapter() >= 0 && r.analyses.repeated_tokens > 0)
             throw field_error("head_scores", "are not computed with an adapter; ask for the model without it");
           aside(call, [call, m, r, question = question_of(m, r)](search::WorkerPool&) {
             call->send(traced(*m, r, question));
           });
         });
       }});
  routes_.push_back({.method = "GET",
                     .path = "/inside",
                     .summary = "A web page that shows a pass of a model step by step",
                     .request_schema = nullptr,
                     .response = "a self-contained HTML page",
                     .handle =
                         [](const CallPtr& call) {
                           call->out->send(
                               page_response([](const std::string& nonce) { return inside::page("null", nonce); }));
                         },
                     .who = Route::Who::anybody,
                     .response_type = "text/html"});
}

}  // namespace tril::serve
