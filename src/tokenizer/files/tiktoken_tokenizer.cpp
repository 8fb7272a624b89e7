#include "tokenizer/files/tiktoken_tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/gguf_pre.h"
#include "tokenizer/files/rank_vocabulary.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_settings.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".tiktoken";

// Tokenizer classes that split words by an expression of gguf_pre.h.
struct KnownClass {
  std::string_view name, pre;
  bool in_tokenizer_model = false;  ///< tokenizer.model holds ranks, not a SentencePiece model
};
constexpr KnownClass known_classes[] = {
    {"QWenTokenizer", "qwen2"},
    {"HYTokenizer", "hunyuan"},
    {"ChatGLM4Tokenizer", "glm4", true},
    {"TikTokenTokenizer", "kimi-k2"},
};

const KnownClass* known(const std::string& class_name) {
  const auto found = std::find_if(std::begin(known_classes), std::end(known_classes),
                                  [&](const KnownClass& k) { return class_name == k.name; });
  return found == std::end(known_classes) ? nullptr : found;
}

// The name of the file of ranks.
std::optional<std::string> rank_file(const std::string& directory) {
  std::vector<std::string> names;
  if (fs::is_directory(directory))
    for (const auto& entry : fs::directory_iterator(directory))
      if (const std::string name = entry.path().filename().string();
          name == "tiktoken.model" || (name.ends_with(extension) && name.size() > extension.size()))
        names.push_back(name);
  if (names.size() > 1)
    fail(directory, fmt::format("holds several vocabularies: {}", fmt::join(names, ", ")), "keep the model's own");
  if (names.size() == 1) return names[0];
  if (!is_present(in_directory(directory, "tokenizer.model"))) return std::nullopt;
  const KnownClass* const k = known(read_tokenizer_config(directory).tokenizer_class);
  return k && k->in_tokenizer_model ? std::optional<std::string>("tokenizer.model") : std::nullopt;
}

// Qwen's program numbers its special tokens after the ranks.
std::vector<AddedToken> tokens_of_qwen(std::int32_t next) {
  std::vector<AddedToken> added;
  for (const char* text : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
    added.push_back({.content = text, .id = next++, .special = true});
  constexpr int extras = 205;
  for (int i = 0; i < extras; ++i)
    added.push_back({.content = fmt::format("<|extra_{}|>", i), .id = next++, .special = true});
  return added;
}

}  // namespace

bool is_tiktoken_directory(const std::string& directory) {
  return rank_file(directory).has_value();
}

TokenizerDescription describe_tiktoken(const std::string& directory) {
  const std::string name = rank_file(directory).value(), where = in_directory(directory, name.c_str());
  TokenizerConfig config = read_tokenizer_config(directory);
  const KnownClass* const k = known(config.tokenizer_class);
  if (!k) {
    std::vector<std::string_view> names;
    for (const KnownClass& each : known_classes) names.push_back(each.name);
    fail(in_directory(directory, "tokenizer_config.json"),
         config.tokenizer_class.empty() ? "names no tokenizer_class, which determines how words are split"
                                        : fmt::format("tokenizer_class \"{}\" is not supported with a file of ranks",
                                                      printable(config.tokenizer_class)),
         fmt::format("supported: {}; any other needs a tokenizer.json", fmt::join(names, ", ")));
  }
  TokenizerFile file = *read_tokenizer_file(directory, name);
  const GgufPre& pre = gguf_pre(std::string(k->pre), where);
  TokenizerParts parts;
  BpeParts model = parts_of_ranks(parse_rank_lines(file.bytes, where), 0, where);
  std::map<std::string, std::int32_t, std::less<>> ids;
  std::int32_t next = 0;
  for (const auto& [piece, id] : model.vocab) next = std::max(next, id + 1);
  if (k->name == "QWenTokenizer" && config.added_tokens.empty()) {
    parts.added = tokens_of_qwen(next);
    config.set_default("eos_token", "<|endoftext|>");
    config.set_default("pad_token", "<|endoftext|>");
  } else {
    parts.added = config.added_tokens;
  }
  for (AddedToken& token : parts.added) {
    if (token.id < next)
      fail(in_directory(directory, "tokenizer_config.json"),
           fmt::format("the special token \"{}\" has id {}, which a token of {} already has", printable(token.content),
                       token.id, name));
    token.normalized = false;
    ids.emplace(token.content, token.id);
  }
  config.name_ids_of_model([&](std::int32_t id) {
    for (const AddedToken& token : parts.added)
      if (token.id == id) return token.content;
    return std::string();
  });
  for (const auto& [piece, id] : model.vocab) ids.emplace(piece, id);
  parts.model = std::move(model);
  parts.normalizers = pre.normalizers;
  parts.pre_tokenizers = pre.steps;
  parts.decoders = {DecodeByteLevel{}};
  TokenizerSettings settings = settings_of(config, where, [&](std::string_view text) -> std::optional<std::int32_t> {
    const auto found = ids.find(text);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  });
  settings.clean_up_spaces = false;
  if (config.add_bos_token.value_or(false) && settings.special.bos >= 0) parts.prefix = {settings.special.bos};
  if (config.add_eos_token.value_or(false) && settings.special.eos >= 0) parts.suffix = {settings.special.eos};
  if (k->name == "ChatGLM4Tokenizer")  // its program puts these before every text
    for (const char* text : {"[gMASK]", "<sop>"})
      if (const auto id = ids.find(text); id != ids.end()) parts.prefix.push_back(id->second);
  settings.files.insert(settings.files.begin(), std::move(file));
  return {std::move(parts), std::move(settings)};
}

}  // namespace tril
