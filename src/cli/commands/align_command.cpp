// tril align: aligns the words of parallel text, for `tril train --guided-alignment`.
#include <memory>

#include "base/number_text.h"
#include "cli/commands/commands.h"
#include "cli/corpus_work/align_progress.h"
#include "cli/io/partial_output.h"
#include "cli/io/stop_signal.h"
#include "train/loop/data.h"

namespace tril::cli {
namespace {

struct AlignCommandOptions {
  std::vector<std::string> train_sets;
  std::string out;
  bool tsv = false, skip_invalid = false;
  std::int64_t iterations = WordAlignerOptions{}.iterations;
  WordAlignerOptions aligner;
};

Fields fields_of(AlignCommandOptions& o) {
  Fields f;
  f.group("Text");
  f.add("train-sets", &o.train_sets, "parallel source and target files (with --tsv, one tab-separated file)")
      .letter('t')
      .value_name("FILE")
      .required();
  f.add("tsv", &o.tsv, "the text is one file with lines of source, tab, target");
  f.add("skip-invalid", &o.skip_invalid, "write an empty line for a pair that is not UTF-8 instead of stopping");
  f.add("out", &o.out, "output file: a line such as \"0-0 1-2\" for each pair, source word first, counted from 0")
      .letter('o')
      .value_name("FILE")
      .required();
  f.group("Alignment");
  f.add("symmetrization", &o.aligner.symmetrization,
        "how to combine the two directions: a source word for each target word (forward) and the reverse (backward)",
        {{"grow-diag-final-and", Symmetrization::grow_diag_final_and},
         {"grow-diag", Symmetrization::grow_diag},
         {"intersection", Symmetrization::intersection},
         {"union", Symmetrization::all},
         {"forward", Symmetrization::forward},
         {"backward", Symmetrization::backward}});
  f.add("iterations", &o.iterations, "iterations of EM").at_least(1).at_most(1000);
  f.add("null", &o.aligner.null, "probability that a word is aligned to no word").at_least(0).at_most(0.99);
  f.add("tension", &o.aligner.tension, "initial strength of the prior on the diagonal; then learned")
      .at_least(0.1)
      .at_most(14);
  return f;
}

int align(AlignCommandOptions o, bool quiet) {
  const std::size_t files = o.tsv ? 1 : 2;
  check(o.train_sets.size() == files, "--train-sets", "expected {}, got {}",
        o.tsv ? "one tab-separated file" : "a source and a target file (or --tsv)",
        counted(o.train_sets.size(), "file"));
  CorpusOptions corpus;
  train::set_files(corpus, o.train_sets, o.tsv);
  corpus.skip_invalid = o.skip_invalid;
  check(o.out != "-", "--out", "alignments must go to a file, not to standard output");
  o.aligner.iterations = static_cast<int>(o.iterations);
  const StopSignal stop;
  const AwaitedReader reader(o.out, stop.token());
  if (stop.came()) fail(o.out, "stopped before anybody read this pipe; nothing is written");
  learn_alignments({.corpus = corpus, .files = {o.out}, .options = o.aligner, .quiet = quiet}, stop.token());
  return exit_success;
}

}  // namespace

void add_align(App& app) {
  auto o = std::make_shared<AlignCommandOptions>();
  app.add(
      {.name = "align",
       .summary = "align the words of parallel text",
       .description = "Aligns the words of each pair of lines by EM over the text itself: IBM model 2 with a prior on "
                      "the diagonal (Dyer et al. 2013), in both directions. Words are separated by spaces; case and "
                      "punctuation at their ends are ignored. `tril train --guided-alignment` trains attention on the "
                      "alignments, so that a decoder attends to the right source words early.",
       .examples = {{"tril align -t train.en train.de -o train.align", "the alignments of a corpus"},
                    {"tril train --guided-alignment train.align -t train.en train.de -m de", "use them in training"}},
       .fields = fields_of(*o),
       .outputs = {"out"},
       .apply_preset = {},
       .run = [o](const Invocation& i) { return align(*o, i.quiet); }});
}

}  // namespace tril::cli
