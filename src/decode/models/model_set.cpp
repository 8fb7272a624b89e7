#include "decode/models/model_set.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>

#include "base/number_text.h"
#include "base/progress.h"
#include "model_io/adapters/medusa_files.h"
#include "model_io/source/model_source.h"

namespace tril {

void add_ensemble_fields(Fields& f, ModelSetOptions& o) {
  f.add("models", &o.models,
        "directories of further models with the same vocabulary, which form an ensemble with `model`")
      .value_name("DIR");
  f.add("weights", &o.weights, "weights of the models, `model` first; unset: equal weights").value_name("W");
  f.add("ensemble-mean", &o.ensemble_mean,
        "what is averaged at each step: log-probabilities (all models must agree) or probabilities (one model can "
        "suffice)")
      .choices({"log-probabilities", "probabilities"})
      .value_name("WHAT");
  f.needs("ensemble-mean", "models", "it has no effect without an ensemble");
  f.needs("weights", "models", "it has no effect without an ensemble");
}

void add_speculative_fields(Fields& f, ModelSetOptions& o) {
  f.add("draft-model", &o.draft_model,
        "speculative decoding: directory of a small model with the same vocabulary; it proposes tokens that `model` "
        "checks in one step; the text is the same; needs greedy search, or sampling of one text")
      .value_name("DIR");
  f.add("draft-heads", &o.draft_heads,
        "speculative decoding: directory of Medusa heads that were trained for `model`, by `medusa_heads` of `tril "
        "train` or elsewhere; they propose tokens from its last hidden state")
      .value_name("DIR");
  add_proposal_fields(f, o);
}

void add_proposal_fields(Fields& f, ModelSetOptions& o) {
  precision_field(f.add(
      "draft-precision", &o.draft_precision,
      "precision of the draft model's weights: `model` with fewer bits may be its own draft; unset: as `precision`"));
  f.add("draft-min-prob", &o.draft_min_prob,
        "stop proposing after a token that the draft model finds less probable than this; 0: never stop for "
        "this")
      .at_least(0)
      .at_most(1);
  f.add("prompt-lookup", &o.prompt_lookup,
        "speculative decoding without a draft model: propose what followed an earlier occurrence of the last N tokens, "
        "or fewer, in the text or its source; 0: off")
      .at_least(0)
      .at_most(1000);
  f.add("draft-tokens", &o.draft_tokens,
        "number of tokens proposed at a time; unset: chosen while running, by measured speed: from none to 8, or to "
        "one for each head")
      .at_least(1)
      .at_most(1000);
  for (const auto& [one, other] :
       {std::pair{"draft-model", "prompt-lookup"}, {"draft-model", "draft-heads"}, {"draft-heads", "prompt-lookup"}})
    f.excludes(one, other, "choose one of them to propose tokens");
  f.needs("draft-precision", "draft-model", "it has no effect without a draft model");
  f.needs("draft-min-prob", "draft-model", "it has no effect without a draft model");
}

namespace {

bool same_vocabulary(const Tokenizer& a, const Tokenizer& b) {
  for (const Side side : {Side::source, Side::target}) {
    if (a.size(side) != b.size(side)) return false;
    for (std::int32_t id = 0; id < a.size(side); ++id)
      if (a.decode({&id, 1}, side) != b.decode({&id, 1}, side)) return false;
  }
  return true;
}

double weight_of(const std::string& text) {
  double w = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), w);
  if (error != std::errc() || end != text.data() + text.size() || !(w > 0 && w < 1e30))
    fail_usage("weights", fmt::format("\"{}\" is not a positive number", text));
  return w;
}

// A model that reads all that the first one reads has at least its positions.
void check_positions(const model::Model& m, const std::string& path, const std::string& field,
                     const model::Model& first) {
  if (m.max_positions() > 0 && (first.max_positions() == 0 || m.max_positions() < first.max_positions()))
    fail_usage(field, fmt::format("{} has {} positions, fewer than `model`", path, m.max_positions()),
               "use models with at least as many");
}

}  // namespace

