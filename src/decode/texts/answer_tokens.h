// Which part of an answer's text each of its tokens is. The invariant: the bytes of all reported tokens, concatenated, are
// the text, with U+FFFD for bytes that form no character; offsets are positions in it. Streamed and plain answers both come
// through here, so it holds for both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/texts/text_stream.h"

namespace tril::search {

struct AnswerToken {
  std::size_t number = 0;  ///< among the tokens of the answer, as generated
  std::int32_t id = 0;
  std::string bytes;       ///< that it adds to the text; perhaps a part of a character, and none of a special token
  std::size_t offset = 0;  ///< characters of the text before it; of a character's later tokens: before that character
};

class AnswerTokens {
 public:
  /// @param bytes   by id what tokens add after others (token_bytes); lives as long as this does
  /// @param stops   texts that end the answer and are no part of it
  /// @param before  see Detokenizer
  AnswerTokens(std::shared_ptr<const Tokenizer> tokenizer, std::span<const std::string> bytes,
               std::vector<std::string> stops, std::vector<std::int32_t> before);

  /// Text that has become certain, and its tokens; a token comes as a whole or not yet.
  struct Part {
    std::string text;
    std::vector<AnswerToken> tokens;
  };
  Part push(std::int32_t token);
  /// The rest, once no more tokens come. Of a token in which a stop begins there is the part before that.
  Part finish();

 private:
  struct Unit {  ///< tokens whose text became certain together
    std::string text;
    std::vector<AnswerToken> tokens;  ///< offsets within the unit
  };
  void hold(Detokenizer::Settled settled);
  std::vector<std::string> pieces_of(std::span<const AnswerToken> tokens, const std::string& text) const;
  Part release(bool all);
  void tell(Unit unit, Part& part);

  Detokenizer detokenizer_;
  std::span<const std::string> bytes_;
  std::vector<std::string> stops_;
  std::vector<AnswerToken> waiting_;  ///< whose text is not certain
  std::vector<Unit> held_;            ///< whose text may be the beginning of a stop
  std::string held_text_;             ///< of all of these
  std::size_t pushed_ = 0;
  std::size_t characters_ = 0;  ///< of the text that was told
  bool stopped_ = false;
};

/// The tokens of a text that was cut into them: a prompt's. Special tokens that it spells out have their spelling. Where
/// the vocabulary writes a text otherwise (in small letters, say), tokens are as it writes them, and offsets end with the text.
std::vector<AnswerToken> tokens_of_text(const std::shared_ptr<const Tokenizer>& tokenizer,
                                        std::span<const std::string> bytes, std::span<const std::int32_t> ids,
                                        const std::string& text);

}  // namespace tril::search
