#include "decode/texts/terminology.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "corpus/reader.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::search {
namespace {

// The text from `at` to the next word boundary: a word, or a character that is not part of one.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80 || !is_word_boundary(text, end)))
    ++end;
  return text.substr(at, end - at);
}

std::size_t places(std::string_view phrase, std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + 1))
    n += is_word_boundary(text, at) && is_word_boundary(text, at + phrase.size()) ? 1 : 0;
  return n;
}

}  // namespace

Terminology::Terminology(std::vector<Term> terms) {
  for (Term& term : terms) {
    term = {std::string(trim(term.source)), std::string(trim(term.target))};
    if (term.source.empty() || term.target.empty())
      fail_usage("terminology", fmt::format("\"{}\" -> \"{}\": a phrase is empty", term.source, term.target));
    auto& list = by_first_word_[std::string(word_at(term.source, 0))];
    const auto same = std::find_if(list.begin(), list.end(), [&](const Term& t) { return t.source == term.source; });
    if (same == list.end()) {
      list.push_back(std::move(term));
      ++size_;
    } else if (same->target != term.target) {
      fail_usage("terminology",
                 fmt::format("\"{}\" has two translations, \"{}\" and \"{}\"", term.source, same->target, term.target),
                 "keep only one of them");
    }
  }
  for (auto& [word, list] : by_first_word_)
    std::stable_sort(list.begin(), list.end(),
                     [](const Term& a, const Term& b) { return a.source.size() > b.source.size(); });
}

std::vector<Term> Terminology::find(std::string_view text) const {
  std::vector<Term> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    std::size_t length = word.size();
    if (const auto list = by_first_word_.find(std::string(word)); list != by_first_word_.end())
      for (const Term& term : list->second)
        if (text.substr(at).starts_with(term.source) && is_word_boundary(text, at + term.source.size())) {
          found.push_back(term);
          length = term.source.size();
          break;
        }
    at += length;
  }
  return found;
}

Terminology read_terminology(const std::string& path) {
  LineReader reader(path, {.may_skip = false});
  std::vector<Term> terms;
  for (std::string line; reader.next(line) == Line::text;) {
    if (trim(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    const auto where = [&] { return fmt::format("{}:{}", reader.name(), reader.line_number()); };
    if (tab == std::string::npos)
      fail(where(), fmt::format("expected \"source phrase<TAB>target phrase\", got \"{}\"", printable(line)));
    terms.push_back({line.substr(0, tab), line.substr(tab + 1)});
    if (trim(terms.back().source).empty() || trim(terms.back().target).empty())
      fail(where(), "a phrase is empty", "write \"source phrase<TAB>target phrase\"");
    if (terms.back().target.find('\t') != std::string::npos) fail(where(), "has more than one tab");
  }
  try {
    return Terminology(std::move(terms));
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
