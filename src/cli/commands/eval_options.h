// The options of `tril eval` that say which scores are computed and how, and these scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace tril::cli {

enum class Score : std::uint8_t { bleu, chrf };

struct EvalOptions {
  std::vector<Score> metrics{Score::bleu, Score::chrf};
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  std::int64_t chrf_word_order = 0;
  bool lowercase = false;
};

void add_score_fields(Fields& f, EvalOptions& o);

BleuOptions bleu_options(const EvalOptions& o);
ChrfOptions chrf_options(const EvalOptions& o);

/// {"bleu": {"score": ..., ...}, "chrf": {"score": ..., "signature": ...}}: those of `metrics`.
/// @param references  one or more sets of lines, each as long as the hypotheses
std::string scores_json(const EvalOptions& o, const std::vector<std::string>& hypotheses,
                        const std::vector<std::vector<std::string>>& references);

}  // namespace tril::cli
