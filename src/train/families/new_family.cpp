#include "train/families/new_family.h"

#include <array>
#include <map>

#include "base/error.h"
#include "base/printable.h"
#include "model_io/families/family_list.h"

namespace tril::train {

using Json = nlohmann::json;

namespace {

// marian_ssru is marian_nmt's model with another cell.
std::string_view family_of(std::string_view arch) {
  return arch == "marian_ssru" ? "marian_nmt" : arch;
}

std::vector<NewFamily> in_order_of_families() {
  std::vector<NewFamily> sorted;
  for (const model::Family& family : model::family_list())
    for (const auto& list : {new_encoder_decoders(), new_gpt_likes(), new_llama_likes(), new_mixtures(), new_hybrids()})
      for (const NewFamily& one : list)
        if (family_of(one.arch) == family.name) sorted.push_back(one);
  return sorted;
}

// The options that set keys of config.json, however the family spells these.
const std::map<std::string, std::string>& keys_of_options() {
  static const std::map<std::string, std::string> keys = [] {
    std::map<std::string, std::string> all;
    const auto add = [&](const char* option, std::initializer_list<const char*> names) {
      for (const char* name : names) all[name] = option;
    };
    add("arch", {"model_type", "architecture", "architectures", "decoder_cell"});
    add("vocab", {"vocab_size", "decoder_vocab_size", "share_encoder_decoder_embeddings", "bos_token_id",
                  "eos_token_id", "pad_token_id", "pad_idx", "decoder_start_token_id", "forced_eos_token_id"});
    add("d_model", {"d_model", "hidden_size", "n_embd", "n_embed"});
    add("num_heads", {"num_heads", "n_heads", "n_head", "num_attention_heads", "attention_heads",
                      "encoder_attention_heads", "decoder_attention_heads"});
    add("ffn_dim",
        {"ffn_dim", "ffn_hidden_size", "d_ff", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim", "intermediate_size"});
    add("enc_depth", {"encoder_layers"});
    add("dec_depth",
        {"decoder_layers", "num_decoder_layers", "num_hidden_layers", "num_layers", "n_layers", "n_layer"});
    add("max_positions", {"max_position_embeddings", "n_positions", "max_seq_len"});
    add("activation",
        {"activation_function", "activation", "hidden_act", "hidden_activation", "dense_act_fn", "feed_forward_proj"});
    return all;
  }();
  return keys;
}

// A value as JSON, or as a text where it is none.
Json value_of(const std::string& text) {
  Json value = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? Json(text) : value;
}

void set_own_key(Json& config, const std::string& text) {
  const std::size_t equals = text.find('=');
  check(equals != text.npos && equals > 0, "model_keys", "expected KEY=VALUE, got \"{}\"", printable(text, 100));
  std::string key = text.substr(0, equals);
  Json* object = &config;
  for (std::size_t dot = key.find('.'); dot != key.npos; dot = key.find('.')) {
    object = &(*object)[key.substr(0, dot)];
    check(object->is_object() || object->is_null(), "model_keys", "\"{}\" leads into a value that is not an object",
          printable(text, 100));
    key.erase(0, dot + 1);
  }
  if (const auto set = keys_of_options().find(key); set != keys_of_options().end())
    fail_usage("model_keys", fmt::format("{} is not a key of this option", printable(key, 100)),
               fmt::format("pass `{}` instead", set->second));
  (*object)[key] = value_of(text.substr(equals + 1));
}

}  // namespace

std::int64_t NewModel::kv_heads() const {
  std::int64_t heads = std::max<std::int64_t>(1, num_heads / 4);
  while (num_heads % heads != 0) --heads;
  return heads;
}

std::span<const NewFamily> new_families() {
  static const std::vector<NewFamily> list = in_order_of_families();
  return list;
}

std::vector<std::string> architectures() {
  std::vector<std::string> names;
  for (const NewFamily& family : new_families()) names.emplace_back(family.arch);
  return names;
}

const NewFamily& new_family(std::string_view arch) {
  for (const NewFamily& family : new_families())
    if (family.arch == arch) return family;
  fail_usage("arch", fmt::format("'{}' is not a family that can be trained from the beginning", printable(arch, 100)),
             did_you_mean(arch, architectures()));
}

nlohmann::json new_config(const NewFamily& family, const NewModel& m, const std::vector<std::string>& own_keys) {
  Json config = family.config(m);
  for (const std::string& text : own_keys) set_own_key(config, text);
  return config;
}

nlohmann::json id_json(std::int32_t id) {
  return id < 0 ? Json(nullptr) : Json(id);
}

nlohmann::json rotary_json(double theta) {
  return {{"rope_type", "default"}, {"rope_theta", theta}};
}

nlohmann::json decoder_config(std::string_view model_type, const NewModel& m) {
  return {{"model_type", model_type},
          {"vocab_size", m.target_vocab},
          {"bos_token_id", id_json(m.special.bos)},
          {"eos_token_id", id_json(m.special.eos)},
          {"pad_token_id", id_json(m.special.pad)}};
}

nlohmann::json llama_config(std::string_view model_type, const NewModel& m, const nlohmann::json& own) {
  Json j = decoder_config(model_type, m);
  j.update({{"hidden_size", m.d_model},
            {"intermediate_size", m.ffn_dim},
            {"num_hidden_layers", m.dec_depth},
            {"num_attention_heads", m.num_heads},
            {"num_key_value_heads", m.kv_heads()},
            {"max_position_embeddings", m.max_positions},
            {"attention_dropout", m.attention_dropout}});
  j.update(own);
  return j;
}

nlohmann::json lfm_layer_types(const NewModel& m) {
  Json types = Json::array();
  for (std::int64_t i = 0; i < m.dec_depth; ++i)
    types.push_back(i % 3 == 2 || (m.dec_depth < 3 && i + 1 == m.dec_depth) ? "full_attention" : "conv");
  return types;
}

nlohmann::json delta_rule_config(const NewModel& m) {
  return {{"head_dim", m.d_head()},
          {"full_attention_interval", std::min<std::int64_t>(4, m.dec_depth)},
          {"linear_num_key_heads", m.num_heads % 2 == 0 ? m.num_heads / 2 : m.num_heads},
          {"linear_num_value_heads", m.num_heads},
          {"linear_key_head_dim", m.d_head()},
          {"linear_value_head_dim", m.d_head()},
          {"linear_conv_kernel_dim", 4}};
}

}  // namespace tril::train
