#include "tokenizer/files/tokenizer_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/base64.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_settings.h"
#include "unicode/characters.h"

namespace tril {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 16;  // nested sequences

// A decimal number with the rounding of the `tokenizers` library's JSON reader: the digits as an integer, rounded, then
// one multiplication or division by a power of ten. The last bit is sometimes not that of the nearest double, and it
// decides between two segmentations of equal score in a unigram model.
double decimal_in_two_steps(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::uint64_t digits = 0;
  int exponent = 0, written = 0;
  bool behind_point = false, full = false;
  std::size_t i = negative ? 1 : 0;
  for (; i < text.size() && (text[i] | 0x20) != 'e'; ++i) {
    if (text[i] == '.') {
      behind_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    full = full || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (!full) digits = 10 * digits + digit;
    exponent += full ? (behind_point ? 0 : 1) : (behind_point ? -1 : 0);
  }
  if (i + 1 < text.size()) {
    const char* begin = text.data() + i + 1;
    std::from_chars(*begin == '+' ? begin + 1 : begin, text.data() + text.size(), written);
  }
  exponent = static_cast<int>(std::clamp<std::int64_t>(std::int64_t{exponent} + written, -1000, 1000));
  auto value = static_cast<double>(digits);
  for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
  value = exponent < 0 ? value / std::pow(10.0, -exponent) : value * std::pow(10.0, exponent);
  return negative ? -value : value;
}

// Builds the values of a file, with numbers read as above.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Json root;

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(number_integer_t v) override { return put(v); }
  bool number_unsigned(number_unsigned_t v) override { return put(v); }
  bool number_float(number_float_t, const string_t& text) override { return put(decimal_in_two_steps(text)); }
  bool string(string_t& v) override { return put(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& v) override {
    key_ = std::move(v);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  template <class V>
  Json* add(V&& value) {
    if (open_.empty()) return &(root = std::forward<V>(value));
    if (open_.back()->is_object()) return &((*open_.back())[key_] = std::forward<V>(value));
    open_.back()->push_back(std::forward<V>(value));
    return &open_.back()->back();
  }
  template <class V>
  bool put(V&& value) {
    add(std::forward<V>(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(add(std::move(value)));
    return open_.size() <= 64;  // far deeper than any real file
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::string key_;
};

// A part of the file, with its path ("pre_tokenizer.pretokenizers[1]") for errors.
class Node {
 public:
  Node(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  const Json& json() const { return *json_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return json_->is_null(); }

  [[noreturn]] void refuse(std::string_view what, const std::string& hint = {}) const {
    fail(where_, std::string(what), hint);
  }
  [[noreturn]] void unsupported(std::string_view kind, const std::string& type, std::string_view supported) const {
    refuse(fmt::format("{} \"{}\" is not supported", kind, printable(type)), fmt::format("supported: {}", supported));
  }

  /// A member of an object; null if missing.
  Node operator[](const char* key) const {
    static const Json null;
    return {json_->is_object() && json_->contains(key) ? (*json_)[key] : null, where_ + "." + key};
  }
  template <class Use>
  void for_each(const Use& use) const {
    if (!json_->is_array()) refuse("is not a list");
    for (std::size_t i = 0; i < json_->size(); ++i) use(Node((*json_)[i], fmt::format("{}[{}]", where_, i)));
  }

  std::string text() const {
    if (!json_->is_string()) refuse("is not a string");
    return json_->get<std::string>();
  }
  std::string text_or(const std::string& otherwise) const { return is_null() ? otherwise : text(); }
  bool flag_or(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!json_->is_boolean()) refuse("is neither true nor false");
    return json_->get<bool>();
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const bool fits = json_->is_number_integer() && json_->get<double>() >= static_cast<double>(least) &&
                      json_->get<double>() <= static_cast<double>(most);
    if (!fits) refuse(fmt::format("is not an integer from {} to {}", least, most));
    return json_->get<std::int64_t>();
  }
  std::int32_t id() const { return static_cast<std::int32_t>(whole(0, 1 << 27)); }
  std::string character() const {
    std::string one = text();
    if (one.empty() || character_at(one, 0).length != one.size()) refuse("is not one character");
    return one;
  }

 private:
  const Json* json_;
  std::string where_;
};

// The parts inside a "Sequence", in order.
template <class Use>
void flatten(const Node& node, const char* list, int depth, const Use& use) {
  if (node.is_null()) return;
  if (!node.json().is_object()) node.refuse("is not an object");
  const std::string type = node["type"].text();
  if (type != "Sequence") return use(node, type);
  if (depth >= deepest) node.refuse(fmt::format("has sequences nested more than {} deep", deepest));
  node[list].for_each([&](const Node& part) { flatten(part, list, depth + 1, use); });
}

// ---- Normalizers, pre-tokenizers, decoders

TextPattern read_pattern(const Node& node) {
  if (!node["String"].is_null()) return {node["String"].text(), false};
  if (!node["Regex"].is_null()) return {node["Regex"].text(), true};
  node.refuse("is neither {\"String\": ...} nor {\"Regex\": ...}");
}

ReplaceText read_replace(const Node& node) {
  return {read_pattern(node["pattern"]), node["content"].text()};
}

NormalizerStep read_normalizer(const Node& node, const std::string& type) {
  if (type == "NFC") return UnicodeForm{UnicodeForm::nfc};
  if (type == "NFD") return UnicodeForm{UnicodeForm::nfd};
  if (type == "NFKC") return UnicodeForm{UnicodeForm::nfkc};
  if (type == "NFKD") return UnicodeForm{UnicodeForm::nfkd};
  if (type == "Lowercase") return Lowercase{};
  if (type == "Strip") return StripSpace{node["strip_left"].flag_or(true), node["strip_right"].flag_or(true)};
  if (type == "StripAccents") return StripAccents{};
  if (type == "Replace") return read_replace(node);
  if (type == "Prepend") return PrependText{node["prepend"].text()};
  if (type == "Nmt") return NmtText{};
  if (type == "ByteLevel") return ByteLetters{};
  if (type == "Precompiled") {
    const Node map = node["precompiled_charsmap"];
    const auto bytes = from_base64(map.text_or(""));
    if (!bytes) map.refuse("is not valid Base64");
    return PrecompiledMap{*bytes};
  }
  if (type == "BertNormalizer") {
    BertText bert{node["clean_text"].flag_or(true), node["handle_chinese_chars"].flag_or(true),
                  node["lowercase"].flag_or(true), std::nullopt};
    if (!node["strip_accents"].is_null()) bert.strip_accents = node["strip_accents"].flag_or(false);
    return bert;
  }
  node.unsupported("normalizer", type,
                   "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, "
                   "Sequence, Strip, StripAccents");
}

SplitBehavior read_behavior(const Node& node) {
  const std::string name = node.text_or("Isolated");
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  node.refuse(fmt::format("\"{}\" is not a supported behaviour", printable(name)),
              "supported: Removed, Isolated, Contiguous, MergedWithPrevious, MergedWithNext");
}

PrependScheme read_scheme(const Node& node) {
  const std::string name = node["prepend_scheme"].text_or("always");
  const bool prefix = node["add_prefix_space"].flag_or(true);
  if (!prefix && !node["prepend_scheme"].is_null() && name != "never")
    node.refuse("add_prefix_space is false, but prepend_scheme is not \"never\"");
  if (!prefix || name == "never") return PrependScheme::never;
  if (name == "first") return PrependScheme::first;
  if (name == "always") return PrependScheme::always;
  node["prepend_scheme"].refuse(fmt::format("expected always, first or never, got \"{}\"", printable(name)));
}

PreTokenizerStep read_pre_tokenizer(const Node& node, const std::string& type) {
  if (type == "ByteLevel") return ByteLevel{node["add_prefix_space"].flag_or(true), node["use_regex"].flag_or(true)};
  if (type == "Split")
    return SplitBy{read_pattern(node["pattern"]), read_behavior(node["behavior"]), node["invert"].flag_or(false)};
  if (type == "Metaspace")
    return Metaspace{node["replacement"].character(), read_scheme(node), node["split"].flag_or(true)};
  if (type == "WhitespaceSplit") return SplitAtSpace{};
  if (type == "Whitespace") return SplitWordsAndSigns{};
  if (type == "BertPreTokenizer") return BertWords{};
  if (type == "Digits") return SplitDigits{node["individual_digits"].flag_or(false)};
  if (type == "Punctuation") return SplitPunctuation{read_behavior(node["behavior"])};
  if (type == "CharDelimiterSplit") return SplitAtCharacter{node["delimiter"].character()};
  if (type == "FixedLength")
    return FixedLength{node["length"].is_null() ? 5 : static_cast<std::size_t>(node["length"].whole(1, 1 << 30))};
  node.unsupported("pre-tokenizer", type,
                   "BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, "
                   "Sequence, Split, Whitespace, WhitespaceSplit");
}

DecoderStep read_decoder(const Node& node, const std::string& type) {
  if (type == "ByteLevel") return DecodeByteLevel{};
  if (type == "Metaspace") return DecodeMetaspace{node["replacement"].character(), read_scheme(node)};
  if (type == "ByteFallback") return DecodeByteFallback{};
  if (type == "Fuse") return FusePieces{};
  if (type == "Strip")
    return StripPiece{node["content"].character(), static_cast<std::size_t>(node["start"].whole(0, 1 << 20)),
                      static_cast<std::size_t>(node["stop"].whole(0, 1 << 20))};
  if (type == "Replace") return read_replace(node);
  if (type == "WordPiece") return DecodeWordPiece{node["prefix"].text_or("##"), node["cleanup"].flag_or(true)};
  if (type == "BPEDecoder") return DecodeSuffix{node["suffix"].text_or("</w>")};
  node.unsupported("decoder", type,
                   "BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece");
}

// ---- Post-processors: tokens around a text

std::int32_t pair_id(const Node& node) {
  if (!node.json().is_array() || node.json().size() != 2) node.refuse("is not a pair of a token and its id");
  return Node(node.json()[1], node.where() + "[1]").id();
}

struct Around {
  std::vector<std::int32_t> prefix, suffix;
};

Around read_template(const Node& node) {
  Around around;
  int texts = 0;
  node["single"].for_each([&](const Node& part) {
    if (!part["Sequence"].is_null()) {
      if (part["Sequence"]["id"].text() != "A") part.refuse("names a second text, but there is only one");
      ++texts;
      return;
    }
    const std::string token = part["SpecialToken"]["id"].text();
    node["special_tokens"][token.c_str()]["ids"].for_each(
        [&](const Node& id) { (texts == 0 ? around.prefix : around.suffix).push_back(id.id()); });
  });
  if (texts != 1) node["single"].refuse(fmt::format("contains the text {} times", texts), "only once is supported");
  return around;
}

Around read_around(const Node& node, const std::string& type) {
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return read_template(node);
  if (type == "BertProcessing" || type == "RobertaProcessing") return {{pair_id(node["cls"])}, {pair_id(node["sep"])}};
  node.unsupported("post-processor", type,
                   "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
}

// ---- Models

Pieces read_vocab(const Node& node) {
  if (!node.json().is_object()) node.refuse("is not an object that maps pieces to ids");
  Pieces pieces;
  pieces.reserve(node.json().size());
  for (const auto& [piece, id] : node.json().items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > (1u << 27))
      Node(id, fmt::format("{}[\"{}\"]", node.where(), printable(piece))).refuse("is not an id");
    pieces.emplace_back(piece, id.get<std::int32_t>());
  }
  return pieces;
}

// "a b" or ["a", "b"].
std::vector<std::pair<std::string, std::string>> read_merges(const Node& node) {
  std::vector<std::pair<std::string, std::string>> merges;
  if (!node.json().is_array()) node.refuse("is not a list");
  merges.reserve(node.json().size());
  for (const Json& merge : node.json()) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      merges.emplace_back(merge[0], merge[1]);
      continue;
    }
    const std::string line = merge.is_string() ? merge.get<std::string>() : "";
    if (line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos)
      Node(merge, fmt::format("{}[{}]", node.where(), merges.size())).refuse("is not a pair of pieces");
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

BpeParts read_bpe(const Node& node) {
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

UnigramParts read_unigram(const Node& node) {
  UnigramParts parts;
  const Node vocab = node["vocab"];
  if (!vocab.json().is_array()) vocab.refuse("is not a list");
  for (const Json& entry : vocab.json()) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      Node(entry, fmt::format("{}[{}]", vocab.where(), parts.vocab.size()))
          .refuse("is not a pair of a piece and a score");
    parts.vocab.emplace_back(entry[0], entry[1].get<double>());
  }
  if (!node["unk_id"].is_null()) parts.unk_id = node["unk_id"].id();
  parts.byte_fallback = node["byte_fallback"].flag_or(false);
  return parts;
}

WordPieceParts read_wordpiece(const Node& node) {
  WordPieceParts parts;
  parts.vocab = read_vocab(node["vocab"]);
  parts.unk_token = node["unk_token"].text_or(parts.unk_token);
  parts.continuing_subword_prefix = node["continuing_subword_prefix"].text_or(parts.continuing_subword_prefix);
  if (!node["max_input_chars_per_word"].is_null())
    parts.max_input_chars_per_word = static_cast<std::size_t>(node["max_input_chars_per_word"].whole(0, 1 << 20));
  return parts;
}

// Old files do not name their model.
std::string type_of_model(const Node& node) {
  if (!node["type"].is_null()) return node["type"].text();
  if (!node["merges"].is_null()) return "BPE";
  if (node["vocab"].json().is_array()) return "Unigram";
  return node["max_input_chars_per_word"].is_null() ? "WordLevel" : "WordPiece";
}

ModelParts read_model(const Node& node) {
  if (!node.json().is_object()) node.refuse("is not an object");
  const std::string type = type_of_model(node);
  if (type == "BPE") return read_bpe(node);
  if (type == "Unigram") return read_unigram(node);
  if (type == "WordPiece") return read_wordpiece(node);
  if (type == "WordLevel") return WordLevelParts{read_vocab(node["vocab"]), node["unk_token"].text_or("<unk>")};
  node.unsupported("model", type, "BPE, Unigram, WordLevel, WordPiece");
}

// ---- Added tokens

// A token in the model's vocabulary has the model's id; the others are numbered after the vocabulary, in order. The
// library does so too, whatever ids the file has.
std::vector<AddedToken> read_added(const Node& node, const ModelParts& model) {
  std::unordered_map<std::string, std::int32_t> ids;
  struct Collect {
    std::unordered_map<std::string, std::int32_t>& ids;
    void operator()(const BpeParts& p) const { ids.insert(p.vocab.begin(), p.vocab.end()); }
    void operator()(const WordPieceParts& p) const { ids.insert(p.vocab.begin(), p.vocab.end()); }
    void operator()(const WordLevelParts& p) const { ids.insert(p.vocab.begin(), p.vocab.end()); }
    void operator()(const UnigramParts& p) const {
      for (std::size_t i = 0; i < p.vocab.size(); ++i) ids[p.vocab[i].first] = static_cast<std::int32_t>(i);
    }
    void operator()(const SentencePieceParts&) const {}
  };
  std::visit(Collect{ids}, model);
  const auto* unigram = std::get_if<UnigramParts>(&model);
  auto next = static_cast<std::int32_t>(unigram ? unigram->vocab.size() : ids.size());
  std::vector<AddedToken> tokens;
  std::unordered_map<std::string, std::size_t> seen;
  if (node.is_null()) return tokens;
  node.for_each([&](const Node& one) {
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

}  // namespace

TokenizerParts read_tokenizer_json(std::string_view text, const std::string& where) {
  Builder builder;
  if (!Json::sax_parse(text, &builder) || !builder.root.is_object())
    fail(where, "is not a JSON object", "download the file again");
  const Json& json = builder.root;
  const Node file(json, where + ": tokenizer");
  if (const std::string version = file["version"].text_or("1.0"); version != "1.0")
    file["version"].refuse(fmt::format("\"{}\" is not supported", printable(version)), "only 1.0 is");
  TokenizerParts parts;
  parts.model = read_model(file["model"]);
  parts.added = read_added(file["added_tokens"], parts.model);
  flatten(file["normalizer"], "normalizers", 0,
          [&](const Node& n, const std::string& type) { parts.normalizers.push_back(read_normalizer(n, type)); });
  flatten(file["pre_tokenizer"], "pretokenizers", 0,
          [&](const Node& n, const std::string& type) { parts.pre_tokenizers.push_back(read_pre_tokenizer(n, type)); });
  flatten(file["decoder"], "decoders", 0,
          [&](const Node& n, const std::string& type) { parts.decoders.push_back(read_decoder(n, type)); });
  parts.has_post_processor = !file["post_processor"].is_null();
  flatten(file["post_processor"], "processors", 0, [&](const Node& n, const std::string& type) {
    const Around around = read_around(n, type);  // around those so far
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
  struct Collect {
    std::unordered_map<std::string_view, std::int32_t>& ids;
    void all(const Pieces& pieces) const {
      for (const auto& [piece, id] : pieces) ids[piece] = id;
    }
    void operator()(const BpeParts& p) const { all(p.vocab); }
    void operator()(const WordPieceParts& p) const { all(p.vocab); }
    void operator()(const WordLevelParts& p) const { all(p.vocab); }
    void operator()(const UnigramParts& p) const {
      for (std::size_t i = 0; i < p.vocab.size(); ++i) ids[p.vocab[i].first] = static_cast<std::int32_t>(i);
    }
    void operator()(const SentencePieceParts&) const {}
  };
  std::visit(Collect{ids}, parts.model);
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
