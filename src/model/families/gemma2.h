// gemma2's configuration, which each side of t5gemma has too.
#pragma once

#include <string>

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Reads Gemma 2's keys. The caller calls reader.finish().
LlamaLikeConfig read_gemma2(ConfigReader& reader, const std::string& family, const std::string& architecture);

}  // namespace tril::model
