// Attaches adapters to a model or merges them: finds the weight of each module, and computes its change.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "base/element.h"
#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "model_io/adapters/adapter.h"
#include "model_io/adapters/adapter_places.h"
#include "model_io/contents/stored_weight.h"
#include "nn/adapters.h"

namespace tril::model {
namespace {

using Floats = std::vector<float>;

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

// The part of the tensors of one parameter that belongs to one expert: A [E rank, in] holds the experts' matrices one below
// the other; column r E + e of B [out, rank E] is column r of expert e.
Update update_of_expert(const Places& places, const ExpertPlace& at, const NamedModule& module) {
  const AdapterConfig& config = module.adapter.config();
  const WeightView &a = *module.tensors.a, &b = *module.tensors.b;
  const nn::Parameter& p = *at.place.weight;
  Update u{.out = p.shape[0], .in = p.shape[1], .rank = config.rank_of(module.name)};
  u.scale = config.scale_of(module.name);
  const std::int64_t columns = at.experts * u.rank;
  if (a.shape != std::vector{columns, u.in} || b.shape[1] != columns || b.shape[0] != at.all_rows)
    fail_usage(
        module.where,
        fmt::format("lora_A and lora_B have shapes [{}] and [{}], but the model has {} experts, each with a matrix {}",
                    fmt::join(a.shape, ", "), fmt::join(b.shape, ", "), at.experts, p.shape),
        "the adapter belongs to another model");
  const Floats all_a = to_f32(a), all_b = to_f32(b);
  const auto begin = all_a.begin() + at.expert * u.rank * u.in;
  u.a.assign(begin, begin + u.rank * u.in);
  for (std::int64_t row = at.first_row; row < at.first_row + at.rows; ++row)
    for (std::int64_t r = 0; r < u.rank; ++r) u.b.push_back(element(all_b, row * columns + r * at.experts + at.expert));
  u.b = places.ordered(std::move(u.b), p);
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

// The module whose matrix has this name as a parameter.
std::string matrix_name(const std::string& name, bool is_parameter) {
  constexpr std::string_view end = ".weight";
  return is_parameter && name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

// `transformers` does not read the module `shared`, so its adapter changes nothing. Only a copy of the table with other values
// would, which `peft` loads into the tied tables.
void leave_alone(const Places& places, const NamedModule& module) {
  const AdapterModule& m = module.tensors;
  if (m.a && m.weight) {
    const nn::Parameter* own = nullptr;
    for (const nn::Parameter& p : places.model().parameters().all())
      if (p.gathered && !own) own = &p;
    if (!own || to_f32(*m.weight) != places.values(*own))
      fail_usage(module.where, "holds another table than the model's, which is not supported",
                 "merge the adapter into its model with `peft` (merge_and_unload) and use that");
  }
  logger()->warn("{}: has no effect, in `transformers` either: it reads encoder.embed_tokens and decoder.embed_tokens",
                 module.where);
}

// Calls take(place, update) for each module of the adapter.
template <class Take>
void for_each_module(const Places& places, const Adapter& adapter, const Take& take) {
  for (const auto& [name, tensors] : adapter.modules()) {
    const NamedModule module{.adapter = adapter, .name = name, .tensors = tensors};
    const auto checked = [&](const Place& place, const Update& u) {
      for (const Floats* values : {&u.a, &u.b, &u.magnitude, &u.b_bias, &u.weight, &u.bias})
        if (std::any_of(values->begin(), values->end(), [](float v) { return !std::isfinite(v); }))
          fail_usage(module.where, "contains a value that is not a finite number",
                     "the adapter is damaged: download it again");
      take(place, u);
    };
    if (places.is_unread(name)) {
      leave_alone(places, module);
      continue;
    }
    const std::vector<ExpertPlace> experts =
        tensors.is_parameter ? places.find_experts(name, module.where) : std::vector<ExpertPlace>();
    for (const ExpertPlace& expert : experts) checked(expert.place, update_of_expert(places, expert, module));
    if (!experts.empty()) continue;
    const Place place = places.find(matrix_name(name, tensors.is_parameter), module.where);
    if (tensors.is_parameter && places.model().stored_as(*place.weight).transposed)
      fail_usage(module.where, "a matrix that files store transposed is not supported in target_parameters",
                 "name its module in target_modules of `peft`");
    checked(place, update_of(places, place, module));
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
        const auto with_change = [&](const std::shared_ptr<const nn::WeightAdapters>& before) {
          auto all = before ? std::make_shared<nn::WeightAdapters>(*before) : std::make_shared<nn::WeightAdapters>();
          all->of.resize(adapters.size());
          all->standard = standard;
          all->of[i] = change_of(places, place, u);
          return all;
        };
        auto& slot = place.as_table ? place.weight->row_adapters : place.weight->adapters;
        if (!place.of_encoder) {
          slot = with_change(slot);
          return;
        }
        auto both = slot ? std::make_shared<nn::WeightAdapters>(*slot) : std::make_shared<nn::WeightAdapters>();
        both->of_encoder = with_change(both->of_encoder);
        slot = std::move(both);
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
      if (place.as_table && m.has_encoder() && w.name.ends_with("shared.weight"))
        fail_usage(
            adapter.path(),
            fmt::format("{} is the table of the encoder and of the decoder, which the adapter changes differently",
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
