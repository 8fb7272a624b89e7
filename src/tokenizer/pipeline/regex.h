// Regular expressions over UTF-8, in the syntax and with the meaning that Hugging Face's `tokenizers` gives them: those
// of the Oniguruma library with its Ruby syntax.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril {

class Regex {
 public:
  /// @throws Error naming `where` for what is no expression, or one that is too long
  Regex(std::string_view pattern, const std::string& where);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// Appends [begin, end) of each match in `text`, which is UTF-8, from left to right; an empty match moves on by one
  /// character. May be called by many threads at once.
  /// @throws Error where a match takes more steps than a text of this kind should
  void find_all(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& matches) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tril
