// dots1: norms of queries and keys; after the first layers, experts by sigmoid scores with a correction and by groups, beside
// shared ones [dots.llm1, rednote-hilab 2025, section 2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {

std::unique_ptr<Model> make_dots1(const JsonObject& config) {
  ConfigReader reader(config, "dots1");
  LlamaLikeConfig k = read_llama_like(reader, {.family = "dots1",
                                               .architecture = "Dots1ForCausalLM",
                                               .vocab_size = 152064,
                                               .hidden_size = 4608,
                                               .intermediate_size = 10944,
                                               .num_hidden_layers = 62,
                                               .bos_token_id = -1,
                                               .eos_token_id = -1});
  read_attention_bias(reader, k);
  k.head_norms = rms_head_norms(k);
  const std::string count = reader.spelt("n_routed_experts", "num_local_experts");
  for (const std::string& key : {count, std::string("num_experts_per_tok"), std::string("n_shared_experts")})
    if (!reader.has(key) || reader.says_null(key))
      config.fail_at(key, "is missing", "a dots1 config.json must have the numbers of experts");
  read_experts(reader, k, count, 1, 1);
  k.experts.d_ff = read_own_size(reader, k, "moe_intermediate_size", 1408, 1 << 20);
  read_deepseek_router(reader, k, {.normalised = false});
  read_dense_layers(reader, k, 0);
  const auto full = reader.get<std::int64_t>("max_window_layers", 62);
  k.own_keys["max_window_layers"] = full;
  read_own_windows(reader, k, read_window(reader, 4096), [&](std::int64_t i) { return i >= full; });
  // Keys of the authors' code, with the only values that these models have.
  if (const auto score = reader.get<std::string>("scoring_func", "sigmoid"); score != "sigmoid" && score != "noaux_tc")
    config.fail_at("scoring_func", "is not supported", "supported: sigmoid, noaux_tc");
  reader.ignore({"output_router_logits"});
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
