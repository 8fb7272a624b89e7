#include "text/gguf_vocabulary.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/error.h"
#include "base/printable.h"
#include "text/gguf_pre.h"
#include "text/piece_decoder.h"

namespace tril {
namespace {

constexpr std::size_t longest_piece = 1024;  // longer ones are no words, and cost their length squared

std::string key_of(std::string_view name) {
  return "tokenizer.ggml." + std::string(name);
}

// The arrays that all kinds have.
struct Tokens {
  std::vector<std::string_view> texts;
  std::vector<PieceType> types;
  std::vector<double> scores;  // as many, or none

  std::int32_t size() const { return static_cast<std::int32_t>(texts.size()); }
  PieceType type(std::int32_t id) const { return types[static_cast<std::size_t>(id)]; }
  std::string text(std::int32_t id) const { return std::string(texts[static_cast<std::size_t>(id)]); }
};

void read_types(const GgufFile& f, Tokens& t) {
  const auto types = f.get<std::vector<std::int64_t>>(key_of("token_type"));
  t.types.assign(t.texts.size(), PieceType::normal);
  if (!types) return;
  if (types->size() != t.texts.size())
    f.fail_at(key_of("token_type"), fmt::format("has {} types for {} tokens", types->size(), t.texts.size()));
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::int64_t type = (*types)[i];
    if (type < 0 || type > 6) f.fail_at(key_of("token_type"), fmt::format("{} of token {} is not known", type, i));
    t.types[i] = type == 0 ? PieceType::normal : static_cast<PieceType>(type);
  }
}

Tokens read_tokens(const GgufFile& f) {
  Tokens t;
  t.texts = f.at<std::vector<std::string_view>>(key_of("tokens"));
  if (t.texts.empty() || t.texts.size() > (1 << 27))
    f.fail_at(key_of("tokens"), fmt::format("has {} tokens", t.texts.size()));
  read_types(f, t);
  std::unordered_set<std::string_view> known;
  for (std::size_t i = 0; i < t.texts.size(); ++i) {
    if (t.texts[i].size() > longest_piece)
      f.fail_at(key_of("tokens"),
                fmt::format("token {} has {} bytes, expected {} at most", i, t.texts[i].size(), longest_piece));
    // Of tokens that are spelt alike the first counts, and none that is out of use.
    if (t.texts[i].empty() || (t.types[i] != PieceType::unused && !known.insert(t.texts[i]).second))
      t.types[i] = PieceType::unused;
  }
  if (auto scores = f.get<std::vector<double>>(key_of("scores"))) {
    if (scores->size() != t.texts.size())
      f.fail_at(key_of("scores"), fmt::format("has {} scores for {} tokens", scores->size(), t.texts.size()));
    t.scores = std::move(*scores);
  }
  return t;
}

// The id that a key says, -1 where there is none.
std::int32_t id_of(const GgufFile& f, std::string_view name, const Tokens& t, std::int32_t otherwise = -1) {
  const std::string key = key_of(name) + "_token_id";
  const auto id = f.get<std::int64_t>(key);
  const auto there = [&](std::int32_t i) { return i >= 0 && i < t.size() && !t.text(i).empty() ? i : -1; };
  if (!id) return there(otherwise);
  if (*id == 0xffffffff || *id == -1) return -1;  // none, as some files write it
  if (*id < 0 || *id >= t.size()) f.fail_at(key, fmt::format("{} is not an id of the vocabulary of {}", *id, t.size()));
  return there(static_cast<std::int32_t>(*id));
}

// Llama.cpp's own numbers where a file of SentencePiece's kind does not say.
SpecialIds special_ids(const GgufFile& f, const Tokens& t, bool scored) {
  return {.pad = id_of(f, "padding", t),
          .bos = id_of(f, "bos", t, scored ? 1 : -1),
          .eos = id_of(f, "eos", t, scored ? 2 : -1),
          .unk = id_of(f, "unknown", t, scored ? 0 : -1)};
}

// What begins or ends texts, or pads them, is no token out of use.
void keep_special(Tokens& t, const std::array<std::int32_t, 6>& ids) {
  for (const std::int32_t id : ids)
    if (id >= 0 && t.type(id) == PieceType::unused) t.types[static_cast<std::size_t>(id)] = PieceType::control;
}

// Control tokens, the unknown one and those of users are found in a text as they stand. What begins and ends texts is
// special whatever its type.
std::vector<AddedToken> added_tokens(const Tokens& t, const std::array<std::int32_t, 6>& named) {
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

SentencePieceParts read_scored(const GgufFile& f, const Tokens& t, std::int32_t unknown) {
  if (t.scores.empty()) f.fail_at(key_of("scores"), "is missing, and this kind of vocabulary needs it");
  SentencePieceParts parts;
  SentencePieceFile& m = parts.file;
  m.algorithm = SubwordAlgorithm::bpe;
  m.add_dummy_prefix = f.get<bool>(key_of("add_space_prefix")).value_or(true);
  m.remove_extra_whitespaces = false;
  const bool has_unknown = std::find(t.types.begin(), t.types.end(), PieceType::unknown) != t.types.end();
  std::size_t bytes = 0;
  for (std::int32_t id = 0; id < t.size(); ++id) {
    PieceType type = t.type(id);
    if (type == PieceType::unused) continue;
    if (type == PieceType::user_defined) type = PieceType::control;  // no text holds it: it was taken out before
    if (!has_unknown && id == unknown) type = PieceType::unknown;
    bytes += type == PieceType::byte && byte_of_piece(t.text(id)) >= 0;
    m.pieces.push_back({t.text(id), static_cast<float>(t.scores[static_cast<std::size_t>(id)]), type});
    parts.id_of.push_back(id);
  }
  m.byte_fallback = bytes == 256;
  return parts;
}

std::vector<std::pair<std::string, std::string>> read_merges(const GgufFile& f) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const std::string_view merge : f.at<std::vector<std::string_view>>(key_of("merges"))) {
    const std::size_t space = merge.find(' ', 1);  // a piece may begin with a space itself
    if (merge.size() > 2 * longest_piece || space == merge.npos)
      f.fail_at(key_of("merges"), fmt::format("\"{}\" is not two pieces", printable(merge)));
    merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return merges;
}

BpeParts read_byte_pairs(const GgufFile& f, const Tokens& t, const GgufPre& pre, std::int32_t unknown) {
  BpeParts bpe;
  bpe.merges = read_merges(f);
  bpe.ignore_merges = pre.ignore_merges;
  for (std::int32_t id = 0; id < t.size(); ++id)
    if (t.type(id) != PieceType::unused) bpe.vocab.emplace_back(t.text(id), id);
  if (unknown >= 0) {
    bpe.unk_token = t.text(unknown);
    bpe.unk_per_character = true;
  }
  return bpe;
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
  const auto kind = f.get<std::string_view>(key_of("model"));
  return kind && *kind != "none" && *kind != "no_vocab";
}

TokenizerDescription read_gguf_vocabulary(const GgufFile& f) {
  if (!has_gguf_vocabulary(f)) fail(f.path(), "has no tokenizer", "use a directory that has one");
  const auto kind = f.at<std::string_view>(key_of("model"));
  const bool scored = kind == "llama";
  if (!scored && kind != "gpt2")
    f.fail_at(key_of("model"), fmt::format("the tokenizer \"{}\" is not supported", printable(kind, 40)),
              "there are llama and gpt2");
  Tokens t = read_tokens(f);
  TokenizerDescription d;
  TokenizerSettings& s = d.settings;
  s.where = f.path();
  s.special = special_ids(f, t, scored);
  const std::array named{s.special.bos, s.special.eos,      s.special.pad,
                         s.special.unk, id_of(f, "eot", t), id_of(f, "eom", t)};
  keep_special(t, named);
  d.parts.added = added_tokens(t, named);
  bool adds_bos = scored;
  if (scored) {
    d.parts.model = read_scored(f, t, s.special.unk);
  } else {
    const GgufPre& pre = gguf_pre(f.get<std::string_view>(key_of("pre")).value_or("default"),
                                  fmt::format("{}: {}", f.path(), key_of("pre")));
    d.parts.model = read_byte_pairs(f, t, pre, s.special.unk);
    d.parts.normalizers = pre.normalizers;
    d.parts.pre_tokenizers = pre.steps;
    d.parts.decoders = {DecodeByteLevel{}};
    adds_bos = pre.adds_bos;
  }
  if (f.get<bool>(key_of("add_bos_token")).value_or(adds_bos) && s.special.bos >= 0) d.parts.prefix = {s.special.bos};
  if (f.get<bool>(key_of("add_eos_token")).value_or(false) && s.special.eos >= 0) d.parts.suffix = {s.special.eos};
  for (const auto& [name, id] : {std::pair{"bos_token", s.special.bos},
                                 {"eos_token", s.special.eos},
                                 {"unk_token", s.special.unk},
                                 {"pad_token", s.special.pad}})
    if (id >= 0) s.special_tokens.emplace_back(name, t.text(id));
  read_templates(f, s);
  s.model_max_length = context_length(f, s.model_max_length);
  return d;
}

}  // namespace tril
