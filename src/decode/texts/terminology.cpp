#include "decode/texts/terminology.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "corpus/reader.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::search {
namespace {

std::size_t places(std::string_view phrase, std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1))
    n += is_word_boundary(text, at) && is_word_boundary(text, at + phrase.size()) ? 1 : 0;
  return n;
}

}  // namespace

Terminology::Terminology(std::vector<Term> terms) {
  std::vector<terms::Entry> entries;
  for (Term& term : terms) entries.push_back({std::move(term.source), std::move(term.target), terms::Match::exact});
  matchers_.push_back(std::make_shared<const terms::TermMatcher>(std::move(entries), terms::MatchOptions{}));
}

std::vector<Term> Terminology::find(std::string_view text) const {
  struct Found {
    std::size_t begin, end;
    const terms::Entry* entry;
  };
  std::vector<Found> all;  // in order, without overlaps
  for (const auto& matcher : matchers_) {
    std::vector<Found> more;
    auto next = all.begin();
    for (const terms::FoundTerm& one : matcher->find(text)) {
      while (next != all.end() && next->end <= one.begin) ++next;
      if (next == all.end() || next->begin >= one.end)
        more.push_back({one.begin, one.end, &matcher->entries()[one.entry]});
    }
    const auto old = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), more.begin(), more.end());
    std::inplace_merge(all.begin(), all.begin() + old, all.end(),
                       [](const Found& a, const Found& b) { return a.begin < b.begin; });
  }
  std::vector<Term> found;
  for (const Found& one : all) found.push_back({one.entry->source, one.entry->target});
  return found;
}

std::size_t Terminology::size() const {
  std::size_t size = 0;
  for (const auto& matcher : matchers_) size += matcher->entries().size();
  return size;
}

std::shared_ptr<const terms::TermMatcher> read_terminology(const std::string& path) {
  LineReader reader(path, {.may_skip = false});
  std::vector<terms::Entry> entries;
  for (std::string line; reader.next(line) == Line::text;) {
    if (trim(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    const auto where = [&] { return fmt::format("{}:{}", reader.name(), reader.line_number()); };
    if (tab == std::string::npos)
      fail(where(), fmt::format("expected \"source phrase<TAB>target phrase\", got \"{}\"", printable(line, 80)),
           "write one pair a line; `glossary` reads files of other forms (.tbx, .csv)");
    entries.push_back({line.substr(0, tab), line.substr(tab + 1), terms::Match::exact, reader.line_number()});
    if (trim(entries.back().source).empty() || trim(entries.back().target).empty())
      fail(where(), "a phrase is empty", "write \"source phrase<TAB>target phrase\"");
    if (entries.back().target.find('\t') != std::string::npos) fail(where(), "has more than one tab");
  }
  try {
    return std::make_shared<const terms::TermMatcher>(std::move(entries), terms::MatchOptions{});
  } catch (const Error& error) {  // a contradiction between lines
    fail(reader.name(), error.message(), error.hint());
  }
}

std::vector<Term> missing_terms(const std::vector<Term>& terms, std::string_view text, const Tokenizer& tokenizer) {
  std::vector<std::string> targets;
  for (const Term& term : terms)
    targets.push_back(tokenizer.decode(tokenizer.encode(term.target, Side::target), Side::target));
  std::vector<Term> missing;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::size_t wanted = 0, before = 0;  // before: equal terms up to this one, which are satisfied first
    for (std::size_t j = 0; j < terms.size(); ++j) {
      wanted += places(targets[i], targets[j]);
      before += j <= i && targets[j] == targets[i] ? 1 : 0;
    }
    std::size_t own = 0;
    for (const std::string& target : targets) own += target == targets[i] ? 1 : 0;
    const bool unknown = [&] {  // characters that are not in the vocabulary cannot be generated
      const auto ids = tokenizer.encode(terms[i].target, Side::target);
      return std::find(ids.begin(), ids.end(), tokenizer.special(Side::target).unk) != ids.end();
    }();
    if (unknown || places(targets[i], text) < wanted - own + before) missing.push_back(terms[i]);
  }
  return missing;
}

}  // namespace tril::search
