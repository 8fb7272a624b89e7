#include "model_io/adapters/adapter_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/pipeline/regex.h"

namespace tril::model {
namespace {

constexpr std::size_t longest_module = 1000;  // bytes of a module's name, which regular expressions are matched with
constexpr std::int64_t largest_rank = 1 << 16;

bool matches_whole(const std::string& pattern, std::string_view text, const std::string& where) {
  check(text.size() <= longest_module, where, "a module's name has {} bytes", text.size());
  std::vector<std::pair<std::size_t, std::size_t>> found;
  Regex("\\A(?:" + pattern + ")\\z", where).find_all(text, found);
  return !found.empty();
}

bool is_end_of(std::string_view name, std::string_view module) {
  if (name == module) return true;
  return module.size() > name.size() && module.ends_with(name) && module[module.size() - name.size() - 1] == '.';
}

// The first pattern that matches the module's name, or an end of it after a dot.
std::optional<double> by_pattern(const std::vector<std::pair<std::string, double>>& patterns, std::string_view module,
                                 const std::string& where) {
  for (const auto& [pattern, value] : patterns)
    if (matches_whole("(?:.*\\.)?(?:" + pattern + ")", module, where)) return value;
  return std::nullopt;
}

ModuleChoice read_choice(const JsonObject& o, const char* key) {
  ModuleChoice choice;
  if (!o.has(key)) return choice;
  if (o.json().at(key).is_string())
    choice.pattern = o.get<std::string>(key);
  else
    choice.names = o.get<std::vector<std::string>>(key);
  return choice;
}

// The patterns in the order of the file: the first that matches counts.
std::vector<std::pair<std::string, double>> read_patterns(const JsonObject& o, const nlohmann::ordered_json& ordered,
                                                          const char* key) {
  std::vector<std::pair<std::string, double>> list;
  const auto patterns = o.find_object(key);
  if (!patterns) return list;
  for (const auto& [pattern, value] : ordered.at(key).items())
    list.emplace_back(pattern, patterns->get<double>(pattern));
  return list;
}

// A value or a list of values; empty if the key is absent or null.
template <class T>
std::vector<T> read_list(const JsonObject& o, const char* key) {
  if (!o.has(key)) return {};
  if (o.json().at(key).is_array()) return o.get<std::vector<T>>(key);
  return {o.get<T>(key)};
}

// layers_to_transform and layers_pattern, in the combinations that `peft` accepts.
void read_layers(const JsonObject& o, AdapterConfig& c) {
  c.layers = read_list<std::int64_t>(o, "layers_to_transform");
  c.layer_lists = read_list<std::string>(o, "layers_pattern");
  std::erase(c.layer_lists, "");
  const bool by_regex = c.targets.pattern || c.all_linear;
  if (by_regex && !c.layers.empty())
    o.fail_at("layers_to_transform", "is not supported with a text as target_modules",
              "make target_modules a list of names");
  if (!c.layer_lists.empty() && c.layers.empty())
    o.fail_at("layers_pattern", "has no effect without layers_to_transform", "remove it, or add layers_to_transform");
}

// The first component that is a number, is followed by another, and comes after a component that `lists` allow; empty:
// after any that is not the first. "model.layers.3.mlp" -> 3.
std::optional<std::int64_t> layer_of(std::string_view module, const std::vector<std::string>& lists,
                                     const std::string& where) {
  const auto allows = [&](std::string_view before, const std::string& list) {
    return matches_whole("(?:.*\\.)?(?:" + list + ")", before, where);
  };
  const auto first_in = [&](const std::string* list) -> std::optional<std::int64_t> {
    for (std::size_t dot = module.find('.'); dot != module.npos; dot = module.find('.', dot + 1)) {
      const std::string_view before = module.substr(0, dot), rest = module.substr(dot + 1);
      const std::string_view number = rest.substr(0, std::min(rest.find('.'), rest.size()));
      const bool is_number = !number.empty() && number.size() < 10 && number.size() < rest.size() &&
                             number.find_first_not_of("0123456789") == number.npos;
      if (is_number && (list ? allows(before, *list) : before.find('.') != before.npos))
        return std::stoll(std::string(number));
    }
    return std::nullopt;
  };
  if (lists.empty()) return first_in(nullptr);
  for (const std::string& list : lists)
    if (const auto layer = first_in(&list)) return layer;
  return std::nullopt;
}

// True for the values of options that are off.
bool is_unset(const nlohmann::json& value) {
  return value.is_null() || value == false || ((value.is_object() || value.is_array()) && value.empty());
}

// Throws an Error for keys that change results and are not supported.
void refuse_unsupported(const JsonObject& o) {
  static const std::vector<std::string> read = {"peft_type",
                                                "r",
                                                "lora_alpha",
                                                "use_rslora",
                                                "use_dora",
                                                "target_modules",
                                                "bias",
                                                "exclude_modules",
                                                "modules_to_save",
                                                "target_parameters",
                                                "rank_pattern",
                                                "alpha_pattern",
                                                "layers_to_transform",
                                                "lora_bias",
                                                "layers_pattern",
                                                "init_lora_weights",
                                                "fan_in_fan_out"};
  // Keys of training, of the adapter's origin, and details of options that are refused.
  static const std::vector<std::string> idle = {
      "task_type",      "auto_mapping",   "peft_version",      "base_model_name_or_path",
      "revision",       "inference_mode", "lora_dropout",      "megatron_core",
      "loftq_config",   "eva_config",     "qalora_group_size", "corda_config",
      "lora_ga_config", "runtime_config", "enable_lora",       "merge_weights"};
  for (const std::string& key : o.keys()) {
    const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), key) != list.end(); };
    if (!in(read) && !in(idle) && !is_unset(o.json().at(key)))
      o.fail_at(key, "this option is not supported",
                "merge the adapter into its model with `peft` (merge_and_unload) and use that");
  }
  // Other initialisations (PiSSA, OLoRA, CorDA, LoftQ) change the base model as well, and only `peft` knows how.
  if (const auto& json = o.json(); json.contains("init_lora_weights") && json["init_lora_weights"].is_string()) {
    const std::string how = json["init_lora_weights"].get<std::string>();
    if (how != "gaussian" && how != "eva" && how != "orthogonal")
      o.fail_at("init_lora_weights",
                fmt::format("\"{}\" changes the base model too, which is not supported", printable(how, 40)),
                "convert it with `peft`: save_pretrained(path_initial_model_for_weight_conversion=...)");
  }
}

}  // namespace

