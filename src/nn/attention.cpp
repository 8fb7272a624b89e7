#include "nn/attention.h"

#include <algorithm>

#include "base/as_size.h"
#include "nn/adapters.h"
#include "ops/clamp.h"
#include "ops/dense.h"
#include "ops/observed_attention.h"
#include "ops/scale_heads.h"
#include "tensor/observer.h"

namespace tril::nn {
namespace {

// The mask of a layer with its own window: the narrower of the two windows.
ops::Mask within(const ops::Mask& mask, std::int32_t window, std::string_view where) {
  if (window == 0 || (mask.window > 0 && mask.window <= window)) return mask;
  check(mask.kind == kern::MaskKind::causal, where, "a layer with a window of {} tokens needs a causal mask", window);
  ops::Mask own = mask;
  own.window = window, own.sinks = 0;
  return own;
}

void refuse_sinks_with_bias(const ops::Mask& mask) {
  if (mask.sinks > 0 && mask.window > 0)
    fail_usage("attention sinks",
               "are not supported with relative positions: a sink keeps its place in the text and would drift away",
               "leave the sinks out");
}

}  // namespace

SelfCall SelfCall::with_bias(Context& c, const RelativeBias& bias) const {
  refuse_sinks_with_bias(mask_);
  SelfCall own = *this;
  own.bias_ = bias.forward(c, rows_.longest(), most_keys());
  return own;
}

std::int64_t SelfCall::most_keys() const {
  if (!cache_) return rows_.longest();
  return lengths_.empty() ? 1 : *std::max_element(lengths_.begin(), lengths_.end());
}

SelfCall::SelfCall(Context& c, const Rows& rows, ops::Mask mask, const Options& options)
    : rows_(rows), mask_(std::move(mask)), spans_(ops::spans_of(rows, rows)), cache_(options.cache) {
  const auto& [cache, bias, rotaries, prompt_lengths, near] = options;
  for (const RotaryPositions& rotary : rotaries) {
    rotations_.push_back(rotary.rotation(c, rows, prompt_lengths));
    const ops::Rotation of_queries = rotary.query_rotation(c, rows);
    query_rotations_.push_back(of_queries ? of_queries : rotations_.back());
  }
  const bool sinks = mask_.sinks > 0 && mask_.window > 0;
  if (bias) refuse_sinks_with_bias(mask_);
  if (near > 0) {
    check(!cache && mask_.kind == kern::MaskKind::full, "attention", "windows on both sides need the full mask");
    near_ = rows.longest() > near + 1 ? ops::Mask::near(near) : ops::Mask::full();
  }
  if (!cache) {
    if (sinks) with_sinks_ = ops::window_and_sinks(c, spans_, mask_.window, mask_.sinks);
    if (bias) bias_ = bias->forward(c, rows.longest(), most_keys());
    return;
  }
  check(cache->rows() == rows.count(), "attention", "{} rows of tokens for a cache of {} rows", rows.count(),
        cache->rows());
  check(mask_.kind == kern::MaskKind::causal, "attention", "with a cache, self-attention needs a causal mask");
  const KvCache::Options& kept = cache->options();
  check(kept.window == 0 || (kept.window == mask_.window && kept.sinks == mask_.sinks), "attention",
        "the cache keeps a window of {} and {} sinks, but the mask has {} and {}", kept.window, kept.sinks,
        mask_.window, mask_.sinks);
  check(!c.tape(), "attention", "a cache holds no gradients; train without one");
  bool continued = false;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    check(cache->length(r) == rows.start(r), "attention", "row {} begins at position {}, but its cache holds {} tokens",
          r, rows.start(r), cache->length(r));
    queries_.push_back(rows.length(r));
    continued |= rows.start(r) > 0;
  }
  cache->extend(queries_);
  for (std::int64_t r = 0; r < rows.count() && cache->keeps_states(); ++r) states_.push_back(cache->state(r));
  if (!cache->keeps_tokens()) return;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    slots_.push_back(cache->slots(r).data());
    lengths_.push_back(static_cast<std::int32_t>(cache->slots(r).size()));
    generated_.push_back(!prompt_lengths.empty() && rows.start(r) >= prompt_lengths[as_size(r)]);
  }
  if (bias) bias_ = bias->forward(c, rows.longest(), most_keys());
  // Rows that begin with a single token use the same code as later decode steps.
  const bool one_each = rows.tokens() == rows.count() && rows.longest() == 1;
  const bool exact = kept.precision == KvCache::Precision::fp32;
  alone_ = !continued && !sinks && exact && (!one_each || c.observer());
}

