// gemma2's configuration, which t5gemma has for each of its sides.
#pragma once

#include <string>

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Gemma 2's keys. What `reader` finishes is the caller's.
LlamaLikeConfig read_gemma2(ConfigReader& reader, const std::string& family, const std::string& architecture);

}  // namespace tril::model
