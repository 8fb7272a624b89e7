#include "tokenizer/files/gguf_vocabulary.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/element.h"
#include "base/error.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/files/gguf_pre.h"
#include "tokenizer/pipeline/piece_decoder.h"

namespace tril {
namespace {

constexpr std::size_t longest_piece = 1024;  // longer ones are not words, and would take time quadratic in their length

// The arrays that all kinds of vocabularies have.
struct Tokens {
  std::vector<std::string_view> texts;
  std::vector<PieceType> types;
  std::vector<double> scores;  // as many, or none

  std::int32_t size() const { return static_cast<std::int32_t>(texts.size()); }
  PieceType type(std::int32_t id) const { return element(types, id); }
  std::string text(std::int32_t id) const { return std::string(element(texts, id)); }
};

void read_types(const GgufFile& f, Tokens& t) {
  const auto types = f.get<std::vector<std::int64_t>>(gguf_vocabulary_key("token_type"));
  t.types.assign(t.texts.size(), PieceType::normal);
  if (!types) return;
  if (types->size() != t.texts.size())
    f.fail_at(gguf_vocabulary_key("token_type"),
              fmt::format("has {} for {}", counted(types->size(), "type"), counted(t.texts.size(), "token")));
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::int64_t type = (*types)[i];
    if (type < 0 || type > 6)
      f.fail_at(gguf_vocabulary_key("token_type"), fmt::format("the type {} of token {} is unknown", type, i));
    t.types[i] = type == 0 ? PieceType::normal : static_cast<PieceType>(type);
  }
}

Tokens read_tokens(const GgufFile& f) {
  Tokens t;
  t.texts = f.at<std::vector<std::string_view>>(gguf_vocabulary_key("tokens"));
  if (t.texts.empty() || t.texts.size() > (1 << 27))
    f.fail_at(gguf_vocabulary_key("tokens"), fmt::format("has {}", counted(t.texts.size(), "token")));
  read_types(f, t);
  std::unordered_set<std::string_view> known;
  for (std::size_t i = 0; i < t.texts.size(); ++i) {
    if (t.texts[i].size() > longest_piece)
      f.fail_at(gguf_vocabulary_key("tokens"),
                fmt::format("token {} has {} bytes, expected at most {}", i, t.texts[i].size(), longest_piece));
    // If tokens share a text, the first one counts. Unused tokens are ignored.
    if (t.texts[i].empty() || (t.types[i] != PieceType::unused && !known.insert(t.texts[i]).second))
      t.types[i] = PieceType::unused;
  }
  if (auto scores = f.get<std::vector<double>>(gguf_vocabulary_key("scores"))) {
    if (scores->size() != t.texts.size())
      f.fail_at(gguf_vocabulary_key("scores"),
                fmt::format("has {} for {}", counted(scores->size(), "score"), counted(t.texts.size(), "token")));
    t.scores = std::move(*scores);
  }
  return t;
}

// The id under a key; -1 if there is none.
std::int32_t id_of(const GgufFile& f, std::string_view name, const Tokens& t, std::int32_t otherwise = -1) {
  const std::string key = gguf_vocabulary_key(name) + "_token_id";
  const auto id = f.get<std::int64_t>(key);
  const auto there = [&](std::int32_t i) { return i >= 0 && i < t.size() && !t.text(i).empty() ? i : -1; };
  if (!id) return there(otherwise);
  if (*id == 0xffffffff || *id == -1) return -1;  // some files write "none" so
  if (*id < 0 || *id >= t.size())
    f.fail_at(key, fmt::format("{} is not a valid id: the vocabulary has {} tokens", *id, t.size()));
  return there(static_cast<std::int32_t>(*id));
}

// tokenizer.ggml.model.
enum class Kind : std::uint8_t { llama, gpt2, gemma4, t5, bert };

Kind kind_of(const GgufFile& f) {
  const auto name = f.at<std::string_view>(gguf_vocabulary_key("model"));
  for (const auto& [known, kind] : {std::pair{"llama", Kind::llama},
                                    {"gpt2", Kind::gpt2},
                                    {"gemma4", Kind::gemma4},
                                    {"t5", Kind::t5},
                                    {"bert", Kind::bert}})
    if (name == known) return kind;
  f.fail_at(gguf_vocabulary_key("model"), fmt::format("the tokenizer \"{}\" is not supported", printable(name, 40)),
            "supported: llama, gpt2, gemma4, t5, bert; use the model's directory if it has a tokenizer.json");
}

// llama.cpp's defaults for missing keys. They do not apply to BPE vocabularies: its default there (11) is the end token
// of a single model.
SpecialIds special_ids(const GgufFile& f, const Tokens& t, Kind kind) {
  SpecialIds usual;
  if (kind == Kind::llama) usual = {.pad = -1, .bos = 1, .eos = 2, .unk = 0};
  if (kind == Kind::t5) usual = {.pad = 0, .bos = -1, .eos = 1, .unk = 2};
  if (kind == Kind::bert) usual = {.pad = 0, .bos = 101, .eos = -1, .unk = 100};
  return {.pad = id_of(f, "padding", t, usual.pad),
          .bos = id_of(f, "bos", t, usual.bos),
          .eos = id_of(f, "eos", t, usual.eos),
          .unk = id_of(f, "unknown", t, usual.unk)};
}

// Tokens that begin, end or pad texts are never unused.
void keep_special(Tokens& t, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t id : ids)
    if (id >= 0 && t.type(id) == PieceType::unused) element(t.types, id) = PieceType::control;
}

