#include "search/phrases.h"

#include <algorithm>

namespace tril::search {
namespace {

bool contains(std::span<const std::int32_t> list, std::span<const std::int32_t> part) {
  return std::search(list.begin(), list.end(), part.begin(), part.end()) != list.end();
}

// True if the options forbid a token or a part of the phrase.
bool is_forbidden(const SearchPlan& o, std::span<const std::int32_t> phrase) {
  const auto is_one_of = [](std::int32_t id, std::span<const std::int32_t> list) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  for (std::int32_t id : phrase)
    if (is_one_of(id, o.eos_ids) || is_one_of(id, o.suppress_ids)) return true;
  return std::any_of(o.bad_words.begin(), o.bad_words.end(), [&](const auto& word) { return contains(phrase, word); });
}

std::vector<std::int32_t> borders(std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> border(tokens.size() + 1, 0);
  std::int32_t k = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    while (k > 0 && tokens[k] != tokens[i]) k = border[k];
    if (tokens[k] == tokens[i]) ++k;
    border[i + 1] = k;
  }
  return border;
}

}  // namespace

Phrases::Phrases(const Request& request, const SearchPlan& options) : options_(&options) {
  std::int64_t room = request.max_length - (options.eos_ids.empty() ? 0 : 1);
  for (std::size_t i = 0; i < request.phrases.size(); ++i) {
    const auto& tokens = request.phrases[i];
    const auto number = static_cast<std::int32_t>(i);
    const auto length = std::ssize(tokens);
    if (tokens.empty() || length > room || is_forbidden(options, tokens)) {
      left_out_.push_back(number);
      continue;
    }
    room -= length;
    const auto same = std::find_if(list_.begin(), list_.end(), [&](const Phrase& p) { return p.tokens == tokens; });
    if (same != list_.end())
      same->members.push_back(number);
    else
      list_.push_back({tokens, borders(tokens), {number}, 0});
  }
  for (Phrase& p : list_)
    for (const Phrase& other : list_)
      p.wanted += static_cast<std::int32_t>(other.members.size()) * occurrences(p, other.tokens);
}

bool Phrases::continues_word(std::int32_t token) const {
  return !options_->continues_word.empty() && options_->continues_word[token];
}

std::int32_t Phrases::occurrences(const Phrase& p, std::span<const std::int32_t> tokens) const {
  std::int32_t n = 0;
  for (std::size_t i = 0; i + p.tokens.size() <= tokens.size(); ++i) {
    const std::size_t end = i + p.tokens.size();
    n += std::equal(p.tokens.begin(), p.tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i)) &&
                 (end == tokens.size() || !continues_word(tokens[end]))
             ? 1
             : 0;
  }
  return n;
}

void Phrases::advance(std::span<const std::int32_t> from, std::int32_t token, std::span<std::int32_t> to) const {
  const bool same_word = continues_word(token);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Phrase& p = list_[i];
    std::int32_t matched = from[2 * i];
    std::int32_t before = from[2 * i + 1];
    if (matched == static_cast<std::int32_t>(p.tokens.size())) {
      if (!same_word) ++before;
      matched = p.border[matched];
    }
    while (matched > 0 && p.tokens[matched] != token) matched = p.border[matched];
    if (p.tokens[matched] == token) ++matched;
    to[2 * i] = matched;
    to[2 * i + 1] = before;
  }
}

// The number of occurrences of phrase i, at most as many as are required.
std::int32_t Phrases::count(std::size_t i, std::span<const std::int32_t> state) const {
  const bool here = state[2 * i] == static_cast<std::int32_t>(list_[i].tokens.size());
  return std::min(list_[i].wanted, state[2 * i + 1] + (here ? 1 : 0));
}

std::int32_t Phrases::progress(std::span<const std::int32_t> state) const {
  std::int32_t done = 0, begun = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const auto length = static_cast<std::int32_t>(list_[i].tokens.size());
    const std::int32_t n = count(i, state);
    done += n * length;
    if (n < list_[i].wanted && state[2 * i] < length) begun = std::max(begun, state[2 * i]);
  }
  return done + begun;
}

std::int32_t Phrases::missing(std::span<const std::int32_t> state) const {
  auto n = static_cast<std::int32_t>(left_out_.size());
  for (std::size_t i = 0; i < list_.size(); ++i) n += list_[i].wanted - count(i, state);
  return n;
}

std::vector<std::int32_t> Phrases::unsatisfied(std::span<const std::int32_t> state) const {
  std::vector<std::int32_t> numbers = left_out_;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const auto& members = list_[i].members;
    const std::int64_t all = std::ssize(members), missing = list_[i].wanted - count(i, state);
    for (std::int64_t m = std::max<std::int64_t>(0, all - missing); m < all; ++m) numbers.push_back(members[m]);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void Phrases::next_tokens(std::span<const std::int32_t> state, std::vector<std::int32_t>& ids) const {
  if (list_.empty()) return;
  const std::size_t first = ids.size();
  const auto add = [&](std::int32_t id) {
    if (std::find(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const Phrase& p = list_[i];
    if (count(i, state) == p.wanted) continue;
    const std::int32_t matched = state[2 * i];
    add(p.tokens[matched == std::ssize(p.tokens) ? p.border[matched] : matched]);
  }
  if (ids.size() == first)
    for (std::int32_t id : options_->eos_ids) add(id);
}

}  // namespace tril::search
