// The source language of each line, for --source-language auto.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "language/detect.h"
#include "language/match.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

class LineSources {
 public:
  /// @throws Error(usage) for a model without language tokens, which has one source language
  explicit LineSources(const Tokenizer& tokenizer);

  struct Source {
    std::string name;  ///< the model's own name; "": unknown, as for a line without letters
    double confidence = 0;
  };
  /// The likeliest of the model's languages for a line. It may be uncertain (least_confidence).
  Source of(const std::string& line) const;
  /// Likewise, only the name. Counts uncertain lines.
  std::string counted(const std::string& line);
  std::int64_t uncertain() const { return uncertain_; }

 private:
  KnownLanguages names_;
  LanguageDetector detector_;
  std::atomic<std::int64_t> uncertain_ = 0;
};

}  // namespace tril::cli
