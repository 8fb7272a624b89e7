#include "model_io/gguf/gguf_rope.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "base/printable.h"
#include "kern/gguf_blocks.h"
#include "model/spec/rotary_config.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_keys.h"

namespace tril::model {
namespace {

using Json = nlohmann::json;

double yarn_temperature(double factor) {  // [Peng et al. 2023, eq. 22]
  return 0.1 * std::log(factor) + 1;
}

// The key that mistral3 and deepseek2 have for mscale_all_dim, the m of their scores' temperature 0.1 m ln(factor) + 1. The
// factor of the rotated values is then 1. For deepseek2 the key has a tenth of m.
constexpr const char* kLogMultiplier = "rope.scaling.yarn_log_multiplier";

double log_multiplier_share(std::string_view architecture) {
  return architecture == "deepseek2" ? 0.1 : 1;
}

// Adds the scaling of scores and queries to yarn's keys.
void read_score_scaling(GgufReader& r, Json& rope) {
  if (r.architecture() != "mistral3" && r.architecture() != "deepseek2") return;
  const double stored = r.number(kLogMultiplier).value_or(0);
  const double m = std::round(stored / log_multiplier_share(r.architecture()) * 1e6) / 1e6;
  if (m != 0) rope["attention_factor"] = 1.0;
  if (r.architecture() == "deepseek2") {
    if (m == 0) r.fail_at(kLogMultiplier, "is missing", "without it, the scale of the scores is not known");
    rope["mscale_all_dim"] = m;
  } else {
    if (m != 0 && m != 1) r.fail_at(kLogMultiplier, fmt::format("{} is not supported", m), "only 1 is");
    if (const auto beta = r.number("attention.temperature_scale")) rope["llama_4_scaling_beta"] = *beta;
  }
}

// Yarn's factor of rotated values, as the architecture has it. @throws Error(usage) for another one
void write_score_scaling(const Json& rope, double factor, GgufHeader& h) {
  const bool mistral = h.architecture == "mistral3", latent = h.architecture == "deepseek2";
  const double attention = rope.value("attention_factor", yarn_temperature(factor));
  const double m = latent ? rope.value("mscale_all_dim", 0.0) : mistral && attention == 1 ? 1.0 : 0.0;
  if (std::fabs(attention - (m != 0 ? 1.0 : yarn_temperature(factor))) > 1e-6 || (latent && m == 0))
    fail_usage("rope_scaling", "llama.cpp does not support yarn with a different attention_factor");
  if (m != 0)
    h.metadata.add(h.architecture + "." + kLogMultiplier, static_cast<float>(m * log_multiplier_share(h.architecture)));
  if (const double beta = rope.value("llama_4_scaling_beta", 0.0); beta != 0)
    h.metadata.add(h.architecture + ".attention.temperature_scale", static_cast<float>(beta));
}

Json yarn(GgufReader& r, double factor, std::int64_t original) {
  for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_ext_factor"})
    if (const auto value = r.number(key); value && *value != 1)
      r.fail_at(key, fmt::format("{} is not supported", *value), "only 1 is");
  Json rope{{"rope_type", "yarn"},
            {"factor", factor},
            {"original_max_position_embeddings", original},
            {"beta_fast", r.number("rope.scaling.yarn_beta_fast").value_or(32)},
            {"beta_slow", r.number("rope.scaling.yarn_beta_slow").value_or(1)},
            {"attention_factor", yarn_temperature(factor)}};
  read_score_scaling(r, rope);
  if (r.architecture() == "gpt-oss") rope["truncate"] = false;  // as published; llama.cpp rounds
  return rope;
}

// Whether llama.cpp reads rope_freqs.weight for an architecture.
bool has_rope_factors(std::string_view architecture) {
  return is_any(architecture, {"llama", "mistral3", "granite", "granitemoe", "granitehybrid", "arcee", "apertus",
                               "exaone", "exaone4"});
}

// Whether llama.cpp rotates only a part of each head if rope.dimension_count says so.
bool rotates_parts(std::string_view architecture) {
  return is_any(architecture, {"phi2", "phi3", "nemotron", "chatglm", "glm4", "glm4moe", "stablelm", "minimax-m2",
                               "gptneox", "qwen3next", "qwen35", "qwen35moe"});
}

std::int64_t head_dim_of(const Json& config) {
  if (const auto d = config.find("head_dim"); d != config.end() && !d->is_null()) return *d;
  return d_model_of(config) / heads_of(config);
}

}  // namespace

std::vector<double> llama3_factors(const Json& rope, double theta, std::int64_t dim) {
  const auto get = [&](const char* key) { return rope.at(key).get<double>(); };
  const double factor = get("factor"), low = get("low_freq_factor"), high = get("high_freq_factor"),
               original = get("original_max_position_embeddings");
  std::vector<double> factors;
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    const double turns =
        original / (2 * std::numbers::pi * std::pow(theta, 2 * static_cast<double>(i) / static_cast<double>(dim)));
    const double s = (turns - low) / (high - low);
    factors.push_back(turns < low ? factor : turns > high ? 1 : 1 / ((1 - s) / factor + s));
  }
  return factors;
}

