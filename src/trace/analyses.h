// The analyses of a text (lens.h, head_scores.h) that are asked for, and their JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "trace/head_scores.h"
#include "trace/lens.h"
#include "trace/text.h"

namespace tril::trace {

struct Analyses {
  bool lens = false, rollout = false;
  std::optional<std::int64_t> attributed_token;  ///< whose best next token's logit is attributed
  std::int64_t repeated_tokens = 0;              ///< length of the random text of head_scores(); 0: no scores

  bool any() const { return lens || rollout || attributed_token || repeated_tokens > 0; }
};

/// What the analyses found. What was not asked for is empty.
struct Findings {
  struct OfToken {
    std::int64_t token = 0;  ///< of the decoder
    std::int32_t id = 0;     ///< the best next token, whose logit it is
    Attribution found;
  };
  std::vector<LensRow> lens;
  std::vector<float> encoder_rollout, decoder_rollout;  ///< [tokens, tokens]
  std::optional<OfToken> attribution;
  std::vector<HeadScore> head_scores;
};

/// @throws Error(usage) for a token that does not exist, and for a model that an analysis does not fit
Findings analyse(const model::Model& m, const Input& input, const Analyses& wanted);

/// {"lens": …, "rollout": …, "attribution": …, "head_scores": …}: what was found.
nlohmann::ordered_json findings_json(const TextReader& reader, const Input& input, const Findings& found);
/// The same of analyse().
nlohmann::ordered_json analyses_json(const model::Model& m, const TextReader& reader, const Input& input,
                                     const Analyses& wanted);

}  // namespace tril::trace
