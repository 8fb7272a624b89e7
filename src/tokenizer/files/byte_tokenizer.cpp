#include "tokenizer/files/byte_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_settings.h"

namespace tril {
namespace {

constexpr std::string_view byt5_class = "ByT5Tokenizer";
constexpr std::int32_t named_ids = 3, byte_ids = 256;

// A BPE without merges over GPT-2's letters for bytes.
TokenizerParts parts_of_bytes() {
  BpeParts model;
  for (std::int32_t b = 0; b < byte_ids; ++b)
    model.vocab.emplace_back(gpt2_letters(std::string(1, static_cast<char>(b))), named_ids + b);
  TokenizerParts parts;
  parts.model = std::move(model);
  parts.pre_tokenizers = {ByteLevel{.add_prefix_space = false, .use_regex = false}};
  parts.decoders = {DecodeByteLevel{.drop_invalid = true}};
  return parts;
}

// True if a special token also matches the white space around it: if it is given as plain text.
bool strips_space(const TokenizerConfig& config, const std::string& name, const char* flag) {
  for (const TokenizerFile& file : config.files) {
    if (file.name != "tokenizer_config.json") continue;
    const auto json = nlohmann::json::parse(file.bytes);
    if (const auto token = json.find(name); token != json.end() && token->is_object()) return token->value(flag, false);
  }
  return true;
}

// The listed sentinels, or else `extra_ids` of them.
std::vector<std::string> sentinels(const TokenizerConfig& config, const std::string& where) {
  constexpr std::int32_t usual = 125;
  const std::int32_t count = config.extra_ids.value_or(usual);
  std::vector<std::string> list = config.additional_special_tokens;
  if (list.empty())
    for (std::int32_t i = 0; i < count; ++i) list.push_back(fmt::format("<extra_id_{}>", i));
  const auto found = std::count_if(list.begin(), list.end(),
                                   [](const std::string& text) { return text.find("extra_id") != text.npos; });
  if (count > 0 && found != count)
    fail(where + ": additional_special_tokens", fmt::format("has {} sentinels, but extra_ids is {}", found, count));
  return list;
}

}  // namespace

bool is_byte_directory(const std::string& directory) {
  return read_tokenizer_config(directory).tokenizer_class.starts_with(byt5_class);
}

TokenizerDescription describe_byte_tokenizer(const std::string& directory) {
  const std::string where = in_directory(directory, "tokenizer_config.json");
  TokenizerConfig config = read_tokenizer_config(directory);
  for (const auto& [name, text] : {std::pair{"pad_token", "<pad>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}})
    config.set_default(name, text);

  TokenizerParts parts = parts_of_bytes();
  std::unordered_map<std::string, std::int32_t> ids;
  std::int32_t next = named_ids + byte_ids;
  const auto add = [&](AddedToken token) {
    if (!ids.emplace(token.content, token.id).second) return;
    next = std::max(next, token.id + 1);
    token.normalized = false;
    parts.added.push_back(std::move(token));
  };
  for (AddedToken token : config.added_tokens) {
    token.special |= token.id < named_ids;
    if (token.id < named_ids || token.id >= named_ids + byte_ids) add(std::move(token));
  }
  std::int32_t id = 0;
  for (const char* name : {"pad_token", "eos_token", "unk_token"})
    add({.content = config.special(name),
         .id = id++,
         .special = true,
         .lstrip = strips_space(config, name, "lstrip"),
         .rstrip = strips_space(config, name, "rstrip")});
  for (const std::string& text : sentinels(config, where)) add({.content = text, .id = next, .special = true});

  TokenizerSettings settings = settings_of(config, where, [&](std::string_view text) -> std::optional<std::int32_t> {
    const auto found = ids.find(std::string(text));
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  });
  if (settings.special.eos >= 0) parts.suffix = {settings.special.eos};
  if (!config.is_there) settings.files.push_back({"tokenizer_config.json", tokenizer_config_json(config)});
  return {std::move(parts), std::move(settings)};
}

}  // namespace tril
