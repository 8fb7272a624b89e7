// ByT5's tokenizer [Xue et al. 2022]: a byte is an id, so there is no vocabulary file. Ids 0 to 2 are padding, end and
// unknown, then come the 256 bytes, then the sentinels "<extra_id_0>", ...
#pragma once

#include <string>

#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// Whether the directory's configuration names the class ByT5Tokenizer.
bool is_byte_directory(const std::string& directory);

/// Reads what tokenizer_config.h reads. Texts are framed as "X </s>".
/// @throws Error if the number of sentinels differs from `extra_ids`
TokenizerDescription describe_byte_tokenizer(const std::string& directory);

}  // namespace tril