ops::States SelfCall::states(std::int64_t layer, std::string_view where) const {
  check(mask_.kind == kern::MaskKind::causal && !bias_.table, where,
        "a recurrent layer supports only the causal mask, and no bias");
  if (!cache_) return {};
  check(cache_->keeps_state(layer), where, "the cache keeps keys and values of layer {}, not a state", layer);
  return {cache_->states(layer), states_};
}

Attention::Attention(Parameters& p, const std::string& prefix, const Options& o)
    : o_(o), name_(prefix.substr(prefix.rfind('.') + 1)) {
  check(o.num_heads > 0 && (o.d_k || o.d_model % o.num_heads == 0), prefix, "d_model {} is not divisible by {} heads",
        o.d_model, o.num_heads);
  check(o.num_heads % kv_heads() == 0, prefix, "{} key heads do not divide {} heads", kv_heads(), o.num_heads);
  check(!o.linear || (kv_heads() == o.num_heads && o.window == 0 && o.dropout == 0 && o.softcap == 0 && o.scale == 0),
        prefix, "linear attention needs as many key heads as heads, and supports no window, dropout, cap or scale");
  check(!o.result_gate || (d_v() == d_k() && !o.linear), prefix, "a gate needs values as wide as queries");
  check(o.gate.empty() || !(o.linear || o.result_gate), prefix,
        "a gate of its own suits neither linear attention nor queries that hold one");
  const bool alone = o.projections == Projections::q_alone;
  check(alone == (o.keys_of >= 0) && !(alone && (o.linear || o.keys_are_read)), prefix,
        "only a layer without keys reads those of another layer");
  check(o.projections != Projections::q_k || d_v() == d_k(), prefix, "keys as values need values as wide as keys");
  // All three are initialised as parts of one matrix [q; k; v], however they are stored. Initialised separately they
  // would be larger by a factor of sqrt(2), and post-norm decoders would then learn later to attend to the source.
  const Init begin = Init::xavier(o.d_model, q_size() + key_size() + value_size()).at_depth(o.depth);
  const std::int64_t d_memory = o.d_memory ? o.d_memory : o.d_model;
  const auto make = [&](const std::string& name, std::int64_t out) {
    Linear linear(p, prefix + "." + name, name == o.q || name == o.qkv ? o.d_model : d_memory, out, {.bias = o.bias});
    linear.weight()->init = begin;
    return linear;
  };
  switch (o.projections) {
    case Projections::separate:
      q_ = make(o.q, q_rows()), k_ = make(o.k, key_size()), v_ = make(o.v, value_size());
      stack_ = p.stack({q_.weight(), k_.weight(), v_.weight()},
                       o.bias ? std::vector<Parameter*>{q_.bias(), k_.bias(), v_.bias()} : std::vector<Parameter*>{});
      break;
    case Projections::qkv:
      qkv_ = make(o.qkv, q_rows() + key_size() + value_size());
      break;
    case Projections::q_kv:
      q_ = make(o.q, q_rows()), kv_ = make(o.kv, key_size() + value_size());
      break;
    case Projections::q_k:
      q_ = make(o.q, q_rows()), k_ = make(o.k, key_size());
      break;
    case Projections::q_alone:
      q_ = make(o.q, q_rows());
      break;
  }
  out_ = Linear(p, prefix + "." + o.out, o.num_heads * d_v(), o.d_model, {.bias = o.out_bias, .depth = o.depth});
  if (const HeadNorms& n = o.head_norms; n.each.over != HeadNorm::Over::none) {
    q_norm_ = HeadNorm(p, prefix + "." + n.q, {o.num_heads, d_k()}, n.each);
    if (!alone) k_norm_ = HeadNorm(p, prefix + "." + n.k, {kv_heads(), d_k()}, n.each);
  }
  if (o.norms_values && !alone)
    v_norm_ = HeadNorm(p, prefix + ".v_norm", {kv_heads(), d_v()},
                       {.over = HeadNorm::Over::head, .kind = Norm::Kind::rms_plain, .eps = o.head_norms.each.eps});
  if (!o.gate.empty())
    gate_ = Linear(p, prefix + "." + o.gate, o.d_model, o.num_heads * (o.gates_values ? d_v() : 1), {.bias = false});
  if (o.sink_logits) sinks_ = &p.add(prefix + ".sinks", {o.num_heads}, Init::zeros());
  if (!o.result_norm.empty())
    result_norm_ = Norm(p, prefix + "." + o.result_norm, o.num_heads * d_v(), o.result_norm_eps, Norm::Kind::rms);
}

ops::AttentionOptions Attention::op(ops::Mask mask, const ops::RelativeBias& bias) const {
  return {.num_heads = o_.num_heads,
          .num_kv_heads = kv_heads(),
          .mask = std::move(mask),
          .scale = o_.scale,
          .dropout = o_.dropout,
          .softcap = o_.softcap,
          .bf16 = out_.weight()->is_bf16() || out_.weight()->quantized,
          .sink_logits = sinks_ ? sinks_->value : Tensor(),
          .bias = bias};
}

