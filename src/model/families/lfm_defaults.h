// What Liquid AI's models share: the names of their layers, and the defaults of their config.json but for sizes.
#pragma once

#include <string>

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// The config with which make_lfm2(), make_lfm2_moe() and make_lfm3() begin.
LlamaLikeConfig lfm_defaults(const std::string& family, const std::string& architecture);

}  // namespace tril::model
