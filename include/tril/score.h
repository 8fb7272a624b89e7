// How probable given translations or texts are for a model. Results are those of `tril score`.
#pragma once

#include <tril/alignment.h>
#include <tril/model.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

TRIL_NAMESPACE_BEGIN
class ScorerState;

/// How probable a text is.
struct Score {
  double log_prob = 0;                 ///< natural logarithm; the sum of token_log_probs
  std::vector<float> token_log_probs;  ///< of each scored token, in order
  // Of a pair, with the option "alignment"; otherwise empty.
  std::vector<std::int32_t> tokens = {};         ///< of the target, with its end token
  std::vector<std::int32_t> source_tokens = {};  ///< of the source, with its end token
  std::vector<float> attention = {};             ///< [tokens, source_tokens]: cross-attention; each row sums to 1
  std::vector<AlignmentPoint> alignment = {};    ///< if "alignment" is "hard" or a threshold
};

/// Calls from several threads wait for each other. Movable.
class TRIL_API Scorer {
 public:
  /// @param model  an encoder-decoder model or a language model
  /// @param options  those of option_list(): "source-language", "target-language", "prompt-template", "threads", "batch-size",
  ///                 "alignment" ("soft", "hard" or a threshold); for score_texts() "begin", "context" and "stride"
  /// @throws Error (usage) for options that are unknown or have no effect on this model, and for a model that was opened with a
  ///                       "draft-model" or "prompt-lookup"
  explicit Scorer(const Model& model, const Options& options = {});
  ~Scorer();
  Scorer(Scorer&&) noexcept;                     ///< moves; the other object may only be destroyed or assigned to
  Scorer& operator=(Scorer&&) noexcept;          ///< moves likewise
  static std::vector<OptionInfo> option_list();  ///< the options of the constructor

  /// log p(target | source) of each pair, with the end token. A language model scores the target after its prompt for the source.
  /// @throws Error (usage) if the numbers of sources and targets differ, or naming a text that is too long, by its number from 1
  std::vector<Score> score(const std::vector<std::string>& sources, const std::vector<std::string>& targets);
  /// log p(text) of each text, for a language model. The first token is only context, unless "begin" is set; a long text is read
  /// in windows. @throws Error (usage) for a model with an encoder or an ensemble
  std::vector<Score> score_texts(const std::vector<std::string>& texts);

 private:
  std::unique_ptr<ScorerState> state_;
};

TRIL_NAMESPACE_END
