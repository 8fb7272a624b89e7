#include "model_io/gguf/gguf_tensors.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/spec/fused_rows.h"
#include "model_io/gguf/gguf_config.h"
#include "model_io/gguf/gguf_mamba2.h"

namespace tril::model {
namespace {

using Form = GgufRule::Form;

}  // namespace

std::string with_replaced(std::string text, std::string_view from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

std::string GgufRule::gguf_name(std::int64_t layer) const {
  return with_replaced(gguf, "{}", std::to_string(layer));
}

std::string GgufRule::hf_name(std::int64_t layer, std::int64_t part) const {
  const std::string name = form == Form::fused_qkv ? std::string(1, "qkv"[part]) : std::to_string(part);
  return with_replaced(with_replaced(hf, "{}", std::to_string(layer)), "{e}", name);
}

std::string GgufRule::partner_name(std::int64_t layer) const {
  if (form == Form::expert_gates) return with_replaced(gguf_name(layer), "ffn_gate_exps", "ffn_up_exps");
  if (form == Form::delta_inputs) return with_replaced(gguf_name(layer), "attn_qkv", "attn_gate");
  if (form == Form::gate_rows) return with_replaced(gguf_name(layer), "ffn_gate", "ffn_up");
  if (form == Form::latent_keys) return with_replaced(gguf_name(layer), "attn_k_b", "attn_v_b");
  return "";
}

namespace {

// gguf_row_order() of the forms of the gated delta rule; for delta_columns, of the columns.
std::vector<std::int64_t> delta_order(Form form, std::int64_t size, const nlohmann::json& config) {
  const bool all = form == Form::delta_qkv || form == Form::delta_taps;
  const bool single = form == Form::delta_heads || form == Form::delta_rates;
  if (!all && !single && form != Form::delta_values && form != Form::delta_columns) return {};
  const auto get = [&](const char* key) { return config.at(key).get<std::int64_t>(); };
  const std::int64_t key_heads = get("linear_num_key_heads"), heads = get("linear_num_value_heads");
  const std::int64_t d = single ? 1 : get("linear_value_head_dim");
  const std::int64_t before = all ? 2 * key_heads * get("linear_key_head_dim") : 0;
  if (heads % key_heads != 0 || size != before + heads * d)
    fail("ssm", fmt::format("{} rows or columns do not fit {} heads of {}", size, heads, d),
         "the metadata does not match the tensors");
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < before; ++i) order.push_back(i);
  for (std::int64_t i = 0; i < heads * d; ++i)
    order.push_back(before + delta_head(i / d, key_heads, heads) * d + i % d);
  return order;
}

}  // namespace

std::array<std::int64_t, 4> delta_input_rows(const nlohmann::json& config) {
  const auto get = [&](const char* key) { return config.at(key).get<std::int64_t>(); };
  const std::int64_t key = get("linear_key_head_dim"),
                     values =
                         get("linear_num_value_heads") / get("linear_num_key_heads") * get("linear_value_head_dim");
  return {key, key, values, values};
}

std::int64_t gguf_parts(const GgufRule& rule, const nlohmann::json& config) {
  switch (rule.form) {
    case Form::experts:
    case Form::expert_gates:
    case Form::expert_ups:
      return experts_of(config);
    case Form::query_heads:
      return heads_of(config);
    case Form::fused_qkv:
      return 3;
    case Form::key_heads:
      return config.at("num_key_value_heads").get<std::int64_t>();
    default:
      return 1;
  }
}

std::vector<std::int64_t> gguf_row_order(const GgufRule& rule, std::int64_t rows, const nlohmann::json& config) {
  const bool queries = rule.form == Form::rotated_queries || rule.form == Form::part_rotated_queries,
             parts = rule.form == Form::part_rotated_queries || rule.form == Form::part_rotated_keys;
  if (queries || parts || rule.form == Form::rotated_keys) {
    const std::int64_t heads = queries ? heads_of(config) : config.at("num_key_value_heads").get<std::int64_t>();
    if (rows % heads != 0 || rows / heads % 2 != 0)
      fail(rule.gguf, fmt::format("has {} rows, which cannot be divided into pairs of {} heads", rows, heads),
           "the metadata does not match the tensors");
    const std::int64_t d = rows / heads, rotated = parts ? rotated_rows(config) : d;
    std::vector<std::int64_t> order;
    for (std::int64_t row = 0; row < rows; ++row)
      order.push_back(row % d < rotated ? row / d * d + unrotated_row(row % d, rotated) : row);
    return order;
  }
  if (rule.form != Form::grouped) return delta_order(rule.form, rows, config);
  const std::int64_t width = d_model_of(config), head = width / heads_of(config), of_keys = (rows - width) / 2;
  if (of_keys <= 0 || (rows - width) % 2 != 0 || of_keys % head != 0 || heads_of(config) % (of_keys / head) != 0)
    fail(rule.gguf,
         fmt::format("has {} rows, which cannot be divided into {} heads of queries, keys and values of {}", rows,
                     heads_of(config), head),
         "the metadata does not match the tensors");
  const std::vector<std::int32_t> order =
      fused_rows({.groups = of_keys / head, .query_rows = width, .key_rows = of_keys});
  return {order.begin(), order.end()};
}

}  // namespace tril::model