std::vector<double> rope_factors_of(GgufReader& r, const char* name, std::int64_t dim) {
  const GgufTensor& t = r.file().tensor(name);
  std::vector<float> values(static_cast<std::size_t>(t.elements()));
  if (t.shape.size() != 1 || t.shape[0] != dim / 2)
    fail(fmt::format("{}: {}", r.file().path(), name),
         fmt::format("has {} values, expected {} for a head of {}", values.size(), dim / 2, dim));
  kern::dequantize_blocks(t.type, t.bytes.data(), values.size(), values.data());
  for (const float f : values)
    if (!(f > 0 && std::isfinite(f)))
      fail(fmt::format("{}: {}", r.file().path(), name), fmt::format("{} is not a positive number", f));
  return {values.begin(), values.end()};
}

Json scaling_by_factors(const std::vector<double>& factors, double theta, std::int64_t dim, std::int64_t positions) {
  const double factor = std::round(*std::max_element(factors.begin(), factors.end()) * 64) / 64;
  for (const std::int64_t original : {std::int64_t{8192}, positions}) {
    Json rope{{"rope_type", "llama3"},
              {"factor", factor},
              {"low_freq_factor", 1.0},
              {"high_freq_factor", 4.0},
              {"original_max_position_embeddings", original}};
    const std::vector<double> expected = llama3_factors(rope, theta, dim);
    bool same = true;
    for (std::size_t i = 0; i < factors.size(); ++i)
      same = same && std::fabs(factors[i] - expected[i]) <= 1e-5 * expected[i];
    if (same) return rope;
  }
  return {{"rope_type", "longrope"}, {"short_factor", factors}, {"long_factor", factors},
          {"attention_factor", 1.0}, {"factor", 1.0},           {"original_max_position_embeddings", positions}};
}

void read_gguf_rope(GgufReader& r, Json& config) {
  const bool rotates = r.get<bool>("rope.scaling.finetuned").value_or(true);
  if (!rotates && is_any(r.architecture(), {"granite", "granitemoe"}))
    r.fail_at("rope.scaling.finetuned",
              "false is not supported: llama.cpp then rotates no queries and keys of granite");
  const std::int64_t head_dim = head_dim_of(config),
                     positions = config.at("max_position_embeddings").get<std::int64_t>();
  const std::int64_t dim = r.count("rope.dimension_count").value_or(head_dim);
  if (dim > head_dim || dim % 2 != 0)
    r.fail_at("rope.dimension_count",
              fmt::format("{} values of a head of {} cannot be rotated in pairs", dim, head_dim));
  if (dim != head_dim && !rotates_parts(r.architecture()))
    r.fail_at(
        "rope.dimension_count",
        fmt::format("{} values of a head of {} are not supported: the family rotates whole heads", dim, head_dim));
  // Of these, some families rotate a part of each head if their config does not say how large a part.
  if (rotates_parts(r.architecture())) config["partial_rotary_factor"] = partial_factor(dim, head_dim);
  const double theta = config.at("rope_theta").get<double>();

  // llama.cpp defaults to linear, falls back to an old key for a missing factor, and takes 0 for none.
  const std::string type(r.get<std::string_view>("rope.scaling.type").value_or("linear"));
  const auto now = r.number("rope.scaling.factor"), old = r.number("rope.scale_linear");
  const double stated = now ? *now : old.value_or(0), factor = stated == 0 ? 1 : stated;
  const std::int64_t original = r.count("rope.scaling.original_context_length").value_or(positions);
  const bool pair =
      r.file().find_tensor("rope_factors_short.weight") || r.file().find_tensor("rope_factors_long.weight");
  if (factor <= 0)
    r.fail_at(now ? "rope.scaling.factor" : "rope.scale_linear", fmt::format("{} is not a positive number", factor));
  if (pair && factor != 1 && type != "none")
    r.fail_at(now ? "rope.scaling.factor" : "rope.scale_linear",
              fmt::format("{} is not supported together with the tensors rope_factors_long and _short", factor));
  if (pair) {
    const std::vector<double> shorter = rope_factors_of(r, "rope_factors_short.weight", dim),
                              longer = rope_factors_of(r, "rope_factors_long.weight", dim);
    config["rope_scaling"] = {{"rope_type", "longrope"},
                              {"short_factor", shorter},
                              {"long_factor", longer},
                              {"attention_factor", r.number("rope.scaling.attn_factor").value_or(1)},
                              {"original_max_position_embeddings", original}};
  } else if (type == "yarn") {
    config["rope_scaling"] = yarn(r, factor, original);
  } else if (type == "linear" && factor != 1) {
    config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", factor}};
  } else if (type != "none" && type != "linear") {
    r.fail_at("rope.scaling.type", fmt::format("'{}' is not supported", printable(type, 40)),
              "supported: none, linear, yarn, longrope");
  }
  if (r.file().find_tensor("rope_freqs.weight")) {
    if (config.contains("rope_scaling"))
      r.fail_at("rope.scaling.type", "is not supported together with the tensor rope_freqs.weight");
    const std::vector<double> factors = rope_factors_of(r, "rope_freqs.weight", dim);
    if (std::any_of(factors.begin(), factors.end(), [](double f) { return f != 1; }))
      config["rope_scaling"] = scaling_by_factors(factors, theta, dim, positions);
  }
}

