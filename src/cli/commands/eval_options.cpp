#include "cli/commands/eval_options.h"

#include <nlohmann/json.hpp>

#include "format/json_text.h"

namespace tril::cli {
namespace {

nlohmann::ordered_json bleu_json(const BleuScore& s, const std::string& signature) {
  return {{"score", s.score},
          {"precisions", s.precisions},
          {"brevity_penalty", s.brevity_penalty},
          {"hypothesis_length", s.hypothesis_length},
          {"reference_length", s.reference_length},
          {"signature", signature}};
}

}  // namespace

void add_score_fields(Fields& f, EvalOptions& o) {
  f.group("Scores");
  f.add("metrics", &o.metrics, "bleu, chrf, or both, separated by a comma",
        {{"bleu", Score::bleu}, {"chrf", Score::chrf}})
      .value_name("NAMES");
  f.add("tokenize", &o.tokenizer, "how BLEU splits words",
        {{"13a", BleuTokenizer::v13a}, {"none", BleuTokenizer::none}})
      .value_name("NAME");
  f.add("chrf-word-order", &o.chrf_word_order, "order of the word n-grams in chrF; 2 is chrF++").at_least(0).at_most(9);
  f.add("lowercase", &o.lowercase, "ignore case");
}

BleuOptions bleu_options(const EvalOptions& o) {
  return {o.tokenizer, o.lowercase};
}

ChrfOptions chrf_options(const EvalOptions& o) {
  return {.word_order = static_cast<int>(o.chrf_word_order), .lowercase = o.lowercase};
}

std::string scores_json(const EvalOptions& o, const std::vector<std::string>& hypotheses,
                        const std::vector<std::vector<std::string>>& references) {
  nlohmann::ordered_json result;
  for (const Score metric : o.metrics) {
    if (metric == Score::bleu) {
      const BleuOptions options = bleu_options(o);
      result["bleu"] = bleu_json(bleu(hypotheses, references, options), bleu_signature(options, references.size()));
    } else {
      const ChrfOptions options = chrf_options(o);
      result["chrf"] = {{"score", chrf(hypotheses, references, options)},
                        {"signature", chrf_signature(options, references.size())}};
    }
  }
  return json_text(result);
}

}  // namespace tril::cli