Tensor Attention::clipped(Context& c, const Tensor& x) const {
  return o_.clip > 0 ? ops::clamp(c, ops::dense(c, x), -o_.clip, o_.clip) : x;
}

// Normalises and rotates queries or keys, in the family's order.
Tensor Attention::prepared(Context& c, const Tensor& x, std::span<const ops::Rotation> rotations, const HeadNorm& norm,
                           std::int64_t heads) const {
  const bool after = o_.head_norms.after_rotation;
  Tensor y = clipped(c, norm && !after ? norm.forward(c, x) : x);
  if (o_.rotary >= 0 && !rotations.empty()) y = ops::rotary(c, y, rotations[as_size(o_.rotary)], heads);
  return norm && after ? norm.forward(c, y) : y;
}

Tensor Attention::result(Context& c, const Tensor& y, const ops::LinearOptions& out) const {
  return out_.forward(c, result_norm_ ? result_norm_->forward(c, y) : y, out);
}

Tensor Attention::self(Context& c, const Tensor& given, const SelfCall& call, std::int64_t layer,
                       const ops::LinearOptions& out) const {
  const auto at = c.scope(name_);
  const ObservedPart part(c, "self");
  const bool alone = o_.projections == Projections::q_alone;
  Tensor x = given;
  observe(c, "input", x);
  Tensor q;
  KeysValues kv;
  const bool stacked = stack_ && !stack_->from.empty();
  if (stacked || o_.projections == Projections::qkv) {
    const Tensor all = stacked ? nn::forward(c, x, *stack_, 0) : qkv_.forward(c, x);
    const std::int64_t keys = q_rows(), values = keys + key_size();
    q = all.columns(0, keys);
    kv = {all.columns(keys, values), all.columns(values, values + value_size())};
  } else {
    q = q_.forward(c, x);
    if (!alone) kv = keys_values(c, x);
  }

  Tensor gate;
  if (o_.result_gate) gate = ops::dense(c, q.columns(q_size(), q_rows())), q = q.columns(0, q_size());
  const bool no_positions = skipped(c, "positions");
  const ops::RelativeBias bias = no_positions ? ops::RelativeBias() : call.bias_;
  q = prepared(c, q, no_positions ? std::span<const ops::Rotation>() : call.query_rotations_, q_norm_, o_.num_heads);
  if (alone) {
    const SharedKeysValues::Pair& shared = call.shared_->of_layer.at(o_.keys_of);
    kv = {shared.keys, shared.values};
  } else {
    kv.keys =
        prepared(c, kv.keys, no_positions ? std::span<const ops::Rotation>() : call.rotations_, k_norm_, kv_heads());
    kv.values = clipped(c, v_norm_ ? v_norm_.forward(c, kv.values) : kv.values);
  }
  observe(c, {"q", o_.num_heads}, q);
  observe(c, {"k", kv_heads()}, kv.keys);
  observe(c, {"v", kv_heads()}, kv.values);
  if (!alone && o_.keys_are_read) call.shared_->of_layer[layer] = {kv.keys, kv.values};
  if (o_.linear) {
    Tensor y = linear(c, q, kv, call, layer);
    observe(c, {"heads", o_.num_heads}, y);
    return out_.forward(c, y, out);
  }
  const ops::Mask mask = call.near_ && o_.window > 0 ? *call.near_ : within(call.mask_, o_.window, name_);
  // For keys at their original distances; the cache omits the keys between sinks and window.
  const ops::AttentionOptions of_text = op(mask.sinks > 0 && mask.window > 0 ? call.with_sinks_ : mask, bias);

  Tensor y;
  if (!call.cache_) {
    y = ops::attention(c, {q, kv.keys, kv.values}, call.spans_, of_text);
  } else {
    KvCache& cache = *call.cache_;
    if (!alone) cache.store(c, layer, kv.keys, kv.values);
    const std::int64_t kept = alone ? o_.keys_of : layer;
    if (call.alone_) {
      y = ops::attention(c, {q, kv.keys, kv.values}, call.spans_, of_text);
    } else {
      y = ops::cached_attention(c, q, cache.layer(kept), {call.slots_, call.lengths_, call.queries_, call.generated_},
                                op(mask, bias));
    }
  }
  if (gate_.weight()) gate = gate_.forward(c, x);
  if (const bool of_heads = gate_.weight() && !o_.gates_values; of_heads)
    y = ops::scale_heads(c, y, ops::activate(c, o_.gate_function, gate));
  else if (gate)
    y = ops::gated(c, o_.gate_function, gate, y);
  observe(c, {"heads", o_.num_heads}, y);
  return result(c, y, out);
}

