#include "train/distributed/sharding.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"
#include "base/clock.h"
#include "tensor/lasting.h"
#include "train/loss/hidden_states.h"

namespace tril::train {
namespace {

constexpr int shard_weights_tag = 0, shard_gradient_tag = 1;
// Stretches of one owner that are this close are sent as one; the gap is alignment padding, and zero.
constexpr std::size_t most_gap = 16;

void give_back_values(Tensor x, Interval i) {
  give_back(std::as_writable_bytes(std::span(x.data<float>() + i.begin, i.count)));
}

void give_back_copy(Tensor x) {
  if (!x) return;
  if (x.dtype() == DType::f32)
    give_back_values(x, {0, as_size(x.count())});
  else
    give_back(std::as_writable_bytes(std::span(x.data<std::uint16_t>(), as_size(x.count()))));
}

// Records the order in which a forward pass uses the layers.
class Recorder : public WeightKeeper {
 public:
  void need(std::string_view layer) override { layers.emplace_back(layer); }
  void passed(std::string_view) override {}
  std::vector<std::string> layers;
};

// Values of a gradient that a rank receives at a time from each other rank.
constexpr std::size_t portion_values = 1 << 18;

// Each rank's intervals, split into portions of at most this many values: by portion and rank.
std::vector<std::vector<std::vector<Interval>>> in_portions(const std::vector<std::vector<Interval>>& owned) {
  std::vector<std::vector<std::vector<Interval>>> portions;
  for (std::size_t rank = 0; rank < owned.size(); ++rank) {
    std::size_t portion = 0, room = portion_values;
    for (Interval i : owned[rank])
      while (i.count > 0) {
        if (room == 0) ++portion, room = portion_values;
        if (portions.size() <= portion) portions.resize(portion + 1, std::vector<std::vector<Interval>>(owned.size()));
        const std::size_t now = std::min(room, i.count);
        portions[portion][rank].push_back({i.begin, now});
        i.begin += now, i.count -= now, room -= now;
      }
  }
  return portions;
}

// A table that is read by index, such as a relative position bias, may be named after the first layer although all layers
// use it. So only matrices of products, biases and norms are fetched and freed with their layer.
bool belongs_to(const nn::Parameter& p, const std::string& layer) {
  return p.name.starts_with(layer + ".") && (p.in_products || p.shape.rank() <= 1);
}

}  // namespace

Sharding::Sharding(model::Model& model, const Division& division, Options options)
    : ranks_(std::move(options.ranks)),
      division_(division),
      parameters_(model.parameters()),
      kernels_(options.kernels),
      precision_(options.precision),
      team_(options.team),
      gradients_(std::move(options.gradients)),
      values_(parameters_.flat().rows(static_cast<std::int64_t>(division.window_begin()),
                                      static_cast<std::int64_t>(division.window_begin() + division.window_count()))),
      sum_(lasting_zeros(values_.count())) {
  for (const Tensor& g : gradients_) use_small_pages(g);
  use_small_pages(sum_);
  for (int i = 0; i < team_.size(); ++i) members_.emplace_back(*this, i);
  parameters_.make_copies(/*small_pages=*/true);
  find_layers(model);
  drop_weights(root_);
  for (const Layer& layer : layers_) drop_weights(layer);
}

Sharding::~Sharding() {
  if (weights_ || gradient_[0].ticket || gradient_[1].ticket) ranks_->abandon();
}

// Finds the order of the layers, for any family, by one pass of a single token.
void Sharding::find_layers(const model::Model& model) {
  Recorder recorder;
  Arena arena;
  Context c(arena, kernels_);
  c.set_weight_keeper(&recorder);
  Batch batch;
  const std::vector<std::int32_t> token{0};
  batch.append(token, token, 0);
  hidden_states(c, model, batch, nullptr, nullptr);

  const auto ranks = as_size(ranks_->size());
  layers_.resize(recorder.layers.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i].name = recorder.layers[i];
    layers_[i].owned.resize(ranks);
  }
  root_.owned.resize(ranks);
  const auto layer_of = [&](const nn::Parameter& p) -> Layer& {
    for (Layer& layer : layers_)
      if (belongs_to(p, layer.name)) return layer;
    return root_;
  };
  std::vector<Layer*> owner;  // by trained weight
  for (nn::Parameter& p : parameters_.all()) {
    Layer& layer = layer_of(p);
    layer.weights.push_back(&p);
    if (p.trainable) owner.push_back(&layer);
  }
  for (std::size_t s = 0; s < division_.stretches().size(); ++s) {
    const Stretch& stretch = division_.stretches()[s];
    const std::size_t begin = stretch.begin - division_.window_begin();
    std::vector<Interval>& list = owner[stretch.weight]->owned[as_size(division_.owner_of(s))];
    if (!list.empty() && begin - (list.back().begin + list.back().count) < most_gap)
      list.back().count = begin + stretch.count - list.back().begin;
    else
      list.push_back({begin, stretch.count});
  }
  for (Layer& layer : layers_) layer.portions = in_portions(layer.owned);
  root_.portions = in_portions(root_.owned);
}

