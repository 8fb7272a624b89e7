#include "decode/batches/prompt_lookup.h"

#include <algorithm>

#include "base/as_size.h"
#include "base/element.h"

namespace tril::search {
namespace {

// The position after the last occurrence of `ngram` in `text`; 0: there is none.
std::ptrdiff_t after_last(std::span<const std::int32_t> text, std::span<const std::int32_t> ngram) {
  const auto at = std::find_end(text.begin(), text.end(), ngram.begin(), ngram.end());
  return at == text.end() ? 0 : at - text.begin() + std::ssize(ngram);
}

// The number of tokens, up to `most`, in which the ends of two texts agree.
std::int64_t common_end(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int64_t most) {
  std::int64_t n = 0;
  while (n < std::min({most, std::ssize(a), std::ssize(b)}) &&
         element(a, std::ssize(a) - 1 - n) == element(b, std::ssize(b) - 1 - n))
    ++n;
  return n;
}

// At most `most` tokens from position `at`, up to the first that ends a text: nothing could be accepted after it.
std::span<const std::int32_t> proposal(std::span<const std::int32_t> text, std::ptrdiff_t at, std::int32_t most,
                                       std::span<const std::int32_t> ends) {
  const auto after = text.subspan(as_size(at), std::min(text.size() - as_size(at), as_size(most)));
  const auto end = std::find_first_of(after.begin(), after.end(), ends.begin(), ends.end());
  return after.first(as_size(end - after.begin()));
}

}  // namespace

void Lookup::add(std::span<const std::int32_t> sentences, std::span<const std::vector<std::int32_t>> sources) {
  if (!reads_sources_) return;
  for (std::size_t i = 0; i < sources.size(); ++i) sources_[sentences[i]] = sources[i];
}

// What follows the place of the row's prediction that agrees with most of the last generated tokens; nothing if no place agrees with
// enough of them. A text that goes on as predicted needs no search. Of equal places, the first one after the last place counts.
std::span<const std::int32_t> Lookup::predicted(const DraftRow& row) {
  constexpr std::int64_t least = 2, most = 32;  // tokens that must agree, and that are compared
  const std::span<const std::int32_t> prediction = *row.request->prediction;
  const std::span<const std::int32_t> generated = row.tokens.subspan(1 + row.request->prefix.size());
  const std::ptrdiff_t size = std::ssize(prediction), made = std::ssize(generated);
  Place& place = places_[row.sentence];
  if (made == 0) return {};
  const auto agreed = [&](std::ptrdiff_t at) { return common_end(prediction.first(as_size(at)), generated, most); };
  const std::int64_t all = std::min(most, made);
  std::int64_t best = made <= 1 ? 0 : least - 1;
  std::ptrdiff_t found = -1;
  if (const std::ptrdiff_t next = place.at + made - place.generated; next > 0 && next < size && agreed(next) == all)
    best = all, found = next;
  for (std::ptrdiff_t i = 0; i < size && best < all; ++i) {
    const std::ptrdiff_t at = (place.at + i) % size;
    if (const std::int64_t here = agreed(at); here > best) best = here, found = at;
  }
  if (found < 0) return {};
  place = {found, made};
  return prediction.subspan(as_size(found));
}

void Lookup::propose(Context&, const Drafts& drafts, std::vector<std::vector<std::int32_t>>& proposals) {
  proposals.assign(drafts.rows.size(), {});
  for (std::size_t r = 0; r < drafts.rows.size(); ++r) {
    const DraftRow& row = drafts.rows[r];
    if (row.most <= 0) continue;
    if (row.request->prediction) {
      const auto found = proposal(predicted(row), 0, row.most, row.plan->eos_ids);
      proposals[r].assign(found.begin(), found.end());
    }
    const auto own = sources_.find(row.sentence);
    const std::span<const std::int32_t> source =
        own == sources_.end() ? std::span<const std::int32_t>{} : std::span<const std::int32_t>(own->second);
    const std::span<const std::int32_t> before =
        row.tokens.first(row.tokens.size() - 1);  // the n-gram itself does not count
    const std::int64_t longest = std::min<std::int64_t>(ngram_, std::ssize(row.tokens));
    for (std::int64_t n = longest; n > 0 && proposals[r].empty(); --n) {
      const std::span<const std::int32_t> ngram = row.tokens.last(as_size(n));
      for (const auto& [searched, text] : {std::pair(before, row.tokens), std::pair(source, source)}) {
        const std::ptrdiff_t at = after_last(searched, ngram);
        if (at == 0 || !proposals[r].empty()) continue;
        const auto found = proposal(text, at, row.most, row.plan->eos_ids);
        proposals[r].assign(found.begin(), found.end());
      }
    }
  }
}

}  // namespace tril::search
