// A trace of texts as one answer: the tokens, what edits change, and the values. The command, the server and the library's
// callers give the same.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trace/change.h"
#include "trace/text.h"

namespace tril::trace {

/// What the edits of a question are compared with. Several questions of the same texts can share one.
struct Plain {
  Outcome outcome;                 ///< without edits
  std::vector<std::int32_t> text;  ///< the greedy continuation, with Question::new_tokens
};

struct Question {
  Texts texts;
  std::vector<std::string> only;   ///< patterns of the points to keep; empty: none
  std::vector<std::string> edits;  ///< parse_edit()
  std::optional<Texts> donor;      ///< the texts whose values `patch` takes
  bool gradients = false;
  std::int64_t new_tokens = 0;  ///< with edits: continue the text so far with and without them; 0: not
  std::int64_t most_bytes = Trace::default_bytes;
  std::int32_t adapter = -1;                   ///< Input::adapter of all passes
  std::function<void()> checkpoint = nullptr;  ///< Recorder::Options::checkpoint of all passes
  /// plain_pass() of a question with the same texts, adapter and new_tokens; null: it is computed. It must outlive the call.
  const Plain* plain = nullptr;
};

struct Answer {
  Trace trace;
  Input input;
  Outcome outcome;                                    ///< with the edits
  std::optional<Change> change;                       ///< there are edits
  std::vector<std::int32_t> text_before, text_after;  ///< greedy, with Question::new_tokens
};

/// @throws Error(usage) naming a text that does not fit
Plain plain_pass(const model::Model& m, const TextReader& reader, const Question& question);

/// @throws Error(usage) naming an edit, a pattern or a text that does not fit
Answer answer(const model::Model& m, const TextReader& reader, const Question& question);

/// How the pass of another model of the same vocabulary differs, such as the same model with weights in int8: the form of the `change`
/// of about_json(). @throws Error(usage) if the models do not take the same tokens
nlohmann::ordered_json difference_json(const TextReader& reader, const Plain& before, const Plain& after);

/// Everything but the values: family, tokens with their pieces, best next tokens, loss, change.
nlohmann::ordered_json about_json(const model::Model& m, const TextReader& reader, const Answer& a);

}  // namespace tril::trace
