#include "model_io/adapters/adapter.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/pytorch_file.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_config = std::uint64_t{1} << 20;

// The role of a tensor in its module, by the end of its name.
struct Role {
  std::string_view end;
  const WeightView* AdapterModule::*tensor;
  bool is_table = false;
};
constexpr std::array roles{
    Role{".lora_A.weight", &AdapterModule::a},
    Role{".lora_B.weight", &AdapterModule::b},
    Role{".lora_B.bias", &AdapterModule::b_bias},
    Role{".lora_embedding_A", &AdapterModule::a, true},
    Role{".lora_embedding_B", &AdapterModule::b, true},
    Role{".lora_magnitude_vector", &AdapterModule::magnitude},
    Role{".lora_magnitude_vector.weight", &AdapterModule::magnitude},
    Role{".base_layer.weight", &AdapterModule::weight},
    Role{".base_layer.bias", &AdapterModule::bias},
    Role{".modules_to_save.weight", &AdapterModule::weight},
    Role{".modules_to_save.bias", &AdapterModule::bias},
    Role{".weight", &AdapterModule::weight},
    Role{".bias", &AdapterModule::bias},
};

constexpr std::string_view name_prefix = "base_model.model.";

std::map<std::string, AdapterModule> modules_of(std::span<const WeightView> tensors, const std::string& file) {
  std::map<std::string, AdapterModule> modules;
  for (const WeightView& view : tensors) {
    const std::string where = file + ": " + printable(view.name, 200);
    const auto role =
        std::find_if(roles.begin(), roles.end(), [&](const Role& r) { return view.name.ends_with(r.end); });
    if (!view.name.starts_with(name_prefix) || role == roles.end() ||
        view.name.size() <= name_prefix.size() + role->end.size())
      fail_usage(where, "is not a tensor of a supported adapter",
                 "expected base_model.model.MODULE.lora_A.weight, or another tensor of LoRA");
    AdapterModule& m =
        modules[view.name.substr(name_prefix.size(), view.name.size() - name_prefix.size() - role->end.size())];
    if (m.*role->tensor) fail_usage(where, "is the second tensor of this kind for its module");
    m.*role->tensor = &view;
    m.is_table |= role->is_table;
  }
  return modules;
}

// Gives parameters of target_parameters their own names. `peft` wraps a module once for each of its parameters: the tensors of
// MODULE are those of the last parameter, those of MODULE.base_layer of the one before it.
std::map<std::string, AdapterModule> with_parameters(std::map<std::string, AdapterModule> modules,
                                                     const AdapterConfig& config, const std::string& file) {
  constexpr std::string_view inner = ".base_layer";
  if (config.parameters.empty()) return modules;
  std::map<std::string, AdapterModule> named;
  for (auto& [name, m] : modules) {
    std::string_view module = name;
    std::size_t depth = 0;
    for (; module.ends_with(inner); ++depth) module.remove_suffix(inner.size());
    const std::vector<std::string> parameters = m.a ? config.parameters_of(module) : std::vector<std::string>();
    if (parameters.empty()) {
      named[name] = m;
      continue;
    }
    const std::string outermost(module);
    std::string innermost = outermost;
    for (std::size_t i = 1; i < parameters.size(); ++i) innermost += inner;
    if (depth >= parameters.size() || !modules.contains(innermost))
      fail_usage(
          file + ": " + printable(name, 200),
          fmt::format("{} parameters of this module are named in target_parameters, but the tensors are those of "
                      "another number",
                      parameters.size()));
    m.is_parameter = true;
    named[outermost + "." + parameters[parameters.size() - 1 - depth]] = m;
  }
  return named;
}

void check_sizes(const WeightView& view, std::vector<std::int64_t> expected, const std::string& where) {
  if (view.shape != expected)
    fail_usage(where, fmt::format("{} has shape [{}], expected [{}]", printable(view.name, 200),
                                  fmt::join(view.shape, ", "), fmt::join(expected, ", ")));
}

