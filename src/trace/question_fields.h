// The options of a trace, declared once for the command, the public C++ interface and the Python package.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "tokenizer/files/language_tag.h"
#include "trace/analyses.h"
#include "trace/report.h"

namespace tril::trace {

struct QuestionOptions {
  std::vector<std::string> only, edits;
  std::optional<std::string> patch_text, patch_target;
  bool gradients = false;
  std::int64_t new_tokens = 0, most_bytes = Trace::default_bytes;
  Analyses analyses;
};

/// edit, patch-text, patch-target, new-tokens.
void add_change_fields(Fields& f, QuestionOptions& o);
/// lens, rollout, attribute, head-scores.
void add_analysis_fields(Fields& f, Analyses& a);
/// only, gradients, max-bytes.
void add_value_fields(Fields& f, QuestionOptions& o);

/// @throws Error(usage) naming options that contradict each other
void check_options(const QuestionOptions& o);

/// @param languages  of choose_languages()
/// @throws as check_options()
Question question_of(const QuestionOptions& o, const std::string& text, const std::string& target,
                     const Languages& languages);

}  // namespace tril::trace
