// tril signature: one number for everything that the program computes. A small model learns to reverse synthetic words,
// with a fixed seed, one thread and the generic kernels, and translates some. The losses, rounded so that the last bits
// of another compiler or library do not matter, and the resulting ids are hashed. A change that does not alter results
// keeps the signature; one that does states the new one.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>

#include "base/hash.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "decode/batches/session.h"
#include "model/families/marian.h"
#include "train/distributed/workers.h"

namespace tril::cli {
namespace {

constexpr std::int32_t letters = 12, eos = 0, pad = letters + 1;  // ids 1 to 12 are letters

model::MarianConfig small_model() {
  model::MarianConfig c;
  c.vocab_size = c.decoder_vocab_size = letters + 2;
  c.d_model = 32;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_attention_heads = c.decoder_attention_heads = 4;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 64;
  c.max_position_embeddings = 64;
  c.eos_token_id = eos;
  c.pad_token_id = c.decoder_start_token_id = pad;
  c.init_std = 1 / std::sqrt(32.0);
  return c;
}

std::vector<std::int32_t> random_word(RandomSequence& random) {
  std::vector<std::int32_t> word(3 + random.below(6));
  for (std::int32_t& id : word) id = 1 + static_cast<std::int32_t>(random.below(letters));
  return word;
}

Batch random_batch(RandomSequence& random, int pairs) {
  Batch batch;
  for (int i = 0; i < pairs; ++i) {
    std::vector<std::int32_t> source = random_word(random), target(source.rbegin(), source.rend());
    source.push_back(eos);
    target.push_back(eos);
    batch.append(source, target, i);
  }
  return batch;
}

int print_signature(bool verbose) {
  const kern::Kernels* kernels = kern::table("generic");
  model::Marian m(small_model());
  if (!m.parameters().flat()) m.parameters().allocate();
  m.parameters().initialise(1);
  train::Optimizer optimizer(m.parameters(), {.kind = train::OptimizerKind::adamw, .weight_decay = 0.01});
  train::Workers workers(
      m, optimizer,
      {.threads = 1, .parts = 1, .loss = {.label_smoothing = 0.1}, .clip_norm = 1, .seed = 1, .kernels = kernels});

  Hash hash;
  RandomSequence random(1, 1);
  for (std::int64_t update = 1; update <= 30; ++update) {
    const Batch batch = random_batch(random, 24);
    const train::UpdateResult r = workers.update({&batch, 1}, update, 0.003);
    hash.add(std::llround(r.loss * 1000));
    if (verbose) std::cerr << fmt::format("update {}: loss {:.3f}\n", update, r.loss);
  }

  Arena arena;
  Context c(arena, *kernels);
  for (std::int32_t beam : {1, 4}) {
    search::SearchPlan options;
    options.beam_size = beam;
    options.eos_ids = {eos};
    options.suppress_ids = {pad};
    std::vector<std::vector<std::int32_t>> sources;
    for (int i = 0; i < 8; ++i) {
      sources.push_back(random_word(random));
      sources.back().push_back(eos);
    }
    const std::vector<search::Request> requests(sources.size(), {pad, 0, 12});
    search::Session session(c, m);
    for (const auto& hypotheses : session.decode(sources, requests, options))
      for (std::int32_t id : hypotheses.front().tokens) hash.add(id);
  }
  print_stdout("{:016x}\n", hash.value());
  return exit_success;
}

}  // namespace

void add_signature(App& app) {
  auto verbose = std::make_shared<bool>(false);
  Fields fields;
  fields.add("losses", verbose.get(), "print the losses to stderr as well");
  app.add({.name = "signature",
           .summary = "print one hash of a fixed-seed training and decoding run",
           .description = "The signature changes only if a change of the program alters results.",
           .examples = {{"tril signature", "the hash"}},
           .fields = std::move(fields),
           .apply_preset = {},
           .run = [verbose](const Invocation&) { return print_signature(*verbose); }});
}

}  // namespace tril::cli
