// tril bench generate: how fast a language model reads a prompt and continues it. Prompts are random tokens, or those
// of a text, and nothing ends a generation, so that any model does the same work, even with random weights. If tokens
// are proposed (decode/batches/speculative.h), both variants are timed.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/memory.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "decode/steps/make_step.h"
#include "decode/texts/continuation_text.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "perf/model_parts.h"
#include "perf/roofline.h"

namespace tril::cli {
namespace {

struct BenchOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  std::string input;
  std::int64_t prompt_length = 128, new_tokens = 128, repeat = 3;
};

Fields fields_of(BenchOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  add_cache_precision_field(f, o.decoding);
  f.group("Workload");
  f.add("input", &o.input, "text from which consecutive prompts are taken; unset: random tokens")
      .letter('i')
      .value_name("FILE");
  f.add("prompt-length", &o.prompt_length, "number of tokens in each prompt").at_least(1).at_most(1 << 20);
  f.add("new-tokens", &o.new_tokens, "number of tokens to generate after each prompt").at_least(1).at_most(1 << 20);
  f.add("batch-size", &o.decoding.batch_size, "number of prompts read and continued together").within(batch_sizes);
  f.add("repeat", &o.repeat, "number of runs, of which the fastest counts").at_least(1).at_most(1000);
  f.group("Speculative decoding");
  add_speculative_fields(f, o.others);
  return f;
}

struct Timing {
  double prompt = 0, generation = 0;             ///< seconds
  std::vector<std::vector<std::int32_t>> texts;  ///< the generated texts

  /// The minimum of both timings, part by part.
  void best_of(const Timing& other) {
    prompt = std::min(prompt, other.prompt), generation = std::min(generation, other.generation);
  }
};

// Prompts of equal length, one after the other, and the number of tokens to generate after each.
struct Workload {
  std::vector<std::int32_t> prompts;
  std::size_t batch;
  std::int64_t new_tokens;
};

// Greedy decoding on a step function alone: one call reads the prompts, each later call adds a token to every row.
Timing run(const model::Model& m, Context& c, nn::KvCache* cache, const Workload& work) {
  const auto& [prompts, batch, new_tokens] = work;
  cache->reorder({});
  const std::unique_ptr<search::Step> step = search::make_step({.model = &m, .cache = cache});
  std::vector<std::int32_t> ids = prompts, counts(batch, static_cast<std::int32_t>(prompts.size() / batch)),
                            parents(batch, -1), rows(batch);
  for (std::size_t r = 0; r < batch; ++r) rows[r] = static_cast<std::int32_t>(r);
  const auto V = static_cast<std::size_t>(m.vocab_size());
  Timing timing{.texts = std::vector<std::vector<std::int32_t>>(batch)};
  for (std::int64_t token = 0; token < new_tokens; ++token) {
    const double start = seconds_now();
    const Tensor logits = step->step(c, {ids, counts, parents, rows}).logits;
    Tensor best = c.empty({std::ssize(rows), 1}), found = c.empty(best.shape(), DType::i32);
    c.kernels().top_k(logits.data<float>(), batch, V, 1, best.data<float>(), found.data<std::int32_t>());
    ids = host_copy<std::int32_t>(found);
    for (std::size_t r = 0; r < batch; ++r) timing.texts[r].push_back(ids[r]);
    (token == 0 ? timing.prompt : timing.generation) += seconds_now() - start;
    counts.assign(batch, 1);
    parents = rows;
  }
  cache->reorder({});
  return timing;
}

// Likewise with proposed tokens. Reading ends with the last prompt's first token, including proposals for what follows.
Timing run_with_proposals(search::Session& session, const Workload& work) {
  const std::vector<std::int32_t>& prompts = work.prompts;
  const std::size_t batch = work.batch;
  std::vector<search::Request> requests;
  const std::size_t length = prompts.size() / batch;
  for (std::size_t r = 0; r < batch; ++r) {
    const std::span<const std::int32_t> prompt = std::span(prompts).subspan(r * length, length);
    requests.push_back({.start_id = prompt[0],
                        .max_length = static_cast<std::int32_t>(work.new_tokens),
                        .prefix = {prompt.begin() + 1, prompt.end()}});
  }
  Timing timing{.texts = std::vector<std::vector<std::int32_t>>(batch)};
  std::size_t begun = 0;
  const double start = seconds_now();
  session.decode({}, requests, {}, 0, {.on_token = [&](const search::NewToken& t) {
                   begun += timing.texts[t.request].empty() ? 1 : 0;
                   timing.texts[t.request].push_back(t.token);
                   if (begun == batch && timing.prompt == 0) timing.prompt = seconds_now() - start;
                 }});
  timing.generation = seconds_now() - start - timing.prompt;
  return timing;
}

std::vector<std::int32_t> prompts_of(const BenchOptions& o, const model::ModelSource& source,
                                     const model::Model& model) {
  const auto wanted = static_cast<std::size_t>(o.decoding.batch_size * o.prompt_length);
  std::vector<std::int32_t> ids;
  if (o.input.empty()) {
    RandomSequence random(1, 0);
    while (ids.size() < wanted)
      ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(model.vocab_size()))));
    return ids;
  }
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  search::check_language_model(model, *tokenizer);
  for (const std::string& line : read_lines(o.input)) {
    if (ids.size() >= wanted) break;
    tokenizer->encode(line + "\n", Side::target, ids);
  }
  if (ids.size() < wanted)
    fail_usage("--input", fmt::format("{} has {} tokens, but {} are needed", o.input, ids.size(), wanted),
               "pass a longer text, or a smaller --batch-size or --prompt-length");
  ids.resize(wanted);
  return ids;
}

