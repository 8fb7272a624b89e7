#include "model_io/adapters/adapter_places.h"
#include "model_io/contents/stored_weight.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"

namespace tril::model {
namespace {

constexpr std::string_view end_of_weight = ".weight";

bool is_same_module(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return a == b || (a.ends_with(b) && a[a.size() - b.size() - 1] == '.');
}

// Names of a text model inside an image-text model have a component that tril's names lack.
std::string without_component(std::string module, std::string_view component) {
  const std::size_t at = module.find(component);
  return at == module.npos ? module : module.erase(at, component.size());
}

// The layer of a module that holds experts: "layers.0" for "layers.0.mlp", whose last part differs between files and versions, and
// for "layers.0", as Gemma 4 has no such part.
std::string_view without_block(std::string_view module) {
  const std::size_t dot = module.rfind('.');
  if (dot == module.npos) return {};
  const std::string_view last = module.substr(dot + 1);
  return std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; }) ? module : module.substr(0, dot);
}

// An expert's matrix by its name in tril: LAYER.BLOCK.experts.NUMBER.MATRIX.weight or LAYER.experts.NUMBER.MATRIX.weight
struct ExpertName {
  std::string_view layer, matrix;
  std::int64_t number = 0;
};

std::optional<ExpertName> expert_name_of(std::string_view weight) {
  constexpr std::string_view list = ".experts.";
  const std::size_t at = weight.find(list);
  if (at == weight.npos || !weight.ends_with(end_of_weight)) return std::nullopt;
  std::string_view rest = weight.substr(at + list.size());
  ExpertName name{.layer = without_block(weight.substr(0, at)), .matrix = {}};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), name.number);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (error != std::errc() || !rest.starts_with('.') || rest.size() <= end_of_weight.size()) return std::nullopt;
  name.matrix = rest.substr(1, rest.size() - 1 - end_of_weight.size());
  return name;
}

// The matrices of an expert whose rows, one below the other, are the parameter of `transformers`.
const std::vector<std::string_view>& matrices_of(std::string_view parameter) {
  static const std::vector<std::string_view> gate_up{"gate_up_proj", "gate_proj", "w1", "up_proj", "w3"},
      down{"down_proj", "w2"}, none;
  return parameter == "gate_up_proj" ? gate_up : parameter == "down_proj" ? down : none;
}

}  // namespace

Place Places::find(const std::string& module, const std::string& where) const {
  std::vector<Place> found = matching(module);
  if (found.empty()) found = matching(without_component(module, "language_model."));
  if (const std::size_t at = module.find(".mlp.");
      found.empty() && at != module.npos)  // as files and older versions name it
    found = matching(std::string(module).replace(at, 5, ".block_sparse_moe."));
  if (found.empty())
    fail_usage(where, fmt::format("a {} model has no such module", model_->family()),
               "the adapter belongs to another model");
  if (found.size() > 1) fail_usage(where, "matches several modules of the model");
  found[0].of_encoder = found[0].as_table && is_same_module(module, "encoder.embed_tokens");
  check_place(found[0], module, where);
  return found[0];
}

std::vector<ExpertPlace> Places::find_experts(const std::string& name, const std::string& where) const {
  const std::size_t dot = name.rfind('.'), list = dot == name.npos ? dot : name.rfind('.', dot - 1);
  if (list == name.npos || name.substr(list + 1, dot - list - 1) != "experts") return {};
  const std::string layer(without_block(without_component(name.substr(0, list), "language_model.")));
  const std::vector<std::string_view>& matrices = matrices_of(std::string_view(name).substr(dot + 1));
  std::map<std::int64_t, std::vector<ExpertPlace>> experts;  // by number
  for (const std::string_view matrix : matrices)
    for (nn::Parameter& p : model_->parameters().all()) {
      const auto own = expert_name_of(p.name);
      if (!own || own->matrix != matrix || !is_same_module(layer, own->layer)) continue;
      std::vector<ExpertPlace>& parts = experts[own->number];
      const std::int64_t above = parts.empty() ? 0 : parts.back().first_row + parts.back().rows;
      parts.push_back(
          {.place = place_of(p, /*as_table=*/false), .expert = own->number, .first_row = above, .rows = p.shape[0]});
    }
  std::vector<ExpertPlace> all;
  for (auto& [number, parts] : experts)
    for (ExpertPlace& part : parts) {
      part.experts = std::ssize(experts), part.all_rows = parts.back().first_row + parts.back().rows;
      all.push_back(part);
    }
  if (all.empty())
    fail_usage(where,
               fmt::format("a {} model has no such experts, or cannot adapt this parameter of them", model_->family()),
               "supported: gate_up_proj and down_proj");
  return all;
}