// S and z of the tokens so far, and phi(q) S / phi(q) z: for whole rows, or continuing from the cache's states.
Tensor Attention::linear(Context& c, const Tensor& q, const KeysValues& kv, const SelfCall& call,
                         std::int64_t layer) const {
  const ops::Mask& mask = call.mask_;
  if (mask.window > 0)
    fail_usage("attention window", "is not supported with linear attention, which keeps no tokens", "leave it out");
  check((mask.kind == kern::MaskKind::causal || mask.kind == kern::MaskKind::full) && !call.bias_.table, name_,
        "linear attention supports only the causal mask or none, and no bias");
  if (!call.cache_)
    return ops::linear_attention(c, {q, kv.keys, kv.values}, call.spans_,
                                 {.num_heads = o_.num_heads, .causal = mask.kind == kern::MaskKind::causal});
  if (observed(c, "mask") || observed(c, "weights"))
    fail_usage("attention weights", "linear attention keeps no keys to compute them from",
               "compute them for whole texts, without a cache");
  return ops::linear_attention_step(c, {q, kv.keys, kv.values}, call.rows_, {call.states(layer, name_), o_.num_heads});
}

Attention::KeysValues Attention::keys_values(Context& c, const Tensor& memory) const {
  const bool stacked = stack_ && !stack_->from.empty();
  if (o_.projections == Projections::q_k) {
    const Tensor keys = k_.forward(c, memory);
    return {keys, keys};
  }
  if (!stacked && o_.projections != Projections::q_kv) return {k_.forward(c, memory), v_.forward(c, memory)};
  const Tensor both = stacked ? nn::forward(c, memory, *stack_, 1) : kv_.forward(c, memory);
  return {both.columns(0, key_size()), both.columns(key_size(), key_size() + value_size())};
}

Tensor Attention::cross(Context& c, const Tensor& given, const KeysValues& given_memory, const CrossLayer& at_layer,
                        const ops::LinearOptions& out) const {
  const auto& [call, layer] = at_layer;
  const auto at = c.scope(name_);
  const ObservedPart part(c, "cross");
  Tensor x = given;
  observe(c, "input", x);
  Tensor q = q_.forward(c, x);
  observe(c, {"q", o_.num_heads}, q);
  KeysValues memory = given_memory;
  if (memory.keys) {
    const bool other_keys = observe(c, {"k", kv_heads()}, memory.keys);
    const bool other_values = observe(c, {"v", kv_heads()}, memory.values);
    if (other_keys || other_values) memory.packed = nullptr;
  }
  Tensor y;
  if (memory.packed && memory.keys && c.observer())  // the packed form is not shown
    y = ops::observed_attention(c, {q, memory.keys, memory.values}, call.spans, op(call.mask)).value_or(Tensor());
  if (!y)
    y = memory.packed ? ops::memory_attention(c, q, *memory.packed, call.memory_spans, o_.scale)
                      : ops::attention(c, {q, memory.keys, memory.values}, call.spans, op(call.mask));
  observe(c, {"heads", o_.num_heads}, y);
  if (call.taps(layer)) {
    check(call.mask.kind == kern::MaskKind::full, name_, "attention weights are recorded only under the full mask");
    if (o_.softcap != 0)
      fail_usage(name_, "weights of cross-attention with a soft cap of scores are not recorded",
                 "ask for no alignments");
    call.tap->weights = ops::mean_attention(
        c, q, memory.packed ? call.tap->keys : memory.keys, call.spans,
        {.num_heads = o_.num_heads, .num_kv_heads = kv_heads(), .chosen = call.tap->of.heads, .scale = o_.scale});
    call.tap->spans = call.spans;
  }
  return out_.forward(c, y, out);
}

Attention::KeysValues Attention::packed(Context& c, const KeysValues& memory, const Rows& rows) const {
  if (!op({}).bf16 || o_.softcap != 0) return memory;  // packed ones have no soft cap
  const kern::MemoryForm form = out_.weight()->quantized ? kern::MemoryForm::int8 : kern::MemoryForm::bf16;
  return {{},
          {},
          std::make_shared<const ops::PackedMemory>(
              ops::pack_memory(c, memory.keys, memory.values, rows, {form, o_.num_heads, kv_heads()}))};
}

Tensor Attention::forward(Context& c, const Tensor& q, const Tensor& k, const Tensor& v, const CrossCall& call) const {
  const auto at = c.scope(name_);
  const Tensor y = ops::attention(c, {q_.forward(c, q), k_.forward(c, k), v_.forward(c, v)}, call.spans, op(call.mask));
  return out_.forward(c, y);
}

}  // namespace tril::nn