// The checks that need no model.
void check_module(const std::string& name, const AdapterModule& m, const AdapterConfig& c, const std::string& where) {
  if (!m.a != !m.b) fail_usage(where, fmt::format("has only lora_{}, expected both", m.a ? "A" : "B"));
  if (!m.a && (m.magnitude || m.b_bias))
    fail_usage(where, "has a magnitude or a bias of LoRA, but no lora_A and lora_B");
  if (!m.a) return;
  if (m.is_parameter) {
    if (m.b_bias || m.magnitude || m.is_table)
      fail_usage(where, "has a bias, a magnitude or a table, which parameters of target_parameters cannot have");
    if (m.a->shape.size() != 2 || m.b->shape.size() != 2 || m.a->shape[0] != m.b->shape[1] ||
        m.a->shape[0] % c.rank_of(name) != 0)
      fail_usage(where, fmt::format("lora_A and lora_B have shapes [{}] and [{}], expected a multiple of a rank of {}",
                                    fmt::join(m.a->shape, ", "), fmt::join(m.b->shape, ", "), c.rank_of(name)));
    return;
  }
  if (!c.changes(name))
    fail_usage(where, "has tensors, but adapter_config.json does not select this module",
               "check target_modules, exclude_modules and layers_to_transform");
  const std::int64_t rank = c.rank_of(name);
  if (m.a->shape.size() != 2 || m.b->shape.size() != 2 || m.a->shape[0] != rank || m.b->shape[1] != rank)
    fail_usage(where, fmt::format("lora_A and lora_B have shapes [{}] and [{}], expected a rank of {}",
                                  fmt::join(m.a->shape, ", "), fmt::join(m.b->shape, ", "), rank));
  if (c.dora != static_cast<bool>(m.magnitude))
    fail_usage(where, c.dora ? "has no lora_magnitude_vector, but use_dora is true"
                             : "has a lora_magnitude_vector, but use_dora is false");
  if (m.is_table && (m.magnitude || m.b_bias)) fail_usage(where, "DoRA and biases of embeddings are not supported");
  if (m.magnitude) check_sizes(*m.magnitude, {m.b->shape[0]}, where);
  if (m.b_bias) check_sizes(*m.b_bias, {m.b->shape[0]}, where);
}

}  // namespace

Adapter Adapter::open(const fs::path& directory) {
  const std::string shown = printable(directory.string(), 400);
  if (!fs::is_directory(directory)) fail(shown, "is not a directory", "pass the directory of a PEFT adapter");
  const fs::path config = directory / "adapter_config.json", safe = directory / "adapter_model.safetensors",
                 pickled = directory / "adapter_model.bin";
  if (!fs::exists(config)) fail(shown, "has no adapter_config.json", "pass the directory of a PEFT adapter");
  Adapter adapter;
  adapter.path_ = directory.string();
  adapter.config_ = read_adapter_config(read_text(config.string(), largest_config), printable(config.string(), 400));
  return from_files([&] {
    std::span<const WeightView> tensors;
    const auto hold = [&](const auto& file) {
      tensors = file->tensors();
      adapter.map_ = file;
    };
    if (fs::exists(safe))
      hold(std::make_shared<const SafetensorsFile>(SafetensorsFile::open(safe.string())));
    else if (fs::exists(pickled))
      hold(std::make_shared<const PytorchFile>(PytorchFile::open(pickled.string())));
    else
      fail(shown, "has neither adapter_model.safetensors nor adapter_model.bin", "download it again");
    adapter.file_ = printable((fs::exists(safe) ? safe : pickled).string(), 400);
    adapter.modules_ = with_parameters(modules_of(tensors, adapter.file_), adapter.config_, adapter.file_);
    for (const auto& [name, module] : adapter.modules_)
      check_module(name, module, adapter.config_, adapter.place_of(printable(name, 200)));
    if (adapter.modules_.empty()) fail(adapter.file_, "has no tensors", "download it again");
    return std::move(adapter);
  });
}

std::int64_t Adapter::parameters() const {
  std::int64_t n = 0;
  for (const auto& [name, m] : modules_)
    for (const WeightView* view : {m.a, m.b, m.magnitude, m.b_bias, m.weight, m.bias})
      if (view) n += view->elements();
  return n;
}

}  // namespace tril::model