// Calls work(begin, count, at) for this member's share of each interval; `at` is its position among the values of all
// intervals.
template <class F>
void Sharding::in_shares(int member, const std::vector<Interval>& intervals, const F& work) const {
  const auto m = as_size(member), members = as_size(team_.size());
  std::size_t at = 0;
  for (const Interval& i : intervals) {
    const std::size_t begin = i.count * m / members, end = i.count * (m + 1) / members;
    if (begin < end) work(i.begin + begin, end - begin, at + begin);
    at += i.count;
  }
}

// --- Weights

void Sharding::start_weights(const Layer& layer, const std::vector<bool>& to) {
  float* const values = values_.data<float>();
  const int me = ranks_->rank();
  std::vector<dist::Outgoing> outgoing;
  std::vector<dist::Incoming> incoming;
  for (int r = 0; r < ranks_->size(); ++r) {
    if (r == me) continue;
    if (to[as_size(r)])
      for (const Interval& i : layer.owned[as_size(me)])
        outgoing.push_back({r, std::as_bytes(std::span(values + i.begin, i.count)), shard_weights_tag});
    if (to[as_size(me)])
      for (const Interval& i : layer.owned[as_size(r)])
        incoming.push_back({r, std::as_writable_bytes(std::span(values + i.begin, i.count)), shard_weights_tag});
  }
  weights_ = ranks_->start(outgoing, incoming);
}

void Sharding::wait_for(dist::Ranks::Ticket& messages) {
  const double start = seconds_now();
  ranks_->wait(messages);
  messages.reset();
  waited_ += seconds_now() - start;
}

void Sharding::pack(int member, const Layer& layer) {
  parameters_.refresh(kernels_, layer.weights, member, team_.size());
}

void Sharding::drop_weights(const Layer& layer) {
  for (int r = 0; r < ranks_->size(); ++r)
    for (const Interval& i : layer.owned[as_size(r)])
      if (r != ranks_->rank()) give_back_values(values_, i);
  for (const nn::Parameter* p : layer.weights)
    for (const Tensor& copy : {p->transposed, p->packed, p->packed_transposed}) give_back_copy(copy);
}

void Sharding::Member::need(std::string_view layer) {
  const std::size_t step = steps++;
  check(step < sharding_.steps_of_pass() && sharding_.layer_at(step).name == layer, "sharded weights",
        "{} was not expected to compute next", layer);
  sharding_.need(number_, step);
}

// The layer at a step: forward through the layers and, in training, back; the last layer serves both directions.
Sharding::Layer& Sharding::layer_at(std::size_t step) {
  return layers_[step < layers_.size() ? step : 2 * layers_.size() - 1 - step];
}

