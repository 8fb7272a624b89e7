// gpt_neo: gpt2 with windows in some layers, scores that are not divided by sqrt(d_head), and no biases on q, k, v [Black
// et al. 2021].
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/families/decoder_families.h"
#include "model/spec/decoder_keys.h"
#include "model/spec/gpt_like.h"

namespace tril::model {
namespace {

// attention_types: [[[kinds], times], ...]; each list of kinds is repeated `times` times.
std::vector<std::string> read_neo_kinds(const JsonObject& config, std::int64_t layers) {
  constexpr const char* key = "attention_types";
  const auto wrong = [&](const std::string& text) {
    config.fail_at(key, text, R"(expected, for 4 layers: [[["global", "local"], 2]])");
  };
  const nlohmann::json standard = nlohmann::json::parse(R"([[["global", "local"], 12]])");
  const nlohmann::json& types = config.has(key) ? config.json().at(key) : standard;
  std::vector<std::string> kinds;
  if (!types.is_array()) wrong("is not a list");
  for (const nlohmann::json& item : types) {
    const bool counted = item.is_array() && item.size() == 2 && item[0].is_array() && item[1].is_number_integer();
    if (!counted || item[1] < 0 || item[1] > layers)
      wrong(fmt::format("{} is not a list of kinds with a count of at most {}", printable(item.dump(), 40), layers));
    for (auto times = item[1].get<std::int64_t>(); times > 0; --times)
      for (const nlohmann::json& kind : item[0]) {
        if (kind != "global" && kind != "local")
          wrong(fmt::format("{} is neither \"global\" nor \"local\"", printable(kind.dump(), 40)));
        kinds.push_back(kind.get<std::string>());
        if (std::ssize(kinds) > layers) wrong(fmt::format("has more than {} layers", layers));
      }
  }
  if (std::ssize(kinds) != layers) wrong(fmt::format("has {} layers, but num_layers is {}", kinds.size(), layers));
  return kinds;
}

}  // namespace

std::unique_ptr<Model> make_gpt_neo(const JsonObject& config) {
  ConfigReader reader(config, "gpt_neo");
  GptLikeConfig k = read_gpt_like(reader, {.family = "gpt_neo",
                                           .architecture = "GPTNeoForCausalLM",
                                           .keys = {.num_hidden_layers = {"num_layers", "num_hidden_layers"},
                                                    .num_attention_heads = {"num_heads", "num_attention_heads"},
                                                    .hidden_act = {"activation_function"},
                                                    .layer_norm_eps = {"layer_norm_epsilon"},
                                                    .hidden_dropout = {"resid_dropout"},
                                                    .embedding_dropout = {"embed_dropout"}},
                                           .vocab_size = 50257,
                                           .hidden_size = 2048,
                                           .num_hidden_layers = 24,
                                           .num_attention_heads = 16,
                                           .hidden_act = HiddenAct::gelu_new,
                                           .tie_word_embeddings = true,
                                           .bos_token_id = 50256,
                                           .eos_token_id = 50256,
                                           .positions = GptLikeConfig::Positions::learned,
                                           .parallel = false,
                                           .attention_bias = false,
                                           .attention_scale = 1});
  reader.has("attention_types");
  const std::vector<std::string> kinds = read_neo_kinds(config, k.num_hidden_layers);
  const auto window = static_cast<std::int32_t>(reader.size("window_size", 256));
  auto& types = k.own_keys["attention_types"] = nlohmann::json::array();
  for (const std::string& kind : kinds) {
    k.windows.push_back(kind == "local" ? window : 0);
    types.push_back({nlohmann::json::array({kind}), 1});
  }
  k.own_keys["attention_layers"] = kinds, k.own_keys["window_size"] = window;
  if (reader.get("attention_layers", kinds) != kinds)
    config.fail_at("attention_layers", "contradicts attention_types", "remove it: attention_types counts");
  k.names = {.prefix = "transformer.",
             .embedding = "wte",
             .positions = "wpe",
             .layers = "h",
             .attention = "attn.attention",
             .out = "out_proj",
             .self_norm = "ln_1",
             .feed_forward_norm = "ln_2",
             .first = "c_fc",
             .second = "c_proj",
             .final_norm = "ln_f"};
  ignore_summary_keys(reader);
  reader.finish();
  return std::make_unique<GptLike>(std::move(k));
}

}  // namespace tril::model
