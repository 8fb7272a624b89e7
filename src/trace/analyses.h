// The analyses of a text as JSON (lens.h, head_scores.h).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "trace/lens.h"
#include "trace/text.h"

namespace tril::trace {

struct Analyses {
  bool lens = false, rollout = false;
  std::optional<std::int64_t> attributed_token;  ///< whose best next token's logit is attributed
  std::int64_t repeated_tokens = 0;              ///< length of the random text of head_scores(); 0: no scores

  bool any() const { return lens || rollout || attributed_token || repeated_tokens > 0; }
};

/// {"lens": …, "rollout": …, "attribution": …, "head_scores": …}: those that are asked for.
nlohmann::ordered_json analyses_json(const model::Model& m, const TextReader& reader, const Input& input,
                                     const Analyses& wanted);

}  // namespace tril::trace
