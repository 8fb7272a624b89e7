// The cost of a constraint's mask for each token, over real schemas and a real vocabulary: texts are drawn under every
// schema of some folders. A token in four is that of the shortest ending, so that texts end; the others are any of the
// allowed ones. The first text of a schema meets new states alone, the later ones also those that it has left behind.
// usage: schema_steps TOKENIZER_DIRECTORY MOST_SCHEMAS SCHEMA_FOLDER...
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "grammar/automata/constraint.h"
#include "grammar/nth_id.h"
#include "grammar/schemas/json_schema.h"
#include "tokenizer/files/token_bytes.h"
#include "tokenizer/files/tokenizer.h"

namespace {

using namespace tril;
using namespace tril::search;

constexpr std::int64_t room = 4000;   // tokens that a text may have: far from the ends that these texts find
constexpr std::size_t longest = 400;  // tokens that are drawn of one text

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Draws one text; adds the microseconds of each of its masks.
void draw_text(const Constraint& c, RandomSequence& random, std::vector<double>& costs) {
  std::vector<std::int32_t> text;
  while (text.size() < longest) {
    const double begin = processor_seconds();
    const Constraint::Allowed allowed = c.after(text, room - std::ssize(text));
    costs.push_back((processor_seconds() - begin) * 1e6);
    if (allowed.count == 0 || (allowed.complete && random.below(2) == 0)) return;
    const bool hurry = !allowed.complete && random.below(4) == 0;
    const auto number = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(allowed.count)));
    text.push_back(hurry ? c.shortest_after(text, room - std::ssize(text)) : nth_id(allowed.mask, number));
  }
}

void print(const char* name, std::vector<double> costs) {
  std::sort(costs.begin(), costs.end());
  const auto at = [&](double share) { return costs[static_cast<std::size_t>(share * (std::ssize(costs) - 1))]; };
  fmt::print("{:<12} {:>8} steps: mean {:.1f} us, p50 {:.1f}, p90 {:.1f}, p99 {:.1f}, most {:.1f}\n", name,
             costs.size(), std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size()),
             at(0.5), at(0.9), at(0.99), costs.back());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: schema_steps TOKENIZER_DIRECTORY MOST_SCHEMAS SCHEMA_FOLDER...\n");
    return 2;
  }
  try {
    const auto tokenizer = load_tokenizer(argv[1]);
    double begin = processor_seconds();
    const auto trie = std::make_shared<const TokenTrie>(token_bytes(*tokenizer));
    fmt::print("vocabulary of {}, its trie in {:.0f} ms\n", trie->size(), (processor_seconds() - begin) * 1e3);
    std::vector<std::filesystem::path> files;
    for (int a = 3; a < argc; ++a)
      for (const auto& file : std::filesystem::recursive_directory_iterator(argv[a]))
        if (file.path().extension() == ".json") files.push_back(file.path());
    std::sort(files.begin(), files.end());
    const std::size_t every = std::max<std::size_t>(1, files.size() / std::stoul(argv[2]));
    std::vector<double> first, again, compiled;
    std::size_t refused = 0;
    for (std::size_t f = 0; f < files.size(); f += every) {
      try {
        begin = processor_seconds();
        const Constraint c(compile_json_schema(read_text(files[f], 1 << 24), {.alphabet = trie->alphabet()}).grammar,
                           trie);
        if (c.least_tokens() > 1000) continue;
        compiled.push_back((processor_seconds() - begin) * 1e6);
        RandomSequence random(f, 1);
        draw_text(c, random, first);
        for (int more = 0; more < 3; ++more) draw_text(c, random, again);
      } catch (const Error&) {
        ++refused;
      }
    }
    fmt::print("{} schemas, {} refused\n", compiled.size(), refused);
    if (compiled.empty()) return 1;
    print("to compile", compiled);
    print("first text", first);
    print("later texts", again);
  } catch (const Error& error) {
    std::fprintf(stderr, "schema_steps: %s\n", error.what());
    return 1;
  }
  return 0;
}
