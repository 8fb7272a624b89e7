// The steps around the model in a tokenizer.json: what happens to a text before the model, and to pieces and ids after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenizer/files/json_node.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// Each reads one part, which is not a Sequence. @throws Error naming the part, for a type or value that is not supported
NormalizerStep read_normalizer(const JsonNode& node, const std::string& type);
PreTokenizerStep read_pre_tokenizer(const JsonNode& node, const std::string& type);
DecoderStep read_decoder(const JsonNode& node, const std::string& type);

/// Tokens around a text.
struct TokensAround {
  std::vector<std::int32_t> prefix, suffix;
};
/// A post-processor.
TokensAround read_around(const JsonNode& node, const std::string& type);

}  // namespace tril