bool Places::is_unread(const std::string& module) const {
  return model_->has_encoder() && is_same_module(module, "shared");
}

std::vector<float> Places::values(const nn::Parameter& p) const {
  return from_files([&] {
    const StoredWeight stored = find_weight(*model_, p, source_->weights());
    if (!stored.values) return std::vector<float>(static_cast<std::size_t>(p.shape.count()), 0.0f);
    std::vector<float> floats = floats_of(p, stored);
    source_->weights().release(*stored.values);
    return floats;
  });
}

std::vector<float> Places::ordered(std::vector<float> values, const nn::Parameter& p) const {
  const std::vector<std::int32_t> order = model_->stored_as(p).row_order;
  if (order.empty()) return values;
  const std::ptrdiff_t width = std::ssize(values) / std::ssize(order);
  std::vector<float> result(values.size());
  auto to = result.begin();
  for (const std::int32_t row : order) to = std::copy_n(values.begin() + row * width, width, to);
  return result;
}

std::vector<Place> Places::matching(const std::string& name) const {
  std::vector<Place> exact, similar;
  for (nn::Parameter& p : model_->parameters().all())
    for (const std::string& stored : names_of(p)) {
      if (!stored.ends_with(end_of_weight)) continue;
      const std::string module = stored.substr(0, stored.size() - end_of_weight.size());
      if (!is_same_module(name, module)) continue;
      auto& list = name == module ? exact : similar;
      if (list.empty() || list.back().weight != &p) list.push_back(place_of(p, p.gathered));
    }
  if (exact.empty() && similar.empty() && output_ &&
      model_->redundant(name + std::string(end_of_weight)) == Redundant::embedding_copy)
    exact.push_back(place_of(*model_->parameters().find(output_->name), /*as_table=*/false));
  return exact.empty() ? similar : exact;
}

std::vector<std::string> Places::names_of(const nn::Parameter& p) const {
  std::vector<std::string> names = model_->stored_as(p).names;
  names.push_back(p.name);
  return names;
}

Place Places::place_of(nn::Parameter& p, bool as_table) const {
  Place place{.weight = &p, .as_table = as_table, .as_output = !as_table && &p == output_};
  if (p.name.ends_with(end_of_weight))
    place.bias = model_->parameters().find(p.name.substr(0, p.name.size() - end_of_weight.size()) + ".bias");
  return place;
}

void Places::check_place(const Place& place, const std::string& module, const std::string& where) const {
  if (model_->stored_as(*place.weight).part.count > 0 && !source_->weights().find(place.weight->name))
    fail_usage(where, "this model's experts are stored in one tensor, and have no modules of their own",
               "name the tensor in target_parameters of `peft`");
  if (place.as_table && model_->has_encoder() && !place.of_encoder && !is_same_module(module, "decoder.embed_tokens"))
    fail_usage(where, "is an embedding, but neither encoder.embed_tokens nor decoder.embed_tokens");
  if (!place.as_table && !place.as_output && !place.weight->adaptable && !place.weight->hidden_matrix)
    fail_usage(where, "an adapter of this kind of module is not supported",
               "supported: linear layers, the input embeddings and the output layer");
}

}  // namespace tril::model
