// Attaches adapters to a model or merges them: finds the weight of each module, and computes its change.
#include <algorithm>
#include <cmath>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "model_io/adapter.h"
#include "model_io/quantized_files.h"
#include "nn/adapters.h"

namespace tril::model {
namespace {

using Floats = std::vector<float>;

constexpr std::string_view end_of_weight = ".weight";

// A module of the model.
struct Place {
  nn::Parameter* weight = nullptr;
  nn::Parameter* bias = nullptr;
  bool as_table = false;   ///< an embedding, read by row; else a matrix of products
  bool as_output = false;  ///< the product that gives logits
};

bool is_same_module(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return a == b || (a.ends_with(b) && a[a.size() - b.size() - 1] == '.');
}

// Names of a text model inside an image-text model have a component that tril's names lack.
std::string without_component(std::string module, std::string_view component) {
  const std::size_t at = module.find(component);
  return at == module.npos ? module : module.erase(at, component.size());
}

class Places {
 public:
  Places(Model& m, const ModelSource& source) : model_(&m), source_(&source), output_(m.output().matrix) {}

  Place find(const std::string& name, const std::string& where) const {
    std::vector<Place> found = matching(name);
    if (found.empty()) found = matching(without_component(name, "language_model."));
    if (found.empty())
      fail_usage(where, fmt::format("a {} model has no such module", model_->family()),
                 "the adapter belongs to another model");
    if (found.size() > 1) fail_usage(where, "matches several modules of the model");
    check_place(found[0], where);
    return found[0];
  }

  /// A weight's own values, in the model's layout.
  Floats values(const nn::Parameter& p) const {
    return from_files([&] {
      const StoredWeight stored = find_weight(*model_, p, source_->weights());
      if (!stored.values) return Floats(static_cast<std::size_t>(p.shape.count()), 0.0f);
      Floats floats = floats_of(p, stored);
      source_->weights().release(stored.values->bytes);
      return floats;
    });
  }
  /// Reorders a vector, or the rows of a matrix, from the files' order to the model's.
  Floats ordered(Floats values, const nn::Parameter& p) const {
    const std::vector<std::int32_t> order = model_->stored_as(p).row_order;
    if (order.empty()) return values;
    const std::ptrdiff_t width = std::ssize(values) / std::ssize(order);
    Floats result(values.size());
    auto to = result.begin();
    for (const std::int32_t row : order) to = std::copy_n(values.begin() + row * width, width, to);
    return result;
  }
  const Model& model() const { return *model_; }
  /// The bias of the output layer, in the model's memory; no tensor: it has none.
  Tensor output_bias() const { return model_->output().bias; }

