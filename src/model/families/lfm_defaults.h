// What Liquid AI's models share: the names of their layers, and the defaults of their config.json but for sizes.
#pragma once

#include <cstdint>
#include <string>

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// The config with which make_lfm2(), make_lfm2_moe() and make_lfm3() begin.
LlamaLikeConfig lfm_defaults(const std::string& family, const std::string& architecture);

/// The width of lfm2's feed-forwards if block_auto_adjust_ff_dim is true: two thirds of `given`, times `factor`, rounded up to a
/// multiple of `multiple`.
std::int64_t adjusted_lfm2_width(std::int64_t given, double factor, std::int64_t multiple);

}  // namespace tril::model
