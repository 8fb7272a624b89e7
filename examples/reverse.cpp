// An encoder-decoder that learns to reverse sequences: abcd -> dcba. It learns only from pairs. Every position of
// the output must find its position of the input, by cross-attention and positions. It is evaluated on sequences
// that it has never seen.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tril/lab.h"

namespace {

using namespace tril;

using Ids = std::vector<std::int32_t>;

// "</s>" ends every sequence; the decoder starts with the padding id, as Marian's models do.
constexpr std::int32_t end_id = 0, first_letter = 1, letters = 12, pad_id = first_letter + letters;
constexpr int shortest = 3, longest = 7, updates = 600, sequences_an_update = 128, test_sequences = 500;

Ids random_sequence(RandomSequence& random) {
  Ids ids(static_cast<std::size_t>(shortest) + random.below(longest - shortest + 1));
  for (std::int32_t& id : ids) id = first_letter + static_cast<std::int32_t>(random.below(letters));
  return ids;
}

Ids reversed(const Ids& ids) {
  return {ids.rbegin(), ids.rend()};
}

Ids with_end(Ids ids) {
  ids.push_back(end_id);
  return ids;
}

std::string text_of(const Ids& ids) {
  std::string text;
  for (std::int32_t id : ids)
    if (id != end_id) text += static_cast<char>('a' + id - first_letter);
  return text;
}

/// The pairs of one update, without the sequences that are kept for the test.
Batch random_batch(RandomSequence& random, const std::set<Ids>& kept) {
  Batch batch;
  while (batch.sentences() < sequences_an_update) {
    const Ids ids = random_sequence(random);
    if (!kept.contains(ids)) batch.append(with_end(ids), with_end(reversed(ids)), batch.sentences());
  }
  return batch;
}

void train_model(model::Marian& m, const std::set<Ids>& kept) {
  train::Optimizer optimizer(m.parameters(), {});
  train::Workers workers(m, optimizer, {.threads = 2, .parts = 2, .clip_norm = 1.0});
  const train::Schedule schedule{.kind = train::ScheduleKind::linear, .peak = 0.004, .warmup = 60, .total = updates};
  RandomSequence random(/*seed=*/2, /*stream=*/0);
  for (std::int64_t update = 1; update <= updates; ++update) {
    const Batch batch = random_batch(random, kept);
    const train::UpdateResult result = workers.update({&batch, 1}, update, train::learning_rate(schedule, update));
    if (update % 100 == 0) fmt::print("update {:4}  loss {:.4f}\n", update, result.loss);
  }
}

/// Generates an output for each source, with the likeliest token at each step.
std::vector<Ids> outputs(const model::Marian& m, const std::vector<Ids>& sources) {
  Arena arena;
  Context c(arena);
  search::Session session(c, m);
  const std::vector<search::Request> requests(sources.size(), {.start_id = pad_id, .max_length = longest + 5});
  std::vector<Ids> found;
  for (const auto& hypotheses : session.decode(sources, requests, {.eos_ids = {end_id}, .suppress_ids = {pad_id}}))
    found.push_back(hypotheses.front().tokens);
  return found;
}

int run() {
  RandomSequence random(/*seed=*/1, /*stream=*/0);
  std::set<Ids> kept;
  while (kept.size() < test_sequences) kept.insert(random_sequence(random));

  model::MarianConfig config{.vocab_size = pad_id + 1,
                             .decoder_vocab_size = pad_id + 1,
                             .d_model = 64,
                             .encoder_layers = 1,
                             .decoder_layers = 1,
                             .encoder_attention_heads = 4,
                             .decoder_attention_heads = 4,
                             .encoder_ffn_dim = 128,
                             .decoder_ffn_dim = 128};
  config.pad_token_id = config.decoder_start_token_id = pad_id;
  config.eos_token_id = end_id;
  config.init_std = 0.125;  // 1 / sqrt(d_model): embeddings start at the size of the positions
  config.dropout = 0;
  model::Marian m(config);
  m.parameters().allocate();
  m.parameters().initialise(1);
  train_model(m, kept);

  std::vector<Ids> sources;
  for (const Ids& ids : kept) sources.push_back(with_end(ids));
  const std::vector<Ids> found = outputs(m, sources);
  int exact = 0, i = 0;
  for (const Ids& ids : kept) {
    if (i % 100 == 0) fmt::print("{:>8} -> {}\n", text_of(ids), text_of(found[static_cast<std::size_t>(i)]));
    exact += found[static_cast<std::size_t>(i++)] == with_end(reversed(ids));
  }
  const double share = 100.0 * exact / test_sequences;
  fmt::print("{:.1f}% of {} unseen sequences come out exactly reversed\n", share, test_sequences);
  return share > 99 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const tril::Error& error) {
    fmt::print(stderr, "reverse: {}\n", error.what());
    return 1;
  }
}
