#include "search/options.h"

#include <cmath>

#include "base/error.h"

namespace tril::search {
namespace {

void check_id(std::int32_t id, std::int64_t vocab_size, std::string_view what) {
  check(id >= 0 && id < vocab_size, what, "id {} is outside the vocabulary of {}", id, vocab_size);
}

}  // namespace

void check_options(const SearchOptions& o, std::int64_t vocab_size) {
  check(o.beam_size >= 1, "beam size", "expected at least 1, got {}", o.beam_size);
  check(o.n_best >= 1 && o.n_best <= o.beam_size, "n-best", "expected 1 to the beam size of {}, got {}", o.beam_size,
        o.n_best);
  check(std::isfinite(o.length_penalty), "length penalty", "expected a finite number, got {}", o.length_penalty);
  check(o.no_repeat_ngram >= 0, "no-repeat n-gram size", "expected at least 0, got {}", o.no_repeat_ngram);
  for (std::int32_t id : o.eos_ids) check_id(id, vocab_size, "EOS");
  for (std::int32_t id : o.suppress_ids) check_id(id, vocab_size, "suppressed tokens");
  for (std::int32_t id : o.begin_suppress_ids) check_id(id, vocab_size, "tokens suppressed at the beginning");
  if (o.forced_bos_id != -1) check_id(o.forced_bos_id, vocab_size, "forced BOS");
  if (o.forced_eos_id != -1) check_id(o.forced_eos_id, vocab_size, "forced EOS");
  for (const auto& word : o.bad_words) {
    check(!word.empty(), "bad words", "an empty sequence cannot be forbidden");
    for (std::int32_t id : word) check_id(id, vocab_size, "bad words");
  }
}

double normalized(double log_prob, std::int32_t length, double length_penalty) {
  return length_penalty == 0 ? log_prob : log_prob / std::pow(static_cast<double>(length), length_penalty);
}

}  // namespace tril::search
