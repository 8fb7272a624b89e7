// tril find-rate: finds a --learn-rate for a run by a short test.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/io/standard_output.h"
#include "format/json_text.h"
#include "model_io/source/registry.h"
#include "train/loop/build_model.h"
#include "train/loop/data.h"
#include "train/loop/fine_tune.h"
#include "train/loop/presets.h"
#include "train/loop/rate_finder.h"
#include "train/loop/settle.h"

namespace tril::cli {
namespace {

using namespace tril::train;

struct FindRateOptions {
  TrainOptions train;
  RateSweepOptions sweep;
  std::string plot;
  bool json = false;
};

Fields find_rate_fields(FindRateOptions& o) {
  Fields f;
  f.group("Sweep");
  f.add("lowest-rate", &o.sweep.lowest, "learning rate of the first update").above(0).at_most(1000);
  f.add("highest-rate", &o.sweep.highest, "learning rate of the last update").above(0).at_most(1e6);
  f.add("sweep-updates", &o.sweep.updates, "number of updates in the sweep").at_least(10).at_most(1'000'000);
  f.add("plot", &o.plot, "output file for a plot of loss against learning rate: .svg or .html").value_name("FILE");
  f.add("json", &o.json, "print the sweep as one JSON object instead of a table");
  f.include(fields_of(o.train));
  return f;
}

void print_table(const RateSweep& sweep) {
  print_stdout("{:>8}  {:>12}  {:>9}  {:>9}\n", "update", "rate", "loss", "smoothed");
  const std::size_t each = std::max<std::size_t>(1, sweep.points.size() / 20);
  for (std::size_t i = 0; i < sweep.points.size(); i += each) {
    const RatePoint& p = sweep.points[i];
    print_stdout("{:>8}  {:>12.3g}  {:>9.4f}  {:>9.4f}\n", p.update, p.rate, p.loss, p.smoothed);
  }
  if (sweep.diverged) write_stdout("the loss rose fourfold or was not a number: the sweep ended there\n");
  if (sweep.suggestion)
    print_stdout("suggested --learn-rate {:.2g}: the loss falls fastest there, and starts to rise at {:.2g}\n",
                 *sweep.suggestion, *sweep.turn);
  else
    write_stdout("no suggestion: the loss never fell; try a lower --lowest-rate or more --sweep-updates\n");
}

void print_json(const RateSweep& sweep) {
  nlohmann::ordered_json j;
  j["suggestion"] = sweep.suggestion ? nlohmann::ordered_json(*sweep.suggestion) : nlohmann::ordered_json();
  j["turn"] = sweep.turn ? nlohmann::ordered_json(*sweep.turn) : nlohmann::ordered_json();
  j["diverged"] = sweep.diverged;
  j["points"] = nlohmann::ordered_json::array();
  for (const RatePoint& p : sweep.points)
    j["points"].push_back({{"update", p.update}, {"rate", p.rate}, {"loss", p.loss}, {"smoothed", p.smoothed}});
  write_stdout(json_text(j) + "\n");
}

void write_plot(const std::string& file, const RateSweep& sweep) {
  const std::string svg = rate_sweep_svg(sweep);
  const bool page = file.ends_with(".html");
  write_output(file, page ? "<!doctype html><meta charset=\"utf-8\"><title>learning rate</title>\n" + svg : svg);
}

int find_rate(FindRateOptions& o, const Fields& fields, bool quiet) {
  const EndingSignal ending;
  if (!o.plot.empty() && !o.plot.ends_with(".svg") && !o.plot.ends_with(".html"))
    fail_usage("--plot", fmt::format("'{}' is neither a .svg nor a .html file", o.plot));
  check(o.sweep.lowest < o.sweep.highest, "--highest-rate", "{} is not above --lowest-rate {}", o.sweep.highest,
        o.sweep.lowest);
  const InitialModel initial = open_initial_model(o.train.tune);
  take_form(o.train, fields, initial);
  refuse_useless(fields, o.train);
  settle(o.train);
  if (o.train.data.guided_alignment.learn)
    fail_usage("--guided-alignment", "learn stores the alignments in a model directory, but there is none here",
               "pass a file written by `tril align` instead");
  check_input_files(o.train);
  check_texts(o.train);
  const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(o.train, initial);
  const std::unique_ptr<model::Model> m =
      initial ? build_tuned_model(o.train, *initial) : build_model(o.train.model, *tokenizer);
  m->parameters().initialise(o.train.run.seed);
  if (initial) load_initial_weights(*m, *initial);

  ProgressOptions line;
  line.label = "update";
  line.total = o.sweep.updates;
  line.enabled = !quiet;
  Progress progress(line);
  const RateSweep sweep = sweep_rates(o.train, *m, tokenizer, o.sweep, [&](const RatePoint& p) {
    progress.update(p.update, {"", fmt::format("loss {:.3f}  lr {:.2g}", p.smoothed, p.rate), -1, ""});
  });
  progress.finish();
  if (!o.plot.empty()) write_plot(o.plot, sweep);
  o.json ? print_json(sweep) : print_table(sweep);
  return exit_success;
}

}  // namespace

void add_find_rate(App& app) {
  auto o = std::make_shared<FindRateOptions>();
  app.add({.name = "find-rate",
           .summary = "try learning rates from low to high and suggest one for training",
           .description = "Takes the options of `tril train`, so that a training command can be tried unchanged: "
                          "--model is required here too, but it need not exist, and nothing is written to it. Trains "
                          "some updates with an exponentially rising learning rate and shows the loss of each (the "
                          "learning-rate range test). Options for validation, saving and the schedule have no effect.",
           .examples = {{"tril find-rate --model de --train-sets train.en train.de", "a table and a suggestion"},
                        {"tril find-rate --config run.yml --plot rates.html", "the same with a picture"}},
           .fields = find_rate_fields(*o),
           .reads_config = true,
           .models = {"init-from", "teacher"},
           .outputs = {"plot"},
           .apply_preset = [o] { apply_preset(o->train); },
           .run = [o](const Invocation& i) { return find_rate(*o, i.fields, i.quiet); }});
}

}  // namespace tril::cli
