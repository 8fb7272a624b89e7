// Finds the tokens that are taken out of a text before anything else: special tokens, and tokens added to a vocabulary
// after it was learned.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/element.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "tokenizer/pipeline/tokenizer_parts.h"
#include "unicode/characters.h"

namespace tril {

class AddedTokens {
 public:
  AddedTokens() = default;
  /// @param spellings  the text by which each token is matched, in the order of `tokens`
  AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string>& spellings);

  /// Passes the text on in order: take_text(part) for text between tokens, take_token(id) for each token. At every
  /// place the longest token wins.
  template <class TakeText, class TakeToken>
  void split(std::string_view text, const TakeText& take_text, const TakeToken& take_token) const {
    std::size_t done = 0;
    if (!tree_.empty())
      for (std::size_t at = next_start(text, 0); at < text.size(); at = next_start(text, at)) {
        const PrefixTree::Match match = tree_.longest_prefix(text.substr(at));
        if (match.bytes == 0) {
          ++at;
          continue;
        }
        const AddedToken& token = element(tokens_, match.number);
        std::size_t begin = at, end = at + match.bytes;
        at = end;
        if (token.single_word && !stands_alone(text, begin, end)) continue;
        if (token.lstrip) begin = std::max(done, space_before(text, begin));
        if (token.rstrip) end = space_behind(text, end);
        if (done < begin) take_text(text.substr(done, begin - done));
        take_token(token.id);
        done = end;
        at = std::max(at, end);
      }
    if (done < text.size()) take_text(text.substr(done));
  }

  bool empty() const { return tree_.empty(); }

 private:
  std::size_t next_start(std::string_view text, std::size_t at) const {
    while (at < text.size() && !starts_[static_cast<std::uint8_t>(text[at])]) ++at;
    return at;
  }
  static bool stands_alone(std::string_view text, std::size_t begin, std::size_t end);
  static std::size_t space_before(std::string_view text, std::size_t begin);
  static std::size_t space_behind(std::string_view text, std::size_t end);

  std::vector<AddedToken> tokens_;
  PrefixTree tree_;  // of the spellings, by index
  std::array<bool, 256> starts_{};
};

}  // namespace tril
