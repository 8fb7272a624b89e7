// Text to tokens and back.
#pragma once

#include <tril/error.h>
#include <tril/options.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TRIL_NAMESPACE_BEGIN
struct TokenizerState;

/// A translation model may have two vocabularies. A language model has one; both sides are that one.
enum class Side : std::uint8_t { source, target };

/// A token and its place in the text.
struct Token {
  std::int32_t id = 0;      ///< its number in the vocabulary
  std::string piece;        ///< its text in the vocabulary: "▁the"
  std::int64_t begin = -1;  ///< its first byte in the text; -1: it corresponds to nothing in the text
  std::int64_t end = -1;    ///< the byte after its last; -1 likewise
};

/// How a text is split or joined.
struct TokenizeOptions {
  Side side = Side::source;  ///< the vocabulary
  bool special_tokens =
      false;  ///< encode: add the tokens that the model expects around a text; decode: keep special tokens
  std::string language =
      {};  ///< of the text, for vocabularies with language tokens, with special_tokens; "": the model's default
};

/// Copies share one vocabulary. Thread-safe.
class TRIL_API Tokenizer {
 public:
  /// Reads only the tokenizer of a model. @param path_or_name  as Model::open()
  /// @param options  "pull", as Model::open()
  /// @throws Error naming the file that is missing or wrong
  static Tokenizer open(const std::string& path_or_name, const Options& options = {});

  /// The ids of a text. Special tokens that the text spells out become their ids.
  /// @throws Error (usage) for a language that the vocabulary does not have
  std::vector<std::int32_t> encode(std::string_view text, const TokenizeOptions& options = {}) const;
  /// The same with pieces and positions.
  std::vector<Token> tokens(std::string_view text, const TokenizeOptions& options = {}) const;
  /// The text of ids. @throws Error (usage) for an id that is not in the vocabulary
  std::string decode(std::span<const std::int32_t> ids, const TokenizeOptions& options = {.side = Side::target}) const;

  /// The largest id + 1.
  std::int32_t size(Side side = Side::source) const;
  /// @throws Error (usage) for an id that is not in the vocabulary
  std::string piece(std::int32_t id, Side side = Side::source) const;
  /// The id of a piece, or nothing.
  std::optional<std::int32_t> find(std::string_view piece, Side side = Side::source) const;

 private:
  friend class Model;
  explicit Tokenizer(std::shared_ptr<const TokenizerState> state);

  std::shared_ptr<const TokenizerState> state_;
};

TRIL_NAMESPACE_END
