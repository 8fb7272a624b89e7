// tril eval: scores translations against references with the metrics that papers quote.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "format/json_text.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace tril::cli {
namespace {

enum class Score : std::uint8_t { bleu, chrf };

struct EvalOptions {
  std::string input = "-";
  std::vector<std::string> references;
  std::vector<Score> metrics{Score::bleu, Score::chrf};
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  std::int64_t chrf_word_order = 0;
  bool lowercase = false, json = false;
};

Fields fields_of(EvalOptions& o) {
  Fields f;
  f.group("Text");
  f.add("input", &o.input, "translations, one per line; - is standard input").letter('i').value_name("FILE");
  f.add("reference", &o.references, "reference translations; several files are several references for each line")
      .letter('r')
      .value_name("FILE")
      .required();
  f.group("Scores");
  f.add("metrics", &o.metrics, "bleu, chrf, or both, separated by a comma",
        {{"bleu", Score::bleu}, {"chrf", Score::chrf}})
      .value_name("NAMES");
  f.add("tokenize", &o.tokenizer, "how BLEU splits words",
        {{"13a", BleuTokenizer::v13a}, {"none", BleuTokenizer::none}})
      .value_name("NAME");
  f.add("chrf-word-order", &o.chrf_word_order, "order of the word n-grams in chrF; 2 is chrF++").at_least(0).at_most(9);
  f.add("lowercase", &o.lowercase, "ignore case");
  f.add("json", &o.json, "print one JSON object");
  return f;
}

nlohmann::ordered_json bleu_json(const BleuScore& s, const std::string& signature) {
  return {{"score", s.score},
          {"precisions", s.precisions},
          {"brevity_penalty", s.brevity_penalty},
          {"hypothesis_length", s.hypothesis_length},
          {"reference_length", s.reference_length},
          {"signature", signature}};
}

std::string bleu_text(const BleuScore& s, const std::string& signature) {
  const double ratio =
      s.reference_length > 0 ? static_cast<double>(s.hypothesis_length) / static_cast<double>(s.reference_length) : 0;
  return fmt::format("{} = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     signature, s.score, s.precisions[0], s.precisions[1], s.precisions[2], s.precisions[3],
                     s.brevity_penalty, ratio, s.hypothesis_length, s.reference_length);
}

int evaluate(const EvalOptions& o, const Fields& fields) {
  const auto check_used = [&](const char* name, Score by) {
    if (fields.given(name) && std::find(o.metrics.begin(), o.metrics.end(), by) == o.metrics.end())
      fail_usage(fmt::format("--{}", name),
                 fmt::format("has no effect without {}", by == Score::bleu ? "BLEU" : "chrF"),
                 fmt::format("add {} to --metrics, or leave it out", by == Score::bleu ? "bleu" : "chrf"));
  };
  check_used("tokenize", Score::bleu);
  check_used("chrf-word-order", Score::chrf);
  constexpr ReadOptions how{.skip_invalid = false, .refuse_empty = false, .may_skip = false};
  std::vector<std::vector<std::string>> references;
  for (const std::string& path : o.references) references.push_back(read_lines(path, how));
  const std::vector<std::string> hypotheses = read_lines(o.input, how);
  const std::string input = o.input == "-" ? "standard input" : o.input;
  for (std::size_t i = 0; i < references.size(); ++i)
    if (references[i].size() != hypotheses.size())
      fail(o.references[i],
           fmt::format("has {}, but {} has {}", counted(references[i].size(), "line"), input, hypotheses.size()),
           "each line needs a reference");
  if (hypotheses.empty()) fail(input, "is empty, expected at least one line");

  nlohmann::ordered_json result;
  for (const Score metric : o.metrics) {
    if (metric == Score::bleu) {
      const BleuOptions options{o.tokenizer, o.lowercase};
      const BleuScore score = bleu(hypotheses, references, options);
      const std::string signature = bleu_signature(options, references.size());
      if (o.json)
        result["bleu"] = bleu_json(score, signature);
      else
        write_stdout(bleu_text(score, signature) + "\n");
    } else {
      const ChrfOptions options{.word_order = static_cast<int>(o.chrf_word_order), .lowercase = o.lowercase};
      const double score = chrf(hypotheses, references, options);
      const std::string signature = chrf_signature(options, references.size());
      if (o.json)
        result["chrf"] = {{"score", score}, {"signature", signature}};
      else
        print_stdout("{} = {:.2f}\n", signature, score);
    }
  }
  if (o.json) write_stdout(json_text(result) + "\n");
  return exit_success;
}

}  // namespace

void add_eval(App& app) {
  auto o = std::make_shared<EvalOptions>();
  app.add({.name = "eval",
           .summary = "score translations against references with BLEU and chrF",
           .description = "Scores are the corpus scores of sacrebleu, to the last printed digit; each comes with a "
                          "signature of how it was computed.",
           .examples = {{"tril eval --reference test.de -i out.de", "BLEU and chrF of a file"},
                        {"tril translate --model de -i test.en | tril eval --reference test.de --metrics bleu",
                         "BLEU of a model's output"},
                        {"tril eval --reference a.de b.de -i out.de --lowercase --json",
                         "two references for each line, case ignored, as JSON"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation& i) { return evaluate(*o, i.fields); }});
}

}  // namespace tril::cli
