// The tokenizer files of a directory in Hugging Face's form.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace tril {

/// The names of all files that any tokenizer may have (tokenizer/files/tokenizer.h reads and writes them).
inline constexpr std::array tokenizer_file_names = {"tokenizer.json",
                                                    "tokenizer_config.json",
                                                    "special_tokens_map.json",
                                                    "added_tokens.json",
                                                    "vocab.json",
                                                    "merges.txt",
                                                    "target_vocab.json",
                                                    "source.spm",
                                                    "target.spm",
                                                    "source.bpe",
                                                    "target.bpe",
                                                    "spiece.model",
                                                    "tokenizer.model",
                                                    "sentencepiece.bpe.model",
                                                    "tekken.json",
                                                    "chat_template.jinja",
                                                    "chat_template.json"};

inline constexpr std::uint64_t largest_tokenizer_file = 256 << 20;  ///< bytes; longer files are refused

inline std::string in_directory(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

}  // namespace tril