void Sharding::need(int member, std::size_t step) {
  const std::size_t count = layers_.size();
  const auto start_next = [&] {
    if (step + 1 < steps_of_pass() && step + 1 != count) start_weights(layer_at(step + 1), works_);
  };
  if (step == count) {
    if (leads(member)) start_next();
    return;
  }
  team_.barrier();
  if (leads(member)) {
    if (step > 0 && step < count) drop_weights(layer_at(step - 1));
    if (step == 0) start_weights(layer_at(0), works_);
    wait_for(weights_);
    start_next();
  }
  team_.barrier();
  if (works()) pack(member, layer_at(step));
  team_.barrier();
}

void Sharding::refresh(int member) {
  team_.barrier();
  if (leads(member)) {
    start_weights(root_, std::vector<bool>(as_size(ranks_->size()), true));
    wait_for(weights_);
  }
  team_.barrier();
  pack(member, root_);
}

void Sharding::with_whole_weights(const std::function<void()>& work) {
  std::vector<bool> to(as_size(ranks_->size()));
  to[0] = true;
  for (const Layer& layer : layers_) {
    start_weights(layer, to);
    wait_for(weights_);
  }
  work();
  for (const Layer& layer : layers_) drop_weights(layer);
}

// --- Gradients

void Sharding::Member::passed(std::string_view layer) {
  Layer& l = sharding_.layer_at(steps - 1);  // the last one needed
  check(l.name == layer, "sharded weights", "the backward pass leaves {}, expected {}", layer, l.name);
  sharding_.passed(number_, l);
}

// Sums the members' gradients of a layer in the first member's memory, and frees the others'.
void Sharding::add_up_parts(int member, const Layer& layer) {
  team_.barrier();
  for (std::size_t part = 1; part < gradients_.size() && works(); ++part)
    for (const std::vector<Interval>& theirs : layer.owned)
      in_shares(member, theirs, [&](std::size_t begin, std::size_t count, std::size_t) {
        kernels_.axpy(1.0f, gradients_[part].data<float>() + begin, gradients_[0].data<float>() + begin, count);
      });
  team_.barrier();
  if (!leads(member)) drop_gradient(as_size(member), layer.owned);
}

void Sharding::passed(int member, Layer& layer) {
  add_up_parts(member, layer);
  if (leads(member)) drop_weights(layer);
  give_gradient(member, layer);
}

// Sends portion by portion, waiting for the previous portion while the next is in flight.
void Sharding::give_gradient(int member, Layer& layer) {
  for (std::size_t portion = 0; portion < layer.portions.size(); ++portion) {
    if (leads(member)) {
      std::swap(gradient_[0], gradient_[1]);
      start_gradient(gradient_[0], layer, portion);
    }
    team_.barrier();
    finish_gradient(member, gradient_[1]);
  }
}

void Sharding::start_gradient(Gradient& g, Layer& layer, std::size_t portion) {
  const auto me = as_size(ranks_->rank());
  const bool rounds = precision_ == WirePrecision::bf16;
  const std::size_t width = rounds ? sizeof(std::uint16_t) : sizeof(float);
  const float* const values = gradients_[0].data<float>();
  g.layer = &layer;
  g.portion = portion;
  g.works = works_;
  g.came.resize(g.owned().size());
  std::vector<dist::Outgoing> outgoing;
  std::vector<dist::Incoming> incoming;
  std::size_t own = 0, others = 0;
  for (std::size_t r = 0; r < g.owned().size(); ++r)
    for (const Interval& i : g.owned()[r]) (r == me ? own : others) += i.count;
  if (rounds && works()) g.rounded.resize(others);
  std::size_t rounded = 0;
  for (std::size_t r = 0; r < g.owned().size(); ++r) {
    if (r == me) continue;
    for (const Interval& i : g.owned()[r]) {
      if (!works()) break;
      std::span<const std::byte> bytes = std::as_bytes(std::span(values + i.begin, i.count));
      if (rounds) {
        kernels_.round_bf16(values + i.begin, g.rounded.data() + rounded, i.count);
        bytes = std::as_bytes(std::span(g.rounded).subspan(rounded, i.count));
        rounded += i.count;
      }
      outgoing.push_back({static_cast<int>(r), bytes, shard_gradient_tag});
    }
    if (!works_[r]) continue;
    g.came[r].resize(own * width);
    std::size_t at = 0;
    for (const Interval& i : g.owned()[me]) {
      incoming.push_back({static_cast<int>(r), std::span(g.came[r]).subspan(at, i.count * width), shard_gradient_tag});
      at += i.count * width;
    }
  }
  g.ticket = ranks_->start(outgoing, incoming);
}

