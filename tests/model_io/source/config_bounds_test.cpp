// Huge requests in a small config.json: sizes beyond all bounds, numbers that float32 cannot hold and ids beyond the
// vocabulary are clear errors, before memory is used.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "format/safetensors.h"
#include "model/spec/rotary_config.h"
#include "model_io/source/registry.h"
#include "support/config_cases.h"
#include "support/raw_safetensors.h"

namespace tril::model {
namespace {

using nlohmann::json;
using testing::error_for;
using testing::made;
using testing::with;

const json kOwn{{"model_type", "tril"}, {"vocab_size", 13}, {"d_model", 8},   {"num_heads", 2},
                {"d_ff", 12},           {"num_layers", 1},  {"max_length", 9}};
const json kLlama{{"vocab_size", 13},
                  {"hidden_size", 8},
                  {"intermediate_size", 16},
                  {"num_hidden_layers", 1},
                  {"num_attention_heads", 2},
                  {"num_key_value_heads", 1},
                  {"max_position_embeddings", 16},
                  {"tie_word_embeddings", true}};

void expect_error(const json& config, const std::string& part) {
  const std::string text = error_for(config);
  EXPECT_TRUE(contains(text, part)) << "'" << text << "' for " << config;
}

TEST(ConfigBounds, SizesOfFamiliesWithoutAPublisher) {
  for (const char* architecture :
       {"padded_decoder", "full_transformer", "learned_position_decoder", "tied_decoder", "linear_decoder"}) {
    const json config = with(kOwn, {{"architecture", architecture}});
    EXPECT_NO_THROW(made(config));
    const auto says = [&](const json& more, const std::string& part) { expect_error(with(config, more), part); };
    says({{"d_model", 2147483646}}, "d_model: 2147483646 is outside the supported range from 1 to 65536");
    says({{"d_model", std::int64_t{1} << 40}}, "d_model: is 1099511627776, expected a size below 2^31");
    says({{"num_heads", 3}}, "8 is not divisible by 3 heads");
    says({{"num_heads", 1 << 13}}, "num_heads: 8192 is outside the supported range from 1 to 4096");
    says({{"num_layers", 1001}}, "num_layers: 1001 is above the supported maximum of 1000");
    for (const double eps : {0.0, -1e-5, 1e300, 1e-60}) says({{"eps", eps}}, "is not a positive number");
    for (const double dropout : {-0.5, 1.0, 2.0}) says({{"dropout", dropout}}, "is not in [0, 1)");
    const bool learned = std::string_view(architecture) == "learned_position_decoder",
               padded = std::string_view(architecture) == "padded_decoder" ||
                        std::string_view(architecture) == "full_transformer";
    if (learned)
      says({{"forward_expansion", 2147483647}},
           "forward_expansion: 2147483647 is outside the supported range from 1 to 256");
    else
      says({{"d_ff", 2147483647}}, "d_ff: 2147483647 is outside the supported range from 1 to 16777216");
    if (padded)
      says({{"pad_idx", 13}}, "pad_idx: 13 is not a valid id: the vocabulary has 13 tokens");
    else if (std::string_view(architecture) == "linear_decoder")  // has no maximum length
      says({{"eos_token_id", 13}}, "eos_token_id: 13 is not a valid id: the vocabulary has 13 tokens");
    else
      says({{"max_length", 1 << 25}}, "max_length: 33554432 is outside the supported range from 1 to 16777216");
  }
}

TEST(ConfigBounds, ExpertsAreCountedOverAllLayers) {
  const json mixtral = with(kLlama, {{"model_type", "mixtral"}, {"num_local_experts", 4}, {"num_experts_per_tok", 2}});
  EXPECT_NO_THROW(made(mixtral));
  expect_error(with(mixtral, {{"num_local_experts", std::int64_t{1} << 31}}), "expected a size below 2^31");
  expect_error(with(mixtral, {{"num_local_experts", 2147483647}}), "is outside the supported range from 1 to 4096");
  expect_error(with(mixtral, {{"num_local_experts", 4096}, {"num_hidden_layers", 1000}}),
               "4096 in each of 1000 layers makes 4096000 experts, above the supported maximum of 65536");
  expect_error(with(mixtral, {{"num_experts_per_tok", 5}}),
               "num_experts_per_tok: 5 is outside the supported range from 1 to 4");
}

TEST(ConfigBounds, AFeedForwardOfTwoThirdsHasAValue) {
  const json lfm2 = with(kLlama, {{"model_type", "lfm2"},
                                  {"layer_types", json::array({"full_attention"})},
                                  {"block_ffn_dim_multiplier", nullptr}});
  EXPECT_NO_THROW(made(with(lfm2, {{"intermediate_size", 2}})));
  expect_error(with(lfm2, {{"intermediate_size", 1}}), "intermediate_size: makes a feed-forward of 0 values");
}

TEST(ConfigBounds, NumbersThatFloat32DoesNotHold) {
  const json llama = with(kLlama, {{"model_type", "llama"}}), granite = with(kLlama, {{"model_type", "granite"}});
  for (const char* key : {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
    for (const double value : {1e300, 1e-300, -1.0, 0.0})
      expect_error(with(granite, {{key, value}}), std::string(key) + ": ");
  expect_error(with(granite, {{"logits_scaling", 1e-39}}), "logits_scaling: 1 / 1e-39 does not fit into float32");
  expect_error(with(llama, {{"rms_norm_eps", 1e39}}), "1e+39 is not a positive number that fits into float32");
  expect_error(with(llama, {{"initializer_range", 1e39}}),
               "1e+39 is not a number of at least 0 that fits into float32");
  expect_error(with(llama, {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 1e300}}}}), "factor: 1e+300");
  expect_error(with(kLlama, {{"model_type", "gpt2"}, {"layer_norm_epsilon", 1e39}}), "layer_norm_epsilon: ");
}

TEST(ConfigBounds, AFactorOfScoresThatFloat32DoesNotHold) {
  const auto latent = [](double mscale) {
    return with(kLlama, {{"model_type", "deepseek_v2"},
                         {"num_key_value_heads", 2},
                         {"n_routed_experts", 2},
                         {"num_experts_per_tok", 1},
                         {"moe_intermediate_size", 6},
                         {"q_lora_rank", nullptr},
                         {"kv_lora_rank", 6},
                         {"qk_nope_head_dim", 3},
                         {"qk_rope_head_dim", 4},
                         {"v_head_dim", 5},
                         {"rope_parameters",
                          {{"rope_type", "yarn"},
                           {"rope_theta", 1000.0},
                           {"factor", 4.0},
                           {"original_max_position_embeddings", 4},
                           {"mscale_all_dim", mscale}}}});
  };
  EXPECT_NO_THROW(made(latent(0.707)));
  for (const double mscale : {1e30, -1e300, 1e308})
    expect_error(latent(mscale), fmt::format("mscale_all_dim: {} multiplies scores by ", mscale));
}

TEST(ConfigBounds, AShareOfAHeadIsReadAsItIsWritten) {
  // 2 of 98 values: 2 / 98 * 98 is below 2 in double.
  for (std::int64_t head = 2; head <= 512; ++head)
    for (std::int64_t dim = 2; dim <= head; dim += 2) {
      const double share = partial_factor(dim, head);
      ASSERT_EQ(static_cast<std::int64_t>(static_cast<double>(head) * share), dim) << dim << " of " << head;
      ASSERT_LE(share, 1.0);
    }
  const json config =
      with(kLlama,
           {{"model_type", "gpt_neox"}, {"hidden_size", 196}, {"rotary_pct", 0.0205}, {"tie_word_embeddings", false}});
  json neox = config;
  neox.erase("num_key_value_heads");
  const std::string written = made(neox)->config_json();
  EXPECT_EQ(made(json::parse(written))->config_json(), written);
}

TEST(ConfigBounds, AModelLargerThanMemoryIsRefusedWithNumbers) {
  const auto m = made(
      with(kLlama,
           {{"model_type", "llama"}, {"vocab_size", 2147483647}, {"hidden_size", 65536}, {"num_attention_heads", 16}}));
  const std::string text = error_of([&] { m->parameters().allocate(); });
  EXPECT_TRUE(contains(text, " GiB, but this machine has "));
}

TEST(ConfigBounds, AFileLargerThanMemoryIsMapped) {
  // 1 TiB of zeros, which take no space.
  const int descriptor = ::memfd_create("large", 0);
  ASSERT_GE(descriptor, 0);
  const std::int64_t bytes = std::int64_t{1} << 40;
  const std::string header =
      fmt::format(R"({{"a":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", bytes / 4, bytes);
  const std::string begin = testing::length_field(header.size()) + header;
  ASSERT_EQ(::pwrite(descriptor, begin.data(), begin.size(), 0), static_cast<ssize_t>(begin.size()));
  ASSERT_EQ(::ftruncate(descriptor, static_cast<off_t>(begin.size()) + bytes), 0);
  {
    const auto file = SafetensorsFile::open("/proc/self/fd/" + std::to_string(descriptor));
    const WeightView* const a = file.find("a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->elements(), bytes / 4);
    EXPECT_EQ(a->bytes.back(), std::byte{0});
  }
  ::close(descriptor);
}

}  // namespace
}  // namespace tril::model
