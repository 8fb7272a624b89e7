// Incremental detokenization: tokens in, text out as soon as no later token can change it. Incomplete characters, and text that may be
// the beginning of a stop string, are held back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::search {

/// Converts tokens to text in whole characters. The concatenated output is decode() of all tokens.
class Detokenizer {
 public:
  /// @param before  the last tokens before the text, so that a space between the two is kept. decode() strips spaces at
  ///                the beginning of a text
  explicit Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::int32_t> before = {});

  /// Text that no later token can change, and the number of its tokens, which are the oldest pending ones. 0 tokens: no text is
  /// settled yet.
  struct Settled {
    std::string text;
    std::size_t tokens = 0;
  };
  Settled push(std::int32_t token);
  /// Call it after the last token. Returns the rest.
  Settled finish();

 private:
  bool may_change(std::string_view text) const;
  Settled settle(std::size_t tokens, std::string text);

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::int32_t> context_;  ///< the last settled tokens
  std::vector<std::int32_t> pending_;  ///< tokens whose text may change
};

class TextStream {
 public:
  /// @param stops   stop strings: each ends the text and is not part of it
  /// @param before  see Detokenizer
  TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops,
             std::vector<std::int32_t> before = {});

  /// Takes a token and returns the text that is settled now: valid UTF-8, possibly empty.
  std::string push(std::int32_t token);
  /// Call it after the last token. Returns the rest. The concatenated output is the decoded text up to the first stop string.
  std::string finish();
  /// True after a stop string. No more text is returned then.
  bool stopped() const { return stopped_; }

 private:
  std::string release(bool all);

  Detokenizer tokens_;
  std::vector<std::string> stops_;
  std::string held_;  // text that may be the beginning of a stop string
  bool stopped_ = false;
};

/// The last of these tokens, without an incomplete character at the end, as context for the tokens that follow. A character that
/// begins in a prompt is not completed by the text after it, so that streamed and plain texts are equal.
std::vector<std::int32_t> whole_end(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

/// The text that `tokens` add to a text that ends with the tokens `before` (whole_end()).
std::string text_behind(const Tokenizer& tokenizer, std::span<const std::int32_t> before,
                        std::span<const std::int32_t> tokens);

/// SearchPlan::ends for stop strings, none of them empty.
EndTest stop_test(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops);

/// The position of the first stop string in the text; npos: none.
std::size_t find_stop(std::string_view text, const std::vector<std::string>& stops);

/// The length of the text before a possible beginning of a stop string at its end. The text contains no whole stop string.
std::size_t before_begun_stop(std::string_view text, const std::vector<std::string>& stops);

}  // namespace tril::search
