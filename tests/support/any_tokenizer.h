// The tokenizer of a directory or a GGUF file, by the path's name.
#pragma once

#include <memory>
#include <string>

#include "format/gguf.h"
#include "tokenizer/files/gguf_vocabulary.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril::test {

inline TokenizerDescription described(const std::string& path) {
  return has_gguf_name(path) ? read_gguf_vocabulary(GgufFile::open(path)) : describe_tokenizer(path);
}

inline std::shared_ptr<const Tokenizer> tokenizer_at(const std::string& path) {
  return has_gguf_name(path) ? load_gguf_tokenizer(GgufFile::open(path)) : load_tokenizer(path);
}

}  // namespace tril::test
