// Writes what gguf_vocabulary.h reads.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/element.h"
#include "base/error.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/files/gguf_pre.h"
#include "tokenizer/files/gguf_vocabulary.h"
#include "tokenizer/models/merges_by_score.h"
#include "tokenizer/pipeline/piece_decoder.h"

namespace tril {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  fail_usage("tokenizer", what + ": a GGUF file cannot express this",
             "supported: byte-level BPE, and SentencePiece BPE with spaces as U+2581");
}

// The token of every id; ids without a token are unused.
class TokenTable {
 public:
  explicit TokenTable(std::int32_t size)
      : texts_(static_cast<std::size_t>(size)),
        types_(texts_.size(), static_cast<std::int32_t>(PieceType::unused)),
        scores_(texts_.size()) {}

  bool has(std::int32_t id) const { return id >= 0 && id < std::ssize(texts_); }

  void put(std::int32_t id, const std::string& text, PieceType type, float score = 0) {
    if (!has(id))
      fail("tokenizer",
           fmt::format("\"{}\" has the id {}, but the model has only {} ids", printable(text), id, texts_.size()),
           "the tokenizer belongs to another model");
    element(texts_, id) = text, element(types_, id) = static_cast<std::int32_t>(type), element(scores_, id) = score;
  }

  std::string text(std::int32_t id) const { return has(id) ? element(texts_, id) : ""; }

  // Unknown and byte tokens keep their type.
  void put_added(const AddedToken& t) {
    const auto is = [&](PieceType type) {
      return has(t.id) && element(types_, t.id) == static_cast<std::int32_t>(type);
    };
    if (is(PieceType::unknown) || is(PieceType::byte)) return;
    put(t.id, t.content, t.special ? PieceType::control : PieceType::user_defined,
        has(t.id) ? element(scores_, t.id) : 0);
  }

  void write(GgufMetadata& m, bool scored) {
    std::unordered_set<std::string> known;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (!texts_[i].empty() && known.insert(texts_[i]).second) continue;
      texts_[i] = fmt::format("[PAD{}]", i);  // llama.cpp requires unique texts
      types_[i] = static_cast<std::int32_t>(PieceType::unused);
    }
    m.add(gguf_vocabulary_key("tokens"), texts_);
    if (scored) m.add(gguf_vocabulary_key("scores"), scores_);
    m.add(gguf_vocabulary_key("token_type"), types_);
  }

 private:
  std::vector<std::string> texts_;
  std::vector<std::int32_t> types_;
  std::vector<float> scores_;
};

// ---- SentencePiece BPE

void write_model(const SentencePieceParts& p, TokenTable& tokens) {
  if (p.file.algorithm != SubwordAlgorithm::bpe) refuse("its model is unigram");
  if (!only_marks_spaces(p.file)) refuse("its SentencePiece model normalizes more than spaces");
  for (std::size_t i = 0; i < p.file.pieces.size(); ++i) {
    const SentencePieceEntry& piece = p.file.pieces[i];
    std::string text = piece.text;
    if (piece.type == PieceType::user_defined)
      replace_all(text, space_mark, " ");  // matched before spaces become marks
    tokens.put(p.id_of.empty() ? static_cast<std::int32_t>(i) : p.id_of[i], text, piece.type, piece.score);
  }
}

// Whether a tokenizer.json looks like the output of Hugging Face's converter for a SentencePiece model: BPE over whole
// texts with U+2581 as the space. The steps may put one in front of a text.
struct Converted {
  bool is = false, prefix = false;
};

