#include "document/segments/links.h"

#include <algorithm>
#include <map>

#include "document/segments/words.h"
#include "unicode/letter_case.h"

namespace tril::document {
namespace {

// The words of a text that occur once, in small letters.
std::map<std::string, Range> unique_words(std::string_view text, const std::vector<Range>& words) {
  std::map<std::string, Range> unique;
  std::map<std::string, int> counts;
  for (const Range& w : words) {
    std::string word = lower_case(text.substr(w.begin, w.size()));
    ++counts[word];
    unique[std::move(word)] = w;
  }
  for (const auto& [word, count] : counts)
    if (count > 1) unique.erase(word);
  return unique;
}

}  // namespace

std::vector<Link> guessed_links(std::string_view source, std::string_view target) {
  const std::vector<Range> from = words_of(source), to = words_of(target);
  std::vector<Link> links;
  if (from.empty()) return links;
  const std::map<std::string, Range> in_source = unique_words(source, from), in_target = unique_words(target, to);
  for (std::size_t t = 0; t < to.size(); ++t) {
    const std::string word = lower_case(target.substr(to[t].begin, to[t].size()));
    const auto same = in_source.find(word);
    if (same != in_source.end() && in_target.contains(word))
      links.push_back({same->second, to[t], 1});
    else
      links.push_back({from[t * from.size() / to.size()], to[t], 0.5f});
  }
  return links;
}

}  // namespace tril::document
