#include "tokenizer/files/tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/byte_tokenizer.h"
#include "tokenizer/files/chat_template_files.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/sentencepiece_directory.h"
#include "tokenizer/files/tekken_tokenizer.h"
#include "tokenizer/files/tiktoken_tokenizer.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_json.h"
#include "tokenizer/files/word_tokenizer.h"

namespace tril {

std::unique_ptr<const SubwordSampler> Tokenizer::sampler(Side, const SubwordSampling&) const {
  fail_usage("subword sampling", "this tokenizer has only one segmentation of a text",
             "use a SentencePiece vocabulary, or leave `bpe_dropout` and `subword_alpha` out");
}

TextFrame Tokenizer::frame(Side, std::string_view language) const {
  if (!language.empty()) language_id(language);
  return {};
}

std::int32_t Tokenizer::language_id(std::string_view code) const {
  if (const auto id = find_language(code)) return *id;
  const std::vector<std::string> known = languages();
  if (known.empty())
    fail_usage("language", fmt::format("the tokenizer has no languages, but \"{}\" was requested", printable(code)),
               "leave the language out");
  std::string hint = did_you_mean(code, known);
  fail_usage("language", fmt::format("the tokenizer has no \"{}\"", printable(code)),
             hint.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : hint);
}

std::optional<std::string> Tokenizer::chat_template(std::string_view) const {
  return std::nullopt;
}

std::int64_t count_unknown(const Tokenizer& tokenizer, std::string_view text, std::span<const std::int32_t> ids,
                           Side side) {
  const std::int32_t unk = tokenizer.special(side).unk;
  std::int64_t n = unk < 0 ? 0 : std::count(ids.begin(), ids.end(), unk);
  if (n == 0) return 0;
  const std::string& name = tokenizer.piece(unk, side);
  for (std::size_t at = text.find(name); at != text.npos && n > 0; at = text.find(name, at + name.size())) --n;
  return n;
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return from_files([&]() -> std::shared_ptr<const Tokenizer> {
    if (is_marian_directory(path)) return load_marian_tokenizer(path);
    if (is_word_directory(path)) return load_word_tokenizer(path);
    TokenizerDescription d = describe_tokenizer(path);
    return make_pipeline_tokenizer(std::move(d.parts), std::move(d.settings));
  });
}

TokenizerDescription describe_tokenizer(const std::string& path) {
  if (!std::filesystem::is_directory(path)) fail(path, "is not a directory", "pass a model directory");
  if (is_tokenizer_json_directory(path)) return describe_tokenizer_json(path);
  if (is_gpt2_directory(path)) return describe_gpt2_tokenizer(path);
  if (is_tekken_directory(path)) return describe_tekken(path);
  if (is_tiktoken_directory(path)) return describe_tiktoken(path);
  if (is_sentencepiece_directory(path)) return describe_sentencepiece_directory(path);
  if (is_byte_directory(path)) return describe_byte_tokenizer(path);
  if (is_marian_directory(path))
    fail_usage(path, "its tokenizer has a separate SentencePiece model for each side, which is not supported here");
  if (is_word_directory(path)) fail_usage(path, "a vocabulary of whole words is not supported here");
  fail(path, "has no supported tokenizer",
       "supported: tokenizer.json; source.spm, target.spm and vocab.json (Marian); vocab.json of a WordTokenizer; "
       "vocab.json and merges.txt (GPT-2); tekken.json (Mistral); NAME.tiktoken; spiece.model, tokenizer.model or "
       "sentencepiece.bpe.model (SentencePiece); ByT5Tokenizer needs no file");
}

bool has_tokenizer(const std::string& path) {
  return is_marian_directory(path) || is_word_directory(path) || is_tokenizer_json_directory(path) ||
         is_gpt2_directory(path) || is_tekken_directory(path) || is_tiktoken_directory(path) ||
         is_sentencepiece_directory(path) || is_byte_directory(path);
}

void save_tokenizer(const Tokenizer& tokenizer, const std::string& directory) {
  create_directories(directory);
  for (const TokenizerFile& file : tokenizer.files()) {
    const std::filesystem::path path = std::filesystem::path(directory) / file.name;
    create_directories(path.parent_path().string());
    write_file_atomic(path.string(), file.bytes);
  }
}

void remove_other_tokenizers(const Tokenizer& tokenizer, const std::string& directory, const std::string& kept) {
  const std::vector<TokenizerFile> own = tokenizer.files();
  std::vector<std::string> names = chat_template_files(directory);
  names.insert(names.end(), tokenizer_file_names.begin(), tokenizer_file_names.end());
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    if (std::any_of(own.begin(), own.end(), [&](const TokenizerFile& file) { return file.name == name; }) ||
        same_file(path.string(), kept))
      continue;
    std::error_code problem;
    std::filesystem::remove(path, problem);
    if (problem) fail(path.string(), "cannot be removed: " + problem.message());
  }
}

}  // namespace tril
