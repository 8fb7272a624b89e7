// A pass as the data of a page that works from disk: all values, the changes that the page offers as switches, the logits of the last
// token, and a search as a tree.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/report.h"

namespace tril::inside {

struct FileQuestion {
  trace::Texts texts;
  std::vector<std::string> only;        ///< patterns of the points whose values the file holds; empty: all
  std::vector<std::string> edits;       ///< further changes, each a button of its own (trace::parse_edit())
  std::int64_t new_tokens = 12;         ///< by which the text is continued with and without each change
  std::int64_t most_bytes = 0;          ///< of the values, in binary
  std::int64_t logits_bytes = 1 << 20;  ///< of the logits; beyond it, those of the last token alone
  /// The same model with its weights in other precisions, each a button of its own that shows what this changes.
  std::vector<std::pair<std::string, const model::Model*>> precisions = {};
  std::string search = "null";  ///< trace::search_json() of a search from the text; "null": the file has none
};

/// @throws Error(usage) naming the value at which the limit was reached, or an edit that does not fit the model
std::string file_data(const model::Model& m, const trace::TextReader& reader, const FileQuestion& question);

}  // namespace tril::inside
