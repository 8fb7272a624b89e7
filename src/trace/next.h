// What a page needs beside the values of a pass: the names and shapes of all its points, and the best next tokens.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "trace/text.h"

namespace tril::trace {

/// All points of a pass, with shapes and without values, in the order of computation.
Trace points_of(const model::Model& m, const Input& input, std::span<const Edit> edits = {},
                const Trace* donor = nullptr);
/// [{"name": …, "shape": …, "source": the line that computes it}, …]
nlohmann::ordered_json points_json(const Trace& points);

/// The logits after one token, [1, vocabulary].
Value logits_of_token(const Outcome& outcome, std::int64_t token);
/// [[id, piece, logit], …] of the `most` best next tokens, the best first.
nlohmann::ordered_json top_json(const TextReader& reader, const Outcome& outcome, std::int64_t token,
                                std::int64_t most);

}  // namespace tril::trace
