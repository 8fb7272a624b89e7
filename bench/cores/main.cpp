// Predicts how a model's work divides among 1 to 64 threads, and measures what a round of a team costs here.
//   bench_cores schedule [--json]     the largest and the mean part of each member, rounds, the speed-up to expect
//   bench_cores rounds [--threads 2]  rounds of an empty team: microseconds, sleeps
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/team.h"
#include "cores/schedule.h"
#include "ops/ops.h"
#include "perf/roofline.h"

namespace tril::bench {
namespace {

const std::vector<Shapes> models = {
    {.name = "Llama 1B", .d_model = 2048, .heads = 32, .kv_heads = 8, .d_ff = 8192, .layers = 16, .vocabulary = 128256},
    {.name = "Llama 7B",
     .d_model = 4096,
     .heads = 32,
     .kv_heads = 32,
     .d_ff = 11008,
     .layers = 32,
     .vocabulary = 32000},
    {.name = "base",
     .d_model = 512,
     .heads = 8,
     .kv_heads = 8,
     .d_ff = 2048,
     .layers = 6,
     .vocabulary = 32000,
     .gated = false,
     .encoder_layers = 6},
};

std::vector<Call> calls_of(const Shapes& s) {
  if (s.encoder_layers > 0) return {{"a step of 4 hypotheses", 4, 1, 32}};
  return {{"a token after 512", 1, 1, 512},
          {"a token after 8,192", 1, 1, 8192},
          {"a token of 8 texts", 8, 1, 512},
          {"a prompt of 512", 1, 512, 512}};
}

struct Rounds {
  double seconds, sleeps;  // of a round
};

// @param pause  seconds of work of each member in a round
Rounds measure_rounds(int threads, double pause) {
  Team team(threads);
  const auto work = [&](int) {
    for (const double until = seconds_now() + pause; pause > 0 && seconds_now() < until;) {
    }
  };
  const auto switches = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_nvcsw);
  };
  constexpr int count = 2000;
  Rounds best{1e9, 0};
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double before = switches(), start = seconds_now();
    for (int i = 0; i < count; ++i) team.share(threads, work);
    const double seconds = (seconds_now() - start) / count - pause;
    if (seconds < best.seconds) best = {seconds, (switches() - before) / count};
  }
  return best;
}

Costs measured_costs() {
  Costs costs;
  const kern::Kernels& kernels = kern::best();
  costs.byte = 1 / train::measure_read_bandwidth(kernels, 1);
  costs.flop = 1 / train::measure_quantized_products(kernels, 1);
  costs.round =
      measure_rounds(2, 5e-6).seconds;  // with less work, the caller takes both parts before the other wakes up
  Arena arena;
  Context c(arena);
  const auto seconds_of = [&](std::int64_t rows, std::int64_t width) {
    const Tensor x = c.zeros({rows, width}), g = c.zeros({width});
    double best = 1e9;
    for (int repeat = 0; repeat < 50; ++repeat) {
      const double start = seconds_now();
      for (int i = 0; i < 20; ++i) ops::rms_norm(c, x, g, 1e-5f);
      best = std::min(best, (seconds_now() - start) / 20);
    }
    return best;
  };
  costs.op = seconds_of(1, 16);
  costs.value = (seconds_of(32, 2048) - costs.op) / (32 * 2048);
  return costs;
}

nlohmann::ordered_json json_of(const Prediction& p) {
  return {{"threads", p.threads},     {"seconds", p.seconds}, {"speedup", p.speedup},
          {"rounds", p.rounds},       {"serial", p.serial},   {"waiting", p.waiting},
          {"in_rounds", p.in_rounds}, {"worst", p.worst},     {"worst_ratio", p.worst_ratio}};
}

