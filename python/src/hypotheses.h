// Hypotheses of translations and continuations, as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/texts/continuation_text.h"
#include "decode/texts/translation_text.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::python {

namespace nb = nanobind;

struct Hypothesis {
  std::string text;
  std::vector<std::int32_t> ids, source_ids;
  std::optional<double> log_prob, score;  ///< nothing: not computed
  std::string stop_reason;
  std::vector<float> attention;  ///< [ids, source_ids], or empty
  std::optional<std::vector<std::pair<std::int32_t, std::int32_t>>> alignment;
  std::vector<std::pair<std::string, std::string>> terms, missing_terms;
  std::vector<std::pair<std::string, std::string>> removed;  ///< kind and text
  bool recalled = false, truncated = false;
  std::vector<search::TokenScore> token_scores;
  std::shared_ptr<const Tokenizer> tokenizer;
};

/// How the hypotheses of a translator are shown.
struct Shown {
  std::shared_ptr<const Tokenizer> tokenizer;
  bool scores = false;
  std::string alignment;  ///< "", "soft", "hard" or a threshold
};

std::shared_ptr<Hypothesis> shown(search::Translation t, const Shown& how);
std::shared_ptr<Hypothesis> shown(search::Generation g, const Shown& how);

void bind_hypotheses(nb::module_& m);

}  // namespace tril::python
