// Text <-> ids. A tokenizer has two sides, which may differ in their subword model, their vocabulary, both or neither.
// Every method is const and thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/special_ids.h"

namespace tril {

enum class Side { source, target };

/// A file that belongs to a model directory, in memory.
struct TokenizerFile {
  std::string name, bytes;
};

/// Random segmentation for training: the same text is split differently each time. Exactly one of the two is set, by
/// the kind of vocabulary.
struct SubwordSampling {
  double bpe_dropout = 0;    ///< BPE: probability that a merge is left out (bpe_dropout.h)
  double unigram_alpha = 0;  ///< unigram model: exponent of the probabilities (unigram_sampling.h)

  bool on() const { return bpe_dropout > 0 || unigram_alpha > 0; }
};

/// Splits text at random. The result is a function of text and key alone. Thread-safe.
class SubwordSampler {
 public:
  virtual ~SubwordSampler() = default;
  /// Appends the ids of `text` to `ids`, without end-of-sentence.
  virtual void encode(std::string_view text, RandomKey key, std::vector<std::int32_t>& ids) const = 0;
};

/// Special tokens around a text that a model reads: Llama's "<s> X", T5's "X </s>".
struct TextFrame {
  std::vector<std::int32_t> prefix, suffix;
};

/// The languages of the model's texts, if its directory states them; else "".
struct StatedLanguages {
  std::string source, target;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Appends the ids of `text` to `ids`, without the tokens of frame(). Special tokens that the text spells out become
  /// their ids, so a chat template's output is encoded by this alone.
  virtual void encode(std::string_view text, Side side, std::vector<std::int32_t>& ids) const = 0;
  /// The tokens that a model of this tokenizer expects around a text. `language` is one of languages(), or "" for the
  /// directory's default (src_lang and tgt_lang of tokenizer_config.json).
  /// @throws Error(usage) for a language that the tokenizer does not have
  virtual TextFrame frame(Side side, std::string_view language = {}) const;
  /// The languages with a token of their own, by the codes that language_id() takes: "de_DE" (mBART), "deu_Latn" (NLLB), "de"
  /// (M2M100). A translation into a language begins with its token: forced_bos_token_id is language_id(code).
  virtual std::vector<std::string> languages() const { return {}; }
  /// As tokenizer_config.json spells them: source_lang and target_lang, or else src_lang and tgt_lang.
  virtual StatedLanguages stated_languages() const { return {}; }
  /// @throws Error(usage) listing the known languages
  std::int32_t language_id(std::string_view code) const;
  /// The chat template (chat_template.h) of this name ("": "default", or the only one), or nothing.
  virtual std::optional<std::string> chat_template(std::string_view name = {}) const;
  /// The special tokens that a chat template may name ("bos_token", "<s>"), with or without a template.
  virtual std::vector<std::pair<std::string, std::string>> special_tokens() const { return {}; }
  /// A sampler of this side's text; it must not outlive the tokenizer.
  /// @throws Error(usage) if the vocabulary is of another kind than `how` requires; always, unless overridden
  virtual std::unique_ptr<const SubwordSampler> sampler(Side side, const SubwordSampling& how) const;
  /// The text of `ids`; special ids (eos, pad, unk) are left out. An id outside the vocabulary is an error.
  virtual std::string decode(std::span<const std::int32_t> ids, Side side) const = 0;
  /// Whether decode() removes a blank depending on what follows it ("a ." becomes "a.").
  virtual bool cleans_up() const { return false; }
  /// The subword that `id` stands for ("\u2581the"). An id outside the vocabulary is an error.
  virtual const std::string& piece(std::int32_t id, Side side) const = 0;
  /// The id of a subword, or nothing.
  virtual std::optional<std::int32_t> find(std::string_view piece, Side side) const = 0;
  /// Rows that an embedding table needs: the largest id + 1.
  virtual std::int32_t size(Side side) const = 0;
  virtual const SpecialIds& special(Side side) const = 0;
  /// Whether both sides have one vocabulary, so that embeddings can be shared.
  virtual bool shared_vocabulary() const = 0;
  /// The longest text, in ids, that a model of this tokenizer is meant for.
  virtual std::int32_t model_max_length() const = 0;
  /// The name in errors: the file that holds its pieces.
  virtual std::string where() const { return "tokenizer"; }
  /// The files of a model directory from which load_tokenizer() makes the same tokenizer.
  virtual std::vector<TokenizerFile> files() const = 0;

  std::vector<std::int32_t> encode(std::string_view text, Side side = Side::source) const {
    std::vector<std::int32_t> ids;
    encode(text, side, ids);
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids) const { return decode(ids, Side::target); }

 private:
  /// The token of a language, or nothing.
  virtual std::optional<std::int32_t> find_language(std::string_view) const { return std::nullopt; }
};

/// How many of a text's ids represent unknown characters: those of the unknown token, except where the text spells it
/// out (GPT-2's <|endoftext|> is also its unknown token).
std::int64_t count_unknown(const Tokenizer& tokenizer, std::string_view text, std::span<const std::int32_t> ids,
                           Side side);

/// The tokenizer of a directory: Marian's source.spm, target.spm and vocab.json; else tokenizer.json; else GPT-2's
/// vocab.json and merges.txt; else a SentencePiece model. Ids equal those of Hugging Face's tokenizers.
/// @throws Error naming the file that is missing or wrong
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& directory);

/// Writes files() into `directory`, each file atomically.
void save_tokenizer(const Tokenizer& tokenizer, const std::string& directory);

/// Removes other tokenizers' files, which load_tokenizer() might pick up, from `directory`, except `kept`, which may
/// be a path in it.
void remove_other_tokenizers(const Tokenizer& tokenizer, const std::string& directory, const std::string& kept = {});

}  // namespace tril