// Control, unknown and user-defined tokens are matched literally in a text. Tokens that begin or end texts are special,
// regardless of their type.
std::vector<AddedToken> added_tokens(const Tokens& t, const std::vector<std::int32_t>& named) {
  std::vector<AddedToken> added;
  for (std::int32_t id = 0; id < t.size(); ++id) {
    const PieceType type = t.type(id);
    const bool special = type == PieceType::control || type == PieceType::unknown ||
                         std::find(named.begin(), named.end(), id) != named.end();
    if (special || type == PieceType::user_defined)
      added.push_back({.content = t.text(id), .id = id, .special = special});
  }
  return added;
}

// SentencePiece's character map, which GGUF stores as an array of bytes.
std::string read_character_map(const GgufFile& f) {
  std::string map;
  for (const std::int64_t byte : f.get<std::vector<std::int64_t>>(gguf_vocabulary_key("precompiled_charsmap"))
                                     .value_or(std::vector<std::int64_t>())) {
    if (byte < -128 || byte > 255)
      f.fail_at(gguf_vocabulary_key("precompiled_charsmap"), fmt::format("{} is not a byte", byte));
    map += static_cast<char>(byte);
  }
  return map;
}

SentencePieceParts read_scored(const GgufFile& f, const Tokens& t, std::int32_t unknown, Kind kind) {
  if (t.scores.empty()) f.fail_at(gguf_vocabulary_key("scores"), "is missing, but this kind of vocabulary needs it");
  SentencePieceParts parts;
  SentencePieceFile& m = parts.file;
  m.algorithm = kind == Kind::t5 ? SubwordAlgorithm::unigram : SubwordAlgorithm::bpe;
  m.add_dummy_prefix = f.get<bool>(gguf_vocabulary_key("add_space_prefix")).value_or(kind == Kind::llama);
  m.remove_extra_whitespaces =
      kind == Kind::t5 && f.get<bool>(gguf_vocabulary_key("remove_extra_whitespaces")).value_or(false);
  if (kind == Kind::t5) m.character_map = read_character_map(f);
  const bool has_unknown = std::find(t.types.begin(), t.types.end(), PieceType::unknown) != t.types.end();
  std::size_t bytes = 0;
  for (std::int32_t id = 0; id < t.size(); ++id) {
    PieceType type = t.type(id);
    if (type == PieceType::unused) continue;
    if (type == PieceType::user_defined)
      type = PieceType::control;  // never in the text that the model sees: it is matched first
    if (!has_unknown && id == unknown) type = PieceType::unknown;
    bytes += type == PieceType::byte && byte_of_piece(t.text(id)) >= 0;
    m.pieces.push_back({t.text(id), static_cast<float>(element(t.scores, id)), type});
    parts.id_of.push_back(id);
  }
  m.byte_fallback = bytes == 256;
  return parts;
}