Converted converted(const TokenizerParts& p, const BpeParts& bpe) {
  Converted c;
  const std::string mark(space_mark);
  bool marks = false;
  for (const NormalizerStep& n : p.normalizers) {
    const auto* const prepend = std::get_if<PrependText>(&n);
    const auto* const replace = std::get_if<ReplaceText>(&n);
    if (prepend && prepend->text == mark)
      c.prefix = true;
    else if (replace && *replace == ReplaceText{{.text = " "}, mark})
      marks = true;
    else
      return {};
  }
  bool splits = false;
  for (const PreTokenizerStep& s : p.pre_tokenizers) {
    const auto* const m = std::get_if<Metaspace>(&s);
    const auto* const split = std::get_if<SplitBy>(&s);
    if (m && m->mark == mark) {
      marks = true;
      splits = m->split;
      c.prefix = c.prefix || m->prepend != PrependScheme::never;
    } else if (!(marks && split && split->pattern == TextPattern{.text = " "})) {  // no such spaces are left here
      return {};
    }
  }
  if (splits)
    for (const auto& [text, id] : bpe.vocab)
      if (text.find(mark, 1) != text.npos && text.find_first_not_of(mark) != text.npos) return {};
  c.is = marks && !bpe.ignore_merges && bpe.continuing_subword_prefix.empty() && bpe.end_of_word_suffix.empty();
  return c;
}

// Scores with which llama.cpp merges in the order of the list: the first merge scores highest. Scores cannot express a
// list that omits some of the pairs that make a piece.
std::string write_merges_as_scores(const BpeParts& bpe, TokenTable& tokens) {
  std::unordered_map<std::string, std::int32_t> first;  // the index of the first merge that makes a piece
  std::unordered_set<std::string> merges;
  for (const auto& [left, right] : bpe.merges) {
    first.emplace(left + right, static_cast<std::int32_t>(merges.size()));
    merges.insert(left + " " + right);
  }
  std::unordered_set<std::string_view> normal;
  for (const auto& [text, id] : bpe.vocab) {
    const bool byte = byte_of_piece(text) >= 0, unknown = bpe.unk_token == text;
    const auto place = first.find(text);
    const float score =
        byte || unknown ? 0 : -static_cast<float>((place == first.end() ? std::ssize(merges) : place->second) + 1);
    tokens.put(id, text, unknown ? PieceType::unknown : byte ? PieceType::byte : PieceType::normal, score);
    if (!byte && !unknown) normal.insert(text);
  }
  std::size_t left_out = 0;
  std::string example;
  for (const std::string_view piece : normal)
    for (std::size_t at = 1; at < piece.size(); ++at) {
      const std::string_view left = piece.substr(0, at), right = piece.substr(at);
      if (!normal.contains(left) || !normal.contains(right)) continue;
      std::string merge = std::string(left) + " " + std::string(right);
      if (merges.contains(merge)) continue;
      ++left_out;
      if (example.empty() || merge < example) example = std::move(merge);
    }
  if (left_out == 0) return "";
  return fmt::format(
      "llama.cpp merges {} that the tokenizer's list of merges lacks ({}): it may split some words differently",
      counted(left_out, "pair"), printable(example));
}

// ---- BPE by a list of merges, mostly byte-level

void write_byte_level(const TokenizerParts& p, const BpeParts& bpe, GgufMetadata& m, TokenTable& tokens) {
  const std::string pre = gguf_pre_name(p.normalizers, p.pre_tokenizers, bpe.ignore_merges);
  if (pre.empty() || !bpe.continuing_subword_prefix.empty() || !bpe.end_of_word_suffix.empty())
    refuse("its pre-tokenizer has no name in llama.cpp");
  const bool by_character = gguf_pre(pre, "tokenizer").by_character;
  m.add(gguf_vocabulary_key("model"), by_character && pre == "gemma4" ? "gemma4" : "gpt2");
  m.add(gguf_vocabulary_key("pre"), pre);
  for (const auto& [text, id] : bpe.vocab) {
    const bool byte = by_character && byte_of_piece(text) >= 0, unknown = by_character && bpe.unk_token == text;
    tokens.put(id, text, unknown ? PieceType::unknown : byte ? PieceType::byte : PieceType::normal);
  }
}

void add_merges(const BpeParts& bpe, GgufMetadata& m) {
  std::vector<std::string> merges;
  for (const auto& [left, right] : bpe.merges) merges.push_back(left + " " + right);
  m.add(gguf_vocabulary_key("merges"), merges);
}

// ---- Tokens around a text

