// Writes what tokenizer_json.h reads, in the form of the `tokenizers` library.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "format/base64.h"
#include "format/json_text.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_json.h"
#include "tokenizer/models/merges_by_score.h"

namespace tril {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson typed(const char* type) {
  return OrderedJson{{"type", type}};
}

OrderedJson write_pattern(const TextPattern& pattern) {
  return OrderedJson{{pattern.regex ? "Regex" : "String", pattern.text}};
}

OrderedJson write_replace(const ReplaceText& s) {
  return OrderedJson{{"type", "Replace"}, {"pattern", write_pattern(s.pattern)}, {"content", s.content}};
}

const char* name_of(SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::removed:
      return "Removed";
    case SplitBehavior::isolated:
      return "Isolated";
    case SplitBehavior::contiguous:
      return "Contiguous";
    case SplitBehavior::merged_with_previous:
      return "MergedWithPrevious";
    case SplitBehavior::merged_with_next:
      return "MergedWithNext";
  }
  return "";
}

OrderedJson write_metaspace(const std::string& mark, PrependScheme scheme, bool split) {
  const char* name = scheme == PrependScheme::always ? "always" : scheme == PrependScheme::first ? "first" : "never";
  return OrderedJson{{"type", "Metaspace"}, {"replacement", mark}, {"prepend_scheme", name}, {"split", split}};
}

struct Write {
  // Normalizers
  OrderedJson operator()(const UnicodeForm& s) const {
    constexpr std::array<const char*, 4> names = {"NFC", "NFD", "NFKC", "NFKD"};
    return typed(names[s.form]);
  }
  OrderedJson operator()(const Lowercase&) const { return typed("Lowercase"); }
  OrderedJson operator()(const StripSpace& s) const {
    return OrderedJson{{"type", "Strip"}, {"strip_left", s.left}, {"strip_right", s.right}};
  }
  OrderedJson operator()(const StripAccents&) const { return typed("StripAccents"); }
  OrderedJson operator()(const ReplaceText& s) const { return write_replace(s); }
  OrderedJson operator()(const PrependText& s) const { return OrderedJson{{"type", "Prepend"}, {"prepend", s.text}}; }
  OrderedJson operator()(const PrecompiledMap& s) const {
    return OrderedJson{{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(s.bytes)}};
  }
  OrderedJson operator()(const BertText& s) const {
    return OrderedJson{{"type", "BertNormalizer"},
                       {"clean_text", s.clean_text},
                       {"handle_chinese_chars", s.handle_chinese_chars},
                       {"strip_accents", s.strip_accents ? OrderedJson(*s.strip_accents) : OrderedJson()},
                       {"lowercase", s.lowercase}};
  }
  OrderedJson operator()(const NmtText&) const { return typed("Nmt"); }
  OrderedJson operator()(const ByteLetters&) const { return typed("ByteLevel"); }
  // Pre-tokenizers
  OrderedJson operator()(const SplitBy& s) const {
    return OrderedJson{{"type", "Split"},
                       {"pattern", write_pattern(s.pattern)},
                       {"behavior", name_of(s.behavior)},
                       {"invert", s.invert}};
  }
  OrderedJson operator()(const ByteLevel& s) const {
    return OrderedJson{{"type", "ByteLevel"},
                       {"add_prefix_space", s.add_prefix_space},
                       {"trim_offsets", true},
                       {"use_regex", s.use_regex}};
  }
  OrderedJson operator()(const Metaspace& s) const { return write_metaspace(s.mark, s.prepend, s.split); }
  OrderedJson operator()(const SplitAtSpace&) const { return typed("WhitespaceSplit"); }
  OrderedJson operator()(const SplitWordsAndSigns&) const { return typed("Whitespace"); }
  OrderedJson operator()(const BertWords&) const { return typed("BertPreTokenizer"); }
  OrderedJson operator()(const SplitDigits& s) const {
    return OrderedJson{{"type", "Digits"}, {"individual_digits", s.individual}};
  }
  OrderedJson operator()(const SplitPunctuation& s) const {
    return OrderedJson{{"type", "Punctuation"}, {"behavior", name_of(s.behavior)}};
  }
  OrderedJson operator()(const SplitAtCharacter& s) const {
    return OrderedJson{{"type", "CharDelimiterSplit"}, {"delimiter", s.character}};
  }
  OrderedJson operator()(const FixedLength& s) const {
    return OrderedJson{{"type", "FixedLength"}, {"length", s.length}};
  }
  // Decoders
  OrderedJson operator()(const DecodeByteLevel& s) const {
    if (s.drop_invalid) fail_usage("tokenizer.json", "the format cannot express that invalid UTF-8 is dropped");
    return (*this)(ByteLevel{true, true});
  }
  OrderedJson operator()(const DecodeMetaspace& s) const { return write_metaspace(s.mark, s.prepend, true); }
  OrderedJson operator()(const DecodeByteFallback&) const { return typed("ByteFallback"); }
  OrderedJson operator()(const FusePieces&) const { return typed("Fuse"); }
  OrderedJson operator()(const StripPiece& s) const {
    return OrderedJson{{"type", "Strip"}, {"content", s.character}, {"start", s.start}, {"stop", s.stop}};
  }
  OrderedJson operator()(const DecodeWordPiece& s) const {
    return OrderedJson{{"type", "WordPiece"}, {"prefix", s.prefix}, {"cleanup", s.cleanup}};
  }
  OrderedJson operator()(const DecodeSuffix& s) const {
    return OrderedJson{{"type", "BPEDecoder"}, {"suffix", s.suffix}};
  }
};

