// The cost of an update over many ranks: tril's exchange compared with published algorithms, and the batch size
// beyond which more ranks gain less.
//   mpirun -n 2 bench_ranks link                       latency, overhead and bandwidth between two ranks, as JSON
//   bench_ranks step --weights 48e6 --compute 2.9 ...  one update, in its parts, as JSON
//   bench_ranks plot docs/ranks.svg                    the tables and the plot of docs/ranks.md
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cost/plot.h"
#include "ranks/cost_model.h"
#include "ranks/link.h"

namespace tril::bench {
namespace {

constexpr std::size_t most_ranks = 1024;

/// A model and its batches on a machine of two Zen 4 cores, one rank with two threads.
struct Model {
  std::string name;
  double d_model, weights, compute, summing, packing, tokens;
  double output_share;     ///< of the backward pass, before the first gradients are complete
  double embedding_share;  ///< of the gradients, complete only when it ends
  double critical_tokens;  ///< critical batch size, see docs/ranks.md
};

// Compute as measured on that machine (docs/ranks.md). For the largest model, whose update takes minutes, it is
// computed from 6 operations per weight and token at the rate of the second largest.
const std::vector<Model> models = {
    {"tiny", 128, 1.84e6, 0.168, 0.0008, 0.001, 3900, 0.29, 0.29, 3.6e3},
    {"base", 512, 46.2e6, 2.91, 0.02, 0.02, 3900, 0.06, 0.05, 400e3},
    {"big", 1024, 180.5e6, 13.9, 0.08, 0.08, 3900, 0.03, 0.025, 400e3},
    {"1 B", 2048, 1.07e9, 95, 0.5, 0.5, 4096, 0.06, 0.06, 3.4e6},
};

struct Network {
  std::string name;
  Link link;
};
// TCP as measured between two processes of one machine, with a switch's latency; and network cards that copy without
// the processor.
const std::vector<Network> networks = {
    {"10 Gbit/s", {30e-6, 3e-6, 1.17e9, 0.23e-9}},
    {"100 Gbit/s", {5e-6, 0.5e-6, 12e9, 0}},
    {"400 Gbit/s", {3e-6, 0.3e-6, 48e9, 0}},
};

// Core time to read a batch of 4,096 tokens: kept in memory, or tokenised as it comes.
constexpr double kept = 120e-6, streamed = 8.1e-3;

// @param faster  factor on the number of cores
Step step_of(const Model& m, const Network& network, std::size_t ranks, double faster, double reading = kept) {
  Step s;
  s.weights = m.weights;
  s.compute = m.compute / faster, s.summing = m.summing / faster, s.packing = m.packing / faster;
  s.ranks = ranks;
  s.threads = s.cores = 2 * faster;
  s.passes = std::max(1.0, std::ceil(m.tokens * m.d_model / s.threads / 393'216));  // WorkersOptions::pass_values
  s.before_first = m.output_share, s.at_its_end = m.embedding_share;
  s.batch_reading = reading;
  s.spread = 0.05;  // from the batches' lengths
  s.memory_bytes_per_second = 20e9 * faster;
  s.seconds_per_search = 1.3e-9;
  s.outside = s.inside = network.link;
  return s;
}

double efficiency(const Step& s, StepCost (*cost)(const Step&)) {
  Step one = s;
  one.ranks = 1;
  return step_cost(one).total() / cost(s).total();
}

// Speed-up to a given loss, relative to one rank: fewer updates, of more tokens.
double useful_speed_up(const Model& m, const Step& s) {
  const auto n = static_cast<double>(s.ranks);
  return efficiency(s, step_cost) * updates_needed(m.tokens, m.critical_tokens) /
         updates_needed(n * m.tokens, m.critical_tokens);
}

nlohmann::ordered_json json_of(const StepCost& c) {
  return {{"total", c.total()},       {"data", c.data},
          {"compute", c.compute},     {"waiting_for_slowest", c.waiting_for_slowest},
          {"gradients", c.gradients}, {"exposed", c.exposed},
          {"adding_up", c.adding_up}, {"agreeing", c.agreeing},
          {"stepping", c.stepping},   {"sharing", c.sharing},
          {"packing", c.packing},     {"messages", c.messages}};
}

void link() {
  const bool prints = start_mpi();
  const MeasuredLink m = measure_link();
  if (prints)
    std::puts(nlohmann::ordered_json{{"latency", m.link.latency},
                                     {"overhead", m.link.overhead},
                                     {"bytes_per_second", m.link.bytes_per_second},
                                     {"core_seconds_per_byte", m.link.core_seconds_per_byte},
                                     {"bytes_per_second_of_64_kib", m.small}}
                  .dump()
                  .c_str());
  end_mpi();
}

void step(const Step& s) {
  const double bytes = s.weights * 4;
  const auto n = static_cast<double>(s.ranks);
  const Link& l = s.ranks > s.per_machine ? s.outside : s.inside;
  nlohmann::ordered_json all{{"tril", json_of(step_cost(s))}, {"ring", json_of(step_cost_of_ring(s))}};
  all["efficiency"] = efficiency(s, step_cost);
  all["all_reduce"] = {{"ring", ring_all_reduce(bytes, n, l)},
                       {"halving", halving_all_reduce(bytes, n, l)},
                       {"doubling", doubling_all_reduce(bytes, n, l)},
                       {"tree", tree_all_reduce(bytes, n, l)}};
  if (const auto k = static_cast<double>(s.per_machine); k > 1 && n > k)
    all["all_reduce"]["two_level"] = two_level_all_reduce(bytes, n, k, s.inside, s.outside);
  std::puts(all.dump(2).c_str());
}

std::vector<std::size_t> doublings(std::size_t from) {
  std::vector<std::size_t> list;
  for (std::size_t n = from; n <= most_ranks; n *= 2) list.push_back(n);
  return list;
}

void print_table(const std::string& title, double faster, StepCost (*cost)(const Step&)) {
  std::printf("\n%s\n\n| | |", title.c_str());
  for (const std::size_t n : doublings(8)) std::printf(" %zu |", n);
  std::printf("\n|---|---|");
  for (std::size_t i = 0; i < doublings(8).size(); ++i) std::printf("---|");
  std::printf("\n");
  for (const Model& m : models)
    for (const Network& network : networks) {
      std::printf("| %s | %s |", m.name.c_str(), network.name.c_str());
      for (const std::size_t n : doublings(8)) {
        const bool beyond = static_cast<double>(n) * m.tokens > m.critical_tokens;
        const double e = efficiency(step_of(m, network, n, faster), cost);
        std::printf(beyond ? " _%.0f_ |" : " %.0f |", 100 * e);
      }
      std::printf("\n");
    }
}

// The parts of an update's time, in milliseconds.
void print_parts(double faster) {
  std::printf("\n| | | | data | slowest | gradients | adding up | agreeing | weights | all |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Model& m : models)
    for (const std::size_t n : {std::size_t{64}, most_ranks})
      for (const Network& network : networks) {
        const StepCost c = step_cost(step_of(m, network, n, faster));
        std::printf("| %s | %zu | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", m.name.c_str(), n,
                    network.name.c_str(), 1e3 * c.data, 1e3 * c.waiting_for_slowest, 1e3 * c.exposed, 1e3 * c.adding_up,
                    1e3 * c.agreeing, 1e3 * c.sharing, 1e3 * c.total());
      }
}

// The number of ranks from which a ring would make an update shorter by at least one percent.
void print_rings(double faster, std::size_t per_machine) {
  std::printf(
      "\n%g times as fast, %zu ranks on a machine: ring better from; update by tril and by a ring at 1,024 ranks, ms\n",
      faster, per_machine);
  for (const Model& m : models)
    for (const Network& network : networks) {
      const auto steps = [&](std::size_t n) {
        Step s = step_of(m, network, n, faster);
        s.per_machine = per_machine, s.threads = s.cores / static_cast<double>(per_machine);
        s.compute *= static_cast<double>(per_machine);
        return std::pair(step_cost(s).total(), step_cost_of_ring(s).total());
      };
      std::size_t from = 0;
      for (const std::size_t n : doublings(2))
        if (const auto [own, ring] = steps(n); from == 0 && own > 1.01 * ring) from = n;
      const auto [own, ring] = steps(most_ranks);
      std::printf("%s %s: %zu; %.1f %.1f\n", m.name.c_str(), network.name.c_str(), from, 1e3 * own, 1e3 * ring);
    }
}

// Text that does not fit into memory is tokenised in full by every rank.
void print_streamed(double faster) {
  std::printf("\n%g times as fast, streamed text, 100 Gbit/s\n", faster);
  for (const Model& m : models) {
    std::printf("| %s |", m.name.c_str());
    for (const std::size_t n : doublings(8))
      std::printf(" %.0f |", 100 * efficiency(step_of(m, networks[1], n, faster, streamed), step_cost));
    std::printf("\n");
  }
}

void plot(const std::string& path) {
  std::vector<Panel> panels;
  for (const double faster : {1.0, 10.0})
    for (const Model& m : models) {
      Panel p{faster > 1 ? m.name + fmt::format(", machines {:g} times as fast", faster) : m.name,
              "ranks",
              "times as fast as one",
              {}};
      int colour = 0;
      for (const Network& network : networks) {
        Curve made{"", {}, false, colour}, useful{"", {}, true, colour};
        for (const std::size_t n : doublings(1)) {
          const Step s = step_of(m, network, n, faster);
          const auto x = static_cast<double>(n);
          made.points.emplace_back(x, x * efficiency(s, step_cost));
          useful.points.emplace_back(x, useful_speed_up(m, s));
        }
        p.curves.push_back(made);
        if (++colour == static_cast<int>(networks.size())) p.curves.push_back(useful);
      }
      panels.push_back(p);
    }
  std::ofstream(path) << svg(
      "Batches a second over machines at 10 (blue), 100 (orange) and 400 Gbit/s (green); dashed: the way to the same "
      "loss",
      panels, 4);
  print_table("As the machines measured here", 1, step_cost);
  print_table("Ten times as fast", 10, step_cost);
  for (const double faster : {1.0, 10.0}) print_parts(faster), print_streamed(faster), print_rings(faster, 1);
  print_rings(10, 8);
}

void add_options(CLI::App& app, Step& s, double& gbit) {
  app.add_option("--weights", s.weights, "trained values")->required();
  app.add_option("--compute", s.compute, "seconds forward and backward of one rank's batch")->required();
  app.add_option("--summing", s.summing, "seconds of norm and optimiser, all weights in one rank");
  app.add_option("--packing", s.packing, "seconds to pack the weights for the products");
  app.add_option("--passes", s.passes, "that a batch takes (393,216 / d_model tokens each)");
  app.add_option("--backward", s.backward, "share of a pass that is its backward walk");
  app.add_option("--before-first", s.before_first, "share of the walk before the first gradient is complete");
  app.add_option("--at-its-end", s.at_its_end, "share of the gradient that is complete when the walk ends");
  app.add_option("--batch-reading", s.batch_reading, "processor seconds to read one batch");
  app.add_option("--spread", s.spread, "standard deviation of compute among ranks, as a share of it");
  app.add_option("-n,--ranks", s.ranks, "ranks")->required();
  app.add_option("--per-machine", s.per_machine, "ranks on a machine");
  app.add_option("--cores", s.cores, "of a machine");
  app.add_option("--threads", s.threads, "of a rank");
  app.add_option("--bytes", s.bytes_per_gradient, "of a gradient on its way: 4, or 2 for bf16");
  app.add_flag("!--no-overlap", s.overlap, "gradients travel after the walk");
  app.add_flag("!--bench", s.trains, "as tril bench train, which agrees once less than tril train");
  app.add_option("--memory", s.memory_bytes_per_second, "bytes a second");
  app.add_option("--search", s.seconds_per_search, "seconds to compare two sums");
  app.add_option("--gbit", gbit, "of the link between machines");
  app.add_option("--latency", s.outside.latency, "seconds");
  app.add_option("--overhead", s.outside.overhead, "seconds of a core for each message");
  app.add_option("--copying", s.outside.core_seconds_per_byte, "seconds of a core for each byte");
  app.add_option("--inside-bytes", s.inside.bytes_per_second, "a second, between ranks of a machine");
  app.add_option("--inside-latency", s.inside.latency, "seconds");
  app.add_option("--inside-overhead", s.inside.overhead, "seconds");
  app.add_option("--inside-copying", s.inside.core_seconds_per_byte, "seconds of a core for each byte");
}

int run(int count, char** arguments) {
  CLI::App app("what an update costs over many ranks");
  app.require_subcommand(1);
  app.add_subcommand("link", "measure the link between two ranks: mpirun -n 2 bench_ranks link")->callback(link);
  Step s;
  double gbit = 10;
  std::string path = "docs/ranks.svg";
  CLI::App* one = app.add_subcommand("step", "one update, in its parts");
  add_options(*one, s, gbit);
  one->callback([&] {
    s.outside.bytes_per_second = gbit * 1e9 / 8;
    if (s.inside.bytes_per_second == 0) s.inside = s.outside;
    step(s);
  });
  CLI::App* many = app.add_subcommand("plot", "the tables and the plot of docs/ranks.md");
  many->add_option("file", path, "to write");
  many->callback([&] { plot(path); });
  CLI11_PARSE(app, count, arguments);
  return 0;
}

}  // namespace
}  // namespace tril::bench

int main(int count, char** arguments) {
  try {
    return tril::bench::run(count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_ranks: %s\n", e.what());
    return 1;
  }
}
