// Sentences of all kinds that join a batch and leave it at random, small models, and a comparison with each sentence alone.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "decode/batches/continuous_session.h"
#include "decode/batches/session.h"
#include "kern/batch_invariant.h"
#include "model/families/gpt2.h"
#include "model/families/marian.h"

namespace tril::search::testing {

inline constexpr std::int32_t vocab = 40, eos = 1, start = 2;
using Options = std::shared_ptr<const SearchPlan>;

// Searches of many kinds, some with options of their own.
inline std::vector<Options> kinds() {
  std::vector<Options> list;
  const auto add = [&](auto change) {
    SearchPlan o;
    o.eos_ids = {eos};
    o.scores = true;
    change(o);
    list.push_back(std::make_shared<const SearchPlan>(std::move(o)));
  };
  add([](SearchPlan&) {});
  add([](SearchPlan& o) { o.scores = false, o.no_repeat_ngram = 2; });
  add([](SearchPlan& o) { o.beam_size = o.n_best = 4; });
  add([](SearchPlan& o) { o.beam_size = 6, o.length_penalty = 0.4, o.early_stopping = EarlyStopping::yes; });
  add([](SearchPlan& o) { o.sampling.on = true, o.sampling.top_p = 0.9, o.n_best = 3, o.sampling.seed = 5; });
  add([](SearchPlan& o) { o.sampling = {.on = true, .temperature = 0.7, .top_k = 9, .seed = 6}; });
  add([](SearchPlan& o) { o.repetition_penalty = 1.4, o.presence_penalty = 0.5, o.renormalize = true; });
  add([](SearchPlan& o) { o.beam_size = o.n_best = 4, o.beam_groups = 2, o.diversity_penalty = 0.3; });
  add([](SearchPlan& o) { o.alternatives = true, o.n_best = 3, o.beam_size = 2; });
  add([](SearchPlan& o) {
    o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t> t) {
      return t.size() > 3 && t.back() % 3 == 0;
    };
    o.suppress_ids = {5, 6}, o.bad_words = {{7, 8}};
  });
  return list;
}

struct Job {
  std::vector<std::int32_t> source;
  Request request;
  Options options;
};

inline std::vector<Job> jobs_of(std::size_t n, std::uint64_t seed, bool translated, std::int32_t longest_prefix) {
  RandomSequence random(seed, 3);
  const std::vector<Options> options = kinds();
  const auto word = [&] { return 3 + static_cast<std::int32_t>(random.below(vocab - 3)); };
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < n; ++i) {
    Job j{.source = {}, .request = {.start_id = start}, .options = options[random.below(options.size())]};
    if (translated) {
      for (std::uint64_t k = random.below(40); k > 0; --k) j.source.push_back(word());
      j.source.push_back(eos);
    }
    for (std::uint64_t k = random.below(static_cast<std::uint64_t>(longest_prefix) + 1); k > 0; --k)
      j.request.prefix.push_back(word());
    j.request.max_length = 1 + static_cast<std::int32_t>(random.below(20));
    j.request.min_length = static_cast<std::int32_t>(random.below(3)) % j.request.max_length;
    j.request.number = i;
    if (j.options->has_beam() && random.below(3) == 0) j.request.phrases = {{word(), word()}, {word()}};
    jobs.push_back(std::move(j));
  }
  return jobs;
}

inline void expect_same(const std::vector<Hypothesis>& got, const std::vector<Hypothesis>& expected,
                        const std::string& what, double tolerance = 1e-3) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t n = 0; n < got.size(); ++n) {
    EXPECT_EQ(got[n].tokens, expected[n].tokens) << what << ", hypothesis " << n;
    EXPECT_NEAR(got[n].score, expected[n].score, tolerance) << what << ", hypothesis " << n;
    EXPECT_EQ(got[n].unsatisfied, expected[n].unsatisfied) << what;
    EXPECT_EQ(got[n].attention.size(), expected[n].attention.size()) << what;
    for (std::size_t i = 0; i < std::min(got[n].attention.size(), expected[n].attention.size()); ++i)
      ASSERT_NEAR(got[n].attention[i], expected[n].attention[i], tolerance) << what;
  }
}

