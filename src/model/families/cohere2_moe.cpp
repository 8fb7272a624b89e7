// cohere2_moe: cohere2 with experts by the softmax of the chosen logits or by sigmoid scores, beside shared ones, of which the sum
// or the mean is taken; first layers may be dense [Cohere 2026].
#include <nlohmann/json.hpp>

#include "model/families/cohere.h"
#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

// One of two texts: true for the second.
bool is_second(ConfigReader& reader, LlamaLikeConfig& k, const char* key, const char* first, const char* second,
               const char* otherwise) {
  const auto value = reader.get<std::string>(key, otherwise);
  if (value != first && value != second)
    reader.json().fail_at(key, "is not supported", fmt::format("supported: {}, {}", first, second));
  k.own_keys[key] = value;
  return value == second;
}

void read_cohere_experts(ConfigReader& reader, LlamaLikeConfig& k) {
  read_experts(reader, k, "num_experts", 8, 2);
  ExpertsConfig& e = k.experts;
  e.d_ff = k.intermediate_size;
  const bool sigmoid = is_second(reader, k, "expert_selection_fn", "softmax", "sigmoid", "softmax");
  const bool normalised = read_own_bool(reader, k, "norm_topk_prob", true);  // of sigmoids only
  e.routing.score = sigmoid ? ops::RouterOptions::Score::sigmoid : ops::RouterOptions::Score::softmax;
  e.routing.normalised = !sigmoid || normalised;
  const auto shared = reader.get<std::int64_t>("num_shared_experts", 0);
  if (shared != 0) check_size(reader.json(), "num_shared_experts", shared, 1 << 12);
  k.own_keys["num_shared_experts"] = shared;
  e.shared_d_ff = shared * k.intermediate_size;
  const bool sum = is_second(reader, k, "shared_expert_combination_strategy", "average", "sum", "average");
  if (shared > 0 && !sum) e.result_scale = 0.5F;
  reader.ignore({"output_router_logits"});
}

// The dense layers are those of mlp_layer_types or, without it, the first ones. Returns the number of the latter.
std::int64_t read_dense_prefix(ConfigReader& reader, LlamaLikeConfig& k) {
  constexpr const char* count = "first_k_dense_replace";
  const auto first = reader.get<std::int64_t>(count, 0);
  if (first < 0 || first > k.num_hidden_layers)
    reader.json().fail_at(count, fmt::format("{} of {} layers", first, k.num_hidden_layers));
  if (reader.has("mlp_layer_types") && !reader.says_null("mlp_layer_types"))
    read_mlp_layer_types(reader, k), k.own_keys[count] = first;
  else
    read_dense_layers(reader, k, 0);
  constexpr const char* width = "prefix_dense_intermediate_size";
  if (reader.has(width) && !reader.says_null(width)) {
    const std::int64_t d_ff = read_own_size(reader, k, width, k.intermediate_size, 1 << 24);
    k.intermediate_sizes.assign(static_cast<std::size_t>(k.num_hidden_layers), d_ff);
  }
  return first;
}

// Layers with a window rotate queries and keys, and so do dense ones if their pattern is 1.
void read_cohere_windows(ConfigReader& reader, LlamaLikeConfig& k, std::int64_t first) {
  const std::int64_t of_dense = read_own_size(reader, k, "prefix_dense_sliding_window_pattern", 1, 1 << 20),
                     of_others = read_own_size(reader, k, "sliding_window_pattern", 4, 1 << 20);
  read_own_windows(reader, k, read_window(reader, 4096), [&](std::int64_t i) {
    return i < first ? (i + 1) % of_dense != 0 : (i - first + 1) % of_others != 0;
  });
  for (std::int64_t i = 0; i < k.num_hidden_layers; ++i)
    k.rotated.push_back(k.window(i) > 0 || (of_dense == 1 && !k.has_experts(i)));
}

}  // namespace

std::unique_ptr<Model> make_cohere2_moe(const JsonObject& config) {
  ConfigReader reader(config, "cohere2_moe");
  LlamaLikeConfig k =
      read_cohere(reader, {.family = "cohere2_moe", .architecture = "Cohere2MoeForCausalLM", .head_dim = 128}, 1e4);
  const bool rms = reader.has("rms_norm_eps") && !reader.says_null("rms_norm_eps");
  k.own_keys["rms_norm_eps"] = nullptr;
  if (rms) {
    k.norm = nn::Norm::Kind::rms;
    k.norm_eps = read_own_number(reader, k, "rms_norm_eps", 1e-5);
  }
  read_cohere_experts(reader, k);
  read_cohere_windows(reader, k, read_dense_prefix(reader, k));
  read_cohere2_publishers_keys(reader);
  reader.finish();
  return std::make_unique<LlamaLike>(std::move(k));
}

}  // namespace tril::model
