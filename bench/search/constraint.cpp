// The cost of a constraint per step: the mask of the allowed tokens, and its application to the logits, for
// vocabularies of 32,000 and 128,000 tokens. A text is sampled under the schema again and again; "first" makes a new
// constraint for each text, so that every state is new, "again" reuses it.
#include <benchmark/benchmark.h>

#include "base/rng.h"
#include "grammar/automata/constraint.h"
#include "grammar/nth_id.h"
#include "grammar/schemas/json_schema.h"
#include "search/processors.h"

namespace {

using namespace tril;
using namespace tril::search;

constexpr std::string_view schema = R"({"type": "object", "additionalProperties": false,
  "required": ["name", "age", "mail", "tags", "address", "notes"],
  "properties": {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "mail": {"type": "string", "format": "email"}, "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
    "address": {"type": "object", "required": ["street", "city"], "properties": {"street": {"type": "string"},
      "city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}}},
    "notes": {"type": "array", "items": {"type": "string"}, "maxItems": 5}}})";

// All bytes, then words of a few syllables with and without a leading space, which share prefixes as words do.
std::shared_ptr<const TokenTrie> vocabulary(std::size_t size) {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  for (const char* mark : {"\": \"", "\", \"", "{\"", "\"}", "\":", "},", "[\"", "\"]", ", \"", "00", "\n\n"})
    tokens.emplace_back(mark);
  RandomSequence random(1, 1);
  const std::string_view consonants = "bcdfghjklmnprstvwz", vowels = "aeiou";
  const auto u = [&](std::size_t n) {
    return static_cast<std::size_t>(static_cast<double>(n) * random.uniform() * random.uniform());
  };
  while (tokens.size() + 1 < size) {
    std::string word(random.below(2) ? " " : "");
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      word += consonants[u(consonants.size())];
      word += vowels[u(vowels.size())];
      if (random.below(3) == 0) word += consonants[u(consonants.size())];
    }
    if (random.below(40) == 0) word += "\xc3\xa9";
    tokens.push_back(std::move(word));
  }
  tokens.emplace_back();
  return std::make_shared<TokenTrie>(tokens);
}

// Samples one text; returns its number of steps.
std::int64_t draw_text(const Constraint& c, RandomSequence& random, std::vector<std::int32_t>& text) {
  text.clear();
  for (;;) {
    const Constraint::Allowed allowed = c.after(text, 150 - static_cast<std::int64_t>(text.size()));
    if (allowed.count == 0 || (allowed.complete && random.below(2) == 0))
      return static_cast<std::int64_t>(text.size()) + 1;
    const auto number = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(allowed.count)));
    text.push_back(nth_id(allowed.mask, number));
  }
}

void steps(benchmark::State& state) {
  const auto trie = vocabulary(static_cast<std::size_t>(state.range(0)));
  const bool again = state.range(1) != 0;
  const Grammar grammar = compile_json_schema(schema).grammar;
  RandomSequence random(2, 2);
  std::vector<std::int32_t> text;
  auto c = std::make_unique<Constraint>(grammar, trie);
  if (again)
    for (int i = 0; i < 20; ++i) draw_text(*c, random, text);
  std::int64_t tokens = 0;
  for (auto _ : state) {
    if (!again) {
      state.PauseTiming();
      c = std::make_unique<Constraint>(grammar, trie);
      state.ResumeTiming();
    }
    tokens += draw_text(*c, random, text);
  }
  state.counters["us_a_step"] =
      benchmark::Counter(static_cast<double>(tokens) / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["steps_a_text"] = static_cast<double>(tokens) / static_cast<double>(state.iterations());
}
BENCHMARK(steps)
    ->ArgNames({"vocabulary", "again"})
    ->Args({32'000, 0})
    ->Args({32'000, 1})
    ->Args({128'000, 0})
    ->Args({128'000, 1})
    ->Unit(benchmark::kMillisecond);

// Applies the mask of a string's inside, which allows nearly all tokens, to one row of logits.
void masking(benchmark::State& state) {
  const std::int64_t V = state.range(0);
  Arena arena;
  Context c(arena);
  const Tensor logits = c.upload<float>(std::vector<float>(static_cast<std::size_t>(V), 1.0f), {1, V});
  const auto trie = vocabulary(static_cast<std::size_t>(V));
  const Constraint constraint(compile_json_schema(R"({"type":"string"})").grammar, trie);
  const std::vector<std::int32_t> begun{'"'};
  for (auto _ : state) {
    const Constraint::Allowed allowed = constraint.after(begun, 1000);
    StepLogits values(c, logits, {});
    benchmark::DoNotOptimize(values.keep(0, allowed.mask, allowed.count));
  }
}
BENCHMARK(masking)->ArgName("vocabulary")->Arg(32'000)->Arg(128'000)->Unit(benchmark::kMicrosecond);

// Compiles a schema to a grammar.
void compiling(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compile_json_schema(schema));
}
BENCHMARK(compiling)->Unit(benchmark::kMicrosecond);

// Builds the trie of a vocabulary, as done once per model.
void trie(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(vocabulary(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(trie)->ArgName("vocabulary")->Arg(128'000)->Unit(benchmark::kMillisecond);

}  // namespace
