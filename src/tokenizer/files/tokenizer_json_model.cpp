#include "tokenizer/files/tokenizer_json_model.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace tril {
namespace {

Pieces read_vocab(const JsonNode& node) {
  if (!node.json().is_object()) node.refuse("is not an object that maps pieces to ids");
  Pieces pieces;
  pieces.reserve(node.json().size());
  for (const auto& [piece, id] : node.json().items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > (1u << 27))
      JsonNode(id, fmt::format("{}[\"{}\"]", node.where(), printable(piece))).refuse("is not an id");
    pieces.emplace_back(piece, id.get<std::int32_t>());
  }
  return pieces;
}

// "a b" or ["a", "b"].
std::vector<std::pair<std::string, std::string>> read_merges(const JsonNode& node) {
  std::vector<std::pair<std::string, std::string>> merges;
  if (!node.json().is_array()) node.refuse("is not a list");
  merges.reserve(node.json().size());
  for (const nlohmann::json& merge : node.json()) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges.emplace_back(merge[0], merge[1]);
      continue;
    }
    const std::string line = merge.is_string() ? merge.get<std::string>() : "";
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos)
      JsonNode(merge, fmt::format("{}[{}]", node.where(), merges.size())).refuse("is not a pair of pieces");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

BpeParts read_bpe(const JsonNode& node) {
  BpeParts parts;
  parts.vocab = read_vocab(node["vocab"]);
  parts.merges = read_merges(node["merges"]);
  if (!node["unk_token"].is_null()) parts.unk_token = node["unk_token"].text();
  parts.continuing_subword_prefix = node["continuing_subword_prefix"].text_or("");
  parts.end_of_word_suffix = node["end_of_word_suffix"].text_or("");
  parts.fuse_unk = node["fuse_unk"].flag_or(false);
  parts.byte_fallback = node["byte_fallback"].flag_or(false);
  parts.ignore_merges = node["ignore_merges"].flag_or(false);
  return parts;
}

UnigramParts read_unigram(const JsonNode& node) {
  UnigramParts parts;
  const JsonNode vocab = node["vocab"];
  if (!vocab.json().is_array()) vocab.refuse("is not a list");
  for (const nlohmann::json& entry : vocab.json()) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      JsonNode(entry, fmt::format("{}[{}]", vocab.where(), parts.vocab.size()))
          .refuse("is not a pair of a piece and a score");
    parts.vocab.emplace_back(entry[0], entry[1].get<double>());
  }
  if (!node["unk_id"].is_null()) parts.unk_id = node["unk_id"].id();
  parts.byte_fallback = node["byte_fallback"].flag_or(false);
  return parts;
}

WordPieceParts read_wordpiece(const JsonNode& node) {
  WordPieceParts parts;
  parts.vocab = read_vocab(node["vocab"]);
  parts.unk_token = node["unk_token"].text_or(parts.unk_token);
  parts.continuing_subword_prefix = node["continuing_subword_prefix"].text_or(parts.continuing_subword_prefix);
  if (!node["max_input_chars_per_word"].is_null())
    parts.max_input_chars_per_word = static_cast<std::size_t>(node["max_input_chars_per_word"].whole(0, 1 << 20));
  return parts;
}

// Old files do not name their model.
std::string type_of_model(const JsonNode& node) {
  if (!node["type"].is_null()) return node["type"].text();
  if (!node["merges"].is_null()) return "BPE";
  if (node["vocab"].json().is_array()) return "Unigram";
  return node["max_input_chars_per_word"].is_null() ? "WordLevel" : "WordPiece";
}

}  // namespace

ModelParts read_model(const JsonNode& node) {
  if (!node.json().is_object()) node.refuse("is not an object");
  const std::string type = type_of_model(node);
  if (type == "BPE") return read_bpe(node);
  if (type == "Unigram") return read_unigram(node);
  if (type == "WordPiece") return read_wordpiece(node);
  if (type == "WordLevel") return WordLevelParts{read_vocab(node["vocab"]), node["unk_token"].text_or("<unk>")};
  node.unsupported("model", type, "BPE, Unigram, WordLevel, WordPiece");
}

std::vector<AddedToken> read_added(const JsonNode& node, const ModelParts& model) {
  std::unordered_map<std::string, std::int32_t> ids;
  for_each_piece(model, [&](const std::string& piece, std::int32_t id) { ids[piece] = id; });
  const auto* unigram = std::get_if<UnigramParts>(&model);
  auto next = static_cast<std::int32_t>(unigram ? unigram->vocab.size() : ids.size());
  std::vector<AddedToken> tokens;
  std::unordered_map<std::string, std::size_t> seen;
  if (node.is_null()) return tokens;
  node.for_each([&](const JsonNode& one) {
    AddedToken token{.content = one["content"].text(),
                     .special = one["special"].flag_or(false),
                     .lstrip = one["lstrip"].flag_or(false),
                     .rstrip = one["rstrip"].flag_or(false),
                     .single_word = one["single_word"].flag_or(false),
                     .normalized = one["normalized"].flag_or(false)};
    one["id"].id();
    if (token.content.empty()) return;
    const auto [entry, is_new] = ids.emplace(token.content, next);
    if (is_new) ++next;
    token.id = entry->second;
    const auto [place, first] = seen.emplace(token.content, tokens.size());
    if (first)
      tokens.push_back(std::move(token));
    else
      tokens[place->second] = std::move(token);
  });
  return tokens;
}

}  // namespace tril
