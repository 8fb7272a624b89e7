// Tokens in, text out as it becomes certain: what may yet turn out to be part of a character, or of a text that ends the
// generation, is held back.
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

/// Tokens to text of whole characters. All that comes out together is what decode() makes of the tokens together.
class Detokenizer {
 public:
  /// @param before  the last tokens before the text, so that a blank between it and the text is not taken for one
  ///                at a text's beginning, which decode() strips
  explicit Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::int32_t> before = {});

  /// Text that no later token changes, and the number of tokens that it is of: the oldest of those whose text did not come
  /// before. No tokens: none is certain yet.
  struct Settled {
    std::string text;
    std::size_t tokens = 0;
  };
  Settled push(std::int32_t token);
  /// The rest, once no more tokens come.
  Settled finish();

 private:
  bool may_change(std::string_view text) const;
  Settled settle(std::size_t tokens, std::string text);

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::int32_t> context_;  ///< the last tokens whose text is known, or that have none
  std::vector<std::int32_t> pending_;  ///< tokens whose text may change
};

class TextStream {
 public:
  /// @param stops   texts that end the generation and are no part of it
  /// @param before  see Detokenizer
  TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops,
             std::vector<std::int32_t> before = {});

  /// Takes a token and returns the text that is certain now; valid UTF-8, may be empty.
  std::string push(std::int32_t token);
  /// The rest, once no more tokens come. All that was returned together is the decoded text up to the first stop.
  std::string finish();
  /// Whether a stop was met: nothing comes any more.
  bool stopped() const { return stopped_; }

 private:
  std::string release(bool all);

  Detokenizer tokens_;
  std::vector<std::string> stops_;
  std::string held_;  // text that may be the beginning of a stop
  bool stopped_ = false;
};

/// The last of these tokens, without bytes at their end that are no whole character: what other tokens may follow. A character
/// that a prompt begins is not ended by what follows, so that texts are alike however they come.
std::vector<std::int32_t> whole_end(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens);

/// What `tokens` add to a text that ends with the tokens `before` (whole_end()).
std::string text_behind(const Tokenizer& tokenizer, std::span<const std::int32_t> before,
                        std::span<const std::int32_t> tokens);

/// SearchPlan::ends for stop texts, none of them empty.
EndTest stop_test(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops);

/// Where the first of `stops` begins in the text, npos where there is none.
std::size_t find_stop(std::string_view text, const std::vector<std::string>& stops);

/// How much of a text comes before what may be the beginning of a stop, of which it holds none as a whole.
std::size_t before_begun_stop(std::string_view text, const std::vector<std::string>& stops);

}  // namespace tril::search