std::vector<std::pair<std::string, std::string>> read_merges(const GgufFile& f) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const std::string_view merge : f.at<std::vector<std::string_view>>(gguf_vocabulary_key("merges"))) {
    const std::size_t space = merge.find(' ', 1);  // a piece may itself begin with a space
    if (merge.size() > 2 * longest_piece || space == merge.npos)
      f.fail_at(gguf_vocabulary_key("merges"), fmt::format("expected two pieces, got \"{}\"", printable(merge)));
    merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return merges;
}

BpeParts read_byte_pairs(const GgufFile& f, const Tokens& t, const GgufPre& pre, std::int32_t unknown) {
  BpeParts bpe;
  bpe.merges = read_merges(f);
  bpe.ignore_merges = pre.ignore_merges;
  bpe.byte_fallback = bpe.fuse_unk = pre.by_character;
  for (std::int32_t id = 0; id < t.size(); ++id)
    if (t.type(id) != PieceType::unused) bpe.vocab.emplace_back(t.text(id), id);
  if (unknown >= 0) {
    bpe.unk_token = t.text(unknown);
    bpe.unk_per_character = !pre.by_character;
  }
  return bpe;
}

const GgufPre& read_pre(const GgufFile& f, Kind kind) {
  const std::string where = fmt::format("{}: {}", f.path(), gguf_vocabulary_key("pre"));
  if (kind == Kind::gemma4) return gguf_pre("gemma4", where);
  return gguf_pre(f.get<std::string_view>(gguf_vocabulary_key("pre")).value_or("default"), where);
}

// @return how words are split
const GgufPre& read_merged(const GgufFile& f, const Tokens& t, Kind kind, TokenizerDescription& d) {
  const GgufPre& pre = read_pre(f, kind);
  d.parts.model = read_byte_pairs(f, t, pre, d.settings.special.unk);
  d.parts.normalizers = pre.normalizers;
  d.parts.pre_tokenizers = pre.steps;
  if (pre.by_character)
    d.parts.decoders = {ReplaceText{TextPattern{std::string(space_mark), false}, " "}, DecodeByteFallback{},
                        FusePieces{}};
  else
    d.parts.decoders = {DecodeByteLevel{}};
  return pre;
}

// A piece that begins a word has U+2581 in front, and a continuation has nothing; tokenizer.json marks the
// continuations instead.
WordPieceParts read_wordpiece(const GgufFile& f, const Tokens& t, std::int32_t unknown) {
  if (unknown < 0)
    f.fail_at(gguf_vocabulary_key("unknown_token_id"), "is missing, but this kind of vocabulary needs it");
  WordPieceParts parts;
  parts.unk_token = t.text(unknown);
  for (std::int32_t id = 0; id < t.size(); ++id) {
    std::string text = t.text(id);
    if (t.type(id) == PieceType::unused) continue;
    const bool in_brackets = text.starts_with('[') && text.ends_with(']');
    if (t.type(id) == PieceType::normal && !in_brackets && id != unknown)
      text = text.starts_with(space_mark) ? text.substr(space_mark.size()) : parts.continuing_subword_prefix + text;
    if (!text.empty()) parts.vocab.emplace_back(std::move(text), id);  // a word is never empty
  }
  return parts;
}

void read_words_of_bert(const GgufFile& f, const Tokens& t, TokenizerDescription& d) {
  d.parts.model = read_wordpiece(f, t, d.settings.special.unk);
  BertText text{.lowercase = f.get<bool>(gguf_vocabulary_key("normalizer.lowercase")).value_or(true),
                .strip_accents = {}};
  text.strip_accents = f.get<bool>(gguf_vocabulary_key("normalizer.strip_accents"));
  d.parts.normalizers = {text};
  d.parts.pre_tokenizers = {BertWords{}};
  d.parts.decoders = {DecodeWordPiece{}};
}

