// The program that check_schemas.py runs: reads schemas, one a line, and writes samples of their grammars.
//
//   in   {"schema": "...", "samples": 5, "seed": 1, "texts": ["...", ...]}      schema and texts are JSON in a string
//   out  {"error": "..."}                                                       if the schema is refused
//        {"samples": ["...", ...], "accepted": [true, ...], "seconds": 0.01, "states": 100, "notes": "..."}
//
// A sample is a walk over the grammar by bytes: a random allowed byte at each step, and sometimes the shortest ending,
// so that texts are neither empty nor endless.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "grammar/automata/constraint.h"
#include "grammar/schemas/json_schema.h"

namespace {

using Json = nlohmann::ordered_json;
using tril::search::Constraint;

constexpr std::int64_t longest_sample = 4000;  // bytes beyond the shortest

// A token for each byte, and an end token.
std::shared_ptr<const tril::search::TokenTrie> bytes() {
  std::vector<std::string> list;
  for (int b = 0; b < 256; ++b) list.emplace_back(1, static_cast<char>(b));
  list.emplace_back();
  return std::make_shared<tril::search::TokenTrie>(list);
}

std::string sample(const Constraint& constraint, tril::RandomSequence& random) {
  const std::int64_t room = constraint.least_tokens() + static_cast<std::int64_t>(random.below(longest_sample));
  const std::uint64_t haste = 2 + random.below(8);
  std::vector<std::int32_t> tokens;
  for (;;) {
    const std::int64_t left = room - static_cast<std::int64_t>(tokens.size());
    const auto allowed = constraint.after(tokens, left);
    std::vector<std::int32_t> next;
    for (std::int32_t id = 0; id < 256 && !allowed.mask.empty(); ++id)
      if (allowed.mask[static_cast<std::size_t>(id / 64)] >> (id % 64) & 1) next.push_back(id);
    if (next.empty() || (allowed.complete && random.below(4) == 0)) break;
    const bool hurry = !allowed.complete && random.below(haste) == 0;
    tokens.push_back(hurry ? constraint.shortest_after(tokens, left) : next[random.below(next.size())]);
  }
  std::string text;
  for (const std::int32_t token : tokens) text += static_cast<char>(token);
  return text;
}

Json answer(const Json& question, const std::shared_ptr<const tril::search::TokenTrie>& tokens) {
  const auto begin = std::chrono::steady_clock::now();
  Json out;
  try {
    tril::search::CompiledSchema compiled = tril::search::compile_json_schema(question["schema"].get<std::string>(),
                                                                              {.space = tril::search::JsonSpace::none});
    out["states"] = compiled.grammar.states();
    out["notes"] = compiled.notes.text();
    const Constraint constraint(std::move(compiled.grammar), tokens);
    out["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    tril::RandomSequence random(question.value("seed", std::uint64_t{1}), 1);
    out["samples"] = Json::array();
    const bool is_short = constraint.least_tokens() < 100'000;
    for (int i = 0; i < question.value("samples", 0) && is_short; ++i)
      out["samples"].push_back(sample(constraint, random));
    out["accepted"] = Json::array();
    for (const Json& text : question.value("texts", Json::array()))
      out["accepted"].push_back(constraint.allows(text.get<std::string>()));
  } catch (const tril::Error& error) {
    out["error"] = error.what();
    out["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  out["peak_kib"] = used.ru_maxrss;
  return out;
}

}  // namespace

int main() {
  const auto tokens = bytes();
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(Json::parse(line), tokens).dump(-1, ' ', /*ensure_ascii=*/true) << std::endl;
}
