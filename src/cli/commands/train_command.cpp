// tril train: from two files of sentences to a model directory.
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/training_run.h"
#include "cli/io/stop_signal.h"
#include "train/loop/presets.h"

namespace tril::cli {

void add_train(App& app) {
  auto o = std::make_shared<train::TrainOptions>();
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
            {"tril train --model plays --arch gpt2 --vocab-type char --train-sets train.txt --valid-sets valid.txt",
             "a character-level language model"},
            {"tril train --model mine --arch qwen3 --train-sets train.txt --valid-sets valid.txt",
             "a language model of another family; its vocabulary, byte-level BPE, is learned first"},
            {"tril train --config run.yml --seed 2", "options from a file; command-line options override it"},
            {"mpirun -n 4 tril train --model de --train-sets train.en train.de",
             "four processes on one or several machines; each computes its batches of every update"}},
       .fields = fields_of(*o),
       .reads_config = true,
       .models = {"init-from", "teacher"},
       .apply_preset = [o] { train::apply_preset(*o); },
       .run =
           [o](const Invocation& i) {
             const StopSignal stop(
                 "signal received: saving the run, after the current update if it is short; another signal ends it at "
                 "once");
             run_training(*o, i.fields, i.quiet, stop.token(), {});
             return exit_success;
           }});
}

}  // namespace tril::cli
