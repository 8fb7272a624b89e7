#include "tokenizer/files/tekken_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/base64.h"
#include "format/json_file.h"
#include "tokenizer/files/rank_vocabulary.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_settings.h"
#include "tokenizer/pipeline/regex.h"

namespace tril {
namespace {

constexpr const char* file_name = "tekken.json";
constexpr JsonLimits limits{.bytes = largest_tokenizer_file, .depth = 16, .values = 8'000'000};
constexpr std::int64_t most_special = 100'000;

// The special tokens of files up to version 7, which do not list them.
constexpr const char* older_special[] = {"<unk>",
                                         "<s>",
                                         "</s>",
                                         "[INST]",
                                         "[/INST]",
                                         "[AVAILABLE_TOOLS]",
                                         "[/AVAILABLE_TOOLS]",
                                         "[TOOL_RESULTS]",
                                         "[/TOOL_RESULTS]",
                                         "[TOOL_CALLS]",
                                         "[IMG]",
                                         "<pad>",
                                         "[IMG_BREAK]",
                                         "[IMG_END]",
                                         "[PREFIX]",
                                         "[MIDDLE]",
                                         "[SUFFIX]",
                                         "[SYSTEM_PROMPT]",
                                         "[/SYSTEM_PROMPT]",
                                         "[TOOL_CONTENT]"};

bool is_older(const std::string& version) {
  return version == "v1" || version == "v2" || version == "v3" || version == "v7";
}

// The texts by id, from 0 to `count`.
std::vector<AddedToken> special_tokens(const JsonObject& file, const std::string& version, std::int64_t count) {
  std::vector<std::string> texts;
  if (const auto& json = file.json(); file.has("special_tokens")) {
    if (!json["special_tokens"].is_array()) file.fail_at("special_tokens", "expected a list");
    for (const auto& entry : json["special_tokens"]) {
      const JsonObject token(entry, file.place_of("special_tokens"));
      if (token.get<std::int64_t>("rank") != std::ssize(texts))
        file.fail_at("special_tokens",
                     fmt::format("number {} has rank {}", texts.size(), token.get<std::int64_t>("rank")));
      texts.push_back(token.get<std::string>("token_str"));
    }
  } else if (is_older(version)) {
    texts.assign(std::begin(older_special), std::end(older_special));
  } else {
    file.fail_at("special_tokens", fmt::format("is missing in a file of version {}", printable(version, 40)));
  }
  if (std::ssize(texts) > count)
    file.fail_at("special_tokens", fmt::format("lists {}, but default_num_special_tokens is {}", texts.size(), count));
  for (std::int64_t i = std::ssize(texts); i < count; ++i) texts.push_back(fmt::format("<SPECIAL_{}>", i));
  std::vector<AddedToken> added;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty() || !seen.insert(texts[i]).second)
      file.fail_at("special_tokens", fmt::format("\"{}\" occurs twice or is empty", printable(texts[i], 80)));
    added.push_back({.content = texts[i], .id = static_cast<std::int32_t>(i), .special = true});
  }
  return added;
}

std::vector<RankedToken> ranked_tokens(const JsonObject& file, std::int64_t count) {
  const auto& json = file.json();
  if (!file.has("vocab") || !json["vocab"].is_array()) file.fail_at("vocab", "expected a list of tokens");
  if (count < 0 || count > std::ssize(json["vocab"]))
    file.fail_at("vocab",
                 fmt::format("has {} tokens, but default_vocab_size leaves room for {}", json["vocab"].size(), count));
  std::vector<RankedToken> tokens;
  for (const auto& entry : json["vocab"]) {
    if (std::ssize(tokens) == count) break;
    const JsonObject token(entry, file.place_of("vocab"));
    const auto bytes = from_base64(token.get<std::string>("token_bytes"));
    if (!bytes) file.fail_at("vocab", fmt::format("the token_bytes of token {} are not Base64", tokens.size()));
    if (token.get<std::int64_t>("rank") != std::ssize(tokens))
      file.fail_at("vocab", fmt::format("token {} has rank {}", tokens.size(), token.get<std::int64_t>("rank")));
    tokens.push_back({*bytes, static_cast<std::int32_t>(tokens.size())});
  }
  return tokens;
}

}  // namespace

bool is_tekken_directory(const std::string& directory) {
  return is_present(in_directory(directory, file_name));
}

TokenizerParts parse_tekken(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where, limits);
  const JsonObject file(json, where), config = file.object("config");
  const std::string version = config.get<std::string>("version");
  const std::int64_t special = config.get<std::int64_t>("default_num_special_tokens"),
                     size = config.size("default_vocab_size");
  if (special < 0 || special > most_special || special > size)
    config.fail_at("default_num_special_tokens",
                   fmt::format("{} special tokens do not fit into {} tokens", special, size));
  const std::string pattern = config.get<std::string>("pattern");
  // Possessive for tiktoken, but a repetition of the repetition in the syntax of `tokenizers`.
  if (pattern.find("}+") != pattern.npos)
    config.fail_at("pattern", "a repetition {n,m}+ is not supported", "use a tokenizer.json of this model");
  [[maybe_unused]] const Regex is_valid(pattern, config.place_of("pattern"));
  TokenizerParts parts;
  parts.added = special_tokens(file, version, special);
  parts.model =
      parts_of_ranks(ranked_tokens(file, size - special), static_cast<std::int32_t>(special), file.place_of("vocab"));
  parts.pre_tokenizers = {SplitBy{.pattern = {.text = pattern, .regex = true}, .behavior = SplitBehavior::isolated},
                          ByteLevel{.use_regex = false}};
  parts.decoders = {DecodeByteLevel{}};
  return parts;
}

TokenizerDescription describe_tekken(const std::string& directory) {
  const std::string where = in_directory(directory, file_name);
  TokenizerFile file = *read_tokenizer_file(directory, file_name);
  TokenizerParts parts = parse_tekken(file.bytes, where);
  TokenizerConfig config = read_tokenizer_config(directory);
  const auto find = [&](std::string_view text) -> std::optional<std::int32_t> {
    const auto found = std::find_if(parts.added.begin(), parts.added.end(),
                                    [&](const AddedToken& token) { return token.content == text; });
    return found == parts.added.end() ? std::nullopt : std::optional(found->id);
  };
  for (const auto& [name, text] :
       {std::pair{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}})
    if (find(text)) config.set_default(name, text);
  TokenizerSettings settings = settings_of(config, where, find);
  settings.clean_up_spaces = false;
  if (config.add_bos_token.value_or(true) && settings.special.bos >= 0) parts.prefix = {settings.special.bos};
  if (config.add_eos_token.value_or(false) && settings.special.eos >= 0) parts.suffix = {settings.special.eos};
  settings.files.insert(settings.files.begin(), std::move(file));
  return {std::move(parts), std::move(settings)};
}

}  // namespace tril
