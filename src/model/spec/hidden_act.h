// The activation of a feed-forward under its name in `transformers`.
#pragma once

#include <cstdint>
#include <string_view>

namespace tril::kern {
enum class Activation : std::uint8_t;
}

namespace tril::model {

/// The names, some of which mean the same function. A configuration keeps the name that it was read with.
enum class HiddenAct : std::uint8_t {
  relu,
  relu2,
  gelu,
  gelu_new,
  gelu_pytorch_tanh,
  gelu_fast,
  silu,
  swish,
  linear,
};

/// @throws Error(usage) at `where` that lists the supported names
HiddenAct hidden_act_of(std::string_view name, std::string_view where);
std::string_view name_of(HiddenAct act);
kern::Activation function_of(HiddenAct act);

}  // namespace tril::model
