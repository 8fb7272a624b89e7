// Traces of the public interface: what a pass computed, with pieces for ids.
#include <tril/trace.h>

#include "base/as_size.h"
#include "library/trace_state.h"

namespace tril {
namespace library {
namespace {

template <class T>
std::span<const T> elements_of(const trace::Value& v) {
  // Memory of a vector fits every type, and a tensor of T was copied into it.
  return {reinterpret_cast<const T*>(v.bytes.data()), v.bytes.size() / sizeof(T)};
}

v0::TracedValue value_of(const trace::Value& v) {
  v0::TracedValue value{.name = v.name, .shape = v.shape};
  if (v.type == DType::f32)
    value.floats = elements_of<float>(v);
  else if (v.type == DType::u8)
    value.mask = elements_of<std::uint8_t>(v);
  else
    value.ids = elements_of<std::int32_t>(v);
  return value;
}

std::vector<v0::TracedToken> tokens_of(const trace::TextReader& reader, const std::vector<std::int32_t>& ids,
                                       bool source) {
  std::vector<std::string> pieces = reader.pieces(ids, source);
  std::vector<v0::TracedToken> list;
  for (std::size_t i = 0; i < ids.size(); ++i) list.push_back({ids[i], std::move(pieces[i])});
  return list;
}

std::vector<v0::NextToken> next_of(const trace::TextReader& reader, const trace::Answer& a) {
  const std::vector<std::int32_t> best = a.outcome.best();
  std::vector<v0::NextToken> list;
  for (std::size_t t = 0; t < best.size(); ++t) {
    v0::NextToken next{.best_id = best[t], .best = reader.pieces({best[t]}, false)[0], .label = {}};
    if (a.input.labels[t] >= 0) {
      next.label_id = a.input.labels[t], next.label = reader.pieces({next.label_id}, false)[0];
      next.log_prob = a.outcome.label_log_probs[t];
    }
    list.push_back(std::move(next));
  }
  return list;
}

v0::TraceChange change_of(const trace::TextReader& reader, const trace::Answer& a) {
  const trace::Change& c = *a.change;
  v0::TraceChange change{.bit_identical = c.bit_identical,
                         .loss_before = c.loss_before,
                         .loss_after = c.loss_after,
                         .tokens = {},
                         .text_before = reader.text_of(a.text_before),
                         .text_after = reader.text_of(a.text_after)};
  for (const trace::Change::Token& t : c.tokens) {
    std::vector<std::string> pieces = reader.pieces({t.best_before, t.best_after}, false);
    change.tokens.push_back({t.best_before, t.best_after, std::move(pieces[0]), std::move(pieces[1]), t.log_prob_before,
                             t.log_prob_after, t.most_logit, t.divergence});
  }
  return change;
}

std::vector<v0::LensRow> lens_of(const trace::TextReader& reader, std::vector<trace::LensRow> rows,
                                 std::int64_t vocab) {
  std::vector<v0::LensRow> list;
  for (trace::LensRow& row : rows) {
    std::vector<std::int32_t> best = trace::best_ids(row.logits, vocab);
    std::vector<std::string> pieces = reader.pieces(best, false);
    list.push_back({std::move(row.point), std::move(row.logits), std::move(best), std::move(pieces)});
  }
  return list;
}

v0::Attribution attribution_of(const trace::TextReader& reader, const trace::Findings::OfToken& a) {
  v0::Attribution attribution{.token = a.token,
                              .next_id = a.id,
                              .next = reader.pieces({a.id}, false)[0],
                              .logit = a.found.logit,
                              .bias = a.found.bias,
                              .rest = a.found.rest,
                              .parts = {}};
  for (const trace::Attribution::Part& p : a.found.parts) attribution.parts.push_back({p.point, p.head, p.logit});
  return attribution;
}

}  // namespace
}  // namespace library

namespace v0 {

TraceState::TraceState(const trace::TextReader& reader, trace::Answer given, trace::Findings findings)
    : answer(std::move(given)),
      source(library::tokens_of(reader, answer.input.source, true)),
      tokens(library::tokens_of(reader, answer.input.tokens, false)),
      next(library::next_of(reader, answer)),
      logits{.name = "logits",
             .shape = {std::ssize(answer.input.tokens), answer.outcome.vocab},
             .floats = answer.outcome.logits},
      lens(library::lens_of(reader, std::move(findings.lens), answer.outcome.vocab)),
      encoder_rollout(std::move(findings.encoder_rollout)),
      decoder_rollout(std::move(findings.decoder_rollout)) {
  for (const trace::Value& v : answer.trace.values()) values.push_back(library::value_of(v));
  if (answer.change) change = library::change_of(reader, answer);
  if (findings.attribution) attribution = library::attribution_of(reader, *findings.attribution);
  for (const trace::HeadScore& s : findings.head_scores)
    head_scores.push_back({s.layer, s.head, s.previous, s.duplicate, s.induction, s.copying});
}

Trace::Trace(std::shared_ptr<const TraceState> state) : state_(std::move(state)) {}

const std::vector<TracedToken>& Trace::source() const {
  return state_->source;
}
const std::vector<TracedToken>& Trace::tokens() const {
  return state_->tokens;
}
std::int64_t Trace::prompt_tokens() const {
  return state_->answer.input.prompt;
}
const std::vector<NextToken>& Trace::next() const {
  return state_->next;
}
std::optional<double> Trace::loss() const {
  if (state_->answer.outcome.labelled == 0) return std::nullopt;
  return state_->answer.outcome.loss();
}
const TracedValue& Trace::logits() const {
  return state_->logits;
}
const std::vector<TracedValue>& Trace::values() const {
  return state_->values;
}
bool Trace::contains(std::string_view name) const {
  return state_->answer.trace.find(name) != nullptr;
}
const TracedValue& Trace::at(std::string_view name) const {
  const trace::Value& value = state_->answer.trace.at(name);
  return state_->values[as_size(&value - state_->answer.trace.values().data())];
}
const TraceChange* Trace::change() const {
  return state_->change ? &*state_->change : nullptr;
}
const std::vector<LensRow>& Trace::lens() const {
  return state_->lens;
}
const std::vector<float>& Trace::encoder_rollout() const {
  return state_->encoder_rollout;
}
const std::vector<float>& Trace::decoder_rollout() const {
  return state_->decoder_rollout;
}
const Attribution* Trace::attribution() const {
  return state_->attribution ? &*state_->attribution : nullptr;
}
const std::vector<HeadScore>& Trace::head_scores() const {
  return state_->head_scores;
}

}  // namespace v0
}  // namespace tril
