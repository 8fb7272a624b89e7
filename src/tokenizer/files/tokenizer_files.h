// What a tokenizer is made of in a directory as Hugging Face's libraries write it.
#pragma once

#include <array>

namespace tril {

/// The names of all files that some tokenizer is made of (tokenizer/files/tokenizer.h reads and writes them).
inline constexpr std::array tokenizer_file_names = {"tokenizer.json",
                                                    "tokenizer_config.json",
                                                    "special_tokens_map.json",
                                                    "added_tokens.json",
                                                    "vocab.json",
                                                    "merges.txt",
                                                    "target_vocab.json",
                                                    "source.spm",
                                                    "target.spm",
                                                    "spiece.model",
                                                    "tokenizer.model",
                                                    "sentencepiece.bpe.model",
                                                    "chat_template.jinja"};

}  // namespace tril
