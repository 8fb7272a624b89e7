// The parts of a model and the cost of a token, against formulas written by hand.
#include "perf/model_cost.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model_io/source/registry.h"
#include "perf/model_parts.h"
#include "support/small_configs.h"

namespace tril::train::model_cost_test {
namespace {

using Json = nlohmann::json;

std::unique_ptr<model::Model> made(const Json& config) {
  return model::make(JsonObject(config, "config.json"));
}

ModelCost cost(const Json& config, std::int64_t length) {
  return cost_of(*made(config), length);
}

std::int64_t parameters(const model::Model& m, PartKind kind, bool encoder = false) {
  for (const ModelPart& part : parts_of(m))
    if (part.kind == kind && part.encoder == encoder) return part.parameters;
  return 0;
}

// Every weight of every family has a part, and the parts add up.
TEST(ModelParts, EveryWeightHasOne) {
  for (const std::string& text : testing::small_configs()) {
    const auto m = made(Json::parse(text));
    std::int64_t sum = 0;
    for (const ModelPart& part : parts_of(*m)) sum += part.parameters;
    EXPECT_EQ(sum, m->parameters().count()) << m->family();
    std::string unknown;
    for (const nn::Parameter& p : m->parameters().all())
      if (kind_of(p) == PartKind::other) unknown += p.name + " ";
    EXPECT_EQ(unknown, "") << m->family();
    EXPECT_GT(parameters(*m, PartKind::embeddings), 0) << m->family();
  }
}

// [Vaswani et al. 2017]: 4 d^2 a layer for attention, 2 d f for the feed-forward.
TEST(ModelCost, AnEncoderDecoder) {
  const std::int64_t d = 16, f = 24, V = 40, L = 2;
  const Json config{{"model_type", "marian"},
                    {"vocab_size", V},
                    {"d_model", d},
                    {"encoder_layers", L},
                    {"decoder_layers", L},
                    {"encoder_attention_heads", 4},
                    {"decoder_attention_heads", 4},
                    {"encoder_ffn_dim", f},
                    {"decoder_ffn_dim", f},
                    {"max_position_embeddings", 64},
                    {"activation_function", "relu"},
                    {"pad_token_id", 39},
                    {"decoder_start_token_id", 39},
                    {"eos_token_id", 0},
                    {"scale_embedding", true}};
  const auto m = made(config);
  EXPECT_EQ(parameters(*m, PartKind::embeddings), V * d);
  EXPECT_EQ(parameters(*m, PartKind::attention, true), L * (4 * d * d + 4 * d));
  EXPECT_EQ(parameters(*m, PartKind::attention), L * (4 * d * d + 4 * d));
  EXPECT_EQ(parameters(*m, PartKind::cross_attention), L * (4 * d * d + 4 * d));
  EXPECT_EQ(parameters(*m, PartKind::feed_forward, true), L * (2 * d * f + f + d));
  EXPECT_EQ(parameters(*m, PartKind::norms, true), L * 2 * 2 * d);
  EXPECT_EQ(parameters(*m, PartKind::norms), L * 3 * 2 * d);
  for (const std::int64_t N : {1, 7, 64}) {
    const ModelCost c = cost(config, N);
    // The keys and values of cross-attention are the source token's.
    EXPECT_EQ(c.token.products, L * (4 * d * d + 2 * d * d + 2 * d * f) + V * d);
    EXPECT_EQ(c.token.attention, L * 2 * (2 * d * N)) << "scores and values, over N tokens and N source tokens";
    EXPECT_EQ(c.source.products, L * (4 * d * d + 2 * d * f) + L * 2 * d * d);
    EXPECT_EQ(c.source.attention, L * 2 * d * N);
    EXPECT_EQ(c.cache_bytes, L * 2 * d * 4);
    EXPECT_EQ(c.memory_bytes, L * 2 * d * 4);
    EXPECT_EQ(c.state_bytes, 0);
  }
  EXPECT_THROW(cost(config, 65), Error) << "it has 64 positions";
}

const Json llama{
    {"model_type", "llama"},  {"vocab_size", 50},         {"hidden_size", 32},        {"intermediate_size", 48},
    {"num_hidden_layers", 3}, {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"max_position_embeddings", 128}};

// Keys and values of 2 heads for 4 heads of queries.
TEST(ModelCost, GroupedHeads) {
  const std::int64_t d = 32, f = 48, V = 50, L = 3, kv = 16;
  const auto m = made(llama);
  EXPECT_EQ(parameters(*m, PartKind::attention), L * (2 * d * d + 2 * d * kv));
  EXPECT_EQ(parameters(*m, PartKind::feed_forward), L * 3 * d * f);
  EXPECT_EQ(parameters(*m, PartKind::output), V * d);
  for (const std::int64_t N : {1, 33, 128}) {
    const ModelCost c = cost(llama, N);
    EXPECT_EQ(c.token.products, L * (2 * d * d + 2 * d * kv + 3 * d * f) + V * d);
    EXPECT_EQ(c.token.attention, L * 2 * d * N);
    EXPECT_EQ(c.cache_bytes, L * 2 * kv * 4);
  }
}

// A window bounds the operations, not the tokens before it.
TEST(ModelCost, AWindow) {
  Json config = llama;
  config.update({{"model_type", "mistral"}, {"sliding_window", 8}});
  EXPECT_EQ(cost(config, 5).token.attention, 3 * 2 * 32 * 5);
  EXPECT_EQ(cost(config, 100).token.attention, 3 * 2 * 32 * 8);
}

TEST(ModelCost, ExpertsThatATokenTakes) {
  Json config = llama;
  config.update({{"model_type", "mixtral"}, {"num_local_experts", 8}, {"num_experts_per_tok", 2}});
  const std::int64_t d = 32, f = 48, V = 50, L = 3, kv = 16;
  const auto m = made(config);
  double active = 0;
  for (const ModelPart& part : parts_of(*m)) active += part.active;
  EXPECT_EQ(parameters(*m, PartKind::experts), L * 8 * 3 * d * f);
  EXPECT_EQ(parameters(*m, PartKind::router), L * 8 * d);
  EXPECT_EQ(active, static_cast<double>(m->parameters().count()) - L * 6 * 3 * d * f);
  EXPECT_EQ(cost(config, 4).token.products, L * (2 * d * d + 2 * d * kv + 8 * d + 2 * 3 * d * f) + V * d);
  // Bytes that a step reads: matrices of 2 experts of 8 in float32, the norms, and a row of the embeddings.
  EXPECT_EQ(step_weight_bytes(*m, nn::Precision::fp32),
            4 * (L * (2 * d * d + 2 * d * kv + 8 * d + 2 * 3 * d * f) + V * d + (2 * L + 1) * d + d));
}

// DeepSeek's cache has one latent and one rotated key of all heads [DeepSeek-V2, 2024, section 2.1].
TEST(ModelCost, LatentCache) {
  const std::int64_t L = 2, rank = 12, rotated = 4, own = 8, d_v = 6, H = 4;
  Json config = llama;
  config.update({{"model_type", "deepseek_v2"},
                 {"num_hidden_layers", L},
                 {"num_key_value_heads", H},
                 {"q_lora_rank", nullptr},
                 {"kv_lora_rank", rank},
                 {"qk_rope_head_dim", rotated},
                 {"qk_nope_head_dim", own},
                 {"v_head_dim", d_v},
                 {"topk_method", "greedy"},
                 {"n_routed_experts", 2},
                 {"num_experts_per_tok", 2},
                 {"moe_intermediate_size", 6},
                 {"n_group", 1},
                 {"topk_group", 1},
                 {"first_k_dense_replace", 2}});
  for (const std::int64_t N : {1, 40}) {
    const ModelCost c = cost(config, N);
    EXPECT_EQ(c.cache_bytes, L * (rank + rotated) * 4);
    EXPECT_EQ(c.token.attention, L * H * (rank + rotated + rank) * N) << "in the space of latents";
  }
}

// The state of a recurrent layer does not grow: S [d_k, d_v] and z [d_k] of each head [Katharopoulos et al. 2020, eq. 18].
TEST(ModelCost, RecurrentLayers) {
  const std::int64_t d = 16, H = 2, d_k = 8, L = 2;
  const Json config{{"model_type", "tril"}, {"architecture", "linear_decoder"},
                    {"vocab_size", 13},     {"d_model", d},
                    {"num_heads", H},       {"d_ff", 24},
                    {"num_layers", L}};
  const ModelCost one = cost(config, 1), many = cost(config, 300);
  EXPECT_EQ(one.state_bytes, L * H * d_k * (d_k + 1) * 4);
  EXPECT_EQ(many.state_bytes, one.state_bytes);
  EXPECT_EQ(one.cache_bytes, 0);
  EXPECT_EQ(many.token.attention, 0);
  EXPECT_GT(one.token.recurrent, 0);
  EXPECT_EQ(many.token.recurrent, one.token.recurrent) << "whatever the length";
}

}  // namespace
}  // namespace tril::train::model_cost_test
