#include "model/families/switch_config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tril::model {

bool SwitchExperts::in_layer(bool decoder, std::int64_t i) const {
  const std::int64_t step = decoder ? decoder_step : encoder_step;
  return count > 0 && step > 0 && (step == 1 || i % step == 1);
}

void read_experts(ConfigReader& reader, T5Config& k) {
  SwitchExperts& x = k.experts;
  x.count = reader.size("num_experts", 8);
  x.capacity = reader.size("expert_capacity", 64);
  x.encoder_layers = reader.get<std::int64_t>("num_sparse_encoder_layers", 3);
  x.decoder_layers = reader.get<std::int64_t>("num_sparse_decoder_layers", 3);
  // Steps follow from these numbers, but the files' own steps win. As in `transformers`, 0 layers with experts give the
  // second layer experts, and more layers with experts than there are layers give none.
  const auto step = [&](const char* key, std::int64_t layers, std::int64_t with_experts) {
    return reader.get<std::int64_t>(key, with_experts > 0 ? layers / with_experts : layers);
  };
  x.encoder_step = step("encoder_sparse_step", k.num_layers, x.encoder_layers);
  x.decoder_step = step("decoder_sparse_step", k.num_decoder_layers, x.decoder_layers);
  x.router_bias = reader.get<bool>("router_bias", false);
  x.jitter_noise = reader.at_least_0("router_jitter_noise", x.jitter_noise);
  x.z_loss_coef = reader.at_least_0("router_z_loss_coef", x.z_loss_coef);
  x.aux_loss_coef = reader.at_least_0("router_aux_loss_coef", x.aux_loss_coef);
  k.dense_act_fn = reader.hidden_act("dense_act_fn", HiddenAct::relu);
  k.is_gated_act = false;
  // The authors' other routers are not supported.
  reader.only("feed_forward_proj", std::string(name_of(k.dense_act_fn)));
  for (const char* key : {"is_gated_act", "batch_prioritized_routing"}) reader.only(key, false);
  reader.only("router_type", std::string("tokens_masked"));
  reader.only("router_dtype", std::string("float32"));
  reader.only("num_selected_experts", std::int64_t{1});
  reader.only("add_cross_attention", false);
  // Rows have no padding here; and whether probabilities are returned.
  reader.ignore({"router_ignore_padding_tokens", "add_router_probs"});
}

void write_experts(const T5Config& k, nlohmann::ordered_json& j) {
  const SwitchExperts& x = k.experts;
  j["tie_word_embeddings"] = k.scale_decoder_outputs;
  j["num_experts"] = x.count;
  j["expert_capacity"] = x.capacity;
  j["num_sparse_encoder_layers"] = x.encoder_layers;
  j["num_sparse_decoder_layers"] = x.decoder_layers;
  j["encoder_sparse_step"] = x.encoder_step;
  j["decoder_sparse_step"] = x.decoder_step;
  j["router_bias"] = x.router_bias;
  j["router_dtype"] = "float32";
  j["router_jitter_noise"] = x.jitter_noise;
  j["router_z_loss_coef"] = x.z_loss_coef;
  j["router_aux_loss_coef"] = x.aux_loss_coef;
}

void validate_experts(const SwitchExperts& x, const ConfigChecks& checks) {
  checks.within(x.count, 1 << 16, "num_experts");
  checks.within(x.capacity, 1 << 30, "expert_capacity");
  const auto layers = [&](std::int64_t value, const char* key) {
    checks.need(value >= 0 && value <= 1000, key,
                fmt::format("{} is outside the supported range from 0 to 1000", value));
  };
  layers(x.encoder_layers, "num_sparse_encoder_layers");
  layers(x.decoder_layers, "num_sparse_decoder_layers");
  layers(x.encoder_step, "encoder_sparse_step");
  layers(x.decoder_step, "decoder_sparse_step");
}

}  // namespace tril::model
