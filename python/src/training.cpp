#include "training.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "arguments.h"
#include "background.h"
#include "cancel.h"
#include "cli/commands/training_run.h"
#include "cli/options/find_models.h"
#include "errors.h"
#include "train/loop/presets.h"

namespace tril::python {
namespace {

using Event = std::variant<train::TrainingReport, train::ValidationReport>;

// The run's events, until the thread that called train() passes them on.
class Events {
 public:
  void add(Event event) {
    const std::lock_guard lock(mutex_);
    list_.push_back(std::move(event));
  }
  std::deque<Event> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(list_, {});
  }

 private:
  std::mutex mutex_;
  std::deque<Event> list_;
};

void put_position(nb::dict& d, const train::Position& p) {
  d["update"] = p.updates, d["epoch"] = p.epochs + 1, d["tokens"] = p.tokens, d["minutes"] = p.minutes;
}

nb::dict dict_of(const train::TrainingReport& r) {
  nb::dict d;
  put_position(d, r.position);
  d["loss"] = r.loss, d["rate"] = r.rate, d["gradient_norm"] = r.gradient_norm;
  d["tokens_per_second"] = r.tokens_per_second;
  return d;
}

nb::dict dict_of(const train::ValidationReport& r) {
  nb::dict d;
  put_position(d, r.position);
  d["cross_entropy"] = r.scores.cross_entropy, d["perplexity"] = r.scores.perplexity;
  d["bleu"] = r.scores.bleu ? nb::object(nb::float_(*r.scores.bleu)) : nb::none();
  d["chrf"] = r.scores.chrf ? nb::object(nb::float_(*r.scores.chrf)) : nb::none();
  d["best"] = r.best, d["stalled"] = r.stalled;
  return d;
}

nb::dict dict_of(const train::TrainingSummary& s) {
  nb::dict d;
  put_position(d, s.position);
  d["updates_here"] = s.updates_here;
  d["ending"] = s.ending == train::Ending::completed ? "completed"
                : s.ending == train::Ending::stopped ? "stopped"
                                                     : "early_stopping";
  d["best"] = s.best ? nb::object(nb::float_(*s.best)) : nb::none();
  d["best_update"] = s.best_update;
  return d;
}

// Sets the options; a preset first, which the others override.
void set_options(train::TrainOptions& o, Fields& fields, const Arguments& given) {
  const auto is_basis = [](const std::string& name) { return name == "preset" || name == "arch"; };
  Arguments basis;
  for (const auto& one : given)
    if (is_basis(one.first)) basis.push_back(one);
  set(fields, basis);
  train::apply_preset(o);
  set(fields, given);
}

// Calls the callbacks of all events so far. One that returns true ends the run.
void pass_on(Events& events, const nb::object& on_update, const nb::object& on_validation, Background& background) {
  for (const Event& event : events.take()) {
    const bool is_update = std::holds_alternative<train::TrainingReport>(event);
    const nb::object& callback = is_update ? on_update : on_validation;
    if (callback.is_none()) continue;
    const nb::dict values = std::visit([](const auto& report) { return dict_of(report); }, event);
    if (nb::object answer = callback(values); answer.is(nb::bool_(true))) background.stop();
  }
}

nb::dict train_model(const nb::dict& options, const nb::object& on_update, const nb::object& on_validation,
                     const Cancel* cancel) {
  train::TrainOptions o;
  Fields fields = fields_of(o);
  Events events;
  std::optional<train::TrainingSummary> summary;
  Background background;
  with_python_words(fields, [&] {
    set_options(o, fields, arguments_of(options));
    fields.check_complete();
    cli::TrainingWatch watch;
    if (!on_update.is_none()) watch.on_update = [&](const train::TrainingReport& r) { events.add(r); };
    if (!on_validation.is_none()) watch.on_validation = [&](const train::ValidationReport& r) { events.add(r); };
    background.run(
        [&](const std::stop_token& stop) {
          cli::find_models(fields, {"init-from", "teacher"}, {.pull = true, .quiet = true});
          summary = cli::run_training(o, fields, /*quiet=*/true, stop, watch);
        },
        token_of(cancel), [&] { pass_on(events, on_update, on_validation, background); });
    return 0;
  });
  pass_on(events, on_update, on_validation, background);
  return dict_of(*summary);
}

}  // namespace

void bind_training(nb::module_& m) {
  m.def("train", &train_model, nb::arg("options"), nb::arg("on_update").none(), nb::arg("on_validation").none(),
        nb::arg("cancel").none());
  m.def("train_options", [] {
    train::TrainOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
