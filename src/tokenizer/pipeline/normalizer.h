// Makes the normal form of a text: the normalizers of tokenizer_parts.h, one after the other.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// A text on its way, and whether its first character is still the first of the text that was given: Metaspace's
/// "first" asks for that.
struct NormalText {
  std::string_view text;
  bool at_start = true;
};

/// Memory that the texts on their way may lie in.
struct NormalizerScratch {
  std::string one, other;
};

/// One step. Steps are const and may be used by many threads at once.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Writes the normal form of text.text, which is UTF-8, to `out` and returns true, or leaves it as it is and returns
  /// false.
  virtual bool apply(NormalText& text, std::string& out) const = 0;
};

class Normalizers {
 public:
  /// @throws Error naming `where` for a step that cannot be: a damaged map, a wrong expression
  Normalizers(const std::vector<NormalizerStep>& steps, const std::string& where);
  Normalizers(Normalizers&&) noexcept;
  ~Normalizers();

  /// The result lies in the given text or in `scratch`.
  NormalText apply(NormalText text, NormalizerScratch& scratch) const;
  bool empty() const { return steps_.empty(); }

 private:
  std::vector<std::unique_ptr<const Normalizer>> steps_;
};

}  // namespace tril