void write_gguf_rope(const Json& config, GgufHeader& h) {
  const std::string at = h.architecture + ".rope.";
  const auto part = [&](const char* key) {
    const auto found = config.find(key);
    return found != config.end() && found->is_object() ? *found : Json::object();
  };
  const Json scaling = part("rope_scaling"), by_type = part("rope_parameters");
  const Json parameters = by_type.value("full_attention", by_type);
  if (by_type.contains("sliding_attention")) {
    const Json& sliding = by_type.at("sliding_attention");
    if (sliding.value("rope_type", "default") != "default")
      fail_usage("rope_parameters", "llama.cpp does not scale the positions of layers with a window");
    const double theta = sliding.value("rope_theta", 10000.0);
    if (h.architecture == "olmo2" && theta != parameters.value("rope_theta", 10000.0))
      fail_usage("rope_parameters", "llama.cpp has one rope_theta for all layers of this architecture");
    h.metadata.add(at + "freq_base_swa", static_cast<float>(theta));
  }
  const Json& rope = scaling.empty() ? parameters : scaling;
  const std::string type = rope.value("rope_type", rope.value("type", "default"));
  double theta = rope.value("rope_theta", parameters.value("rope_theta", config.value("rope_theta", 10000.0)));
  const auto head_dim = static_cast<double>(head_dim_of(config));
  const bool has_alpha = type == "dynamic" && rope.contains("alpha");  // Hunyuan's base, whatever the length
  if (has_alpha) theta *= std::pow(rope.at("alpha").get<double>(), head_dim / (head_dim - 2));
  const double partial = rope.value(
      "partial_rotary_factor", parameters.value("partial_rotary_factor", config.value("partial_rotary_factor", 1.0)));
  const auto dim = static_cast<std::int64_t>(head_dim * partial);
  h.metadata.add(at + "dimension_count", static_cast<std::uint32_t>(dim));
  h.metadata.add(at + "freq_base", static_cast<float>(theta));
  if (partial != 1 && !rotates_parts(h.architecture))
    fail_usage("partial_rotary_factor", "llama.cpp rotates whole heads for this architecture");

  const auto number = [&](const char* key) { return static_cast<float>(rope.at(key).get<double>()); };
  const auto floats = [](const std::vector<double>& v) { return std::vector<float>(v.begin(), v.end()); };
  const auto list = [&](const char* key) { return floats(rope.at(key).get<std::vector<double>>()); };
  if (type == "default" || has_alpha) return;
  if (type == "linear") {
    h.metadata.add(at + "scaling.type", "linear");
    h.metadata.add(at + "scaling.factor", number("factor"));
  } else if (type == "llama3" && has_rope_factors(h.architecture)) {
    h.rope_factors = floats(llama3_factors(rope, theta, dim));
  } else if (type == "yarn") {
    const double factor = rope.at("factor").get<double>();
    write_score_scaling(rope, factor, h);
    const bool truncates = rope.value("truncate", true), is_gpt_oss = h.architecture == "gpt-oss";
    if (truncates == is_gpt_oss)
      fail_usage("rope_scaling", fmt::format("llama.cpp does not support yarn {} truncation for the architecture {}",
                                             truncates ? "with" : "without", h.architecture));
    if (!truncates)
      h.warning = "llama.cpp rounds the limits of yarn's ramp, which this model does not: its results differ slightly";
    h.metadata.add(at + "scaling.type", "yarn");
    h.metadata.add(at + "scaling.factor", static_cast<float>(factor));
    h.metadata.add(at + "scaling.original_context_length",
                   rope.at("original_max_position_embeddings").get<std::uint32_t>());
    h.metadata.add(at + "scaling.yarn_beta_fast", static_cast<float>(rope.value("beta_fast", 32.0)));
    h.metadata.add(at + "scaling.yarn_beta_slow", static_cast<float>(rope.value("beta_slow", 1.0)));
  } else if (type == "longrope" && h.architecture == "phi3") {
    h.rope_factors_long = list("long_factor"), h.rope_factors_short = list("short_factor");
    h.metadata.add(at + "scaling.attn_factor", number("attention_factor"));
  } else if (type == "longrope" && h.architecture == "minicpm3" && rope.value("attention_factor", 0.0) == 1 &&
             rope.at("original_max_position_embeddings") == config.at("max_position_embeddings")) {
    h.rope_factors_long = list("long_factor"), h.rope_factors_short = list("short_factor");
  } else if (type == "longrope" && h.architecture == "llama" && rope.at("long_factor") == rope.at("short_factor") &&
             rope.value("attention_factor", 0.0) == 1) {
    h.rope_factors = list("long_factor");
  } else {
    fail_usage("rope_scaling",
               fmt::format("llama.cpp does not support '{}' scaling for the architecture {}", type, h.architecture));
  }
}

}  // namespace tril::model