// The effect of proposals, compared to a run without them.
nlohmann::ordered_json speculation_json(const search::Speculation& s, const Timing& with, const Timing& without,
                                        double made) {
  std::int64_t same = 0;
  for (std::size_t r = 0; r < with.texts.size(); ++r) same += with.texts[r] == without.texts[r] ? 1 : 0;
  const auto share = [](std::int64_t a, std::int64_t b) {
    return b > 0 ? nlohmann::ordered_json(static_cast<double>(a) / static_cast<double>(b)) : nullptr;
  };
  return {{"generate_tokens_per_second", made / with.generation}, {"speedup", without.generation / with.generation},
          {"tokens_per_step", share(s.tokens, s.rows)},           {"proposed_per_step", share(s.proposed, s.rows)},
          {"acceptance", share(s.accepted, s.proposed)},          {"same_texts", share(same, std::ssize(with.texts))}};
}

int bench(const BenchOptions& o) {
  const auto source = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(source, o.decoding);
  if (model->has_encoder())
    fail_usage("--model", fmt::format("a {} model translates and does not continue text", model->family()),
               "use `tril bench translate`");
  const std::int64_t positions = model->max_positions();
  check(positions == 0 || o.prompt_length + o.new_tokens - 1 <= positions, "--new-tokens",
        "{} after a prompt of {} exceed the model's {} positions", o.new_tokens, o.prompt_length, positions);

  const Workload work{prompts_of(o, source, *model), static_cast<std::size_t>(o.decoding.batch_size), o.new_tokens};
  const ModelSet others(o.others, o.decoding, *model, nullptr);

  const int threads = thread_count(o.decoding.threads, o.decoding.placement);
  const Placement placement = placement_of(o.decoding.placement, threads);
  Arena arena;
  Context c(arena);
  Team team(threads, placement);
  const PinnedThread pinned(placement, 0);
  const MemoryPlaced memory(placement.numa, MemoryOf::all_threads);
  c.set_team(&team);
  const std::unique_ptr<nn::KvCache> cache = model->make_cache(c);
  check(cache != nullptr, "--model", "a {} model has no KV cache", model->family());
  const search::CacheOptions kept{.kept = {.precision = keeps_int8(o.decoding, *model) ? nn::KvCache::Precision::int8
                                                                                       : nn::KvCache::Precision::fp32}};
  cache->configure(kept.kept);
  std::optional<search::Session> session;
  if (others.speculative().on())
    session.emplace(c, *model, search::SessionOptions{.cache = kept, .speculative = others.speculative()});
  Timing best, proposed;
  for (std::int64_t i = 0; i < o.repeat; ++i) {
    const Timing t = run(*model, c, cache.get(), work);
    if (i == 0) best = t;
    best.best_of(t);
    if (!session) continue;
    const Timing p = run_with_proposals(*session, work);
    if (i == 0) proposed = p;
    proposed.best_of(p);
  }

  const auto read = static_cast<double>(work.prompts.size());
  const auto made = static_cast<double>(work.batch) * static_cast<double>(o.new_tokens - 1);
  const double bytes = train::step_weight_bytes(*model, model->parameters().serving_form()),
               steps = static_cast<double>(o.new_tokens - 1) / best.generation;
  const double peak = peak_mib();  // of the measured run, not of the comparison
  const double bandwidth = o.new_tokens > 1 ? train::measure_read_bandwidth(c.kernels(), c.threads()) : 0;
  nlohmann::ordered_json result{
      {"prompt_tokens_per_second", read / best.prompt},
      {"generate_tokens_per_second", o.new_tokens > 1 ? nlohmann::ordered_json(made / best.generation) : nullptr},
      {"weight_bytes_per_token", bytes / static_cast<double>(work.batch)},
      {"read_bandwidth", o.new_tokens > 1 ? nlohmann::ordered_json(bandwidth) : nullptr},
      {"share_of_bandwidth", o.new_tokens > 1 ? nlohmann::ordered_json(steps * bytes / bandwidth) : nullptr},
      {"peak_mib", peak},
      {"precision", nn::name_of(model->parameters().precision())},
      {"batch_size", work.batch},
      {"parameters", model->parameters().count()},
      {"threads", c.threads()},
      {"instruction_set", c.kernels().name}};
  if (session && o.new_tokens > 1)
    result["with_proposals"] = speculation_json(session->speculation(), proposed, best, made);
  write_stdout(json_text(result) + "\n");
  return exit_success;
}

}  // namespace

void add_bench_generate(App& app) {
  auto o = std::make_shared<BenchOptions>();
  o->decoding.batch_size = 1;
  app.add({.name = "bench generate",
           .summary = "measure generation speed",
           .description =
               "Prints one JSON object: tokens per second in prefill and in generation (the best of --repeat "
               "runs), the bytes of weights read for each generated token, the machine's memory bandwidth and "
               "the share of it that generation reached, the peak memory, and the precision of matrix products. With a "
               "draft model or prompt lookup, it also prints the same with proposed tokens, and how many of them were "
               "accepted.",
           .examples = {{"tril bench generate --model plays --prompt-length 64 --new-tokens 128", "one text at a time"},
                        {"tril bench generate -m plays --batch-size 32 --threads 1", "32 together"},
                        {"tril bench generate -m llama --draft-model llama --draft-precision int4",
                         "with the same model in 4 bits as its own draft"}},
           .fields = fields_of(*o),
           .models = {"model", "adapter", "draft-model", "draft-heads"},
           .apply_preset = {},
           .run = [o](const Invocation&) { return bench(*o); }});
}

}  // namespace tril::cli
