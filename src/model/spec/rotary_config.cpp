#include "model/spec/rotary_config.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.h"

namespace tril::model {
namespace {

using Scaling = nn::RotaryOptions::Scaling;

// The kinds of scaling and their keys, besides rope_type and rope_theta.
struct Kind {
  std::string_view name;
  Scaling scaling;
  std::vector<std::string> keys;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list{
      {"default", Scaling::none, {}},
      {"linear", Scaling::linear, {"factor"}},
      {"dynamic", Scaling::dynamic, {"factor"}},
      {"dynamic", Scaling::alpha, {"alpha"}},  // read by read_rotary() alone
      {"llama3",
       Scaling::llama3,
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}},
      {"yarn",
       Scaling::yarn,
       {"factor", "beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim", "truncate",
        "original_max_position_embeddings", "attn_factor", "llama_4_scaling_beta", "max_position_embeddings",
        "finetuned"}},  // read by the authors' code only, not by transformers
      {"longrope",
       Scaling::longrope,
       {"factor", "short_factor", "long_factor", "attention_factor", "original_max_position_embeddings", "short_mscale",
        "long_mscale"}},
      {"proportional", Scaling::proportional, {"factor"}},
  };
  return list;
}

const Kind& kind_of(const JsonObject& rope) {
  const std::string key = rope.has("rope_type") ? "rope_type" : "type";
  std::string name = rope.get<std::string>(key, "default");
  if (name == "su") name = "longrope";  // in the first Phi-3 files
  std::vector<std::string_view> names;
  for (const Kind& k : kinds()) {
    if (k.name == name) return k;
    if (k.scaling != Scaling::alpha) names.push_back(k.name);
  }
  rope.fail_at(key, fmt::format("'{}' is not supported", printable(name, 40)),
               fmt::format("supported: {}", fmt::join(names, ", ")));
}

// The keys of all kinds: files may carry keys of other kinds, which have no effect.
std::vector<std::string> all_keys() {
  std::vector<std::string> all{"rope_type", "type", "rope_theta", "partial_rotary_factor"};
  for (const Kind& k : kinds()) all.insert(all.end(), k.keys.begin(), k.keys.end());
  return all;
}

// The model's context length before scaling.
std::int64_t original_of(ConfigReader& config, const JsonObject& rope, const RotaryDefaults& d, Scaling scaling) {
  constexpr const char* key = "original_max_position_embeddings";
  const bool at_top = config.has(key) && d.original_at_top;  // no effect for the other kinds
  if (d.original > 0) return d.original;
  if (scaling == Scaling::dynamic) return d.max_positions;
  const bool counts = scaling == Scaling::llama3 || scaling == Scaling::yarn || scaling == Scaling::longrope;
  return at_top && counts ? config.size(key) : rope.size(key, d.max_positions);
}

// The fraction of a head that is rotated. For families without this option, transformers rotates whole heads, or
// fails if a scaling computes frequencies for only a part of them.
double share_of_head(const JsonObject& rope, const RotaryDefaults& d, double at_top, Scaling scaling) {
  const double share = positive_of(rope, "partial_rotary_factor", at_top);
  if (d.turns_part || share == 1 || scaling == Scaling::proportional) return share;
  if (scaling != Scaling::none || d.refuses_part)
    rope.fail_at("partial_rotary_factor", fmt::format("{} is not supported: this family rotates whole heads", share));
  return 1;
}

double needed(const JsonObject& rope, std::string_view key) {
  rope.get<double>(key);  // throws the Error for a missing key
  return positive_of(rope, key, 0);
}

// [Peng et al. 2023, eq. 22]: 0.1 ln(s) + 1
double temperature(double scale, double m) {
  return scale <= 1 ? 1 : 0.1 * m * std::log(scale) + 1;
}

void read_longrope(const JsonObject& rope, const RotaryDefaults& d, nn::RotaryOptions& o) {
  const double stretched = static_cast<double>(d.max_positions) / static_cast<double>(o.original);
  o.factor = rope.has("factor") ? positive_of(rope, "factor", 1) : stretched;
  const double own = o.factor <= 1 ? 1 : std::sqrt(1 + std::log(o.factor) / std::log(static_cast<double>(o.original)));
  o.attention_factor = positive_of(rope, "attention_factor", own);
  if (d.reads_mscales) {
    o.attention_factor = needed(rope, "short_mscale");
    if (needed(rope, "long_mscale") != o.attention_factor)
      rope.fail_at("long_mscale", "differs from short_mscale", "only one factor for all lengths is supported");
  } else if (rope.has("short_mscale") || rope.has("long_mscale")) {
    rope.fail_at("short_mscale", "is not supported for this family");
  }
  for (const auto& [key, list] : {std::pair{"short_factor", &o.short_factors}, {"long_factor", &o.long_factors}}) {
    *list = rope.get<std::vector<double>>(key);
    if (std::ssize(*list) != o.dim / 2)
      rope.fail_at(key, fmt::format("got {} factors for the {} pairs of a head", list->size(), o.dim / 2));
    for (double f : *list)
      if (!is_positive_float(f)) rope.fail_at(key, fmt::format("{} is not a positive number", f));
  }
}

void read_yarn(const JsonObject& rope, const RotaryDefaults& d, nn::RotaryOptions& o) {
  o.factor = rope.has("factor") ? positive_of(rope, "factor", 1)
                                : static_cast<double>(d.max_positions) / static_cast<double>(o.original);
  const double m = rope.get<double>("mscale", 0), m_all = rope.get<double>("mscale_all_dim", 0);
  const double own =
      m != 0 && m_all != 0 ? temperature(o.factor, m) / temperature(o.factor, m_all) : temperature(o.factor, 1);
  o.attention_factor = positive_of(rope, "attention_factor", own);
  if (d.reads_score_factor) o.mscale_all_dim = m_all;
  if (!is_positive_float(o.score_factor()))
    rope.fail_at("mscale_all_dim", fmt::format("{} multiplies scores by {}", m_all, o.score_factor()),
                 "expected a positive factor that fits into float32");
  o.beta_fast = positive_of(rope, "beta_fast", 32), o.beta_slow = positive_of(rope, "beta_slow", 1);
  o.truncate = rope.get<bool>("truncate", true);
  if (!d.scales_queries && rope.get<double>("llama_4_scaling_beta", 0) != 0)
    rope.fail_at("llama_4_scaling_beta", "is not supported for this family");
}

// Queries are scaled by their positions with every kind of scaling. `transformers` needs the key of the original length for this.
void read_query_beta(const JsonObject& rope, nn::RotaryOptions& o) {
  o.query_beta = at_least_0_of(rope, "llama_4_scaling_beta", 0);
  if (o.query_beta == 0) return;
  if (o.depends_on_length())
    rope.fail_at("llama_4_scaling_beta", "is not supported where angles depend on lengths",
                 "supported with default, linear, llama3 and yarn");
  if (o.scaling == Scaling::none || o.scaling == Scaling::linear)
    rope.get<std::int64_t>("original_max_position_embeddings");  // throws the Error for a missing key
}

}  // namespace

