// Regular expressions over UTF-8, with the syntax and semantics of Hugging Face's `tokenizers`: those of the Oniguruma
// library in its Ruby syntax.
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
  /// @throws Error naming `where` for an invalid or too long expression
  Regex(std::string_view pattern, const std::string& where);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// Appends [begin, end) of each match in `text`, which is UTF-8, from left to right; an empty match advances by one
  /// character. Thread-safe.
  /// @throws Error if a match takes more steps than a reasonable pattern should
  void find_all(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& matches) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tril
