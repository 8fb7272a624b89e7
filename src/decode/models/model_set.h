// Fields for models besides the main one, and these models: those of an ensemble, a draft model, and draft heads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "decode/batches/parallel.h"
#include "decode/models/decoding_options.h"
#include "model/spec/model.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

namespace model {
struct ServedMedusa;
}

struct ModelSetOptions {
  std::vector<std::string> models;
  std::vector<std::string> weights;  ///< numbers
  std::string ensemble_mean = "log-probabilities";
  std::string draft_model;
  std::optional<std::string> draft_precision;  ///< none: as for the main model
  double draft_min_prob = 0.4;
  std::string draft_heads;  ///< a directory; empty: none
  std::int64_t prompt_lookup = 0;
  std::optional<std::int64_t> draft_tokens;
};

/// models, weights, ensemble-mean.
void add_ensemble_fields(Fields& f, ModelSetOptions& o);
/// draft-model, draft-heads, and those of add_proposal_fields().
void add_speculative_fields(Fields& f, ModelSetOptions& o);
/// draft-precision, draft-min-prob, prompt-lookup, draft-tokens; after fields named draft-model and draft-heads.
void add_proposal_fields(Fields& f, ModelSetOptions& o);

class ModelSet {
 public:
  /// Loads the models of the options, by default with the precision of the main model. The other arguments are the main model's.
  /// @param tokenizer  null: vocabularies are compared only by size
  /// @throws Error(usage) if vocabularies differ, or the search does not support proposed tokens
  ModelSet(const ModelSetOptions& o, const DecodingOptions& of_first, const model::Model& first,
           const Tokenizer* tokenizer);
  ModelSet(ModelSet&&) noexcept;
  ~ModelSet();
  /// Adds these models, which must outlive their users, to the decoding options.
  void give_to(search::ParallelOptions& p) const;
  const search::EnsembleOptions& ensemble() const { return ensemble_; }
  const search::SpeculativeOptions& speculative() const { return speculative_; }

 private:
  const model::Model& load(const DecodingOptions& options, const std::string& field, const model::Model& first,
                           const Tokenizer* tokenizer);
  void load_heads(const ModelSetOptions& o, const model::Model& first);
  /// The number of proposed tokens that is not exceeded.
  std::int64_t most_tokens() const;

  std::vector<std::unique_ptr<model::Model>> models_;
  std::unique_ptr<model::ServedMedusa> heads_;  ///< null: none
  search::EnsembleOptions ensemble_;
  search::SpeculativeOptions speculative_;
};

/// Reports how many proposed tokens were accepted, if any were proposed.
void report_speculation(const search::Speculation& s);

}  // namespace tril
