// tril doctor: what this machine and a model can do, what is wrong, and what to try.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/cores.h"
#include "base/message_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/doctor_report.h"
#include "cli/io/standard_output.h"
#include "cli/options/environment.h"
#include "cli/options/option_names.h"
#include "decode/models/decoding_options.h"
#include "doctor/expected_speed.h"
#include "doctor/libraries.h"
#include "doctor/model_check.h"
#include "format/json_text.h"
#include "perf/roofline.h"

namespace tril::cli {
namespace {

struct DoctorOptions {
  std::string model;
  std::int64_t threads = 0, length = 512;
  bool no_speed = false, json = false;
};

Fields fields_of(DoctorOptions& o) {
  Fields f;
  f.group("Model");
  f.add("model", &o.model, fmt::format("model to check: {}; unset: only the machine", forms_of_models))
      .value_name("DIR")
      .positional();
  f.group("Speed");
  f.add("threads", &o.threads, "number of threads that would generate; 0: one for each usable core")
      .at_least(0)
      .at_most(4096);
  f.add("length", &o.length, "number of tokens for which speed is expected, at most the model's positions")
      .at_least(1)
      .at_most(1 << 20);
  f.add("no-speed", &o.no_speed, "measure nothing and expect no speed: checks only");
  f.group("Output");
  f.add("json", &o.json, "print one JSON object");
  return f;
}

std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? value : "";
}

// The settings TRIL_... that no command knows, or whose values the server would refuse.
doctor::Findings check_variables(const App& app) {
  Fields known;
  for (const Command& command : app.commands())
    if (command.reads_environment) known = command.fields;
  doctor::Findings all;
  for (const std::string& text : unknown_settings(known, settings_of_process()))
    all.push_back({"setting-unknown", doctor::Severity::warning, text, "the setting has no effect",
                   "`tril serve --help` lists the options that can be set in this way"});
  for (const GivenValue& value : read_environment(known)) try {
      known.at(value.name, value.where).set(value.texts, value.where);
    } catch (const Error& e) {
      all.push_back({"setting-invalid", doctor::Severity::error, fmt::format("{}: {}", e.where(), e.message()),
                     "`tril serve` does not start", e.hint().empty() ? "correct or unset it" : e.hint()});
    }
  return all;
}

void add_all(doctor::Findings& to, const doctor::Findings& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Rates of the machine, which take about a second to measure.
doctor::MachineRates measured(Context& c, nlohmann::ordered_json& machine) {
  const train::Roofline roof = train::measure_roofline(c.kernels(), c.threads(), nn::Precision::fp32);
  const doctor::MachineRates rates{train::measure_read_bandwidth(c.kernels(), c.threads()), roof.flops};
  machine["rates"] = {{"read_bytes", rates.read_bytes},
                      {"flops", rates.flops},
                      {"int8_operations", train::measure_quantized_products(c.kernels(), c.threads())}};
  return rates;
}

// What the expected speeds of a model depend on.
struct MeasuredMachine {
  doctor::MachineRates rates;
  std::optional<std::int64_t> available_memory;  ///< bytes; nothing: not known
};

// Whether the weights fit as they are stored. It needs no measurement, and comes before those that need memory themselves.
doctor::Findings memory_findings(const model::Model& m, nn::Precision stored, std::optional<std::int64_t> memory) {
  if (!memory || doctor::weights_fit(m, stored, memory)) return {};
  std::string fits;
  using enum nn::Precision;
  for (const nn::Precision other : {fp32, bf16, int8, int4})
    if (doctor::weights_fit(m, other, memory))
      fits += fmt::format("{}--precision {}", fits.empty() ? "" : " or ", nn::name_of(other));
  return {{"memory-short", doctor::Severity::error,
           fmt::format("the weights take {} MiB in {}, but {} MiB are available",
                       static_cast<std::int64_t>(m.parameters().serving_memory(stored)) >> 20, nn::name_of(stored),
                       *memory >> 20),
           "loading fails, or the system ends the process",
           fits.empty() ? "use a smaller model, or a machine with more memory" : "use " + fits}};
}

// What a model costs, and how fast it should be. @param most  tokens of a text
nlohmann::ordered_json speed_json(const doctor::CheckedModel& checked, std::int64_t most, Context& c,
                                  const MeasuredMachine& machine) {
  nlohmann::ordered_json out;
  const std::int64_t positions = checked.model->max_positions();
  const std::int64_t length = positions > 0 ? std::min(most, positions) : most;
  try {
    const auto speeds = doctor::expected_speeds(c, *checked.model, length, machine.rates, machine.available_memory);
    out["length"] = length;
    out["expected"] = nlohmann::ordered_json::array();
    for (const doctor::ExpectedSpeed& s : speeds) out["expected"].push_back(json_of(s));
  } catch (const Error& e) {
    out["expected_problem"] = e.message();
  }
  return out;
}

int examine(const DoctorOptions& o, const Invocation& invocation) {
  const doctor::Machine machine = doctor::read_machine();
  const int threads = thread_count(o.threads);
  const doctor::HubState hub = doctor::check_hub(variable);
  doctor::Findings findings = doctor::check_machine(machine, threads, variable("TRIL_INSTRUCTION_SET"));
  add_all(findings, hub.findings);
  add_all(findings, check_variables(invocation.app));

  Arena arena;
  Context c(arena);
  Team team(std::min(threads, machine.usable_cores));  // more would wait for each other
  c.set_team(&team);
  nlohmann::ordered_json out{{"machine", json_of(machine)}, {"hub", json_of(hub)}};
  out["machine"]["threads"] = threads;
  for (const auto& [name, version] : doctor::library_versions()) out["libraries"][name] = version;
  const doctor::MachineRates rates = o.no_speed ? doctor::MachineRates() : measured(c, out["machine"]);
  if (!o.model.empty()) {
    const doctor::CheckedModel checked = doctor::check_model(o.model);
    add_all(findings, checked.findings);
    out["model"]["path"] = o.model;
    if (checked.model) {
      out["model"].update({{"family", checked.model->family()},
                           {"encoder", checked.model->has_encoder()},
                           {"parameters", checked.model->parameters().count()}});
      add_all(findings, memory_findings(*checked.model, checked.source->stored_precision(), machine.available_memory));
      if (!o.no_speed) out["model"].update(speed_json(checked, o.length, c, {rates, machine.available_memory}));
    }
  }
  const bool sound = !doctor::is_anything_wrong(findings);
  out["findings"] = nlohmann::ordered_json::array();
  for (doctor::Finding f : findings) {
    f.hint = with_options(invocation.fields, f.hint);
    out["findings"].push_back(json_of(f));
  }
  out["sound"] = sound;
  write_stdout(o.json ? json_text(out) + "\n" : doctor_text(out));
  return sound ? exit_success : exit_failure;
}

}  // namespace

void add_doctor(App& app) {
  auto o = std::make_shared<DoctorOptions>();
  app.add({.name = "doctor",
           .summary = "show what this machine and a model can do, what is wrong, and what to try",
           .description =
               "Measures the machine for about two seconds, checks a model's files without loading it, and computes "
               "how fast the model should be in each precision. Exits with 1 if something is wrong. Each finding has "
               "an id for "
               "scripts; docs/doctor.md lists them.",
           .examples = {{"tril doctor", "the machine and the settings"},
                        {"tril doctor models/de", "with the speed that a model should reach"},
                        {"tril doctor models/de --no-speed --json", "checks only, for a script"}},
           .fields = fields_of(*o),
           .models = {"model"},
           .apply_preset = {},
           .run = [o](const Invocation& invocation) { return examine(*o, invocation); }});
}

}  // namespace tril::cli