template <class Step>
OrderedJson write_steps(const std::vector<Step>& steps, const char* list) {
  if (steps.empty()) return nullptr;
  if (steps.size() == 1) return std::visit(Write{}, steps[0]);
  OrderedJson all = OrderedJson::array();
  for (const Step& step : steps) all.push_back(std::visit(Write{}, step));
  return OrderedJson{{"type", "Sequence"}, {list, std::move(all)}};
}

// By id. Writes the object by hand: an ordered JSON object searches all earlier keys for each new one.
std::string write_vocab(Pieces pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = "{";
  for (const auto& [piece, id] : pieces) {
    text += text.size() > 1 ? ",\n      " : "\n      ";
    text += json_text(OrderedJson(piece)) + ": " + std::to_string(id);
  }
  return text + "\n    }";
}

constexpr const char* vocab_here = "<vocab>";  // placeholder for write_vocab()'s text

OrderedJson optional_text(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

struct WriteModel {
  OrderedJson operator()(const BpeParts& p) const {
    OrderedJson merges = OrderedJson::array();
    for (const auto& [left, right] : p.merges) merges.push_back(OrderedJson::array({left, right}));
    return OrderedJson{{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", p.unk_token ? OrderedJson(*p.unk_token) : OrderedJson()},
                       {"continuing_subword_prefix", optional_text(p.continuing_subword_prefix)},
                       {"end_of_word_suffix", optional_text(p.end_of_word_suffix)},
                       {"fuse_unk", p.fuse_unk},
                       {"byte_fallback", p.byte_fallback},
                       {"ignore_merges", p.ignore_merges},
                       {"vocab", vocab_here},
                       {"merges", std::move(merges)}};
  }
  OrderedJson operator()(const UnigramParts& p) const {
    OrderedJson vocab = OrderedJson::array();
    for (const auto& [piece, score] : p.vocab) vocab.push_back(OrderedJson::array({piece, score}));
    return OrderedJson{{"type", "Unigram"},
                       {"unk_id", p.unk_id ? OrderedJson(*p.unk_id) : OrderedJson()},
                       {"vocab", std::move(vocab)},
                       {"byte_fallback", p.byte_fallback}};
  }
  OrderedJson operator()(const WordPieceParts& p) const {
    return OrderedJson{{"type", "WordPiece"},
                       {"unk_token", p.unk_token},
                       {"continuing_subword_prefix", p.continuing_subword_prefix},
                       {"max_input_chars_per_word", p.max_input_chars_per_word},
                       {"vocab", vocab_here}};
  }
  OrderedJson operator()(const WordLevelParts& p) const {
    return OrderedJson{{"type", "WordLevel"}, {"vocab", vocab_here}, {"unk_token", p.unk_token}};
  }
  OrderedJson operator()(const SentencePieceParts&) const {
    fail_usage("tokenizer.json", "a SentencePiece model cannot be written in this format", "keep its own file");
  }
};

const Pieces* vocab_of(const ModelParts& model) {
  if (const auto* p = std::get_if<BpeParts>(&model)) return &p->vocab;
  if (const auto* p = std::get_if<WordPieceParts>(&model)) return &p->vocab;
  if (const auto* p = std::get_if<WordLevelParts>(&model)) return &p->vocab;
  return nullptr;
}

std::string text_of_id(const TokenizerParts& parts, std::int32_t id) {
  for (const AddedToken& token : parts.added)
    if (token.id == id) return token.content;
  if (const Pieces* vocab = vocab_of(parts.model))
    for (const auto& [piece, number] : *vocab)
      if (number == id) return piece;
  if (const auto* p = std::get_if<UnigramParts>(&parts.model); p && id >= 0 && id < std::ssize(p->vocab))
    return element(p->vocab, id).first;
  fail("tokenizer.json", fmt::format("id {}, which is added around a text, has no token", id));
}

OrderedJson write_frame(const TokenizerParts& parts) {
  if (parts.prefix.empty() && parts.suffix.empty()) return nullptr;
  OrderedJson single = OrderedJson::array(), pair = OrderedJson::array(), tokens = OrderedJson::object();
  const auto add = [&](OrderedJson& list, const std::vector<std::int32_t>& ids, int type) {
    for (std::int32_t id : ids) {
      const std::string text = text_of_id(parts, id);
      list.push_back(OrderedJson{{"SpecialToken", {{"id", text}, {"type_id", type}}}});
      tokens[text] = OrderedJson{{"id", text}, {"ids", {id}}, {"tokens", {text}}};
    }
  };
  const auto add_text = [](OrderedJson& list, const char* name, int type) {
    list.push_back(OrderedJson{{"Sequence", {{"id", name}, {"type_id", type}}}});
  };
  for (OrderedJson* list : {&single, &pair}) {
    add(*list, parts.prefix, 0);
    add_text(*list, "A", 0);
    add(*list, parts.suffix, 0);
  }
  add(pair, parts.prefix, 1);
  add_text(pair, "B", 1);
  add(pair, parts.suffix, 1);
  return OrderedJson{{"type", "TemplateProcessing"},
                     {"single", std::move(single)},
                     {"pair", std::move(pair)},
                     {"special_tokens", std::move(tokens)}};
}

}  // namespace

std::string tokenizer_json(const TokenizerParts& parts) {
  OrderedJson added = OrderedJson::array();
  std::vector<AddedToken> tokens = parts.added;
  std::sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const AddedToken& t : tokens)
    added.push_back(OrderedJson{{"id", t.id},
                                {"content", t.content},
                                {"single_word", t.single_word},
                                {"lstrip", t.lstrip},
                                {"rstrip", t.rstrip},
                                {"normalized", t.normalized},
                                {"special", t.special}});
  const OrderedJson json{{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", std::move(added)},
                         {"normalizer", write_steps(parts.normalizers, "normalizers")},
                         {"pre_tokenizer", write_steps(parts.pre_tokenizers, "pretokenizers")},
                         {"post_processor", write_frame(parts)},
                         {"decoder", write_steps(parts.decoders, "decoders")},
                         {"model", std::visit(WriteModel{}, parts.model)}};
  std::string text = json_text(json, 2) + "\n";
  if (const Pieces* vocab = vocab_of(parts.model)) {
    const std::string mark = std::string("\"vocab\": \"") + vocab_here + "\"";
    text.replace(text.rfind(mark), mark.size(), "\"vocab\": " + write_vocab(*vocab));
  }
  return text;
}

std::vector<TokenizerFile> tokenizer_files(const TokenizerParts& parts, const TokenizerSettings& settings) {
  TokenizerConfig config;
  config.special_tokens = settings.special_tokens;
  config.chat_templates = settings.chat_templates;
  config.model_max_length = settings.model_max_length;
  config.clean_up_spaces = settings.clean_up_spaces;
  const bool converts = std::holds_alternative<SentencePieceParts>(parts.model);
  return {{"tokenizer.json", tokenizer_json(converts ? with_merges(parts) : parts)},
          {"tokenizer_config.json", tokenizer_config_json(config)}};
}

}  // namespace tril
