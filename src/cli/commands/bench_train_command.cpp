// tril bench train: training speed as one line of JSON.

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "cli/options/profile_table.h"
#include "format/json_text.h"
#include "train/distributed/initialise.h"
#include "train/loop/build_model.h"
#include "train/loop/data.h"
#include "train/loop/derived_settings.h"
#include "train/loop/presets.h"
#include "train/loop/settle.h"
#include "train/loop/trainer.h"

namespace tril::cli {
namespace {

using namespace tril::train;

struct BenchTrainOptions {
  TrainOptions train;
  std::int64_t updates = 30, skip = 5;
  bool profile = false, json = false, no_overlap = false;
};

Fields fields_of(BenchTrainOptions& o) {
  TrainOptions& t = o.train;
  Fields f;
  f.include(fields_of(t), {"threads",       "pin",
                           "numa",          "seed",
                           "deterministic", "gradient-checkpointing",
                           "precision",     "reduce-precision",
                           "shard-weights", "train-sets",
                           "tsv",           "vocab",
                           "max-tokens",    "max-length",
                           "arch",          "preset",
                           "d-model",       "num-heads",
                           "ffn-dim",       "enc-depth",
                           "dec-depth",     "documents",
                           "optimizer",     "optimizer-bits"});
  f.include(fields_of(t), {"dropout", "embedding-dropout", "attention-dropout", "activation-dropout"});
  f.group("Measurement");
  f.add("updates", &o.updates, "total number of updates").at_least(1);
  f.add("skip", &o.skip, "number of updates before the measurement starts").at_least(0);
  f.add("no-overlap", &o.no_overlap,
        "with several ranks, for comparison: send gradients after the backward pass instead of during it");
  f.excludes("shard-weights", "no-overlap", "sharded weights have no such choice");
  f.add("profile", &o.profile, "print where the time of an update goes, op by op, next to the machine's upper bound");
  f.add("json", &o.json, "put the profile into the JSON line as \"profile\" instead of printing a table");
  return f;
}

int bench(BenchTrainOptions& o) {
  check(o.skip < o.updates, "--skip", "{} of {} updates leave none to measure", o.skip, o.updates);
  if (o.json && !o.profile) fail_usage("--json", "there is no profile to print", "pass --profile too");
  TrainOptions& t = o.train;
  if (is_language_model(t.model)) t.data.vocab_type = SubwordKind::character;
  settle(t);
  const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(t, std::nullopt);
  const std::shared_ptr<dist::Ranks> ranks = dist::Ranks::join();
  share_cores(t.run, *ranks);
  const MemoryPlaced memory(t.run.placement.numa, MemoryOf::all_threads);
  const std::unique_ptr<model::Model> m = build_model(t.model, *tokenizer);
  OptimizerOptions of_optimizer = optimizer_options(t.learning);
  of_optimizer.shard_weights = t.run.shard_weights;
  Optimizer optimizer(m->parameters(), of_optimizer, ranks->rank(), ranks->size());
  initialise(m->parameters(), optimizer, t.run.seed);
  WorkersOptions of_workers = workers_options(t, *m);
  of_workers.ranks = ranks;
  of_workers.overlap = !o.no_overlap;
  of_workers.profile = o.profile;
  Workers workers(*m, optimizer, of_workers);
  const std::unique_ptr<BatchStream> corpus = training_stream(t, tokenizer);
  const Schedule schedule = schedule_of(t.learning);

  double start = seconds_now(), waited = 0, waited_for_ranks = 0, loss = 0;
  std::vector<Batch> batches(static_cast<std::size_t>(ranks->size()));
  std::int64_t tokens = 0, source_tokens = 0;
  for (std::int64_t update = 1; update <= o.updates; ++update) {
    if (update == o.skip + 1) {
      workers.restart_profile();
      start = seconds_now(), waited = waited_for_ranks = 0, tokens = source_tokens = 0;
    }
    const double before = seconds_now();
    for (Batch& batch : batches) batch = corpus->next();
    waited += seconds_now() - before;
    const UpdateResult r = workers.update(batches, update, learning_rate(schedule, update));
    loss = r.loss;
    tokens += r.tokens;
    waited_for_ranks += r.waited;
    for (const Batch& batch : batches) source_tokens += batch.source_tokens();
  }
  const double seconds = seconds_now() - start;
  ranks->leave();
  if (!ranks->first()) return exit_success;

  const auto counted = static_cast<double>(o.updates - o.skip);
  nlohmann::ordered_json result{{"target_tokens_per_second", static_cast<double>(tokens) / seconds},
                                {"updates_per_second", counted / seconds},
                                {"loss", loss},
                                {"peak_mib", peak_mib()},
                                {"source_tokens_per_second", static_cast<double>(source_tokens) / seconds},
                                {"arena_mib", static_cast<double>(workers.arena_bytes()) / (1 << 20)},
                                {"parameters", m->parameters().count()},
                                {"threads", workers.threads()}};
  if (ranks->size() > 1) {
    result["ranks"] = ranks->size();
    result["waiting_for_ranks"] = waited_for_ranks / seconds;
  }
  if (o.profile) {
    const StepProfile p =
        step_profile({.profile = workers.profile(),
                      .threads = workers.threads(),
                      .updates = o.updates - o.skip,
                      .seconds = seconds,
                      .data_seconds = waited,
                      .roof = measure_roofline(*of_workers.kernels, workers.threads(), of_workers.precision)});
    if (o.json)
      result["profile"] = profile_json(p);
    else
      std::cerr << profile_table(p) << std::endl;
  }
  write_stdout(json_text(result) + "\n");
  return exit_success;
}

}  // namespace

void add_bench_train(App& app) {
  auto o = std::make_shared<BenchTrainOptions>();
  app.add({.name = "bench train",
           .summary = "measure training speed",
           .description =
               "Prints one JSON object on one line: target tokens (including </s>, no padding) and updates per second "
               "over the counted updates, the last loss, and the peak memory of the process. For a language model, "
               "every token read is a target token. --profile also prints on standard error where the time went.",
           .examples = {{"tril bench train --preset tiny --train-sets train.en train.de --vocab spm.model --threads 2",
                         "30 updates, the last 25 of them measured"},
                        {"tril bench train --preset base --train-sets train.en train.de --vocab spm.model --profile",
                         "the same for a larger model, with a table of its ops next to the machine's rooflines"},
                        {"mpirun -n 2 tril bench train --preset tiny --train-sets train.en train.de --vocab spm.model",
                         "two processes that train together: speed of both, memory of the first"},
                        {"tril bench train --arch gpt2 --train-sets train.txt --max-length 256 --max-tokens 16384",
                         "a character-level language model"}},
           .fields = fields_of(*o),
           .apply_preset = [o] { apply_preset(o->train); },
           .run = [o](const Invocation&) { return bench(*o); }});
}

}  // namespace tril::cli
