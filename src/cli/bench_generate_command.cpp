// tril bench generate: how fast a language model reads a prompt and goes on from it. Prompts are random tokens and
// nothing ends a generation, so that any model, of random weights too, does the same work.

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "kern/gemm_int8.h"
#include "model/registry.h"
#include "train/roof.h"

namespace tril::cli {
namespace {

struct BenchOptions {
  DecodingOptions decoding;
  std::int64_t prompt_length = 128, new_tokens = 128, repeat = 3;
};

Fields fields_of(BenchOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.group("Work");
  f.add("prompt-length", &o.prompt_length, "tokens of each prompt").at_least(1).at_most(1 << 20);
  f.add("new-tokens", &o.new_tokens, "tokens to generate behind it").at_least(1).at_most(1 << 20);
  f.add("batch-size", &o.decoding.batch_size, "prompts read and continued together").at_least(1).at_most(100'000);
  f.add("repeat", &o.repeat, "runs, of which the fastest counts").at_least(1).at_most(1000);
  return f;
}

// Bytes of weights that one step reads: every matrix that is multiplied by, and of tables one row a token.
double weight_bytes(const model::Model& m) {
  double bytes = 0;
  for (const nn::Parameter& p : m.parameters().all()) {
    const ops::QuantizedMatrix& q = p.quantized;
    const double values = static_cast<double>(p.shape.count()), rows = static_cast<double>(p.shape[0]);
    double size = values * sizeof(float);
    if (q)
      size = values * q.bits / 8 + rows * sizeof(float) + (q.multipliers ? values / kern::int4_group : 0);
    else if (p.in_products && m.parameters().precision() == nn::Precision::bf16)
      size = values * 2;
    bytes += p.in_products || p.shape.rank() == 1 ? size : size / rows;
  }
  return bytes;
}

struct Timing {
  double prompt = 0, generation = 0;  ///< seconds
};

// Greedy, on a step function alone: one call reads the prompts, each of the others adds a token to every row.
Timing run(const model::Model& m, Context& c, nn::KvCache* cache, const std::vector<std::int32_t>& prompts,
           std::size_t batch, std::int64_t new_tokens) {
  cache->reorder({});
  search::ModelStep step(m, nullptr, cache);
  std::vector<std::int32_t> ids = prompts, counts(batch, static_cast<std::int32_t>(prompts.size() / batch)),
                            parents(batch, -1), rows(batch);
  for (std::size_t r = 0; r < batch; ++r) rows[r] = static_cast<std::int32_t>(r);
  const auto V = static_cast<std::size_t>(m.vocab_size());
  Timing timing;
  for (std::int64_t token = 0; token < new_tokens; ++token) {
    const double start = seconds_now();
    const Tensor logits = step.logits(c, {ids, counts, parents, rows});
    const Tensor best = c.empty({static_cast<std::int64_t>(batch), 1}), found = c.empty(best.shape(), DType::i32);
    c.kernels().top_k(logits.data<float>(), batch, V, 1, best.data<float>(), found.data<std::int32_t>());
    ids = host_copy<std::int32_t>(found);
    (token == 0 ? timing.prompt : timing.generation) += seconds_now() - start;
    counts.assign(batch, 1);
    parents = rows;
  }
  cache->reorder({});
  return timing;
}

int bench(const BenchOptions& o) {
  const std::unique_ptr<model::Model> model = load_model(o.decoding);
  if (model->has_encoder())
    fail_usage("--model", fmt::format("a {} model translates, it does not continue text", model->family()),
               "use `tril bench translate`");
  const std::int64_t positions = model->max_positions();
  check(positions == 0 || o.prompt_length + o.new_tokens - 1 <= positions, "--new-tokens",
        "{} behind a prompt of {} take more than the model's {} positions", o.new_tokens, o.prompt_length, positions);

  const auto batch = static_cast<std::size_t>(o.decoding.batch_size);
  RandomSequence random(1, 0);
  std::vector<std::int32_t> prompts;
  for (std::size_t i = 0; i < batch * static_cast<std::size_t>(o.prompt_length); ++i)
    prompts.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(model->vocab_size()))));

  Arena arena;
  Context c(arena);
  Team team(search::thread_count(o.decoding.threads));
  c.set_team(&team);
  const std::unique_ptr<nn::KvCache> cache = model->make_cache(c);
  check(cache != nullptr, "--model", "a {} model has no cache of keys and values", model->family());
  Timing best;
  for (std::int64_t i = 0; i < o.repeat; ++i) {
    const Timing t = run(*model, c, cache.get(), prompts, batch, o.new_tokens);
    best.prompt = i == 0 ? t.prompt : std::min(best.prompt, t.prompt);
    best.generation = i == 0 ? t.generation : std::min(best.generation, t.generation);
  }

  const auto read = static_cast<double>(prompts.size());
  const auto made = static_cast<double>(batch) * static_cast<double>(o.new_tokens - 1);
  const double bytes = weight_bytes(*model), steps = static_cast<double>(o.new_tokens - 1) / best.generation;
  const double peak = peak_mib();  // of the work, not of what it is compared with
  const double bandwidth = o.new_tokens > 1 ? train::measure_read_bandwidth(c.kernels(), c.threads()) : 0;
  const nlohmann::ordered_json result{
      {"prompt_tokens_per_second", read / best.prompt},
      {"generate_tokens_per_second", o.new_tokens > 1 ? nlohmann::ordered_json(made / best.generation) : nullptr},
      {"weight_bytes_per_token", bytes / static_cast<double>(batch)},
      {"read_bandwidth", o.new_tokens > 1 ? nlohmann::ordered_json(bandwidth) : nullptr},
      {"share_of_bandwidth", o.new_tokens > 1 ? nlohmann::ordered_json(steps * bytes / bandwidth) : nullptr},
      {"peak_mib", peak},
      {"batch_size", batch},
      {"parameters", model->parameters().count()},
      {"threads", c.threads()},
      {"instruction_set", c.kernels().name}};
  std::cout << result.dump() << "\n";
  return exit_success;
}

}  // namespace

void add_bench_generate(App& app) {
  auto o = std::make_shared<BenchOptions>();
  o->decoding.batch_size = 1;
  app.add({.name = "bench generate",
           .summary = "time the continuation of text",
           .description =
               "Prints one JSON object: tokens a second of reading prompts and of generating behind them (the "
               "best of --repeat runs), the bytes of weights that a generated token reads, the bytes a second that the "
               "machine "
               "reads of memory and the share of them that generating reached, the peak of memory.",
           .examples = {{"tril bench generate --model plays --prompt-length 64 --new-tokens 128", "one text at a time"},
                        {"tril bench generate -m plays --batch-size 32 --threads 1", "32 together"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation&) { return bench(*o); }});
}

}  // namespace tril::cli