// Waits for the other ranks' values of a portion, and adds them in the order of ranks; each member adds its share.
void Sharding::finish_gradient(int member, Gradient& g) {
  if (!g.layer) return;
  if (leads(member)) wait_for(g.ticket);
  team_.barrier();
  const auto me = as_size(ranks_->rank());
  std::vector<float> widened;
  in_shares(member, g.owned()[me], [&](std::size_t begin, std::size_t count, std::size_t at) {
    float* const sum = sum_.data<float>() + begin;
    bool summed = g.layer->summed;
    for (std::size_t r = 0; r < g.works.size(); ++r) {
      if (!g.works[r]) continue;
      const float* term = gradients_[0].data<float>() + begin;
      if (r != me && precision_ == WirePrecision::fp32) term = reinterpret_cast<const float*>(g.came[r].data()) + at;
      if (r != me && precision_ == WirePrecision::bf16) {
        widened.resize(count);
        kernels_.widen_bf16(reinterpret_cast<const std::uint16_t*>(g.came[r].data()) + at, widened.data(), count);
        term = widened.data();
      }
      if (std::exchange(summed, true))
        kernels_.axpy(1.0f, term, sum, count);
      else
        kernels_.copy(term, sum, count * sizeof(float));
    }
  });
  team_.barrier();
  if (!leads(member)) return;
  if (g.portion + 1 == g.layer->portions.size()) g.layer->summed = true;
  drop_gradient(0, g.owned());
  g.layer = nullptr;
}

void Sharding::drop_gradient(std::size_t part, const std::vector<std::vector<Interval>>& owned) {
  for (const std::vector<Interval>& theirs : owned)
    for (const Interval& i : theirs) give_back_values(gradients_[part], i);
}

// --- Passes

void Sharding::begin_update(int member) {
  if (leads(member)) {
    for (Layer& layer : layers_) layer.summed = false;
    root_.summed = false;
    for (std::size_t part = 0; part < gradients_.size(); ++part) drop_gradient(part, root_.owned);
  }
  team_.barrier();
}

void Sharding::begin_pass(int member, bool trains, const std::vector<bool>& works) {
  team_.barrier();
  if (leads(member)) {
    trains_ = trains;
    works_ = works;
  }
  members_[as_size(member)].steps = 0;
  team_.barrier();
}

void Sharding::end_pass(int member) {
  Member& m = members_[as_size(member)];
  while (m.steps < steps_of_pass()) {
    const std::size_t step = m.steps;
    const std::string& layer = layer_at(step).name;
    m.need(layer);
    if (step >= layers_.size()) m.passed(layer);
  }
  team_.barrier();
  if (trains_)
    finish_gradient(member, gradient_[0]);
  else if (leads(member) && !layers_.empty())
    drop_weights(layers_.back());
}

void Sharding::end_update(int member, const std::vector<bool>& worked) {
  team_.barrier();
  if (leads(member)) works_ = worked;
  add_up_parts(member, root_);
  give_gradient(member, root_);
  team_.barrier();
  finish_gradient(member, gradient_[0]);
}

}  // namespace tril::train
