#include "model/families/mamba2_keys.h"

#include <algorithm>

#include "base/printable.h"

namespace tril::model {
namespace {

constexpr double no_limit = 1e18;  // steps never come near it

// Infinity in the form of transformers 5, as a text, or as a number that nothing reaches.
bool bounds_nothing(const nlohmann::json& high) {
  if (high.is_object()) return high.size() == 1 && high.contains("__float__") && high["__float__"] == "Infinity";
  if (high.is_string()) return high.get<std::string>() == "Infinity";
  return high.is_number() && high.get<double>() >= no_limit;
}

}  // namespace

void read_step_limit(ConfigReader& config) {
  constexpr const char* kKey = "time_step_limit";
  if (!config.has(kKey) || config.says_null(kKey)) return;
  const nlohmann::json& limits = config.json().json().at(kKey);
  const bool open = limits.is_array() && limits.size() == 2 && limits[0].is_number() && limits[0].get<double>() <= 0 &&
                    bounds_nothing(limits[1]);
  if (!open)
    config.json().fail_at(kKey, "bounds of the steps are not supported",
                          "only [0.0, Infinity], which bounds nothing, is");
}

nn::Mamba2::Options read_mamba2(ConfigReader& config, LlamaLikeConfig& k, std::int64_t inner) {
  const JsonObject& json = config.json();
  const auto size = [&](const char* key, std::int64_t otherwise) {
    return read_own_size(config, k, key, otherwise, 1 << 12);
  };
  const std::int64_t expand = size("mamba_expand", 2);
  constexpr std::int64_t widest = 1 << 20;  // bounds what a layer takes before any weight is read
  if (inner == 0) inner = expand * k.hidden_size;
  if (inner > widest)
    json.fail_at("mamba_expand", fmt::format("{} x {} is wider than is supported", expand, k.hidden_size),
                 fmt::format("at most {}", widest));
  nn::Mamba2::Options o{.d_model = k.hidden_size,
                        .num_heads = size("mamba_n_heads", 128),
                        .groups = size("mamba_n_groups", 1),
                        .d_state = size("mamba_d_state", 256),
                        .taps = size("mamba_d_conv", 4),
                        .conv_bias = read_own_bool(config, k, "mamba_conv_bias", true),
                        .in_bias = read_own_bool(config, k, "mamba_proj_bias", false),
                        .activation = function_of(k.hidden_act),
                        .norm_eps = static_cast<float>(k.norm_eps)};
  o.out_bias = o.in_bias;
  if (inner % o.num_heads != 0)
    json.fail_at("mamba_n_heads", fmt::format("{} heads do not divide a width of {}", o.num_heads, inner));
  o.d_head = inner / o.num_heads;
  const bool derived =
      !config.has("mamba_d_head") || config.says_null("mamba_d_head") || json.json().at("mamba_d_head") == "auto";
  if (const std::int64_t given = derived ? o.d_head : config.size("mamba_d_head"); given != o.d_head)
    json.fail_at("mamba_d_head",
                 fmt::format("{} heads of {} values make a width other than {}", o.num_heads, given, inner));
  k.own_keys["mamba_d_head"] = o.d_head;
  if (o.num_heads % o.groups != 0)
    json.fail_at("mamba_n_groups", fmt::format("{} groups do not divide {} heads", o.groups, o.num_heads));
  if (o.groups * o.d_state > widest)
    json.fail_at("mamba_d_state", fmt::format("{} groups of {} values are not supported", o.groups, o.d_state),
                 fmt::format("at most {} values", widest));
  read_step_limit(config);
  config.ignore({"mamba_chunk_size"});  // the size of the parts in which transformers computes
  return o;
}

std::vector<std::string> read_types_of_layers(ConfigReader& config, const LlamaLikeConfig& k, const std::string& key,
                                              std::initializer_list<LayerKind> kinds,
                                              std::vector<std::string> otherwise) {
  const JsonObject& json = config.json();
  auto read = config.get<std::vector<std::string>>(key, std::move(otherwise));
  if (std::ssize(read) != k.num_hidden_layers)
    json.fail_at(key, fmt::format("{} types for {} layers", read.size(), k.num_hidden_layers));
  std::vector<std::string_view> names;
  for (const LayerKind& kind : kinds)
    for (const std::string_view name : {kind.older, kind.name})
      if (names.empty() || names.back() != name) names.push_back(name);
  for (const std::string& type : read)
    if (std::ranges::find(names, type) == names.end())
      json.fail_at(key, fmt::format("'{}' is not supported", printable(type, 40)),
                   fmt::format("supported: {}", fmt::join(names, ", ")));
  return read;
}

}  // namespace tril::model
