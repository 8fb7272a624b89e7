#include "text/tokenizer.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "text/gpt2_tokenizer.h"
#include "text/marian_tokenizer.h"
#include "text/sentencepiece_directory.h"
#include "text/tokenizer_json.h"

namespace tril {

std::unique_ptr<const SubwordSampler> Tokenizer::sampler(Side, const SubwordSampling&) const {
  fail_usage("subword sampling", "this tokenizer cuts a text in one way only",
             "use a SentencePiece vocabulary, or leave --bpe-dropout and --subword-alpha away");
}

TextFrame Tokenizer::frame(Side, std::string_view language) const {
  if (!language.empty()) language_id(language);
  return {};
}

std::int32_t Tokenizer::language_id(std::string_view code) const {
  if (const auto id = find_language(code)) return *id;
  const std::vector<std::string> known = languages();
  if (known.empty())
    fail_usage("language", fmt::format("the tokenizer has no languages, \"{}\" was asked for", printable(code)),
               "leave the language away");
  std::string hint = did_you_mean(code, known);
  fail_usage("language", fmt::format("the tokenizer has no \"{}\"", printable(code)),
             hint.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : hint);
}

std::optional<ChatSource> Tokenizer::chat_template(std::string_view) const {
  return std::nullopt;
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) fail(directory, "is not a directory", "name the directory of a model");
  if (is_marian_directory(directory)) return load_marian_tokenizer(directory);
  if (is_tokenizer_json_directory(directory)) return load_tokenizer_json(directory);
  if (is_gpt2_directory(directory)) return load_gpt2_tokenizer(directory);
  if (is_sentencepiece_directory(directory)) return load_sentencepiece_directory(directory);
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
