// tril bench translate: how fast a model decodes text. Tokenising and loading are not timed. A --min-length equal to
// --max-length gives every output that length, whatever the end token, so that a model of random weights does the same
// work everywhere; the model directory's forced end token is then ignored.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "base/clock.h"
#include "base/memory.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "decode/models/decoding_options.h"
#include "format/json_text.h"
#include "kern/batch_invariant.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "perf/roofline.h"

namespace tril::cli {
namespace {

struct TranslateBench {
  DecodingOptions decoding;
  std::string input = "-";
  std::int64_t sentences = 0, repeat = 3;
  bool profile = false;
};

Fields fields_of(TranslateBench& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.group("Text");
  f.add("input", &o.input, "text to translate, one sentence per line; - is standard input")
      .letter('i')
      .value_name("FILE");
  f.add("sentences", &o.sentences, "number of lines to translate, from the first; 0: all").at_least(0);
  f.add("repeat", &o.repeat, "number of runs, of which the fastest counts").at_least(1).at_most(1000);
  f.add("profile", &o.profile,
        "run once more with one worker and print where its time went, the speed of its matrix products, and the upper "
        "bound for 8-bit products");
  f.group("Search");
  add_translation_fields(f, o.decoding);
  add_choice_fields(f, o.decoding);
  return f;
}

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = std::lround(p * static_cast<double>(values.size() - 1));
  return values[as_size(rank)];
}

// One worker's time by op; "rest" is time outside of ops: the search itself, and waiting.
nlohmann::ordered_json profile_of(const model::Model& model, const search::ParallelOptions& o,
                                  std::span<const std::vector<std::int32_t>> sources,
                                  std::span<const search::Request> requests) {
  const std::unique_ptr<Team> team = o.batch_size == 1 ? search::team_of_one(model, o.threads, o.placement) : nullptr;
  const PinnedThread pinned(o.placement, 0);
  const MemoryPlaced memory(o.placement.numa, team ? MemoryOf::all_threads : MemoryOf::one_thread);
  Arena arena;
  Context c(arena, o.deterministic ? kern::batch_invariant(kern::best()) : kern::best());
  c.set_team(team.get());
  search::Session session(c, model, o.session);
  const auto batch = static_cast<std::size_t>(o.batch_size);
  session.decode(sources.first(std::min(batch, sources.size())), requests.first(std::min(batch, sources.size())),
                 o.search, o.batch_size);
  Profile profile;
  c.set_profile(&profile);
  std::int64_t tokens = 0;
  const double start = seconds_now();
  for (std::size_t i = 0; i < sources.size(); i += batch) {
    const std::size_t n = std::min(batch, sources.size() - i);
    for (const auto& list : session.decode(sources.subspan(i, n), requests.subspan(i, n), o.search, o.batch_size))
      tokens += std::ssize(list[0].tokens);
  }
  const double wall = seconds_now() - start;
  c.set_profile(nullptr);
  std::vector<ProfileRow> rows = profile.rows();
  std::sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  double operations = 0;
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const ProfileRow& r : rows) {
    const double made = r.work.flops + r.work.mixed_flops;
    operations += made;
    list.push_back({{"name", fmt::format("{}: {}", r.op, r.part)},
                    {"calls", r.calls},
                    {"share", r.seconds / wall},
                    {"gflop", made / 1e9},
                    {"gflops", r.seconds > 0 ? made / r.seconds / 1e9 : 0}});
  }
  list.push_back({{"name", "rest"}, {"share", 1 - profile.seconds() / wall}});
  const double most = train::measure_quantized_products(c.kernels(), c.threads());
  return {{"threads", c.threads()},
          {"target_tokens_per_second", static_cast<double>(tokens) / wall},
          {"mflop_per_token", operations / static_cast<double>(tokens) / 1e6},
          {"gflops", operations / wall / 1e9},
          {"int8_gflops", most / 1e9},
          {"share_of_int8", operations / wall / most},
          {"rows", list}};
}

int bench_translate(const TranslateBench& o) {
  const auto source = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(source, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  search::check_tokenizer(*model, *tokenizer);
  search::TranslatorOptions options = translator_options(o.decoding, source.generation(), *model, *tokenizer);
  if (options.min_length == options.max_length) options.decoding.search.forced_eos_id = -1;
  options.decoding.refill = 1;  // a job is one batch, so that its time is that of a batch
  check(model->max_positions() == 0 || options.max_length <= model->max_positions(), "--max-length",
        "{} tokens, but the model has {} positions", options.max_length, model->max_positions());

  LineReader reader(o.input);
  std::vector<std::vector<std::int32_t>> sources;
  std::string text;
  while ((o.sentences == 0 || std::ssize(sources) < o.sentences) && reader.next(text) != Line::end) {
    bool cut = false;
    sources.push_back(search::source_ids(*tokenizer, text, model->max_positions(), cut));
  }
  check(!sources.empty(), reader.name(), "expected at least one line, got none");
  const std::vector<search::Request> requests(
      sources.size(), {model->special_ids().decoder_start, options.min_length, options.max_length});

  // Single sentences are decoded one after the other, for latency; larger batches are shared among workers.
  search::ParallelDecoder decoder(*model, options.decoding);
  double fastest = 0;
  std::int64_t tokens = 0;
  std::vector<double> batch_seconds;
  const auto decode = [&](std::size_t begin, std::size_t end, std::vector<double>& seconds) {
    const auto found =
        decoder.decode(std::span(sources).subspan(begin, end - begin), std::span(requests).subspan(begin, end - begin));
    seconds.insert(seconds.end(), decoder.job_seconds().begin(), decoder.job_seconds().end());
    std::int64_t made = 0;
    for (const auto& hypotheses : found) made += std::ssize(hypotheses[0].tokens);
    return made;
  };
  for (std::int64_t run = 0; run < o.repeat; ++run) {
    std::vector<double> seconds;
    std::int64_t made = 0;
    const auto begin = std::chrono::steady_clock::now();
    if (o.decoding.batch_size == 1)
      for (std::size_t i = 0; i < sources.size(); ++i) made += decode(i, i + 1, seconds);
    else
      made = decode(0, sources.size(), seconds);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (run == 0 || took < fastest) fastest = took, tokens = made, batch_seconds = seconds;
  }

  nlohmann::ordered_json result{{"target_tokens_per_second", static_cast<double>(tokens) / fastest},
                                {"p50_ms", 1e3 * percentile(batch_seconds, 0.5)},
                                {"p99_ms", 1e3 * percentile(batch_seconds, 0.99)},
                                {"peak_mib", peak_mib()},
                                {"sentences", sources.size()},
                                {"target_tokens", tokens}};
  if (o.profile) result["profile"] = profile_of(*model, options.decoding, sources, requests);
  write_stdout(json_text(result) + "\n");
  return exit_success;
}

}  // namespace

void add_bench_translate(App& app) {
  auto o = std::make_shared<TranslateBench>();
  app.add(
      {.name = "bench translate",
       .summary = "measure translation speed",
       .description = "Prints one JSON object: target tokens per second (the best of --repeat runs), the median and "
                      "99th percentile of the time per batch, and the peak memory.",
       .examples = {{"tril bench translate -m de -i test.en -b 4 --batch-size 32", "beam search, two workers or more"},
                    {"tril bench translate -m de -i test.en -b 1 --min-length 24 --max-length 24 --sentences 1000",
                     "the same output length for every model"}},
       .fields = fields_of(*o),
       .models = {"model", "adapter"},
       .apply_preset = {},
       .run = [o](const Invocation&) { return bench_translate(*o); }});
}

}  // namespace tril::cli