 private:
  std::vector<Place> matching(const std::string& name) const {
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

  std::vector<std::string> names_of(const nn::Parameter& p) const {
    std::vector<std::string> names = model_->stored_as(p).names;
    names.push_back(p.name);
    return names;
  }

  Place place_of(nn::Parameter& p, bool as_table) const {
    Place place{.weight = &p, .as_table = as_table, .as_output = !as_table && &p == output_};
    if (p.name.ends_with(end_of_weight))
      place.bias = model_->parameters().find(p.name.substr(0, p.name.size() - end_of_weight.size()) + ".bias");
    return place;
  }

  void check_place(const Place& place, const std::string& where) const {
    if (model_->stored_as(*place.weight).part.count > 0 && !source_->weights().find(place.weight->name))
      fail_usage(where, "adapters of experts that are stored in one tensor are not supported");
    if (place.as_table && model_->has_encoder())
      fail_usage(where, "adapters of the embeddings of a model with an encoder are not supported",
                 "merge the adapter into its model with `peft` (merge_and_unload) and use that");
    if (!place.as_table && !place.as_output && !place.weight->adaptable && !place.weight->hidden_matrix)
      fail_usage(where, "an adapter of this kind of module is not supported",
                 "supported: linear layers, the input embeddings and the output layer");
  }

  Model* model_;
  const ModelSource* source_;
  const nn::Parameter* output_;
};

// A module's tensors in an adapter.
struct NamedModule {
  const Adapter& adapter;
  const std::string& name;
  const AdapterModule& tensors;
  std::string where = adapter.place_of(printable(name, 200));  // in errors
};

// The tensors of one module in the layout of the model's weight [out, in]; a table has `out` rows.
struct Update {
  std::int64_t out = 0, in = 0, rank = 0;
  double scale = 1;
  Floats a, b;               // [rank, in], [out, rank]; empty: none
  Floats magnitude, b_bias;  // [out]; empty: none
  Floats weight, bias;       // instead of the model's; `peft` writes copies of tables so, too; empty: none
};

Floats turned(const WeightView& v) {
  return transposed_values(to_f32(v), v.shape[0], v.shape[1]);
}

Update update_of(const Places& places, const Place& place, const NamedModule& module) {
  const AdapterModule& m = module.tensors;
  const AdapterConfig& config = module.adapter.config();
  const std::string& where = module.where;
  const nn::Parameter& p = *place.weight;
  Update u{.out = p.shape[0], .in = p.shape[1], .rank = 0};
  const auto fits = [&](const WeightView& v, const std::vector<std::int64_t>& expected) {
    if (v.shape != expected)
      fail_usage(where,
                 fmt::format("{} has shape [{}], but the model's weight is {}", printable(v.name, 200),
                             fmt::join(v.shape, ", "), p.shape),
                 "the adapter belongs to another model");
  };
  const auto vector_of = [&](const WeightView* v) {
    if (!v) return Floats();
    fits(*v, {u.out});
    return places.ordered(to_f32(*v), p);
  };
  if (m.a) {
    if (m.is_table != place.as_table)
      fail_usage(where, "is an embedding in the adapter or in the model, but not in both");
    u.rank = config.rank_of(module.name), u.scale = config.scale_of(module.name);
    fits(*m.a, {u.rank, m.is_table ? u.out : u.in}), fits(*m.b, {m.is_table ? u.in : u.out, u.rank});
    u.a = m.is_table ? turned(*m.b) : to_f32(*m.a);
    u.b = places.ordered(m.is_table ? turned(*m.a) : to_f32(*m.b), p);
  }
  u.magnitude = vector_of(m.magnitude), u.b_bias = vector_of(m.b_bias), u.bias = vector_of(m.bias);
  if (m.weight) {
    const StoredAs stored = places.model().stored_as(p);
    const bool turns = stored.transposed;
    fits(*m.weight, turns ? std::vector{u.in, u.out} : std::vector{u.out, u.in});
    u.weight = places.ordered(turns ? turned(*m.weight) : to_f32(*m.weight), p);
    for (float& v : u.weight) v += stored.added;
  }
  const bool has_bias = place.bias || (place.as_output && places.output_bias());
  if (!has_bias && (!u.bias.empty() || (!u.b_bias.empty() && place.as_table)))
    fail_usage(where, "has a bias, but the model's module has none");
  return u;
}

// W + s B A; with DoRA each row is then scaled to its magnitude, and `gain` gets the factors [out]. W is the model's weight or
// the adapter's replacement.
Floats changed_matrix(const Update& u, Floats w, Floats* gain = nullptr) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < u.out; ++i) {
    const auto own = w.begin() + i * u.in;
    const auto b = u.b.begin() + i * u.rank;
    row.assign(own, own + u.in);
    for (std::int64_t r = 0; r < u.rank; ++r) {
      const double factor = u.scale * static_cast<double>(b[r]);
      auto a = u.a.begin() + r * u.in;
      for (double& v : row) v += factor * static_cast<double>(*a++);
    }
    double g = 1;
    if (!u.magnitude.empty()) {
      double squares = 0;
      for (const double v : row) squares += v * v;
      g = static_cast<double>(element(u.magnitude, i)) / std::sqrt(squares);
      if (gain) gain->push_back(static_cast<float>(g));
    }
    std::ranges::transform(row, own, [g](double v) { return static_cast<float>(g * v); });
  }
  return w;
}

// The bias with the adapter [out]; empty: neither the model nor the adapter has one.
Floats changed_bias(const Places& places, const Place& place, const Update& u) {
  Floats bias = u.bias;
  if (bias.empty() && place.bias) bias = places.values(*place.bias);
  if (bias.empty() && place.as_output && places.output_bias()) bias = host_copy<float>(places.output_bias());
  if (u.b_bias.empty()) return bias;
  bias.resize(static_cast<std::size_t>(u.out), 0.0f);
  for (std::size_t i = 0; i < bias.size(); ++i)
    bias[i] += static_cast<float>(u.scale * static_cast<double>(u.b_bias[i]));
  return bias;
}

nn::WeightChange whole_change(const Places& places, const Place& place, const Update& u) {
  Floats w = changed_matrix(u, u.weight.empty() ? places.values(*place.weight) : u.weight);
  nn::WeightChange change;
  change.whole = nn::adapter_matrix(w, u.out, u.in);
  if (place.as_table) return change;
  if (const Floats bias = changed_bias(places, place, u); !bias.empty()) change.offset = nn::adapter_vector(bias);
  return change;
}

nn::WeightChange change_of(const Places& places, const Place& place, const Update& u) {
  if (place.as_table || place.as_output || !u.weight.empty()) return whole_change(places, place, u);
  nn::WeightChange change;
  Floats gain;
  if (!u.magnitude.empty()) {
    changed_matrix(u, places.values(*place.weight), &gain);
    change.gain = nn::adapter_vector(gain);
  }
  if (!u.a.empty()) {
    Floats b = u.b;
    const auto rank = static_cast<std::size_t>(u.rank);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<float>(u.scale * static_cast<double>(b[i]) *
                                (gain.empty() ? 1.0 : static_cast<double>(gain[i / rank])));
    change.a = nn::adapter_matrix(u.a, u.rank, u.in);
    change.b = nn::adapter_matrix(b, u.out, u.rank);
  }
  // The new bias minus the model's own bias times the gain, which the product adds already.
  Floats offset = changed_bias(places, place, u);
  const Floats own = place.bias ? places.values(*place.bias) : Floats();
  if (gain.empty() && u.bias.empty() && u.b_bias.empty()) offset.clear();
  for (std::size_t i = 0; i < offset.size() && !own.empty(); ++i) offset[i] -= (gain.empty() ? 1 : gain[i]) * own[i];
  if (!offset.empty()) change.offset = nn::adapter_vector(offset);
  return change;
}

// Calls take(place, update) for each module of the adapter.
template <class Take>
void for_each_module(const Places& places, const Adapter& adapter, const Take& take) {
  for (const auto& [name, tensors] : adapter.modules()) {
    const NamedModule module{.adapter = adapter, .name = name, .tensors = tensors};
    const Place place = places.find(name, module.where);
    const Update u = update_of(places, place, module);
    for (const Floats* values : {&u.a, &u.b, &u.magnitude, &u.b_bias, &u.weight, &u.bias})
      if (std::any_of(values->begin(), values->end(), [](float v) { return !std::isfinite(v); }))
        fail_usage(module.where, "contains a value that is not a finite number",
                   "the adapter is damaged: download it again");
    take(place, u);
  }
}

}  // namespace

