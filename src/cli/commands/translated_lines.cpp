#include "cli/commands/translated_lines.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>

#include "base/progress.h"
#include "decode/models/decoding_options.h"

namespace tril::cli {

void LineTally::add(const search::Translation& best) {
  at_length += best.at_length && !best.cut_by_factor ? 1 : 0;
  const auto is_reasoning = [](const search::RemovedPart& p) { return p.kind == search::AroundAnswer::reasoning; };
  surrounded += std::all_of(best.removed.begin(), best.removed.end(), is_reasoning) ? 0 : 1;
  unanswered += best.text.empty() && !best.removed.empty() ? 1 : 0;
  late += best.stop_reason == search::StopReason::time_limit ? 1 : 0;
  too_long += best.cut_by_factor ? 1 : 0;
  stuck += best.stop_reason == search::StopReason::dead_end ? 1 : 0;
  terms += std::ssize(best.terms);
  unsatisfied += std::ssize(best.unsatisfied);
  recalled += best.recalled ? 1 : 0;
}

void warn_of_lines(const search::Translator& translator, const LineTally& tally, const model::Model& m,
                   std::int64_t invalid) {
  if (translator.truncated() > 0)
    spdlog::warn("lines longer than the model's {} positions, which were truncated: {}; --split lines loses nothing",
                 m.max_positions(), format_count(translator.truncated()));
  if (m.has_encoder() && tally.paragraphs > 0)
    spdlog::warn(
        "lines of {} sentences or more that were translated as one: {}; most models learnt single sentences: --split "
        "sentences translates them one by one",
        sentences_of_paragraph, format_count(tally.paragraphs));
  if (tally.late > 0) spdlog::warn("lines whose search was ended by the time limit: {}", format_count(tally.late));
  if (tally.too_long > 0)
    spdlog::warn(
        "lines with a translation that was truncated because it is too long for its source (--max-length-factor 0: no "
        "such limit): {}",
        format_count(tally.too_long));
  if (tally.stuck > 0)
    spdlog::warn("lines whose translation ends early, or is empty, because every next token was forbidden: {}",
                 format_count(tally.stuck));
  if (tally.recalled > 0) spdlog::info("sentences translated from the memory: {}", format_count(tally.recalled));
  if (tally.terms > 0)
    spdlog::info("terms in the text: {}; in the translations: {}", format_count(tally.terms),
                 format_count(tally.terms - tally.unsatisfied));
  if (tally.unsatisfied > 0)
    spdlog::warn("terminology phrases missing from translations (--json lists them): {}",
                 format_count(tally.unsatisfied));
  if (!m.has_encoder() && tally.at_length > 0)
    spdlog::warn("lines with a translation that was truncated at the maximum length (--max-length): {}",
                 format_count(tally.at_length));
  if (tally.surrounded > 0)
    spdlog::warn("lines whose translation had other text around it, which was removed (--json shows it): {}",
                 format_count(tally.surrounded));
  if (tally.unanswered > 0)
    spdlog::warn("lines without a translation, because the reasoning before it did not end (--max-length-factor): {}",
                 format_count(tally.unanswered));
  warn_of_unknown(translator.unknown());
  if (invalid > 0) spdlog::warn("lines that are not UTF-8, treated as empty: {}", format_count(invalid));
}

}  // namespace tril::cli