namespace {

// Reads one object of rotary parameters. theta, partial: the values of absent keys.
nn::RotaryOptions read_object(ConfigReader& config, const JsonObject& rope, const RotaryDefaults& d, double theta,
                              double partial) {
  const Kind& kind = kind_of(rope);
  std::vector<std::string> known = all_keys();
  if (d.reads_sections) known.insert(known.end(), {"mrope_section", "mrope_interleaved"});
  for (const UnknownKey& u : unknown_keys(rope, known))
    if (rope.has(u.key))
      rope.fail_at(u.key, fmt::format("is not a known key of '{}'", kind.name),
                   u.nearest.empty() ? "" : fmt::format("did you mean {}?", u.nearest));

  nn::RotaryOptions o;
  o.interleaved = d.interleaved, o.reversed = d.reversed;
  o.scaling = kind.scaling;
  o.theta = positive_of(rope, "rope_theta", theta);
  if (!(o.theta > 1)) rope.fail_at("rope_theta", fmt::format("{} is not above 1", o.theta));
  const double share = share_of_head(rope, d, partial, kind.scaling);
  const auto head_dim = static_cast<double>(d.head_dim);
  const double turned = std::trunc(head_dim * share);  // a double: a large fraction exceeds every integer type
  if (turned < 2 || turned > head_dim || std::fmod(turned, 2) != 0)
    rope.fail_at(
        "partial_rotary_factor",
        fmt::format("{} of heads of {} is {} values, which cannot be rotated in pairs", share, d.head_dim, turned));
  o.dim = static_cast<std::int64_t>(turned);
  if (o.scaling == Scaling::proportional) {  // frequencies of the whole head
    o.turned = std::exchange(o.dim, d.head_dim);
    o.factor = positive_of(rope, "factor", 1);
  }
  o.original = original_of(config, rope, d, o.scaling);
  if (o.scaling == Scaling::dynamic && o.dim < 4) rope.fail_at("rope_type", "dynamic needs at least 4 rotated values");
  if (rope.get<double>("alpha", 0) != 0) {
    if (!d.reads_alpha || o.scaling != Scaling::dynamic)
      rope.fail_at("alpha", fmt::format("is not supported for '{}' of this family", kind.name));
    o.scaling = Scaling::alpha;
    o.factor = positive_of(rope, "alpha", 0);
  }
  if (o.scaling == Scaling::linear || o.scaling == Scaling::dynamic || o.scaling == Scaling::llama3)
    o.factor = needed(rope, "factor");
  if (o.scaling == Scaling::llama3) {
    o.low_freq_factor = needed(rope, "low_freq_factor"), o.high_freq_factor = needed(rope, "high_freq_factor");
    if (!(o.high_freq_factor > o.low_freq_factor)) rope.fail_at("high_freq_factor", "is not above low_freq_factor");
  }
  if (o.scaling == Scaling::yarn) read_yarn(rope, d, o);
  if (d.scales_queries) read_query_beta(rope, o);
  if (d.reads_score_factor && o.scaling != Scaling::none && o.scaling != Scaling::yarn &&
      rope.get<double>("mscale_all_dim", 0) != 0)
    rope.fail_at("mscale_all_dim", fmt::format("is not supported for '{}'", kind.name));
  if (o.scaling == Scaling::longrope) read_longrope(rope, d, o);
  return o;
}

bool says_anything(ConfigReader& config, const std::string& key) {
  return config.has(key) && !config.json().json().at(key).empty();
}

}  // namespace