/// A model with random weights, which are then rounded to a precision.
template <class Model, class Config>
std::unique_ptr<Model> initialised(const Config& config, std::uint64_t seed, nn::Precision precision) {
  auto plain = std::make_unique<Model>(config);
  plain->parameters().allocate();
  plain->parameters().initialise(seed);
  plain->parameters().refresh(kern::best());
  if (precision == nn::Precision::fp32) return plain;
  auto served = std::make_unique<Model>(config);
  served->parameters().allocate_serving(precision);
  for (nn::Parameter& p : plain->parameters().all())
    for (nn::Parameter& q : served->parameters().all())
      if (q.name == p.name) served->parameters().set(kern::best(), q, host_copy<float>(p.value));
  served->parameters().refresh(kern::best());
  return served;
}

inline std::unique_ptr<model::Marian> marian(nn::Precision precision) {
  model::MarianConfig k;
  k.vocab_size = k.decoder_vocab_size = vocab;
  k.d_model = 64;
  k.encoder_layers = k.decoder_layers = 2;
  k.encoder_attention_heads = k.decoder_attention_heads = 4;
  k.encoder_ffn_dim = k.decoder_ffn_dim = 64;
  k.max_position_embeddings = 128;
  k.pad_token_id = k.decoder_start_token_id = start;
  k.eos_token_id = eos;
  k.init_std = 0.25;
  return initialised<model::Marian>(k, 9, precision);
}

inline std::unique_ptr<model::Gpt2> gpt2(std::uint64_t seed = 3, std::int64_t positions = 400,
                                         nn::Precision precision = nn::Precision::fp32) {
  model::Gpt2Config k;
  k.vocab_size = vocab;
  k.n_positions = positions;
  k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
  k.initializer_range = 0.5;
  k.bos_token_id = k.eos_token_id = eos;
  return initialised<model::Gpt2>(k, seed, precision);
}

// Jobs join and leave a session at random, and are compared with a session for each alone. The kernels are those whose
// results do not depend on the batch; products of fewer bits still round depending on it.
// @return the counts of the proposals
inline Speculation compare(const model::Model& m, const std::vector<Job>& jobs, const ContinuousSessionOptions& options,
                           std::uint64_t seed, double tolerance = 1e-5) {
  Arena arena;
  Context c(arena, kern::batch_invariant(kern::best()));
  ContinuousSession open(c, m, options);
  RandomSequence random(seed, 17);
  std::map<std::int32_t, std::size_t> job_of;  // by sentence number; numbers are reused
  std::vector<std::vector<Hypothesis>> got(jobs.size());
  std::vector<bool> cancelled(jobs.size(), false);
  std::size_t waiting = 0, done = 0;
  while (done < jobs.size()) {
    std::vector<ContinuousSession::Arrival> arrivals;
    for (std::uint64_t n = random.below(4); n > 0 && waiting < jobs.size(); --n, ++waiting) {
      std::int32_t number = 0;
      while (job_of.count(number)) ++number;
      job_of[number] = waiting;
      arrivals.push_back({number, jobs[waiting].source, jobs[waiting].request, jobs[waiting].options});
    }
    open.join(arrivals);
    if (random.below(8) == 0 && !job_of.empty()) {
      cancelled[job_of.begin()->second] = true;
      open.cut(job_of.begin()->first, StopReason::cancelled);
    }
    open.step();
    for (ContinuousBatch::Ended& e : open.take_ended()) {
      EXPECT_FALSE(e.error);
      got[job_of.at(e.sentence)] = std::move(e.hypotheses);
      job_of.erase(e.sentence);
      ++done;
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(open.used_slots(), 0);
  Session alone(c, m, {.cache = options.cache});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (cancelled[i]) continue;
    std::vector<std::vector<std::int32_t>> sources;
    if (m.has_encoder()) sources.push_back(jobs[i].source);
    expect_same(got[i], alone.decode(sources, {&jobs[i].request, 1}, *jobs[i].options)[0],
                fmt::format("sentence {}", i), tolerance);
  }
  return open.speculation();
}

}  // namespace tril::search::testing