const model::Model& ModelSet::load(const DecodingOptions& options, const std::string& field, const model::Model& first,
                                   const Tokenizer* tokenizer) {
  const auto source = model::ModelSource::open(options.model);
  const model::Model& m = *models_.emplace_back(load_model(source, options));
  if (m.has_encoder() != first.has_encoder() || m.vocab_size() != first.vocab_size() ||
      m.source_vocab_size() != first.source_vocab_size() ||
      (tokenizer && !same_vocabulary(*source.tokenizer(), *tokenizer)))
    fail_usage(field, fmt::format("{} does not have the vocabulary of `model`", options.model),
               "use models that were trained with the same vocabulary");
  return m;
}

ModelSet::ModelSet(const ModelSetOptions& o, const DecodingOptions& of_first, const model::Model& first,
                   const Tokenizer* tokenizer) {
  DecodingOptions other = of_first;
  other.adapter.clear();  // it belongs to the first
  for (const std::string& directory : o.models) {
    other.model = directory;
    const model::Model& m = load(other, "models", first, tokenizer);
    check_positions(m, directory, "models", first);
    ensemble_.others.push_back(&m);
  }
  if (!o.weights.empty() && o.weights.size() != 1 + o.models.size())
    fail_usage("weights", fmt::format("{} for {}", o.weights.size(), counted(1 + o.models.size(), "model")),
               "pass one for `model` and one for each of `models`");
  for (const std::string& text : o.weights) ensemble_.weights.push_back(weight_of(text));
  ensemble_.mean = o.ensemble_mean == "probabilities" ? search::EnsembleOptions::Mean::probabilities
                                                      : search::EnsembleOptions::Mean::log_probabilities;
  other.model = o.draft_model;
  if (o.draft_precision) other.precision = o.draft_precision;
  if (!o.draft_model.empty()) {
    const model::Model& m = load(other, "draft_model", first, tokenizer);
    // A draft model that continues text proposes nothing beyond its positions, so that it may have fewer.
    if (first.has_encoder()) check_positions(m, o.draft_model, "draft_model", first);
    speculative_.draft = &m;
  }
  if (!o.draft_heads.empty()) load_heads(o, first);
  speculative_.lookup = static_cast<std::int32_t>(o.prompt_lookup);
  if (o.draft_tokens && !speculative_.on())
    fail_usage("draft_tokens", "has no effect without proposed tokens",
               "pass `draft_model`, `draft_heads` or `prompt_lookup`");
  speculative_.tokens = static_cast<std::int32_t>(o.draft_tokens.value_or(most_tokens()));
  speculative_.measured = !o.draft_tokens;
  speculative_.min_prob = static_cast<float>(o.draft_min_prob);
}

ModelSet::ModelSet(ModelSet&&) noexcept = default;
ModelSet::~ModelSet() = default;

void ModelSet::load_heads(const ModelSetOptions& o, const model::Model& first) {
  if (!o.models.empty())
    fail_usage("draft_heads", "belong to one model, but `models` adds others", "leave one of the two out");
  heads_ = model::load_medusa(model::MedusaFiles::open(o.draft_heads), first);
  speculative_.heads = &*heads_->heads;
  if (o.draft_tokens && *o.draft_tokens > most_tokens())
    fail_usage("draft_tokens",
               fmt::format("is {}, but {} has {}", *o.draft_tokens, o.draft_heads, counted(most_tokens(), "head")),
               "pass at most one token for each head");
}

std::int64_t ModelSet::most_tokens() const {
  return heads_ ? heads_->heads->count() : 8;
}

void ModelSet::give_to(search::ParallelOptions& p) const {
  if (speculative_.on() && (p.search.has_beam() || p.search.n_best > 1))
    fail_usage(speculative_.field(), "needs greedy search, or sampling of one text",
               "pass `beam_size` 1, without `alternatives` or several samples");
  p.session.ensemble = ensemble_;
  p.session.speculative = speculative_;
}

void report_speculation(const search::Speculation& s) {
  if (s.rows == 0) return;
  spdlog::info("{} in {} of a row, {:.2f} each; accepted {} of {}", counted(format_count(s.tokens), "token"),
               counted(format_count(s.rows), "step"), static_cast<double>(s.tokens) / static_cast<double>(s.rows),
               format_count(s.accepted), counted(format_count(s.proposed), "proposed token"));
}

}  // namespace tril
