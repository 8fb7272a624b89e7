// Tokens in, text out as it becomes certain: what may yet turn out to be part of a character, or of a text that ends the
// generation, is held back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/options.h"
#include "text/tokenizer.h"

namespace tril::search {

class TextStream {
 public:
  /// @param stops   texts that end the generation and are no part of it
  /// @param before  the last tokens of what stands in front, so that a blank between it and the text is not taken for one
  ///                at a text's beginning, which decode() strips
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

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::string> stops_;
  std::vector<std::int32_t> before_;   // the last tokens whose text is known
  std::vector<std::int32_t> pending_;  // tokens whose bytes end within a character
  std::string held_;                   // text that may be the beginning of a stop
  bool stopped_ = false;
};

/// What `tokens` add to a text that ends with the tokens `before`.
std::string text_behind(const Tokenizer& tokenizer, std::span<const std::int32_t> before,
                        std::span<const std::int32_t> tokens);

/// SearchOptions::ends for stop texts, none of them empty.
EndTest stop_test(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops);

/// Where the first of `stops` begins in the text, npos where there is none.
std::size_t find_stop(std::string_view text, const std::vector<std::string>& stops);

}  // namespace tril::search
