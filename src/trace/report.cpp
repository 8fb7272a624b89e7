#include "trace/report.h"

#include <nlohmann/json.hpp>

#include "base/as_size.h"

namespace tril::trace {
namespace {

std::vector<Edit> edits_of(const std::vector<std::string>& texts) {
  std::vector<Edit> edits;
  for (const std::string& text : texts) edits.push_back(parse_edit(text));
  return edits;
}

// The values that the edits take from the other texts.
Trace donor_of(const model::Model& m, const TextReader& reader, const Question& q, const std::vector<Edit>& edits) {
  Trace donor(q.most_bytes);
  std::vector<std::string> patterns;
  for (const Edit& e : edits)
    if (e.action == Edit::Action::patch) patterns.push_back(e.pattern);
  if (patterns.empty() != !q.donor) {
    if (q.donor)
      fail_usage("patch_text", "no edit takes a value from it", "add one such as \"decoder.3.output@5=patch\"");
    fail_usage(patterns[0], "there is no other text to take the value from", "give one as `patch_text`");
  }
  if (!q.donor) return donor;
  Recorder recorder(donor, {.only = patterns, .edits = {}, .checkpoint = q.checkpoint});
  Input input = reader.read(*q.donor);
  input.adapter = q.adapter;
  run_pass(m, input, &recorder);
  return donor;
}

nlohmann::ordered_json tokens_json(const TextReader& reader, const std::vector<std::int32_t>& ids, bool source) {
  return {{"ids", ids}, {"pieces", reader.pieces(ids, source)}};
}

struct Continuations {
  const std::vector<std::int32_t>&before, &after;  // greedy; both empty: none was asked for
};
nlohmann::ordered_json change_json(const TextReader& reader, const Change& c, bool has_loss,
                                   const Continuations& texts) {
  nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
  for (const Change::Token& t : c.tokens)
    tokens.push_back({{"best_before", reader.pieces({t.best_before}, false)[0]},
                      {"best_after", reader.pieces({t.best_after}, false)[0]},
                      {"log_prob_before", t.log_prob_before},
                      {"log_prob_after", t.log_prob_after},
                      {"largest_logit_difference", t.most_logit},
                      {"kl_divergence", t.divergence}});
  nlohmann::ordered_json json{{"bit_identical", c.bit_identical}, {"tokens", std::move(tokens)}};
  if (has_loss) json["loss_before"] = c.loss_before, json["loss_after"] = c.loss_after;
  if (!texts.before.empty() || !texts.after.empty())
    json["text_before"] = reader.text_of(texts.before), json["text_after"] = reader.text_of(texts.after);
  return json;
}

}  // namespace

nlohmann::ordered_json difference_json(const TextReader& reader, const Plain& before, const Plain& after) {
  const Change change = change_between(before.outcome, after.outcome);
  return change_json(reader, change, before.outcome.labelled > 0, {before.text, after.text});
}

Plain plain_pass(const model::Model& m, const TextReader& reader, const Question& q) {
  Input input = reader.read(q.texts);
  input.adapter = q.adapter;
  Plain plain{.outcome = run_pass(m, input), .text = {}};
  if (q.new_tokens > 0)
    plain.text = greedy(m, input, q.new_tokens, reader.ends(), {.only = {}, .edits = {}, .checkpoint = q.checkpoint});
  return plain;
}

Answer answer(const model::Model& m, const TextReader& reader, const Question& q) {
  const std::vector<Edit> edits = edits_of(q.edits);
  if (q.gradients && !edits.empty())
    fail_usage("gradients", "of an edited pass are not computed", "leave the edits or the gradients out");
  if (q.new_tokens > 0 && edits.empty())
    fail_usage("new_tokens", "there are no edits whose effect on the text could be shown", "add an edit");
  Answer a{.trace = Trace(q.most_bytes),
           .input = reader.read(q.texts),
           .outcome = {},
           .change = {},
           .text_before = {},
           .text_after = {}};
  a.input.adapter = q.adapter;
  reader.replace_tokens(a.input, edits);
  const Trace donor = donor_of(m, reader, q, edits);
  const Recorder::Options options{
      .only = q.only, .edits = edits, .donor = &donor, .gradients = q.gradients, .checkpoint = q.checkpoint};
  Recorder recorder(a.trace, options);
  a.outcome = run_pass(m, a.input, &recorder, q.gradients);
  if (edits.empty()) return a;
  std::optional<Plain> own;
  if (!q.plain) own = plain_pass(m, reader, q);
  const Plain& plain = q.plain ? *q.plain : *own;
  a.change = change_between(plain.outcome, a.outcome);
  if (q.new_tokens == 0) return a;
  a.text_before = plain.text;
  a.text_after = greedy(m, a.input, q.new_tokens, reader.ends(), options);
  return a;
}

nlohmann::ordered_json about_json(const model::Model& m, const TextReader& reader, const Answer& a) {
  nlohmann::ordered_json json{{"family", m.family()}};
  if (m.has_encoder()) json["source"] = tokens_json(reader, a.input.source, true);
  json["tokens"] = tokens_json(reader, a.input.tokens, false);
  json["prompt_tokens"] = a.input.prompt;
  nlohmann::ordered_json next = nlohmann::ordered_json::array();
  const std::vector<std::int32_t> best = a.outcome.best();
  for (std::size_t t = 0; t < best.size(); ++t) {
    nlohmann::ordered_json token{{"best", reader.pieces({best[t]}, false)[0]}, {"best_id", best[t]}};
    if (a.input.labels[t] >= 0)
      token["label"] = reader.pieces({a.input.labels[t]}, false)[0], token["log_prob"] = a.outcome.label_log_probs[t];
    next.push_back(std::move(token));
  }
  json["next"] = std::move(next);
  if (a.outcome.labelled > 0) json["loss"] = a.outcome.loss();
  if (a.change) json["change"] = change_json(reader, *a.change, a.outcome.labelled > 0, {a.text_before, a.text_after});
  return json;
}

}  // namespace tril::trace