nn::RotaryOptions read_rotary(ConfigReader& config, const RotaryDefaults& d) {
  const JsonObject& json = config.json();
  const bool old_scaling = says_anything(config, "rope_scaling"), new_spelling = config.has("rope_parameters");
  const nlohmann::json otherwise = nlohmann::json::parse(d.parameters.empty() ? "{}" : d.parameters);
  double theta = config.get<double>("rope_theta", d.theta),
         partial = config.get<double>("partial_rotary_factor", d.partial);
  if (!d.reads_top_level) theta = d.theta, partial = d.partial;
  config.ignore({"rotary_dim"});  // a key of other families
  // As in `transformers`, a rope_scaling that is not empty takes precedence over rope_parameters.
  const JsonObject rope = old_scaling    ? json.object("rope_scaling")
                          : new_spelling ? json.object("rope_parameters")
                                         : JsonObject(otherwise, json.place_of("rope_parameters"));
  return read_object(config, rope, d, theta, partial);
}

namespace {

// The defaults for full attention in a config with an object for each type of layers. In these, as in `transformers`, top-level
// keys have no precedence.
RotaryDefaults of_full_attention(RotaryDefaults d) {
  d.original_at_top = false;
  if (d.full_head_dim > 0) d.head_dim = d.full_head_dim;
  return d;
}

RotaryDefaults of_sliding_attention(RotaryDefaults d) {
  d.original_at_top = false;
  return d;
}

// One object of rope_parameters for each type of layers.
RotaryByType read_both(ConfigReader& config, const RotaryDefaults& d, const JsonObject& by_type,
                       const std::array<double, 2>& thetas) {
  for (const UnknownKey& u : unknown_keys(by_type, {"full_attention", "sliding_attention"}))
    if (by_type.has(u.key))
      by_type.fail_at(u.key, "is not a layer type", "expected full_attention or sliding_attention");
  const nlohmann::json none = nlohmann::json::object();
  const JsonObject nothing(none, config.json().where());
  const auto of = [&](const char* type) { return by_type.has(type) ? by_type.object(type) : nothing; };
  return {.full = read_object(config, of("full_attention"), of_full_attention(d), thetas[0], 1),
          .sliding = read_object(config, of("sliding_attention"), of_sliding_attention(d), thetas[1], 1)};
}

// rope_scaling of an older file: its keys replace those of rope_parameters.full_attention.
nn::RotaryOptions read_scaling_of_full(ConfigReader& config, const RotaryDefaults& d, const JsonObject& by_type,
                                       double theta) {
  const JsonObject scaling = config.json().object("rope_scaling");
  if (scaling.has("type") && !scaling.has("rope_type"))
    scaling.fail_at("type", "has no effect in `transformers` without rope_type",
                    "add rope_type, or remove rope_scaling");
  nlohmann::json full = by_type.has("full_attention") ? by_type.object("full_attention").json()
                                                      : nlohmann::json{{"rope_type", "default"}};
  full.update(scaling.json());
  return read_object(config, JsonObject(full, scaling.where()), of_full_attention(d), theta, 1);
}

}  // namespace

RotaryByType read_rotary_by_type(ConfigReader& config, const RotaryDefaults& d, const std::string& sliding_theta_key,
                                 double sliding_theta) {
  const JsonObject& json = config.json();
  const bool old_scaling = says_anything(config, "rope_scaling"),
             new_spelling = says_anything(config, "rope_parameters");
  const double theta = config.get<double>("rope_theta", d.theta);
  sliding_theta = sliding_theta_key.empty() ? theta : config.get<double>(sliding_theta_key, sliding_theta);
  const nlohmann::json none = nlohmann::json::object();
  const JsonObject by_type = new_spelling ? json.object("rope_parameters") : JsonObject(none, json.where());
  RotaryByType both = read_both(config, d, by_type, {theta, sliding_theta});
  if (old_scaling) both.full = read_scaling_of_full(config, d, by_type, theta);
  return both;
}

