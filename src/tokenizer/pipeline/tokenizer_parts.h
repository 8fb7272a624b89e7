// The parts of a subword tokenizer, independent of any file format: make_pipeline_tokenizer() builds a tokenizer of
// them, tokenizer_json.h reads and writes them, and readers of other vocabularies fill them in.
//
//   text -> added tokens taken out -> normalizers -> pre-tokenizers: words -> model: ids
//   ids  -> pieces -> decoders -> text
//
// The parts and their names are those of Hugging Face's `tokenizers` library, with the same meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "format/sentencepiece_file.h"

namespace tril {

/// A pattern searched in a text: a literal string, or a regular expression in Oniguruma's syntax.
struct TextPattern {
  std::string text;
  bool regex = false;
  friend bool operator==(const TextPattern&, const TextPattern&) = default;
};

// ---- Normalizers: text to text, one after the other.

struct UnicodeForm {
  enum Form : std::uint8_t { nfc, nfd, nfkc, nfkd } form = nfc;
  friend bool operator==(const UnicodeForm&, const UnicodeForm&) = default;
};
struct Lowercase {  ///< each character by itself
  friend bool operator==(const Lowercase&, const Lowercase&) = default;
};
struct StripSpace {
  bool left = true, right = true;
  friend bool operator==(const StripSpace&, const StripSpace&) = default;
};
struct StripAccents {  ///< removes every mark (category M)
  friend bool operator==(const StripAccents&, const StripAccents&) = default;
};
struct ReplaceText {
  TextPattern pattern;
  std::string content;
  friend bool operator==(const ReplaceText&, const ReplaceText&) = default;
};
struct PrependText {  ///< before any text that is not empty
  std::string text;
  friend bool operator==(const PrependText&, const PrependText&) = default;
};
struct PrecompiledMap {  ///< SentencePiece's character map, applied as in Hugging Face: grapheme by grapheme
  std::string bytes;
  friend bool operator==(const PrecompiledMap&, const PrecompiledMap&) = default;
};
struct BertText {
  bool clean_text = true, handle_chinese_chars = true, lowercase = true;
  std::optional<bool> strip_accents;  ///< unset: as `lowercase`
  friend bool operator==(const BertText&, const BertText&) = default;
};
struct NmtText {  ///< removes control characters, makes rare spaces plain
  friend bool operator==(const NmtText&, const NmtText&) = default;
};
struct ByteLetters {  ///< every byte becomes GPT-2's letter for it
  friend bool operator==(const ByteLetters&, const ByteLetters&) = default;
};
using NormalizerStep = std::variant<UnicodeForm, Lowercase, StripSpace, StripAccents, ReplaceText, PrependText,
                                    PrecompiledMap, BertText, NmtText, ByteLetters>;

// ---- Pre-tokenizers: each splits every word that the one before it left.

/// What happens to a delimiter: it is dropped, isolated, merged with adjacent ones, or merged with the word before or after it.
enum class SplitBehavior : std::uint8_t { removed, isolated, contiguous, merged_with_previous, merged_with_next };

struct SplitBy {
  TextPattern pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  ///< the text between the matches is the delimiter
  friend bool operator==(const SplitBy&, const SplitBy&) = default;
};
struct ByteLevel {
  bool add_prefix_space = false;
  bool use_regex = true;  ///< splits by GPT-2's pattern (word_patterns.h)
  friend bool operator==(const ByteLevel&, const ByteLevel&) = default;
};
enum class PrependScheme : std::uint8_t { always, first, never };
struct Metaspace {
  std::string mark = "\u2581";  ///< one character
  PrependScheme prepend = PrependScheme::always;
  bool split = true;
  friend bool operator==(const Metaspace&, const Metaspace&) = default;
};
struct SplitAtSpace {  ///< WhitespaceSplit
  friend bool operator==(const SplitAtSpace&, const SplitAtSpace&) = default;
};
struct SplitWordsAndSigns {  ///< Whitespace: \w+|[^\w\s]+
  friend bool operator==(const SplitWordsAndSigns&, const SplitWordsAndSigns&) = default;
};
struct BertWords {
  friend bool operator==(const BertWords&, const BertWords&) = default;
};
struct SplitDigits {
  bool individual = false;
  friend bool operator==(const SplitDigits&, const SplitDigits&) = default;
};
struct SplitPunctuation {
  SplitBehavior behavior = SplitBehavior::isolated;
  friend bool operator==(const SplitPunctuation&, const SplitPunctuation&) = default;
};
struct SplitAtCharacter {  ///< CharDelimiterSplit
  std::string character;
  friend bool operator==(const SplitAtCharacter&, const SplitAtCharacter&) = default;
};
struct FixedLength {
  std::size_t length = 5;  ///< in characters
  friend bool operator==(const FixedLength&, const FixedLength&) = default;
};
using PreTokenizerStep = std::variant<SplitBy, ByteLevel, Metaspace, SplitAtSpace, SplitWordsAndSigns, BertWords,
                                      SplitDigits, SplitPunctuation, SplitAtCharacter, FixedLength>;

// ---- Decoders: pieces to pieces, which are joined at the end. Without any decoder, pieces are joined with spaces.

struct DecodeByteLevel {
  bool drop_invalid = false;  ///< invalid UTF-8 is dropped, not replaced; not in Hugging Face
  friend bool operator==(const DecodeByteLevel&, const DecodeByteLevel&) = default;
};
struct DecodeMetaspace {
  std::string mark = "\u2581";
  PrependScheme prepend = PrependScheme::always;
  friend bool operator==(const DecodeMetaspace&, const DecodeMetaspace&) = default;
};
struct DecodeByteFallback {  ///< "<0xE2>" becomes its byte
  friend bool operator==(const DecodeByteFallback&, const DecodeByteFallback&) = default;
};
struct FusePieces {
  friend bool operator==(const FusePieces&, const FusePieces&) = default;
};
struct StripPiece {  ///< removes at most `start` and `stop` times `character` from a piece's ends
  std::string character;
  std::size_t start = 0, stop = 0;
  friend bool operator==(const StripPiece&, const StripPiece&) = default;
};
struct DecodeWordPiece {
  std::string prefix = "##";
  bool cleanup = true;
  friend bool operator==(const DecodeWordPiece&, const DecodeWordPiece&) = default;
};
struct DecodeSuffix {  ///< BPEDecoder
  std::string suffix = "</w>";
  friend bool operator==(const DecodeSuffix&, const DecodeSuffix&) = default;
};
using DecoderStep = std::variant<DecodeByteLevel, DecodeMetaspace, DecodeByteFallback, FusePieces, StripPiece,
                                 ReplaceText, DecodeWordPiece, DecodeSuffix>;

// ---- Models: a word to ids.

using Pieces = std::vector<std::pair<std::string, std::int32_t>>;  ///< each with its id

/// Byte-pair encoding [Sennrich et al. 2016]: the pair of neighbours that comes first in `merges` becomes one piece,
/// until no listed pair is left.
struct BpeParts {
  Pieces vocab;
  std::vector<std::pair<std::string, std::string>> merges;  ///< the first that applies wins
  std::optional<std::string> unk_token;                     ///< unset: characters without a piece are left out
  std::string continuing_subword_prefix, end_of_word_suffix;
  bool fuse_unk = false;       ///< a run of unknown characters is one token
  bool byte_fallback = false;  ///< an unknown character becomes "<0xE2>" "<0x82>" ..., if all of these are pieces
  bool ignore_merges = false;  ///< a whole word that is a piece is not split
  /// Not in Hugging Face: all letters of an unknown character's bytes (after ByteLevel) together are one unk_token.
  bool unk_per_character = false;
};

/// Unigram language model [Kudo 2018]: the segmentation with the highest sum of log probabilities.
struct UnigramParts {
  std::vector<std::pair<std::string, double>> vocab;  ///< by id: piece and log probability
  std::optional<std::int32_t> unk_id;
  bool byte_fallback = false;
};

/// WordPiece [Schuster & Nakajima 2012]: the longest piece first, from left to right.
struct WordPieceParts {
  Pieces vocab;
  std::string unk_token = "[UNK]", continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  ///< a longer word is unknown
};

/// A word is a piece or unknown.
struct WordLevelParts {
  Pieces vocab;
  std::string unk_token = "<unk>";
};

/// A SentencePiece model with its own normalisation and rules, as in the library and not as Hugging Face converts them:
/// unigram, or BPE by score (GGUF's "llama" vocabularies too). It works on whole texts, so there are no normalizers or
/// pre-tokenizers before it.
struct SentencePieceParts {
  SentencePieceFile file;           ///< pieces by the model's own id
  std::vector<std::int32_t> id_of;  ///< the tokenizer's id for each of the model's; empty: the same
  /// Pieces that the tokenizer knows beyond the model: a run of unknown characters with this text has this id (M2M100
  /// looks up its pieces in a vocab.json that is larger than the model).
  Pieces beyond_model;
};

using ModelParts = std::variant<BpeParts, UnigramParts, WordPieceParts, WordLevelParts, SentencePieceParts>;

/// A token that is matched literally in a text, before the model sees the text between.
struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool special = false;      ///< decode() leaves it out
  bool lstrip = false;       ///< includes the white space before it
  bool rstrip = false;       ///< includes the white space after it
  bool single_word = false;  ///< only if no letter or digit adjoins it
  bool normalized = false;   ///< its normal form is matched in the normalised text
  friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

struct TokenizerParts {
  ModelParts model;
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizers;
  std::vector<PreTokenizerStep> pre_tokenizers;
  std::vector<DecoderStep> decoders;
  std::vector<std::int32_t> prefix, suffix;  ///< what the post-processor puts around a text
  bool has_post_processor = false;           ///< the file has a post-processor
};

}  // namespace tril
