#include "tokenizer/files/tokenizer_json_steps.h"

#include <optional>

#include "format/base64.h"

namespace tril {
namespace {

TextPattern read_pattern(const JsonNode& node) {
  if (!node["String"].is_null()) return {node["String"].text(), false};
  if (!node["Regex"].is_null()) return {node["Regex"].text(), true};
  node.refuse("is neither {\"String\": ...} nor {\"Regex\": ...}");
}

ReplaceText read_replace(const JsonNode& node) {
  return {read_pattern(node["pattern"]), node["content"].text()};
}

SplitBehavior read_behavior(const JsonNode& node) {
  const std::string name = node.text_or("Isolated");
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  node.refuse(fmt::format("\"{}\" is not a supported behaviour", printable(name)),
              "supported: Removed, Isolated, Contiguous, MergedWithPrevious, MergedWithNext");
}

PrependScheme read_scheme(const JsonNode& node) {
  const std::string name = node["prepend_scheme"].text_or("always");
  const bool prefix = node["add_prefix_space"].flag_or(true);
  if (!prefix && !node["prepend_scheme"].is_null() && name != "never")
    node.refuse("add_prefix_space is false, but prepend_scheme is not \"never\"");
  if (!prefix || name == "never") return PrependScheme::never;
  if (name == "first") return PrependScheme::first;
  if (name == "always") return PrependScheme::always;
  node["prepend_scheme"].refuse(fmt::format("expected always, first or never, got \"{}\"", printable(name)));
}

std::int32_t pair_id(const JsonNode& node) {
  if (!node.json().is_array() || node.json().size() != 2) node.refuse("is not a pair of a token and its id");
  return JsonNode(node.json()[1], node.where() + "[1]").id();
}

TokensAround read_template(const JsonNode& node) {
  TokensAround around;
  int texts = 0;
  node["single"].for_each([&](const JsonNode& part) {
    if (!part["Sequence"].is_null()) {
      if (part["Sequence"]["id"].text() != "A") part.refuse("names a second text, but there is only one");
      ++texts;
      return;
    }
    const std::string token = part["SpecialToken"]["id"].text();
    node["special_tokens"][token.c_str()]["ids"].for_each(
        [&](const JsonNode& id) { (texts == 0 ? around.prefix : around.suffix).push_back(id.id()); });
  });
  if (texts != 1) node["single"].refuse(fmt::format("contains the text {} times", texts), "only once is supported");
  return around;
}

}  // namespace

NormalizerStep read_normalizer(const JsonNode& node, const std::string& type) {
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
    const JsonNode map = node["precompiled_charsmap"];
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

PreTokenizerStep read_pre_tokenizer(const JsonNode& node, const std::string& type) {
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

DecoderStep read_decoder(const JsonNode& node, const std::string& type) {
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

TokensAround read_around(const JsonNode& node, const std::string& type) {
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return read_template(node);
  if (type == "BertProcessing" || type == "RobertaProcessing") return {{pair_id(node["cls"])}, {pair_id(node["sep"])}};
  node.unsupported("post-processor", type,
                   "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
}

}  // namespace tril
