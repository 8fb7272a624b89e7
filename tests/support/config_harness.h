// Invariants of any config.json: it causes an Error, or gives a model of plausible sizes whose numbers are finite,
// whose ids are in its vocabulary, and whose own config.json gives the same model. Shared by fuzzer and tests. No
// memory is allocated for weights.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model_io/source/registry.h"

namespace tril::testing {

/// Returns the first violated invariant; "" if none.
class ConfigHarness {
 public:
  std::string say(std::string_view text) {
    wrong_.clear();
    try {
      const nlohmann::json json = parse_json(text, "config.json", {.bytes = 1 << 20, .depth = 16, .values = 10'000});
      const auto m = model::make(JsonObject(json, "config.json"));
      ++accepted_;
      hold(*m);
    } catch (const Error&) {
    }
    return wrong_;
  }

  std::int64_t accepted() const { return accepted_; }  ///< how many texts were accepted so far

  /// Words from config.json files, for mutations.
  static const std::vector<std::string>& words() {
    static const std::vector<std::string> list = [] {
      std::vector<std::string> words = model::families();
      for (const char* text : {"model_type",
                               "architecture",
                               "tril",
                               "linear",
                               "dynamic",
                               "llama3",
                               "yarn",
                               "longrope",
                               "rope_scaling",
                               "rope_parameters",
                               "rope_type",
                               "rope_theta",
                               "partial_rotary_factor",
                               "factor",
                               "attention_factor",
                               "mscale",
                               "mscale_all_dim",
                               "original_max_position_embeddings",
                               "head_dim",
                               "sliding_window",
                               "layer_types",
                               "full_attention",
                               "sliding_attention",
                               "num_local_experts",
                               "num_experts_per_tok",
                               "relu",
                               "gelu",
                               "silu",
                               "gated-gelu",
                               "initializer_range",
                               "pad_token_id",
                               "eos_token_id",
                               "decoder_vocab_size",
                               "pad_idx",
                               "eps",
                               "dropout",
                               "d_ff",
                               "forward_expansion",
                               "max_length",
                               "num_heads",
                               "logits_scaling",
                               "embedding_multiplier"})
        words.emplace_back(text);
      return words;
    }();
    return list;
  }

 private:
  void must(bool ok, const std::string& what) {
    if (!ok && wrong_.empty()) wrong_ = "does not hold: " + what;
  }

  void hold(const model::Model& m) {
    must(m.vocab_size() >= 1 && m.d_model() >= 1 && m.max_positions() >= 0, "sizes are positive");
    hold_sizes(m);
    hold_ids(m);
    const std::string written = m.config_json();
    try {
      const nlohmann::json again = nlohmann::json::parse(written);
      const auto same = model::make(JsonObject(again, "again"));
      must(same->config_json() == written, "config.json stays: " + written + "\n" + same->config_json());
      must(same->vocab_size() == m.vocab_size(), "config.json has the same vocabulary: " + written);
      hold_same(m, *same);
    } catch (const Error& e) {
      must(false, "its own config.json is read: " + written + ": " + e.what());
    }
  }

  // Sizes and their products.
  void hold_sizes(const model::Model& m) {
    constexpr std::int64_t most = std::int64_t{1} << 60;  // values: their bytes and copies still fit into 64 bits
    std::int64_t total = 0;
    for (const nn::Parameter& p : m.parameters().all()) {
      std::int64_t count = 1;
      bool counted = true;
      for (std::size_t i = 0; i < p.shape.rank(); ++i)
        counted = counted && p.shape[i] >= 1 && !__builtin_mul_overflow(count, p.shape[i], &count);
      counted = counted && !__builtin_add_overflow(total, count, &total) && total < most;
      must(counted, p.name + " and the weights before it can be counted");
      if (!counted) return;
      must(p.zero_row == -1 || (p.zero_row >= 0 && p.shape.rank() > 0 && p.zero_row < p.shape[0]),
           p.name + " has the row that is zero");
      must(std::isfinite(static_cast<float>(p.init.value)), p.name + " begins with finite values");
    }
    must(total >= 1 && total == m.parameters().count(), "the weights are counted rightly");
    must(m.parameters().all().size() < 1'000'000, "a few bytes do not ask for a million weights");
  }

  void hold_ids(const model::Model& m) {
    const SpecialIds ids = m.special_ids();
    for (const std::int32_t id : {ids.pad, ids.bos, ids.eos, ids.decoder_start})
      must(id >= -1 && id < m.vocab_size(), "the special ids are of the vocabulary");
  }

  void hold_same(const model::Model& m, const model::Model& same) {
    const auto &a = m.parameters().all(), &b = same.parameters().all();
    must(a.size() == b.size(), "config.json makes as many weights");
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      must(a[i].name == b[i].name && a[i].shape == b[i].shape, "config.json makes the same weights");
  }

  std::string wrong_;
  std::int64_t accepted_ = 0;
};

}  // namespace tril::testing
