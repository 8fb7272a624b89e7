#include "text/tokenizer.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "text/gpt2_tokenizer.h"
#include "text/marian_tokenizer.h"
#include "text/tokenizer_json.h"

namespace tril {

std::unique_ptr<const SubwordSampler> Tokenizer::sampler(Side, const SubwordSampling&) const {
  fail_usage("subword sampling", "this tokenizer cuts a text in one way only",
             "use a SentencePiece vocabulary, or leave --bpe-dropout and --subword-alpha away");
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) fail(directory, "is not a directory", "name the directory of a model");
  if (is_marian_directory(directory)) return load_marian_tokenizer(directory);
  if (is_tokenizer_json_directory(directory)) return load_tokenizer_json(directory);
  if (is_gpt2_directory(directory)) return load_gpt2_tokenizer(directory);
  fail(directory, "has no tokenizer that tril reads: source.spm, tokenizer.json and merges.txt are missing",
       "a Marian model's directory holds source.spm, target.spm and vocab.json, a GPT-2's vocab.json and merges.txt, "
       "most "
       "others a tokenizer.json");
}

void save_tokenizer(const Tokenizer& tokenizer, const std::string& directory) {
  create_directories(directory);
  for (const TokenizerFile& file : tokenizer.files())
    write_file_atomic((std::filesystem::path(directory) / file.name).string(), file.bytes);
}

}  // namespace tril
