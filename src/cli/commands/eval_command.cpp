// tril eval: scores translations against references with the metrics that papers quote.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/number_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/eval_options.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace tril::cli {
namespace {

struct EvalCommandOptions : EvalOptions {
  std::string input = "-";
  std::vector<std::string> references;
  bool json = false;
};

Fields fields_of(EvalCommandOptions& o) {
  Fields f;
  f.group("Text");
  f.add("input", &o.input, "translations, one per line; - is standard input").letter('i').value_name("FILE");
  f.add("reference", &o.references, "reference translations; several files are several references for each line")
      .letter('r')
      .value_name("FILE")
      .required();
  add_score_fields(f, o);
  f.add("json", &o.json, "print one JSON object");
  return f;
}

std::string bleu_text(const BleuScore& s, const std::string& signature) {
  const double ratio =
      s.reference_length > 0 ? static_cast<double>(s.hypothesis_length) / static_cast<double>(s.reference_length) : 0;
  return fmt::format("{} = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     signature, s.score, s.precisions[0], s.precisions[1], s.precisions[2], s.precisions[3],
                     s.brevity_penalty, ratio, s.hypothesis_length, s.reference_length);
}

int evaluate(const EvalCommandOptions& o, const Fields& fields) {
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

  if (o.json) {
    write_stdout(scores_json(o, hypotheses, references) + "\n");
    return exit_success;
  }
  for (const Score metric : o.metrics) {
    if (metric == Score::bleu) {
      const BleuOptions options = bleu_options(o);
      write_stdout(bleu_text(bleu(hypotheses, references, options), bleu_signature(options, references.size())) + "\n");
    } else {
      const ChrfOptions options = chrf_options(o);
      print_stdout("{} = {:.2f}\n", chrf_signature(options, references.size()), chrf(hypotheses, references, options));
    }
  }
  return exit_success;
}

}  // namespace

void add_eval(App& app) {
  auto o = std::make_shared<EvalCommandOptions>();
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
