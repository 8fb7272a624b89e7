#include "decode/texts/bad_words.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"

namespace tril::search {

void forbid(const std::string& text, const Tokenizer& tokenizer, const std::string& where,
            std::vector<std::vector<std::int32_t>>& bad_words) {
  constexpr std::size_t most = 2000;  // each costs time at every step
  check(!text.empty(), where, "an empty text would forbid the space");
  check(bad_words.size() < most, where, "more than {} words, counting all their forms", most);
  bool any = false;
  for (const std::string& form : {text, " " + text}) {
    std::vector<std::int32_t> ids = tokenizer.encode(form, Side::target);
    any |= !ids.empty();
    if (ids.empty() || std::find(bad_words.begin(), bad_words.end(), ids) != bad_words.end()) continue;
    bad_words.push_back(std::move(ids));
  }
  check(any, where, "\"{}\" has no token", printable(text));
}

}  // namespace tril::search
