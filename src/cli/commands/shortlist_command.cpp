// tril shortlist: learns from parallel text which target tokens translate each source token, for `tril translate --shortlist`.
#include <spdlog/spdlog.h>

#include <memory>

#include "align/lexical_table.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "corpus/alignment.h"
#include "corpus/corpus.h"
#include "model_io/source/model_source.h"

namespace tril::cli {
namespace {

struct ShortlistCommandOptions {
  std::string model, out;
  std::vector<std::string> train_sets;
  std::string alignments;
  AlignmentUnits units = AlignmentUnits::words;
  bool skip_invalid = false;
  std::int64_t iterations = 5;
  LexicalOptions table;
};

Fields fields_of(ShortlistCommandOptions& o) {
  Fields f;
  f.group("Text");
  f.add("model", &o.model, "model directory whose vocabulary splits the text").letter('m').value_name("DIR").required();
  f.add("train-sets", &o.train_sets, "parallel source and target files").letter('t').value_name("FILE").required();
  f.add("alignments", &o.alignments, "count these alignments instead, one line per pair: \"0-0 1-2\"")
      .value_name("FILE");
  f.add("alignment-units", &o.units, "units of the alignments: words separated by spaces, or tokens of the vocabulary",
        {{"words", AlignmentUnits::words}, {"tokens", AlignmentUnits::tokens}});
  f.needs("alignment-units", "alignments", "it has no effect without alignments");
  f.add("skip-invalid", &o.skip_invalid, "leave out pairs with a line that is not UTF-8");
  f.group("Table");
  f.add("out", &o.out, "output file for the table, lines of \"target source probability\"; - is standard output")
      .letter('o')
      .value_name("FILE")
      .required();
  f.add("iterations", &o.iterations, "iterations of EM; not with --alignments").at_least(1).at_most(1000);
  f.excludes("iterations", "alignments", "alignments are only counted");
  f.add("best", &o.table.best, "number of translations kept for each source token").at_least(1).at_most(1'000'000);
  f.add("threshold", &o.table.threshold, "minimum probability of a translation that is kept").at_least(0).at_most(1);
  return f;
}

// Checked here, where the option has another name than in training.
void check_counts_words(const Tokenizer& tokenizer) {
  try {
    check_marks_words(tokenizer);
  } catch (const Error& error) {
    fail_usage("--alignments", error.message(), "align tokens, and pass --alignment-units tokens");
  }
}

int make_shortlist(ShortlistCommandOptions o) {
  const EndingSignal ending;
  check(o.train_sets.size() == 2, "--train-sets", "expected a source and a target file, got {}",
        counted(o.train_sets.size(), "file"));
  OutputFile out(o.out);  // opened first, so that an unwritable path is reported at once
  const std::shared_ptr<const Tokenizer> tokenizer = model::ModelSource::open(o.model).tokenizer();
  if (!o.alignments.empty() && o.units == AlignmentUnits::words) check_counts_words(*tokenizer);
  CorpusOptions corpus;
  corpus.source = {o.train_sets[0]}, corpus.target = {o.train_sets[1]};
  if (!o.alignments.empty()) corpus.alignments = {o.alignments};
  corpus.alignment_units = o.units;
  corpus.max_length = 1 << 16;
  corpus.max_tokens = 1 << 16;
  corpus.shuffle = false;
  corpus.skip_invalid = o.skip_invalid;
  corpus.prefetch = 0;
  CorpusStatistics statistics;
  const std::vector<Batch> batches = read_batches(corpus, tokenizer, &statistics);
  o.table.iterations = static_cast<int>(o.iterations);
  const LexicalTable table = lexical_table(batches, *tokenizer, o.table);
  out.write(to_text(table, *tokenizer));
  out.commit();
  std::int64_t entries = 0;
  for (const auto& list : table.of_source) entries += std::ssize(list);
  spdlog::info("{}: {} of {}, from {}", o.out, counted(format_count(entries), "translation"),
               counted(format_count(std::count_if(table.of_source.begin(), table.of_source.end(),
                                                  [](const auto& list) { return !list.empty(); })),
                       "source token"),
               statistics.report());
  return exit_success;
}

}  // namespace

void add_shortlist(App& app) {
  auto o = std::make_shared<ShortlistCommandOptions>();
  app.add({.name = "shortlist",
           .summary = "learn a vocabulary shortlist: the likely translations of each source token",
           .description =
               "Estimates t(target | source) from parallel text by EM (IBM model 1), or counts given alignments. `tril "
               "translate --shortlist` then computes logits only for the likely tokens of each sentence.",
           .examples = {{"tril shortlist -m de -t train.en train.de -o de/lex.s2t", "a table"},
                        {"tril translate -m de --shortlist de/lex.s2t 100 100 < test.en", "use it"}},
           .fields = fields_of(*o),
           .models = {"model"},
           .outputs = {"out"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return make_shortlist(*o); }});
}

}  // namespace tril::cli