void read_templates(const GgufFile& f, TokenizerSettings& s) {
  const std::string key = "tokenizer.chat_template";
  for (const GgufEntry& e : f.metadata())
    if (e.key == key)
      s.chat_templates.emplace_back("default", f.at<std::string_view>(e.key));
    else if (e.key.starts_with(key + "."))
      s.chat_templates.emplace_back(e.key.substr(key.size() + 1), f.at<std::string_view>(e.key));
}

std::int32_t context_length(const GgufFile& f, std::int32_t otherwise) {
  const auto architecture = f.get<std::string_view>("general.architecture");
  if (!architecture) return otherwise;
  const auto n = f.get<std::int64_t>(std::string(*architecture) + ".context_length");
  return n && *n > 0 && *n < otherwise ? static_cast<std::int32_t>(*n) : otherwise;
}

}  // namespace

bool has_gguf_vocabulary(const GgufFile& f) {
  const auto kind = f.get<std::string_view>(gguf_vocabulary_key("model"));
  return kind && *kind != "none" && *kind != "no_vocab";
}

TokenizerDescription read_gguf_vocabulary(const GgufFile& f) {
  if (!has_gguf_vocabulary(f)) fail(f.path(), "has no tokenizer", "use a directory that has one");
  const Kind kind = kind_of(f);
  Tokens t = read_tokens(f);
  TokenizerDescription d;
  TokenizerSettings& s = d.settings;
  s.where = f.path();
  s.special = special_ids(f, t, kind);
  const std::int32_t separator = kind == Kind::bert ? id_of(f, "seperator", t, 102) : -1;  // spelt so in GGUF
  const std::vector<std::int32_t> named{s.special.bos, s.special.eos,      s.special.pad,     s.special.unk,
                                        separator,     id_of(f, "eot", t), id_of(f, "eom", t)};
  keep_special(t, named);
  d.parts.added = added_tokens(t, named);
  bool adds_bos = kind == Kind::llama || kind == Kind::bert, insists = false;
  if (kind == Kind::llama || kind == Kind::t5) {
    d.parts.model = read_scored(f, t, s.special.unk, kind);
  } else if (kind == Kind::bert) {
    read_words_of_bert(f, t, d);
  } else {
    const GgufPre& pre = read_merged(f, t, kind, d);
    adds_bos = pre.adds_bos;
    insists = adds_bos && pre.by_character;  // llama.cpp always adds BOS for these
  }
  s.strip_decoded = kind == Kind::t5;
  if ((f.get<bool>(gguf_vocabulary_key("add_bos_token")).value_or(adds_bos) || insists) && s.special.bos >= 0)
    d.parts.prefix = {s.special.bos};
  if (f.get<bool>(gguf_vocabulary_key("add_eos_token")).value_or(kind == Kind::t5) && s.special.eos >= 0)
    d.parts.suffix = {s.special.eos};
  if (f.get<bool>(gguf_vocabulary_key("add_sep_token")).value_or(true) && separator >= 0) d.parts.suffix = {separator};
  for (const auto& [name, id] : {std::pair{"bos_token", s.special.bos},
                                 {"eos_token", s.special.eos},
                                 {"unk_token", s.special.unk},
                                 {"pad_token", s.special.pad}})
    if (id >= 0) s.special_tokens.emplace_back(name, t.text(id));
  read_templates(f, s);
  s.model_max_length = context_length(f, s.model_max_length);
  return d;
}

std::shared_ptr<const Tokenizer> load_gguf_tokenizer(const GgufFile& file) {
  return from_files([&] {
    TokenizerDescription d = read_gguf_vocabulary(file);
    return make_pipeline_tokenizer(std::move(d.parts), std::move(d.settings));
  });
}

}  // namespace tril
