// Times of a translation memory and of a glossary:
//   bench_terms memory MEMORY.tsv SOURCE TARGET QUERIES   loading, and the time of a look-up
//   bench_terms glossary GLOSSARY.tsv TEXT                the time of finding terms
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "terms/glossary.h"
#include "terms/term_matcher.h"
#include "terms/translation_memory.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void print_times(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return 1e3 * seconds[static_cast<std::size_t>(share * (double(seconds.size()) - 1))];
  };
  fmt::print("ms: p50 {:.3f}, p95 {:.3f}, p99 {:.3f}, most {:.3f}\n", at(0.5), at(0.95), at(0.99), at(1));
}

void time_memory(const std::string& path, const tril::terms::LanguagePair& pair, const std::string& queries) {
  std::vector<std::string> notes;
  const auto begun = Clock::now();
  const tril::terms::TranslationMemory memory = tril::terms::read_memory(path, pair, notes);
  fmt::print("{} sentences, {} MB, read in {:.2f} s\n", memory.size(), memory.bytes() / 1'000'000,
             seconds_since(begun));
  std::vector<double> times;
  std::size_t exact = 0, similar = 0;
  for (const std::string& query : lines_of(queries)) {
    const auto start = Clock::now();
    const auto hits = memory.find(query);
    times.push_back(seconds_since(start));
    exact += !hits.empty() && hits[0].score == 100 ? 1 : 0;
    similar += !hits.empty() && hits[0].score < 100 ? 1 : 0;
  }
  fmt::print("{} look-ups: {} exact, {} similar\n", times.size(), exact, similar);
  print_times(std::move(times));
}

void time_glossary(const std::string& path, const std::string& text) {
  const auto begun = Clock::now();
  const auto glossary = tril::terms::glossary_of(tril::terms::read_term_table(path), {"en", "de"});
  const tril::terms::TermMatcher matcher(glossary.entries, {tril::terms::Match::stem, "en"});
  fmt::print("{} entries, read in {:.2f} s\n", matcher.entries().size(), seconds_since(begun));
  std::size_t bytes = 0, found = 0;
  const std::vector<std::string> lines = lines_of(text);
  const auto start = Clock::now();
  for (const std::string& line : lines) bytes += line.size(), found += matcher.find(line).size();
  const double seconds = seconds_since(start);
  fmt::print("{} terms in {} lines, {:.1f} MB/s, {:.2f} us a line\n", found, lines.size(),
             1e-6 * static_cast<double>(bytes) / seconds, 1e6 * seconds / static_cast<double>(lines.size()));
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> a(arguments + 1, arguments + count);
  try {
    if (a.size() == 5 && a[0] == "memory")
      time_memory(a[1], {a[2], a[3]}, a[4]);
    else if (a.size() == 3 && a[0] == "glossary")
      time_glossary(a[1], a[2]);
    else
      fmt::print(stderr, "bench_terms memory MEMORY SOURCE TARGET QUERIES | glossary GLOSSARY TEXT\n");
  } catch (const tril::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
