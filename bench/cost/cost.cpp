// The cost of an update by sizes of the model, the batch and the sentences: target tokens per second beside the
// machine's roof, and memory, as a table on standard output and as a plot.
//   bench_cost [docs/cost.svg] [threads]
// Every point runs in a separate process, because peak memory is measured per process.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cost/plot.h"
#include "model/families/marian.h"
#include "perf/step_profile.h"
#include "train/distributed/workers.h"

namespace tril::bench {
namespace {

constexpr std::int64_t vocab = 10000, layers = 6;
constexpr double seconds_of_point = 1;

/// An encoder-decoder of 6 + 6 layers with feed-forwards of 4 d, and the size of batches in tokens per side.
struct Point {
  std::int64_t d_model, tokens, length;
};

struct Cost {
  double tokens_per_second = 0, at_the_roof = 0, mib = 0;
};

Batch batch_of(const Point& p, std::uint64_t number) {
  RandomSequence random(1, number);
  Batch b;
  const auto row = [&] {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(p.length));
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(1 + random.below(vocab - 1));
    return ids;
  };
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, p.tokens / p.length); ++i) b.append(row(), row(), i);
  return b;
}

Cost measure(const Point& p, int threads) {
  model::MarianConfig c;
  c.vocab_size = c.decoder_vocab_size = vocab;
  c.d_model = p.d_model;
  c.encoder_layers = c.decoder_layers = layers;
  c.encoder_attention_heads = c.decoder_attention_heads = std::max<std::int64_t>(2, p.d_model / 64);
  c.encoder_ffn_dim = c.decoder_ffn_dim = 4 * p.d_model;
  c.max_position_embeddings = p.length;
  model::Marian m(c);
  m.parameters().allocate();
  m.parameters().initialise(1);
  train::Optimizer optimizer(m.parameters(), {});
  train::WorkersOptions options;
  options.threads = options.parts = threads;
  options.loss.label_smoothing = 0.1;
  options.precision = nn::Precision::bf16;
  options.profile = true;
  train::Workers workers(m, optimizer, options);

  std::int64_t number = 0, tokens = 0, updates = 0;
  const auto update = [&] {
    const Batch b = batch_of(p, static_cast<std::uint64_t>(++number));
    return workers.update({&b, 1}, number, 1e-4).tokens;
  };
  update();
  workers.restart_profile();
  const double start = seconds_now();
  while (updates == 0 || seconds_now() - start < seconds_of_point) tokens += update(), ++updates;
  const double seconds = seconds_now() - start;

  const double peak = peak_mib();  // before measuring the roof takes memory
  const train::StepProfile profile =
      train::step_profile({.profile = workers.profile(),
                           .threads = threads,
                           .updates = updates,
                           .seconds = seconds,
                           .data_seconds = 0,
                           .roof = train::measure_roofline(*options.kernels, threads, nn::Precision::bf16)});
  const double rate = static_cast<double>(tokens) / seconds;
  return {rate, rate / profile.total.reached(), peak};
}

Cost in_a_process(const Point& p, int threads) {
  int ends[2];
  if (pipe(ends) != 0) fail("bench_cost", "no pipe to be had");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const Cost cost = measure(p, threads);
    const bool written = write(ends[1], &cost, sizeof cost) == static_cast<ssize_t>(sizeof cost);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Cost cost;
  const bool whole = child > 0 && read(ends[0], &cost, sizeof cost) == static_cast<ssize_t>(sizeof cost);
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (!whole || status != 0)
    fail("bench_cost",
         fmt::format("d_model {}, {} tokens of {}: the measurement did not end", p.d_model, p.tokens, p.length),
         "is there memory for it?");
  std::printf("%7lld %7lld %7lld %12.0f %12.0f %8.0f\n", static_cast<long long>(p.d_model),
              static_cast<long long>(p.tokens), static_cast<long long>(p.length), cost.tokens_per_second,
              cost.at_the_roof, cost.mib);
  return cost;
}

/// One sweep: the varying size, and the points of each curve.
struct Sweep {
  std::string title, x_label;
  std::int64_t Point::*x;
  std::map<std::string, std::vector<Point>> curves;
};

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

int run(const std::string& path, int threads) {
  Sweep model{"size of the model", "d_model", &Point::d_model, {}},
      batch{"size of the batch", "tokens in a batch", &Point::tokens, {}},
      length{"length of the sentences", "tokens in a sentence", &Point::length, {}};
  for (const std::int64_t d : {128, 256, 512, 1024}) model.curves[""].push_back({d, 4096, 32});
  for (const std::int64_t d : {128, 512}) {
    const std::string name = fmt::format("d {}", d);
    for (std::int64_t n = 512; n <= 32768; n *= 2) batch.curves[name].push_back({d, n, 32});
    for (std::int64_t n = 16; n <= 4096; n *= 4) length.curves[name].push_back({d, 8192, n});
  }
  std::vector<Panel> speed, memory;
  std::printf("d_model  tokens  length     tokens/s  at the roof      MiB\n");
  for (const Sweep& s : {model, batch, length}) {
    Panel fast{s.title, s.x_label, "target tokens / s", {}}, large{s.title, s.x_label, "peak memory, MiB", {}};
    int colour = 0;
    for (const auto& [name, points] : s.curves) {
      Curve measured{name, {}, false, colour}, roof{"", {}, true, colour}, mib{name, {}, false, colour};
      for (const Point& p : points) {
        const Cost c = in_a_process(p, threads);
        const auto x = static_cast<double>(p.*s.x);
        measured.points.emplace_back(x, c.tokens_per_second), roof.points.emplace_back(x, c.at_the_roof);
        mib.points.emplace_back(x, c.mib);
      }
      fast.curves.push_back(measured), fast.curves.push_back(roof), large.curves.push_back(mib);
      ++colour;
    }
    speed.push_back(fast), memory.push_back(large);
  }
  speed.insert(speed.end(), memory.begin(), memory.end());
  write_file_atomic(
      path, svg(fmt::format("Training in bf16, 6 + 6 layers, {} threads, {}, kernels {}; dashed: the roof", threads,
                            processor(), kern::best().name),
                speed, 3));
  std::printf("the plot is in %s\n", path.c_str());
  return 0;
}

}  // namespace
}  // namespace tril::bench

int main(int count, char** arguments) {
  try {
    return tril::bench::run(
        count > 1 ? arguments[1] : "docs/cost.svg",
        count > 2 ? std::stoi(arguments[2]) : static_cast<int>(std::thread::hardware_concurrency()));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_cost: %s\n", e.what());
    return 1;
  }
}
