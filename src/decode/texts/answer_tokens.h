// Splits an answer's text into the parts that belong to its tokens. Invariant: the concatenated bytes of all reported tokens
// are the text, with U+FFFD for bytes that form no character; offsets are positions in it. Streamed and plain answers both use
// this file, so the invariant holds for both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/texts/text_stream.h"

namespace tril::search {

struct AnswerToken {
  std::size_t number = 0;  ///< position among the generated tokens
  std::int32_t id = 0;
  std::string bytes;       ///< its bytes of the text: possibly part of a character; empty for a special token
  std::size_t offset = 0;  ///< characters before it; if it continues a character, characters before that character
};

class AnswerTokens {
 public:
  /// @param bytes   by id, the bytes that a token adds after other tokens (token_bytes); must outlive this object
  /// @param stops   stop strings: each ends the answer and is not part of it
  /// @param before  see Detokenizer
  AnswerTokens(std::shared_ptr<const Tokenizer> tokenizer, std::span<const std::string> bytes,
               std::vector<std::string> stops, std::vector<std::int32_t> before);

  /// Text that later tokens cannot change, and its tokens. A token is reported whole.
  struct Part {
    std::string text;
    std::vector<AnswerToken> tokens;
  };
  Part push(std::int32_t token);
  /// Call it after the last token. Returns the rest. If a stop string begins inside a token, its bytes before that are returned.
  Part finish();

 private:
  struct Unit {  ///< tokens whose text was settled together
    std::string text;
    std::vector<AnswerToken> tokens;  ///< with offsets in the unit
  };
  void hold(Detokenizer::Settled settled);
  std::vector<std::string> pieces_of(std::span<const AnswerToken> tokens, const std::string& text) const;
  Part release(bool all);
  void append(Unit unit, Part& part);

  Detokenizer detokenizer_;
  std::span<const std::string> bytes_;
  std::vector<std::string> stops_;
  std::vector<AnswerToken> waiting_;  ///< tokens whose text may still change
  std::vector<Unit> held_;            ///< tokens whose text may be the beginning of a stop string
  std::string held_text_;             ///< the text of held_
  std::size_t pushed_ = 0;
  std::size_t characters_ = 0;  ///< characters of the text reported so far
  bool stopped_ = false;
};

/// The tokens of an encoded text, such as a prompt. Special tokens that are spelled out in the text have this spelling. If the
/// tokenizer normalises the text (to lower case, for example), the bytes are those of the normalised text, and no offset exceeds
/// the length of the text.
std::vector<AnswerToken> tokens_of_text(const std::shared_ptr<const Tokenizer>& tokenizer,
                                        std::span<const std::string> bytes, std::span<const std::int32_t> ids,
                                        const std::string& text);

}  // namespace tril::search