bool ModuleChoice::has(std::string_view module, const std::string& where) const {
  if (pattern) return matches_whole(*pattern, module, where);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_end_of(name, module); });
}

std::int64_t AdapterConfig::rank_of(std::string_view module) const {
  return static_cast<std::int64_t>(by_pattern(ranks, module, where).value_or(static_cast<double>(rank)));
}

double AdapterConfig::scale_of(std::string_view module) const {
  const double a = by_pattern(alphas, module, where).value_or(alpha), r = static_cast<double>(rank_of(module));
  return rank_stabilised ? a / std::sqrt(r) : a / r;
}

bool AdapterConfig::changes(std::string_view module) const {
  if (excluded.has(module, where)) return false;
  for (const std::string& pattern : saved)
    if (matches_whole("(?:.*\\.)?(?:" + pattern + ")(?:\\..*)?", module, where)) return false;
  if (!all_linear && !targets.has(module, where)) return false;
  const bool named = std::find(targets.names.begin(), targets.names.end(), module) != targets.names.end();
  if (layers.empty() || named) return true;
  const auto layer = layer_of(module, layer_lists, where);
  return layer && std::find(layers.begin(), layers.end(), *layer) != layers.end();
}

std::vector<std::string> AdapterConfig::parameters_of(std::string_view module) const {
  const bool holds_experts = is_end_of("experts", module);
  if (!holds_experts && changes(module)) return {};
  const auto is_target = [&](std::string_view name) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const std::string& target) {
      const std::size_t dot = target.rfind('.');
      if (dot == target.npos) return target == name;
      return std::string_view(target).substr(dot + 1) == name &&
             is_end_of(std::string_view(target).substr(0, dot), module);
    });
  };
  static const std::vector<std::string> of_experts{"gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias"},
      of_others{"weight"};
  std::vector<std::string> names;
  std::ranges::copy_if(holds_experts ? of_experts : of_others, std::back_inserter(names), is_target);
  return names;
}

AdapterConfig read_adapter_config(std::string_view text, const std::string& where) {
  return from_files([&] {
    constexpr JsonLimits limits{.bytes = std::uint64_t{1} << 20, .depth = 8, .values = 20'000};
    const nlohmann::json json = parse_json(text, where, limits);
    const nlohmann::ordered_json ordered = parse_ordered_json(text, where, limits);
    const JsonObject o(json, where);
    const std::string type = o.get<std::string>("peft_type");
    if (type != "LORA")
      o.fail_at("peft_type", fmt::format("the kind \"{}\" is not supported", printable(type, 40)),
                "supported: LORA, with use_rslora and use_dora");
    refuse_unsupported(o);
    AdapterConfig c;
    c.where = where;
    c.rank = o.size("r", 8);
    c.alpha = o.get<double>("lora_alpha", 8);
    c.rank_stabilised = o.get<bool>("use_rslora", false);
    c.dora = o.get<bool>("use_dora", false);
    c.targets = read_choice(o, "target_modules");
    if (c.targets.pattern == "all-linear") c.targets = {}, c.all_linear = true;
    c.excluded = read_choice(o, "exclude_modules");
    if (o.has("modules_to_save")) c.saved = o.get<std::vector<std::string>>("modules_to_save");
    if (o.has("target_parameters")) c.parameters = o.get<std::vector<std::string>>("target_parameters");
    if (!c.parameters.empty() && c.dora)
      o.fail_at("use_dora", "is not supported with target_parameters", "`peft` refuses it too");
    read_layers(o, c);
    c.ranks = read_patterns(o, ordered, "rank_pattern");
    c.alphas = read_patterns(o, ordered, "alpha_pattern");
    const std::string bias = o.get<std::string>("bias", "none");
    if (bias != "none" && bias != "all" && bias != "lora_only")
      o.fail_at("bias", fmt::format("expected none, all or lora_only, got \"{}\"", printable(bias, 40)));
    for (const auto& [pattern, value] : c.ranks)
      if (!(value >= 1 && value <= largest_rank && value == std::floor(value)))
        o.fail_at("rank_pattern", fmt::format("{} is not a valid rank, for \"{}\"", value, printable(pattern, 80)));
    for (const auto& [pattern, value] : c.alphas)
      if (!std::isfinite(value))
        o.fail_at("alpha_pattern", fmt::format("{} for \"{}\"", value, printable(pattern, 80)));
    if (c.rank > largest_rank) o.fail_at("r", fmt::format("{} is above {}", c.rank, largest_rank));
    if (!std::isfinite(c.alpha)) o.fail_at("lora_alpha", fmt::format("{} is not a finite number", c.alpha));
    return c;
  });
}

}  // namespace tril::model
