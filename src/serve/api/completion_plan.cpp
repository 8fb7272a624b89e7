#include "serve/api/completion_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/allowed.h"
#include "base/error.h"
#include "base/number_text.h"
#include "decode/texts/logit_bias.h"
#include "serve/api/search_fields.h"

namespace tril::serve {
namespace {

const char* length_field(const CompletionRequest& r) {
  return r.max_completion_tokens ? "max_completion_tokens" : "max_tokens";
}

void check_length(const char* name, std::int64_t tokens, const ServiceOptions& server) {
  if (tokens > server.most_new_tokens)
    throw field_error(
        name, fmt::format("{} is above the server's limit of {} (`max_new_tokens`)", tokens, server.most_new_tokens));
}

void set_lengths(const CompletionRequest& r, const ServedModel& model, const ServiceOptions& server,
                 CompletionPlan& plan) {
  const std::int64_t positions = model.model().max_positions();
  const char* const name = length_field(r);
  search::ContinuationOptions& lengths = plan.lengths = model.loaded().continuation;
  lengths.stops = r.stop;
  std::optional<std::int64_t> most = r.max_completion_tokens ? r.max_completion_tokens : r.max_tokens;
  if (most == 0 && !r.echo) throw field_error("max_tokens", "0 is allowed only with echo");
  check_length(name, most.value_or(0), server);
  check_length("min_tokens", r.min_tokens, server);
  if (positions > 0 && r.min_tokens > positions)
    throw field_error("min_tokens", fmt::format("{} is above the model's {} positions", r.min_tokens, positions));
  if (most && r.min_tokens > *most)
    throw field_error("min_tokens", fmt::format("{} is above {} {}", r.min_tokens, name, *most));
  if (!most && !r.chat && !lengths.max_new_tokens) most = default_completion_tokens;
  if (!most && r.chat) most = server.most_new_tokens;
  plan.nothing_new = most == 0;
  if (most) lengths.max_new_tokens = static_cast<std::int32_t>(std::max({std::int64_t{1}, *most, r.min_tokens}));
  if (r.min_tokens > 0) {
    lengths.min_new_tokens = static_cast<std::int32_t>(r.min_tokens);
    if (lengths.max_new_tokens) lengths.max_new_tokens = std::max(*lengths.max_new_tokens, *lengths.min_new_tokens);
  }
}

void check_stops(const CompletionRequest& r) {
  if (r.stop.size() > 16) throw field_error("stop", "at most 16 texts are allowed");
  for (const std::string& stop : r.stop)
    if (stop.empty() || stop.size() > 1000) throw field_error("stop", "expected texts of 1 to 1000 bytes");
  if (!r.stop.empty() && r.format != CompletionRequest::Format::text)
    throw field_error("stop", "cannot be combined with response_format: a stopped text may not match it");
}

// Beam search only on request: by default tokens are chosen greedily or sampled.
void set_search(const CompletionRequest& r, const ServedModel& model, CompletionPlan& plan) {
  SearchOptions wanted = r.search;
  const bool beamed = wanted.beam_size.value_or(1) > 1;
  if (!beamed) wanted.beam_size = 1;
  if (!wanted.temperature && !beamed && !model.loaded().search.sampling.on) wanted.temperature = 1;
  search::SearchPlan& s = plan.search = search_plan(wanted, model.loaded().asked, beamed ? plan.draws : 1, model);
  if (s.sampling.on) s.n_best = static_cast<std::int32_t>(plan.draws);
  if (r.stream && s.has_beam())
    throw field_error("stream", "cannot be combined with a beam, because its text is known only at the end");
  s.scores = r.logprobs.has_value() || plan.draws > r.n || s.has_beam();
  if (!r.logprobs) return;
  if (s.has_beam()) throw field_error("logprobs", "cannot be combined with a beam");
  s.top_log_probs = static_cast<std::int32_t>(*r.logprobs);
}

}  // namespace

CompletionPlan plan_completion(const CompletionRequest& r, std::int64_t prompts, const ServedModel& model,
                               const ServiceOptions& server) {
  CompletionPlan plan;
  check_stops(r);
  plan.draws = std::max(r.n, r.best_of.value_or(r.n));
  if (r.best_of.value_or(r.n) < r.n) throw field_error("best_of", "must be at least n");
  if (plan.draws > r.n && r.stream) throw field_error("best_of", "cannot be combined with stream");
  if (plan.draws * prompts > server.most_hypotheses)
    throw field_error("n",
                      fmt::format("{} answers to each of {} prompts, but at most {} answers are allowed in a request",
                                  plan.draws, prompts, server.most_hypotheses));
  set_lengths(r, model, server, plan);
  set_search(r, model, plan);
  for (const auto& [id, bias] : r.logit_bias)
    if (id >= model.tokenizer().size(Side::target))
      throw field_error("logit_bias", fmt::format("there is no token {}", id));
  return plan;
}

void set_constraint(const CompletionRequest& r, ServedModel& model, Warnings& warnings, search::SearchPlan& plan) {
  for (const auto& [id, bias] : r.logit_bias) search::add_bias(id, bias, plan);
  if (r.format == CompletionRequest::Format::text) return;
  try {
    const search::JsonForm form =
        model.json_constraint(r.format == CompletionRequest::Format::json_schema ? &r.schema : nullptr);
    plan.constraint = form.constraint;
    for (const std::string& word : form.notes.passed_over)
      warnings.pass_over("response_format", "response_format: no draft of JSON Schema defines " + word);
    for (const std::string& part : form.notes.left_out)
      warnings.tell("response_format: never generated, because it is not supported: " + part);
  } catch (const Error& error) {
    throw field_error("response_format", error.what());
  }
}

void check_format_fits(const CompletionRequest& r, const CompletionPlan& plan, const search::SearchPlan& settled,
                       const search::Request& request) {
  if (!settled.constraint) return;
  const std::int64_t least = settled.constraint->least_tokens() + (settled.eos_ids.empty() ? 0 : 1);
  if (least <= request.max_length) return;
  const std::string needs = fmt::format("the shortest answer that response_format allows has {}{}",
                                        counted(least, "token"), settled.eos_ids.empty() ? "" : " with its end token");
  if (plan.lengths.max_new_tokens.value_or(0) <= request.max_length)
    throw field_error(length_field(r), fmt::format("{}, but {}: allow more", needs, allowed(request.max_length)));
  throw field_error(r.chat ? "messages" : "prompt",
                    fmt::format("{}, but the model's positions leave {}: shorten the text", needs, request.max_length))
      .with_code("context_length_exceeded");
}

}  // namespace tril::serve
