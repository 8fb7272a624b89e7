#include "tokenizer/files/tokenizer_json.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/json_as_tokenizers_reads.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_json_model.h"
#include "tokenizer/files/tokenizer_json_steps.h"
#include "tokenizer/files/tokenizer_settings.h"

namespace tril {
namespace {

constexpr int deepest = 16;              // nested sequences
constexpr std::size_t most_steps = 256;  // of a kind: each pre-tokenizer calls the next one

// The parts inside a "Sequence", in order.
template <class Use>
void flatten(const JsonNode& node, const char* list, int depth, const Use& use) {
  if (node.is_null()) return;
  if (!node.json().is_object()) node.refuse("is not an object");
  const std::string type = node["type"].text();
  if (type != "Sequence") return use(node, type);
  if (depth >= deepest) node.refuse(fmt::format("has sequences nested more than {} deep", deepest));
  node[list].for_each([&](const JsonNode& part) { flatten(part, list, depth + 1, use); });
}

// The steps of one kind, in order: a node that is one step, or a "Sequence" of them in its `list`.
template <class Use>
void for_each_step(const JsonNode& node, const char* list, const Use& use) {
  std::size_t steps = 0;
  flatten(node, list, 0, [&](const JsonNode& step, const std::string& type) {
    if (++steps > most_steps) step.refuse(fmt::format("is step {}; at most {} are supported", steps, most_steps));
    use(step, type);
  });
}

}  // namespace

TokenizerParts read_tokenizer_json(std::string_view text, const std::string& where) {
  const std::optional<nlohmann::json> json = json_as_tokenizers_reads(text);
  if (!json || !json->is_object()) fail(where, "is not a JSON object", "download the file again");
  const JsonNode file(*json, where + ": tokenizer");
  if (const std::string version = file["version"].text_or("1.0"); version != "1.0")
    file["version"].refuse(fmt::format("\"{}\" is not supported", printable(version)), "only 1.0 is");
  TokenizerParts parts;
  parts.model = read_model(file["model"]);
  parts.added = read_added(file["added_tokens"], parts.model);
  for_each_step(file["normalizer"], "normalizers", [&](const JsonNode& n, const std::string& type) {
    parts.normalizers.push_back(read_normalizer(n, type));
  });
  for_each_step(file["pre_tokenizer"], "pretokenizers", [&](const JsonNode& n, const std::string& type) {
    parts.pre_tokenizers.push_back(read_pre_tokenizer(n, type));
  });
  for_each_step(file["decoder"], "decoders",
                [&](const JsonNode& n, const std::string& type) { parts.decoders.push_back(read_decoder(n, type)); });
  parts.has_post_processor = !file["post_processor"].is_null();
  for_each_step(file["post_processor"], "processors", [&](const JsonNode& n, const std::string& type) {
    const TokensAround around = read_around(n, type);  // around those so far
    parts.prefix.insert(parts.prefix.begin(), around.prefix.begin(), around.prefix.end());
    parts.suffix.insert(parts.suffix.end(), around.suffix.begin(), around.suffix.end());
  });
  return parts;
}

bool is_tokenizer_json_directory(const std::string& directory) {
  return is_present((std::filesystem::path(directory) / "tokenizer.json").string());
}

namespace {

// The ids of pieces and added tokens by their text.
std::unordered_map<std::string_view, std::int32_t> ids_of(const TokenizerParts& parts) {
  std::unordered_map<std::string_view, std::int32_t> ids;
  for_each_piece(parts.model, [&](std::string_view piece, std::int32_t id) { ids[piece] = id; });
  for (const AddedToken& token : parts.added) ids[token.content] = token.id;
  return ids;
}

// The model's own unknown token.
std::optional<std::int32_t> unknown_of(const ModelParts& model,
                                       const std::unordered_map<std::string_view, std::int32_t>& ids) {
  const auto id_of = [&](const std::string& text) -> std::optional<std::int32_t> {
    const auto found = ids.find(text);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto* p = std::get_if<UnigramParts>(&model)) return p->unk_id;
  if (const auto* p = std::get_if<BpeParts>(&model)) return p->unk_token ? id_of(*p->unk_token) : std::nullopt;
  if (const auto* p = std::get_if<WordPieceParts>(&model)) return id_of(p->unk_token);
  if (const auto* p = std::get_if<WordLevelParts>(&model)) return id_of(p->unk_token);
  return std::nullopt;
}

std::string text_of(const std::unordered_map<std::string_view, std::int32_t>& ids, std::int32_t id) {
  for (const auto& [text, number] : ids)
    if (number == id) return std::string(text);
  return "";
}

// Tokens that the configuration calls special become special if the vocabulary has them; those that it adds after the
// vocabulary's last id are added.
void add_special_tokens(TokenizerParts& parts, const TokenizerConfig& config) {
  auto ids = ids_of(parts);
  std::int32_t next = 0;
  for (const auto& [text, id] : ids) next = std::max(next, id + 1);
  for (const AddedToken& token : config.added_tokens)
    if (!token.content.empty() && token.id >= next && ids.emplace(token.content, token.id).second) next = token.id + 1;
  std::unordered_map<std::string_view, std::size_t> added;
  for (std::size_t i = 0; i < parts.added.size(); ++i) added[parts.added[i].content] = i;
  std::vector<AddedToken> more;
  const auto take = [&](AddedToken token) {
    const auto id = ids.find(token.content);
    if (id == ids.end()) return;
    if (const auto known = added.find(token.content); known != added.end()) {
      parts.added[known->second].special |= token.special;
      return;
    }
    token.id = id->second;
    more.push_back(std::move(token));
  };
  for (const AddedToken& token : config.added_tokens) take(token);
  for (const auto& [name, text] : config.special_tokens) take({.content = text, .special = true});
  for (const std::string& text : config.additional_special_tokens) take({.content = text, .special = true});
  std::unordered_map<std::string, bool> seen;
  for (AddedToken& token : more)
    if (seen.emplace(token.content, true).second) parts.added.push_back(token);
}

// A post-processor takes precedence over add_bos_token and add_eos_token; transformers ignores these if it exists.
void set_frame(TokenizerParts& parts, const TokenizerConfig& config, const SpecialIds& special) {
  if (parts.has_post_processor) return;
  if (config.add_bos_token.value_or(false) && special.bos >= 0) parts.prefix = {special.bos};
  if (config.add_eos_token.value_or(false) && special.eos >= 0) parts.suffix = {special.eos};
}

}  // namespace

TokenizerDescription describe_tokenizer_json(const std::string& directory) {
  const std::string where = (std::filesystem::path(directory) / "tokenizer.json").string();
  auto file = read_tokenizer_file(directory, "tokenizer.json");
  if (!file) fail(where, "does not exist");
  TokenizerConfig config = read_tokenizer_config(directory);
  TokenizerParts parts = read_tokenizer_json(file->bytes, where);
  config.keep_ids_of_model(parts.added);
  const auto known = ids_of(parts);
  config.name_ids_of_model([&](std::int32_t id) { return text_of(known, id); });
  const std::int32_t unknown = unknown_of(parts.model, known).value_or(-1),
                     end = text_of(known, config.of_model.eos).empty() ? -1 : config.of_model.eos;
  add_special_tokens(parts, config);
  const auto ids = ids_of(parts);
  const auto id_of = [&](std::string_view text) -> std::optional<std::int32_t> {
    const auto found = text.empty() ? ids.end() : ids.find(text);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  };
  TokenizerSettings settings = settings_of(config, where, id_of);
  // If no tokenizer file names the end token, it is the model's; the unknown token comes from the pieces' own model.
  if (settings.special.unk < 0) settings.special.unk = unknown;
  if (settings.special.eos < 0) settings.special.eos = end;
  set_frame(parts, config, settings.special);
  // transformers cleans up only text that is not from BPE; BPE keeps every space.
  settings.clean_up_spaces = settings.clean_up_spaces && !std::holds_alternative<BpeParts>(parts.model);
  settings.files.insert(settings.files.begin(), std::move(*file));
  return {std::move(parts), std::move(settings)};
}

}  // namespace tril
