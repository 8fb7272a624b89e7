// Applies the normalizers of tokenizer_parts.h, one after the other.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// A text between two steps, and whether its first character is still the first of the original text, as Metaspace's
/// "first" requires.
struct NormalText {
  std::string_view text;
  bool at_start = true;
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< bytes that it may become (growth.h)
};

/// Buffers for texts between steps.
struct NormalizerScratch {
  std::string one, other;
};

/// One step. Steps are const and thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Writes the normal form of text.text, which is UTF-8, to `out` and returns true; if nothing changes, returns false.
  /// May stop once it has written more than text.most.
  virtual bool apply(NormalText& text, std::string& out) const = 0;
};

class Normalizers {
 public:
  /// @throws Error naming `where` for an invalid step: a damaged map, a wrong expression
  Normalizers(const std::vector<NormalizerStep>& steps, const std::string& where);
  Normalizers(Normalizers&&) noexcept;
  ~Normalizers();

  /// The result is a view of the given text or of `scratch`.
  /// @throws Error if it would be far longer than the text (growth.h)
  NormalText apply(NormalText text, NormalizerScratch& scratch) const;
  bool empty() const { return steps_.empty(); }

 private:
  std::vector<std::unique_ptr<const Normalizer>> steps_;
  std::string where_;
};

}  // namespace tril
