// The autoregressive loop by hand: compute the logits of the next token from the tokens so far, sample the token and
// append it, until the end token comes. The first version follows the formula and recomputes all tokens at every step,
// so T steps cost the work of T^2 tokens. The second keeps the earlier tokens' keys and values in a cache, so each step
// computes one token. Both must write the same text.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "tril/lab.h"

namespace {

using namespace tril;

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t begin_id = 0, end_id = 1;
constexpr std::int64_t vocab = 300, longest = 400;

/// Samples a token by its probability, softmax(logits): the model has random weights, so its likeliest token would
/// always be the same.
std::int32_t draw(const std::vector<float>& logits, RandomSequence& random) {
  double total = 0;
  for (float v : logits) total += std::exp(static_cast<double>(v));
  double left = random.uniform() * total;
  std::size_t id = 0;
  while (id + 1 < logits.size() && (left -= std::exp(static_cast<double>(logits[id]))) >= 0) ++id;
  return static_cast<std::int32_t>(id);
}

/// Recomputes everything at every step.
Ids recomputing(Context& c, const model::Model& m, RandomSequence random) {
  Ids ids{begin_id};
  while (ids.back() != end_id && static_cast<std::int64_t>(ids.size()) < longest) {
    const auto T = static_cast<std::int64_t>(ids.size());
    const Tensor hidden = m.decode(c, {.ids = ids, .rows = Rows::rectangle(1, T)});  // [T, d_model]
    const Tensor next = logits(c, m, hidden.rows(T - 1, T));                         // [1, V]: the token after the last
    ids.push_back(draw(host_copy<float>(next), random));
  }
  return ids;
}

/// Computes one token per step; the earlier ones are in the cache.
Ids with_cache(Context& c, const model::Model& m, RandomSequence random) {
  const std::unique_ptr<nn::KvCache> cache = m.make_cache(c);
  cache->add_rows(1);
  Ids ids{begin_id};
  while (ids.back() != end_id && static_cast<std::int64_t>(ids.size()) < longest) {
    Rows last;  // one row of one token, which follows those in the cache
    last.append(1, cache->length(0));
    const Tensor hidden = m.decode(c, {.ids = {&ids.back(), 1}, .rows = last, .cache = cache.get()});  // [1, d_model]
    ids.push_back(draw(host_copy<float>(logits(c, m, hidden)), random));
  }
  return ids;
}

template <class F>
double seconds(F&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run() {
  Arena arena;
  Context c(arena);
  model::TiedDecoder m(
      {.vocab_size = vocab, .d_model = 128, .num_heads = 4, .d_ff = 512, .num_layers = 4, .max_length = longest});
  m.parameters().allocate();
  m.parameters().initialise(1);
  m.parameters().refresh(c.kernels());

  const RandomSequence random(/*seed=*/4, /*stream=*/0);  // each version gets a copy: both draw the same numbers
  Ids slow, fast;
  const double slow_seconds = seconds([&] { slow = recomputing(c, m, random); });
  const double fast_seconds = seconds([&] { fast = with_cache(c, m, random); });

  const bool ended = slow.back() == end_id;
  fmt::print("{} tokens, {}\n", slow.size(), ended ? "then the end token" : "stopped for their length");
  fmt::print("recomputing everything  {:8.1f} ms\n", 1000 * slow_seconds);
  fmt::print("with the cache          {:8.1f} ms, {:.0f} times as fast\n", 1000 * fast_seconds,
             slow_seconds / fast_seconds);
  fmt::print("{}\n", slow == fast ? "the same tokens" : "the tokens differ");
  return slow == fast && ended && slow.size() > 50 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "autoregressive: {}\n", error.what());
    return 1;
  }
}