RotaryByType read_nested_rotary(ConfigReader& config, const RotaryDefaults& d, const nlohmann::json& otherwise,
                                const std::vector<std::int32_t>& windows) {
  const JsonObject& json = config.json();
  if (says_anything(config, "rope_scaling"))
    json.fail_at("rope_scaling", "is not a key of this family",
                 "rope_parameters has the rotary positions of each type of layers");
  config.ignore({"rope_theta", "partial_rotary_factor"});
  const JsonObject by_type = config.has("rope_parameters") ? json.object("rope_parameters")
                                                           : JsonObject(otherwise, json.place_of("rope_parameters"));
  for (const std::int32_t window : windows)
    needed(by_type.object(window > 0 ? "sliding_attention" : "full_attention"), "rope_theta");
  return read_both(config, d, by_type, {d.theta, d.theta});
}

double partial_factor(std::int64_t dim, std::int64_t head_dim) {
  double share = static_cast<double>(dim) / static_cast<double>(head_dim);
  while (static_cast<std::int64_t>(static_cast<double>(head_dim) * share) < dim) share = std::nextafter(share, 2.0);
  return share;
}

namespace {

// The share of a head whose values are rotated.
double share_rotated(const nn::RotaryOptions& o, std::int64_t head_dim) {
  return partial_factor(o.scaling == Scaling::proportional ? o.turned : o.dim, head_dim);
}

nlohmann::ordered_json object_of(const nn::RotaryOptions& o, bool says_partial, double partial) {
  nlohmann::ordered_json rope;
  for (const Kind& k : kinds())
    if (k.scaling == o.scaling) rope["rope_type"] = k.name;
  rope["rope_theta"] = o.theta;
  if (says_partial) rope["partial_rotary_factor"] = partial;
  if (o.scaling == Scaling::alpha) {
    rope["alpha"] = o.factor;
    rope["factor"] = 1.0;
    return rope;
  }
  if (o.scaling != Scaling::none) rope["factor"] = o.factor;
  if (o.scaling != Scaling::none && o.scaling != Scaling::linear && o.scaling != Scaling::dynamic &&
      o.scaling != Scaling::proportional)
    rope["original_max_position_embeddings"] = o.original;
  if (o.scaling == Scaling::llama3) {
    rope["low_freq_factor"] = o.low_freq_factor;
    rope["high_freq_factor"] = o.high_freq_factor;
  }
  if (o.scaling == Scaling::yarn) {
    rope["beta_fast"] = o.beta_fast;
    rope["beta_slow"] = o.beta_slow;
    rope["attention_factor"] = o.attention_factor;
    rope["truncate"] = o.truncate;
    if (o.mscale_all_dim != 0) rope["mscale_all_dim"] = o.mscale_all_dim;
  }
  if (o.query_beta != 0) {
    rope["original_max_position_embeddings"] = o.original;
    rope["llama_4_scaling_beta"] = o.query_beta;
  }
  if (o.scaling == Scaling::longrope) {
    rope["short_factor"] = o.short_factors;
    rope["long_factor"] = o.long_factors;
    rope["attention_factor"] = o.attention_factor;
  }
  return rope;
}

}  // namespace

void write_rotary(nlohmann::ordered_json& config, const nn::RotaryOptions& o, std::int64_t head_dim,
                  double default_partial) {
  const double partial = share_rotated(o, head_dim);
  const bool says_partial = partial != 1 || default_partial != 1;
  nlohmann::ordered_json rope = object_of(o, says_partial, partial);
  config["rope_parameters"] = rope;
  config["rope_theta"] = o.theta;
  if (says_partial) config["partial_rotary_factor"] = partial;
  if (o.scaling == Scaling::none) {
    config["rope_scaling"] = nullptr;
  } else {
    rope.erase("rope_theta");
    rope.erase("partial_rotary_factor");
    config["rope_scaling"] = rope;
  }
}

void write_rotary_by_type(nlohmann::ordered_json& config, const RotaryByType& rotary, std::int64_t full_dim,
                          std::int64_t sliding_dim) {
  const auto one = [](const nn::RotaryOptions& o, std::int64_t head_dim) {
    const double partial = share_rotated(o, head_dim);
    return object_of(o, partial != 1, partial);
  };
  config["rope_parameters"] = {{"full_attention", one(rotary.full, full_dim)},
                               {"sliding_attention", one(rotary.sliding, sliding_dim)}};
}

}  // namespace tril::model
