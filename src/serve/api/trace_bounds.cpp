#include "serve/api/trace_bounds.h"

#include <fmt/format.h>

#include "serve/http/http_error.h"
#include "trace/next.h"
#include "trace/pattern.h"

namespace tril::serve {
namespace {

// Operations of a product in the time in which an edit copies a value twice and changes it.
constexpr double operations_of_an_edit = 200;

// What the points of a pass say about its size.
struct PassSize {
  std::int64_t heads = 0, layers = 0;  // of the decoder
  double edited = 0;                   // values that the edits change
};
PassSize size_of_pass(const trace::Trace& points, const std::vector<std::string>& edits) {
  PassSize s;
  for (const trace::Value& v : points.values()) {
    if (!v.name.starts_with("decoder.")) continue;
    if (v.name.ends_with(".heads") && v.shape.size() == 3) s.heads += v.shape[1];
    if (v.name.ends_with(".output")) ++s.layers;
  }
  for (const std::string& text : edits) {
    const trace::Edit e = trace::parse_edit(text);
    if (e.action == trace::Edit::Action::skip || e.of_tokens()) continue;
    for (const trace::Value& v : points.values())
      if (trace::is_pattern_of(e.pattern, v.name)) s.edited += static_cast<double>(v.count());
  }
  return s;
}

void check_rows(const TraceBounds& bounds, const model::Model& m, std::int64_t rows, const std::string& field) {
  const std::int64_t most = bounds.logits_bytes / (m.vocab_size() * std::int64_t{sizeof(float)});
  if (rows > most)
    throw field_error(field, fmt::format("needs {} rows of logits, but {} take the {} bytes that are allowed; give a "
                                         "shorter text, or fewer analyses",
                                         rows, most, bounds.logits_bytes));
}
void check_work(const TraceBounds& bounds, double work, const std::string& field) {
  check_operations(work, bounds.operations, "a shorter text, fewer new tokens, or fewer edits or analyses", field);
}

}  // namespace

void check_trace(const TraceBounds& bounds, const model::Model& m, const trace::Input& input, const TraceWork& r,
                 const std::string& field) {
  const std::int64_t T = std::ssize(input.tokens), tokens = T + std::ssize(input.source);
  if (tokens > bounds.tokens)
    throw field_error(field,
                      fmt::format("has {} tokens with what follows it, but {} may be traced", tokens, bounds.tokens));
  check_rows(bounds, m, T, field);
  const std::int64_t repeated = 2 * r.analyses.repeated_tokens;
  if (repeated > 0) check_rows(bounds, m, repeated, "head_scores");
  // Passes over the text: with the recorder, for the points, without edits, and over the other text; greedy search makes two of
  // each length. The end of the model is a part of a pass.
  double passes = 4;
  if (r.new_tokens > 0) passes += 2.0 * static_cast<double>(r.new_tokens);
  if (r.analyses.lens) passes += 8;
  if (r.analyses.rollout) passes += 2;
  double work = passes * operations_of(m, tokens + r.new_tokens);
  check_work(bounds, work, field);
  if (r.edits.empty() && !r.analyses.any()) return;
  const PassSize s = size_of_pass(trace::points_of(m, input), r.edits);
  if (r.analyses.lens) check_rows(bounds, m, (s.layers + 1) * T, "lens");
  if (r.analyses.attributed_token) {  // the stream, each head, and what no head adds; a pass without each head
    check_rows(bounds, m, 1 + s.heads + 3 * s.layers, "attribute");
    work += static_cast<double>(s.heads + 4) * operations_of(m, tokens);
  }
  if (repeated > 0)
    work += 3 * static_cast<double>(s.heads + 1) * operations_of(m, repeated + std::ssize(input.source));
  // Scores grow with the square of the text.
  const double growth = static_cast<double>(tokens + r.new_tokens) / static_cast<double>(tokens);
  work += passes * growth * growth * s.edited * operations_of_an_edit;
  check_work(bounds, work, field);
}

}  // namespace tril::serve
