#include "model/spec/hidden_act.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "ops/ops.h"

namespace tril::model {
namespace {

struct NamedAct {
  HiddenAct act;
  std::string_view name;
  ops::Activation function;
};

constexpr NamedAct acts[] = {{HiddenAct::relu, "relu", ops::Activation::relu},
                             {HiddenAct::relu2, "relu2", ops::Activation::relu_squared},
                             {HiddenAct::gelu, "gelu", ops::Activation::gelu},
                             {HiddenAct::gelu_new, "gelu_new", ops::Activation::gelu_tanh},
                             {HiddenAct::gelu_pytorch_tanh, "gelu_pytorch_tanh", ops::Activation::gelu_tanh},
                             {HiddenAct::gelu_fast, "gelu_fast", ops::Activation::gelu_tanh},
                             {HiddenAct::silu, "silu", ops::Activation::silu},
                             {HiddenAct::swish, "swish", ops::Activation::silu},
                             {HiddenAct::linear, "linear", ops::Activation::none}};

const NamedAct& entry_of(HiddenAct act) {
  return *std::ranges::find(acts, act, &NamedAct::act);
}

}  // namespace

HiddenAct hidden_act_of(std::string_view name, std::string_view where) {
  if (const auto* const found = std::ranges::find(acts, name, &NamedAct::name); found != std::end(acts))
    return found->act;
  std::vector<std::string_view> names;
  for (const NamedAct& each : acts) names.push_back(each.name);
  fail_usage(std::string(where), fmt::format("activation '{}' is not supported", printable(name, 40)),
             fmt::format("supported: {}", fmt::join(names, ", ")));
}

std::string_view name_of(HiddenAct act) {
  return entry_of(act).name;
}

ops::Activation function_of(HiddenAct act) {
  return entry_of(act).function;
}

}  // namespace tril::model