void attach(Model& m, const ModelSource& source, std::span<const Adapter> adapters, std::int32_t standard) {
  const Places places(m, source);
  for (std::size_t i = 0; i < adapters.size(); ++i)
    from_files([&] {
      for_each_module(places, adapters[i], [&](const Place& place, const Update& u) {
        if (!place.as_table && !place.as_output && !place.weight->adaptable)
          fail_usage(adapters[i].path(),
                     fmt::format("{} cannot be adapted as the model runs: steps with a cache read its own values",
                                 place.weight->name),
                     "export the model with the adapter merged, and use that");
        auto& slot = place.as_table ? place.weight->row_adapters : place.weight->adapters;
        auto all = slot ? std::make_shared<nn::WeightAdapters>(*slot) : std::make_shared<nn::WeightAdapters>();
        all->of.resize(adapters.size());
        all->standard = standard;
        all->of[i] = change_of(places, place, u);
        slot = std::move(all);
      });
    });
}

void merge(Model& m, const ModelSource& source, const Adapter& adapter) {
  const Places places(m, source);
  from_files([&] {
    for_each_module(places, adapter, [&](const Place& place, const Update& u) {
      nn::Parameter& w = *place.weight;
      if (w.gathered && &w == m.output().matrix)
        fail_usage(adapter.path(),
                   fmt::format("{} is both the table of the embeddings and the output matrix, and the "
                               "adapter changes only one of the two",
                               w.name),
                   "use the adapter without merging it");
      const Floats values = changed_matrix(u, u.weight.empty() ? host_copy<float>(w.value) : u.weight);
      host_write<float>(w.value, values);
      if (place.as_table || (u.bias.empty() && u.b_bias.empty())) return;
      if (!place.bias)
        fail_usage(adapter.path(), fmt::format("{} has no bias, but the adapter adds one", w.name),
                   "use the adapter without merging it");
      host_write<float>(place.bias->value, changed_bias(places, place, u));
    });
  });
  m.parameters().refresh(kern::best());
}

}  // namespace tril::model