bool adds(const std::vector<std::int32_t>& around, std::int32_t one) {
  if (!around.empty() && around != std::vector{one}) refuse("it adds more than one token at an end of a text");
  return !around.empty();
}

// @return the end tokens for which GGUF has no key
std::vector<std::int32_t> write_special(const TokenizerDescription& d, const std::vector<std::int32_t>& ends,
                                        bool scored, GgufMetadata& m) {
  SpecialIds s = d.settings.special;
  const TokenizerParts& p = d.parts;
  if (s.bos < 0 && p.prefix.size() == 1) s.bos = p.prefix[0];
  if (s.eos < 0 && p.suffix.size() == 1) s.eos = p.suffix[0];
  std::vector<std::int32_t> more;
  for (const std::int32_t end : ends) {
    if (s.eos < 0) s.eos = end;
    if (end != s.eos && std::find(more.begin(), more.end(), end) == more.end()) more.push_back(end);
  }
  const auto add = [&](const char* name, std::int32_t id, bool even_none = false) {
    if (id >= 0 || even_none) m.add(gguf_vocabulary_key(name) + "_token_id", static_cast<std::uint32_t>(id));
  };
  // If a SentencePiece vocabulary lacks these keys, readers assume default ids.
  add("bos", s.bos, scored);
  add("eos", s.eos, scored);
  add("unknown", s.unk, scored);
  add("padding", s.pad);
  if (!more.empty()) add("eot", more[0]);
  if (more.size() > 1) add("eom", more[1]);
  m.add(gguf_vocabulary_key("add_bos_token"), adds(p.prefix, s.bos));
  m.add(gguf_vocabulary_key("add_eos_token"), adds(p.suffix, s.eos));
  return {more.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(more.size(), 2)), more.end()};
}

void write_templates(const TokenizerSettings& s, GgufMetadata& m) {
  std::vector<std::string> names;
  for (const auto& [name, text] : s.chat_templates)
    if (name == "default") {
      m.add("tokenizer.chat_template", text);
    } else {
      m.add("tokenizer.chat_template." + name, text);
      names.push_back(name);
    }
  if (!names.empty()) m.add("tokenizer.chat_templates", names);
}

}  // namespace

GgufVocabulary gguf_vocabulary(const TokenizerDescription& d, std::int32_t size,
                               const std::vector<std::int32_t>& ends) {
  GgufVocabulary v;
  const auto warn = [&](std::string text) {
    if (!text.empty()) v.warnings.push_back(std::move(text));
  };
  TokenTable tokens(size);
  const auto* const model = std::get_if<SentencePieceParts>(&d.parts.model);
  const auto* const bpe = std::get_if<BpeParts>(&d.parts.model);
  if (!model && !bpe) refuse("it is neither byte-level BPE nor SentencePiece");
  const Converted c = bpe ? converted(d.parts, *bpe) : Converted{true, model->file.add_dummy_prefix};
  if (c.is) {
    v.metadata.add(gguf_vocabulary_key("model"), "llama");
    v.metadata.add(gguf_vocabulary_key("pre"), "default");
    v.metadata.add(gguf_vocabulary_key("add_space_prefix"), c.prefix);
    if (model)
      write_model(*model, tokens);
    else
      warn(write_merges_as_scores(*bpe, tokens));
  } else {
    write_byte_level(d.parts, *bpe, v.metadata, tokens);
  }
  for (const AddedToken& t : d.parts.added) tokens.put_added(t);
  tokens.write(v.metadata, c.is);
  if (!c.is) add_merges(*bpe, v.metadata);
  std::vector<std::string> lost;
  for (const std::int32_t id : write_special(d, ends, c.is, v.metadata))
    lost.push_back(fmt::format("{} ({})", id, printable(tokens.text(id), 40)));
  if (!lost.empty())
    warn(fmt::format("a GGUF file names three end tokens, eos, eot and eom: llama.cpp will not know that {} {} one too",
                     fmt::join(lost, ", "), lost.size() == 1 ? "is" : "are each"));
  write_templates(d.settings, v.metadata);
  return v;
}

}  // namespace tril
