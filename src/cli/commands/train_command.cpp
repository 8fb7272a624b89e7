// tril train: from two files of sentences to a model directory.
#include <spdlog/spdlog.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "cli/commands/training_run.h"
#include "cli/io/stop_signal.h"
#include "train/loop/presets.h"
#include "watch/run_watch.h"

namespace tril::cli {
namespace {

struct TrainCommand {
  train::TrainOptions train;
  std::optional<std::int64_t> watch;
};

Fields fields_of(TrainCommand& o) {
  Fields f;
  f.include(train::fields_of(o.train));
  f.group("Watching");
  f.add("watch", &o.watch, "show the run on a page at http://127.0.0.1:PORT while it trains; unset: none")
      .at_least(1)
      .at_most(65535)
      .value_name("PORT")
      .free_to_change();
  return f;
}

void train_and_show(TrainCommand& o, const Invocation& i, const std::stop_token& stop) {
  std::unique_ptr<watch::RunWatch> page;
  TrainingWatch watch;
  if (o.watch) {
    watch.on_start = [&] {  // on the first rank only
      if (page) return page->starts_again();
      try {
        page = std::make_unique<watch::RunWatch>(o.train.run.model, static_cast<std::uint16_t>(*o.watch));
      } catch (const Error& problem) {
        fail("--watch", problem.what(), "choose another port, or end the program that listens there");
      }
      spdlog::info("the run can be watched at {}", page->url());
    };
    watch.on_update = [&](const train::TrainingReport& r) { page->updated(r); };
    watch.on_report = [&](const train::TrainingReport& r) { page->reported(r); };
    watch.on_validation = [&](const train::ValidationReport&) { page->changed(); };
    watch.on_rollback = [&](const train::RollbackReport&) { page->changed(); };
  }
  run_training(o.train, i.fields, i.quiet, stop, watch);
}

}  // namespace

void add_train(App& app) {
  auto o = std::make_shared<TrainCommand>();
  app.add(
      {.name = "train",
       .summary = "train a translation model on sentence pairs, or a language model on a text",
       .description =
           "Writes a Hugging Face directory (MarianMT, or the family of --arch) with the best model by validation, its "
           "tokenizer, train.jsonl and report.html. transformers and CTranslate2 read it too if they support the "
           "family. After a stop, the same command resumes the run, bit for bit. SIGINT, SIGTERM and SIGUSR1 save the "
           "run after the current update; an update of several batches (--accumulate) is abandoned and repeated later.",
       .examples =
           {{"tril train --model de --train-sets train.en train.de --valid-sets valid.en valid.de",
             "a small model; its vocabulary is learned first"},
            {"tril train --model de --preset base --train-sets train.en train.de --vocab spm.model --after 20e",
             "a larger one for 20 epochs"},
            {"tril train --model legal --init-from de --train-sets legal.en legal.de --learn-rate 0.0003 "
             "--lora-rank 8",
             "fine-tune adapters of an existing model, merged into the new one"},
            {"tril train --model plays-heads --init-from plays --train-sets train.txt --medusa-heads 4",
             "Medusa heads for speculative decoding; the model stays as it is"},
            {"tril train --model plays --arch gpt2 --vocab-type char --train-sets train.txt --valid-sets valid.txt",
             "a character-level language model"},
            {"tril train --model mine --arch qwen3 --train-sets train.txt --valid-sets valid.txt",
             "a language model of another family; its vocabulary, byte-level BPE, is learned first"},
            {"tril train --model de --train-sets train.en train.de --valid-sets valid.en valid.de --watch 8090",
             "a translation model, with a page that shows curves, samples and attention as they come"},
            {"tril train --config run.yml --seed 2", "options from a file; command-line options override it"},
            {"mpirun -n 4 tril train --model de --train-sets train.en train.de",
             "four processes on one or several machines; each computes its batches of every update"}},
       .fields = fields_of(*o),
       .reads_config = true,
       .models = {"init-from", "teacher"},
       .apply_preset = [o] { train::apply_preset(o->train); },
       .run =
           [o](const Invocation& i) {
             const StopSignal stop(
                 "signal received: saving the run, after the current update if it is short; another signal ends it at "
                 "once");
             train_and_show(*o, i, stop.token());
             return exit_success;
           }});
}

}  // namespace tril::cli
