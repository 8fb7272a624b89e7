// Records -> text: the sales of several things, and sentences that say which led, which came last and how many passed a
// mark. The figures are in random order, so the model must compare and count.
#include <fmt/format.h>

#include <algorithm>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

constexpr std::array goods{"tea",  "milk", "rice", "salt",  "soap",  "wine",  "corn",  "wool",
                           "silk", "coal", "fish", "honey", "bread", "paper", "glass", "sugar"};
constexpr std::array count_words{"None", "One", "Two", "Three", "Four", "Five", "Six"};
constexpr int mark = 50;

std::string capital(std::string word) {
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

}  // namespace

DemoPair summary_pair(RandomSequence& random) {
  struct Record {
    std::string name;
    int sold;
  };
  const auto count = static_cast<std::size_t>(draw_between(random, 3, 6));
  const std::vector<std::size_t> names = draw_distinct(random, goods.size(), count),
                                 sold = draw_distinct(random, 99, count);
  std::vector<Record> records;
  std::string source;
  for (std::size_t i = 0; i < count; ++i) {
    records.push_back({goods[names[i]], static_cast<int>(sold[i]) + 1});
    source += fmt::format("{}{} {}", i > 0 ? " ; " : "", records[i].name, records[i].sold);
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.sold > b.sold; });
  const auto above = static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(), [](const Record& r) { return r.sold > mark; }));
  return {source, fmt::format("{} led with {} , before {} with {} . {} came last with {} . {} passed {} .",
                              capital(records[0].name), records[0].sold, records[1].name, records[1].sold,
                              capital(records.back().name), records.back().sold, count_words[above], mark)};
}

}  // namespace tril::train
