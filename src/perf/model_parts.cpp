#include "perf/model_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "base/as_size.h"
#include "kern/quantize_int4.h"

namespace tril::train {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char ch) { return std::tolower(ch); });
  return text;
}

bool has_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

bool is_router(std::string_view name) {
  return has_any(name,
                 {"router", "correction_bias", "expert_bias", "shared_expert_gate", "per_expert_scale", ".gate.wg"}) ||
         name.ends_with(".gate.weight") || name.ends_with(".gate.bias");
}

// Names are those of published files. Words of inner modules come before those of the modules around them.
PartKind kind_of_name(std::string_view name) {
  if (is_router(name)) return PartKind::router;
  if (has_any(name, {"shared_expert", "share_expert", "shared_mlp"})) return PartKind::shared_experts;
  if (has_any(name, {"experts."})) return PartKind::experts;
  if (has_any(name, {".mamba.", ".mixer.conv1d", ".mixer.in_proj", ".mixer.out_proj", ".mixer.norm"}) ||
      name.ends_with(".A_log") || name.ends_with(".D") || name.ends_with(".dt_bias"))
    return PartKind::recurrent;
  if (has_any(name, {"norm", ".ln_", ".ln.", "layer_scalar"}) || name.starts_with("ln_")) return PartKind::norms;
  if (has_any(name, {"encoder_attn", "encdecattention", "cross_attn", "mha2", "_context_"}))
    return PartKind::cross_attention;
  if (has_any(name, {"linear_attn", ".conv.", "ssru", "_rnn_"})) return PartKind::recurrent;
  if (has_any(name, {"attn", "attention", "mha", "_self_", ".mixer.q_proj", ".mixer.k_proj", ".mixer.v_proj",
                     ".mixer.o_proj"}))
    return PartKind::attention;
  if (has_any(name, {"mlp", "ffn", ".fc", "densereludense", "feed_forward", ".ff.", ".mixer."}))
    return PartKind::feed_forward;
  if (has_any(name, {"lm_head", "embed_out", "final_layer", "final_logits_bias", "output", "fc_out"}))
    return PartKind::output;
  if (has_any(name, {"embed", "wte", "wpe", "shared", "position", "per_layer", "project_in", "project_out"}))
    return PartKind::embeddings;
  return PartKind::other;
}

// "model.layers.1.mlp.experts.12.up_proj.weight" -> {"model.layers.1.mlp.experts.", 12}; -1 for another weight.
std::pair<std::string_view, std::int64_t> expert_of(std::string_view name) {
  constexpr std::string_view list = "experts.", one = "expert_";
  const std::size_t at = name.find(list);
  if (at == std::string_view::npos) return {"", -1};
  std::size_t digits = at + list.size();
  if (name.substr(digits).starts_with(one)) digits += one.size();
  std::int64_t number = -1;
  for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits)
    number = std::max<std::int64_t>(number, 0) * 10 + (name[digits] - '0');
  return {name.substr(0, at + list.size()), number};
}

// The number of experts in the list to which a weight belongs; 0: it belongs to none.
class ExpertLists {
 public:
  explicit ExpertLists(const model::Model& m) {
    for (const nn::Parameter& p : m.parameters().all())
      if (const auto [list, number] = expert_of(p.name); number >= 0) members_[list].insert(number);
  }
  std::int64_t size_of_list(const nn::Parameter& p) const {
    const auto [list, number] = expert_of(p.name);
    const auto found = members_.find(list);
    return number < 0 || found == members_.end() ? 0 : std::ssize(found->second);
  }

 private:
  std::map<std::string_view, std::set<std::int64_t>> members_;
};

// The fraction of a weight's uses per token: k / E for one of E routed experts of which a token takes k, otherwise 1.
double share_per_token(const model::Model& m, const ExpertLists& lists, const nn::Parameter& p) {
  const std::int64_t experts = lists.size_of_list(p), taken = m.experts_per_token();
  return experts > 0 && taken > 0 && taken < experts ? static_cast<double>(taken) / static_cast<double>(experts) : 1;
}

bool is_of_encoder(const model::Model& m, std::string_view name) {
  return m.has_encoder() && (name.starts_with("encoder") || name.find(".encoder.") != std::string_view::npos);
}

}  // namespace

std::string_view name_of(PartKind kind) {
  constexpr std::array<std::string_view, 11> names{
      "embeddings", "self-attention", "cross-attention", "recurrent layers", "feed-forward", "routers",
      "experts",    "shared experts", "norms",           "output",           "other"};
  return names[static_cast<std::size_t>(kind)];
}

PartKind kind_of(const nn::Parameter& p) {
  return p.gathered ? PartKind::embeddings : kind_of_name(lower(p.name));
}

std::vector<ModelPart> parts_of(const model::Model& m) {
  std::map<std::pair<bool, PartKind>, ModelPart> parts;
  const ExpertLists lists(m);
  for (const nn::Parameter& p : m.parameters().all()) {
    const PartKind kind = kind_of(p);
    const bool encoder = kind != PartKind::embeddings && is_of_encoder(m, p.name);
    ModelPart& part = parts[{!encoder, kind}];
    part.encoder = encoder, part.kind = kind;
    part.parameters += p.shape.count();
    part.active += static_cast<double>(p.shape.count()) * share_per_token(m, lists, p);
  }
  std::vector<ModelPart> list;
  for (const auto& [key, part] : parts) list.push_back(part);
  return list;
}

double step_weight_bytes(const model::Model& m, nn::ServingForm form) {
  const ExpertLists lists(m);
  double bytes = 0;
  for (const nn::Parameter& p : m.parameters().all()) {
    if (is_of_encoder(m, p.name)) continue;
    const double size = nn::product_bytes(p, form);
    const bool by_row = !p.in_products && p.shape.rank() > 1 && kind_of(p) == PartKind::embeddings;
    bytes += (by_row ? size / static_cast<double>(p.shape[0]) : size) * share_per_token(m, lists, p);
  }
  return bytes;
}

}  // namespace tril::train