void print_schedule(const Costs& costs, bool json) {
  const std::vector<int> shown{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  nlohmann::ordered_json all{{"costs",
                              {{"byte", costs.byte},
                               {"flop", costs.flop},
                               {"value", costs.value},
                               {"op", costs.op},
                               {"round", costs.round},
                               {"member", costs.member}}},
                             {"schedules", nlohmann::ordered_json::array()}};
  if (!json)
    fmt::print(
        "One thread reads {:.1f} GB/s and computes {:.0f} GFLOP/s in 8 bits; an op takes {:.2f} us and {:.2f} ns a "
        "value; a round of two takes {:.1f} us, each further member is assumed to add {:.2f} us.\n",
        1e-9 / costs.byte, 1e-9 / costs.flop, 1e6 * costs.op, 1e9 * costs.value, 1e6 * costs.round, 1e6 * costs.member);
  for (const Shapes& s : models) {
    for (const Call& call : calls_of(s)) {
      const std::vector<Part> parts = parts_of(s, call, costs);
      nlohmann::ordered_json list = nlohmann::ordered_json::array(), ops = nlohmann::ordered_json::array();
      if (!json)
        fmt::print(
            "\n{}, {}\n\n| threads | ms | speed-up | rounds | in rounds | one thread alone | waiting | most waiting in "
            "| its largest part / mean |\n|---|---|---|---|---|---|---|---|---|\n",
            s.name, call.name);
      for (int threads = 1; threads <= 64; ++threads) {
        const Prediction p = predict(parts, costs, threads);
        list.push_back(json_of(p));
        if (!json && std::find(shown.begin(), shown.end(), threads) != shown.end())
          fmt::print("| {} | {:.2f} | {:.1f} | {} | {:.0f}% | {:.0f}% | {:.0f}% | {} | {:.2f} |\n", threads,
                     1e3 * p.seconds, p.speedup, p.rounds, 100 * p.in_rounds, 100 * p.serial, 100 * p.waiting, p.worst,
                     p.worst_ratio);
      }
      for (const Part& part : parts) {
        nlohmann::ordered_json largest = nlohmann::ordered_json::array();
        for (int threads = 1; threads <= 64; ++threads) largest.push_back(part.largest(threads));
        ops.push_back({{"op", part.name}, {"times", part.times}, {"seconds", part.seconds}, {"largest", largest}});
      }
      all["schedules"].push_back({{"model", s.name}, {"call", call.name}, {"threads", list}, {"ops", ops}});
    }
  }
  nlohmann::ordered_json packing = nlohmann::ordered_json::array();
  if (!json)
    fmt::print(
        "\nPacking the weights of base after an update, largest part / mean\n\n| threads | whole matrices | divided "
        "|\n|---|---|---|\n");
  for (int threads = 1; threads <= 64; ++threads) {
    const double whole = packing_ratio(models.back(), threads, true),
                 divided = packing_ratio(models.back(), threads, false);
    packing.push_back({{"threads", threads}, {"whole", whole}, {"divided", divided}});
    if (!json && std::find(shown.begin(), shown.end(), threads) != shown.end())
      fmt::print("| {} | {:.2f} | {:.2f} |\n", threads, whole, divided);
  }
  all["packing"] = packing;
  if (json) fmt::print("{}\n", all.dump());
}

int run(int argc, char** argv) {
  CLI::App app("how work divides among cores");
  app.require_subcommand(1);
  bool json = false;
  double member_us = Costs{}.member * 1e6, pause_us = 0;
  int threads = 2;
  constexpr double most_us = 1e6;
  constexpr int usage = 2;
  CLI::App* const schedule = app.add_subcommand("schedule", "predict the division of a model's work");
  schedule->add_flag("--json", json, "print one JSON object");
  schedule->add_option("--member-us", member_us, "microseconds that each member after the second adds to a round")
      ->check(CLI::Range(0.0, most_us));
  CLI::App* const rounds = app.add_subcommand("rounds", "measure empty rounds of a team");
  rounds->add_option("--threads", threads)->check(CLI::Range(1, 1024));
  rounds->add_option("--work-us", pause_us, "microseconds of work of each member in a round")
      ->check(CLI::Range(0.0, most_us));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : usage;  // 0: help
  }
  if (schedule->parsed()) {
    Costs costs = measured_costs();
    costs.member = member_us * 1e-6;
    print_schedule(costs, json);
  } else {
    const Rounds r = measure_rounds(threads, pause_us * 1e-6);
    fmt::print("{{\"threads\": {}, \"round_us\": {:.3f}, \"sleeps_per_round\": {:.4f}}}\n", threads, 1e6 * r.seconds,
               r.sleeps);
  }
  return 0;
}

}  // namespace
}  // namespace tril::bench

int main(int argc, char** argv) {
  try {
    return tril::bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_cores: %s\n", e.what());
    return 1;
  }
}
