#include "model/spec/config_reader.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/spec/generation_keys.h"

namespace tril::model {
namespace {

// Keys that any config.json may have and that affect no family's results: names, versions, settings of outputs
// besides logits, and generation keys that are not supported (generation_keys() lists the supported ones).
constexpr std::string_view common[] = {"architectures",
                                       "model_type",
                                       "architecture",
                                       "auto_map",
                                       "dtype",
                                       "torch_dtype",
                                       "transformers_version",
                                       "name_or_path",
                                       "attn_implementation",
                                       "author",
                                       "created_date",
                                       "license",
                                       "use_cache",
                                       "quantization_config",
                                       "output_attentions",
                                       "output_hidden_states",
                                       "output_past",
                                       "return_dict",
                                       "return_dict_in_generate",
                                       "output_scores",
                                       "torchscript",
                                       "keys_to_ignore_at_inference",
                                       "chunk_size_feed_forward",
                                       "gradient_checkpointing",
                                       "id2label",
                                       "label2id",
                                       "num_labels",
                                       "problem_type",
                                       "task_specific_params",
                                       "tokenizer_class",
                                       "finetuning_task",
                                       "prefix",
                                       "sep_token_id",
                                       "cls_token_id",
                                       "is_encoder_decoder",
                                       "is_decoder",
                                       "cross_attention_hidden_size",
                                       "pruned_heads",
                                       "classifier_dropout",
                                       "initializer_range",
                                       "tf_legacy_loss",
                                       "use_bfloat16",
                                       "remove_invalid_values",
                                       "cache_implementation",
                                       "is_llama_config",
                                       "transformers.js_config",
                                       "custom_pipelines",
                                       "adapters",
                                       "xla_device",
                                       "eos_token_ids",
                                       "unk_token_id",
                                       "unsloth_version",
                                       "unsloth_fixed"};

// True if a value has no effect: null, false, 0, empty.
bool is_off(const nlohmann::json& v) {
  return v.is_null() || v == false || (v.is_number() && v == 0) ||
         ((v.is_structured() || v.is_string()) && v.size() == 0) || v == "";
}

}  // namespace

ConfigReader::ConfigReader(const JsonObject& config, std::string family)
    : config_(&config), family_(std::move(family)), known_(std::begin(common), std::end(common)) {
  for (const std::string_view key : generation_keys()) known_.insert(std::string(key));
  only("is_causal", true);  // else `transformers` lets every token see all others, in any family
}

bool ConfigReader::has(const std::string& key) {
  known_.insert(key);
  return config_->has(key);
}

bool ConfigReader::says_null(const std::string& key) {
  known_.insert(key);
  const auto at = config_->json().find(key);
  return at != config_->json().end() && at->is_null();
}

bool ConfigReader::flag(const std::string& key, bool otherwise) {
  return !says_null(key) && get<bool>(key, otherwise);
}

std::int64_t ConfigReader::size(const std::string& key) {
  known_.insert(key);
  return config_->size(key);
}

std::int64_t ConfigReader::layers(const std::string& key) {
  known_.insert(key);
  return layer_count(*config_, key);
}

std::string ConfigReader::spelt(const std::string& name, const std::string& other) {
  if (!has(other)) return name;
  if (has(name) && config_->json().at(name) != config_->json().at(other))
    config_->fail_at(other, fmt::format("{} contradicts {} {}", printable(config_->json().at(other).dump(), 40),
                                        config_->name_of(name), printable(config_->json().at(name).dump(), 40)));
  return has(name) ? name : other;
}

std::int64_t ConfigReader::size(const std::string& key, std::int64_t otherwise) {
  known_.insert(key);
  return config_->size(key, otherwise);
}

float ConfigReader::share(const std::string& key, double otherwise) {
  known_.insert(key);
  return share_of(*config_, key, otherwise);
}

double ConfigReader::positive(const std::string& key, double otherwise) {
  known_.insert(key);
  return positive_of(*config_, key, otherwise);
}

double ConfigReader::at_least_0(const std::string& key, double otherwise) {
  known_.insert(key);
  return at_least_0_of(*config_, key, otherwise);
}

std::int32_t ConfigReader::id_of(const std::string& key, std::int64_t otherwise, std::int64_t vocab_size) {
  if (says_null(key)) return -1;
  const auto at = config_->json().find(key);
  std::int64_t id = otherwise < vocab_size ? otherwise : -1;
  if (at != config_->json().end() && at->is_array()) {
    const auto list = config_->get<std::vector<std::int64_t>>(key);
    id = list.empty() ? -1 : list[0];
  } else {
    id = token_id_of(*config_, key, id);
  }
  if (id < -1 || id >= vocab_size)
    config_->fail_at(key, fmt::format("{} is not a valid id: the vocabulary has {} tokens", id, vocab_size));
  return static_cast<std::int32_t>(id);
}

HiddenAct ConfigReader::hidden_act(const std::string& key, HiddenAct otherwise) {
  const auto name = get<std::string>(key, std::string(name_of(otherwise)));
  return hidden_act_of(name, config_->place_of(key));
}

void ConfigReader::ignore(std::initializer_list<std::string_view> keys) {
  known_.insert(keys.begin(), keys.end());
}

void ConfigReader::finish() const {
  for (const auto& [key, value] : config_->json().items())
    if (!known_.contains(key) && !key.starts_with('_') && !is_off(value))
      config_->fail_at(key, fmt::format("is not a known key of {} and may change results", family_),
                       did_you_mean(key, {known_.begin(), known_.end()}));
}

void check_size(const JsonObject& config, std::string_view key, std::int64_t value, std::int64_t most) {
  if (value <= 0 || value > most)
    config.fail_at(key, fmt::format("{} is outside the supported range from 1 to {}", value, most));
}

std::int64_t size_within(const JsonObject& config, std::string_view key, std::int64_t most) {
  const std::int64_t value = config.size(key);
  check_size(config, key, value, most);
  return value;
}

std::int32_t id_within(const JsonObject& config, std::string_view key, std::int64_t otherwise,
                       std::int64_t vocab_size) {
  const std::int32_t id = token_id_of(config, key, otherwise);
  if (id >= vocab_size)
    config.fail_at(key, fmt::format("{} is not a valid id: the vocabulary has {} tokens", id, vocab_size));
  return id;
}

float share_of(const JsonObject& config, std::string_view key, double otherwise) {
  const auto value = static_cast<float>(config.get<double>(key, otherwise));
  if (!(value >= 0 && value < 1)) config.fail_at(key, fmt::format("{} is not in [0, 1)", value));
  return value;
}

bool is_positive_float(double x) {
  const auto narrow = static_cast<float>(x);
  return narrow > 0 && std::isfinite(narrow);
}

bool is_float_from_0(double x) {
  return x >= 0 && std::isfinite(static_cast<float>(x));
}

double positive_of(const JsonObject& config, std::string_view key, double otherwise) {
  const double value = config.get<double>(key, otherwise);
  if (!is_positive_float(value))
    config.fail_at(key,
                   fmt::format("{} is not a positive number{}", value, value > 0 ? " that fits into float32" : ""));
  return value;
}

double at_least_0_of(const JsonObject& config, std::string_view key, double otherwise) {
  const double value = config.get<double>(key, otherwise);
  if (!is_float_from_0(value))
    config.fail_at(
        key, fmt::format("{} is not a number of at least 0{}", value, value > 0 ? " that fits into float32" : ""));
  return value;
}

}  // namespace tril::model
