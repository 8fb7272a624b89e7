// A stack of layers, shared by families of encoders and decoders.
#pragma once

#include <memory>
#include <vector>

#include "model/spec/model.h"
#include "nn/adapters.h"
#include "nn/blocks.h"
#include "nn/positions.h"
#include "nn/ssru.h"
#include "tensor/observer.h"

namespace tril::model {

/// Shared by the layers of one call; kept alive for layers that are recomputed in the backward pass.
struct StackCall {
  nn::SelfCall self;
  nn::CrossCall cross;
  nn::RouterTap* routers = nullptr;
};

/// A decoder's call: self-attention of the rows under input.self_mask, and cross-attention to input.memory, if there is one.
/// @param bias  added to scores of self-attention by distance; null: none
/// @param rotaries  of queries and keys of self-attention; a layer uses the one whose number it has
///   (nn::Attention::Options::rotary); empty: no rotation
std::shared_ptr<const StackCall> decoder_call(Context& c, const DecoderInput& input,
                                              const nn::RelativeBias* bias = nullptr,
                                              std::span<const nn::RotaryPositions> rotaries = {});
/// An encoder's call: self-attention of the rows under `mask`.
std::shared_ptr<const StackCall> encoder_call(Context& c, const Rows& rows, const ops::Mask& mask,
                                              const nn::RelativeBias* bias = nullptr);

/// True if training skips the named layer in the present pass, with probability p: the same decision for all parts
/// of a batch [LayerDrop, Fan et al. 2020].
bool left_out(const Context& c, std::string_view layer, double p);

/// Call it before a layer's first op on h: loads its weights (Context::weight_keeper). In the backward pass its
/// gradient is complete here.
void enter_layer(Context& c, std::string_view layer, const Tensor& h);
/// Call it after the layer's last op, whose result is h: in the backward pass its weights are loaded here.
void leave_layer(Context& c, std::string_view layer, const Tensor& h);

struct StackOptions {
  const Memory* memory = nullptr;  ///< the memory of decoder layers; null without cross-attention
  bool checkpointing = false;      ///< Model::gradient_checkpointing()
  double layer_drop = 0;           ///< the probability p of left_out()
  Tensor layer_inputs = {};        ///< nn::LayerInputs::forward() of the tokens; none if the layers read nothing of it
};

/// Passes h through all layers in order.
template <class Layer>
Tensor run_layers(Context& c, const std::vector<Layer>& layers, Tensor h, const std::shared_ptr<const StackCall>& call,
                  const StackOptions& options) {
  const auto& [memory, checkpointing, layer_drop, layer_inputs] = options;
  check(!checkpointing || !call->routers, "gradient checkpointing",
        "the routers of recomputed layers are not recorded");
  if (!layers.empty()) observe(c, "stream", h);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const ObservedPart part(c, static_cast<std::int64_t>(i));
    if (skipped(c, "")) continue;
    observe(c, "input", h);
    const bool tapped = call->cross.taps(static_cast<std::int64_t>(i));  // such a layer always runs, and only once
    enter_layer(c, layer.name, h);
    if (!tapped && left_out(c, layer.name, layer_drop)) {  // other workers may still run the layer
      leave_layer(c, layer.name, h);
      continue;
    }
    nn::Attention::KeysValues kv;
    if constexpr (requires { layer.cross_attention; }) {
      if (layer.cross_attention) {
        check(memory != nullptr, layer.name, "the decoder attends to a memory, but none was given");
        kv = memory->layers.empty() ? layer.cross_attention->keys_values(c, memory->states)
                                    : nn::Attention::KeysValues{memory->layers[i].keys, memory->layers[i].values,
                                                                memory->layers[i].packed};
        if (tapped && kv.packed && !call->cross.tap->keys) {
          const nn::AdapterScope of_sources(c, {.of_rows = memory->adapters, .of_all = c.adapters().of_all});
          call->cross.tap->keys = layer.cross_attention->keys_values(c, memory->states).keys;
        }
      }
    }
    Tensor of_layer;
    if (layer_inputs) {
      const std::int64_t size = layer_inputs.size(1) / std::ssize(layers), begin = static_cast<std::int64_t>(i) * size;
      of_layer = layer_inputs.columns(begin, begin + size);
    }
    const auto forward = [&layer, call, kv, i, of_layer](Context& k, const Tensor& x) {
      return layer.forward(
          k, x, {.self = &call->self, .cross = &call->cross, .routers = call->routers, .layer_input = of_layer},
          static_cast<std::int64_t>(i), kv);
    };
    bool runs_once = tapped;  // the tape must know the keys that later layers read
    if constexpr (requires { layer.keys_are_read; }) runs_once = runs_once || layer.keys_are_read;
    h = checkpointing && !runs_once ? ops::checkpoint(c, forward, h) : forward(c, h);
    leave_layer(c, layer.name, h);
    observe(c, "output", h);
  }
  return h;
}

/// Computes every decoder layer's keys and values of the memory, once for all later decode steps. Does nothing while a tape
/// records or weights are loaded on demand: then they are computed where they are used.
template <class Layer>
void project_memory(Context& c, const std::vector<Layer>& layers, Memory& memory) {
  if (c.tape() || c.weight_keeper()) return;
  for (const Layer& layer : layers) {
    nn::Attention::KeysValues kv = layer.cross_attention->keys_values(c, memory.states);
    nn::Attention::KeysValues kept = layer.cross_attention->packed(c, kv, memory.rows);
    if (c.observer()) kept.keys = kv.keys, kept.values = kv.values;  // an observer sees them beside the packed form
    memory.layers.push_back({kept.keys, kept.values, kept.packed});
  }
}

/// A cache for these layers; null if there are none.
template <class Layer>
std::unique_ptr<nn::KvCache> cache_for(Context& c, const std::vector<Layer>& layers) {
  if (layers.empty()) return nullptr;
  std::vector<nn::KvCache::Layer> kept;
  kept.reserve(layers.size());
  for (const Layer& layer : layers) kept.push_back(layer.kept());
  return std::make_unique<nn::KvCache>(c, std::move(kept));
}

}  // namespace tril::model
