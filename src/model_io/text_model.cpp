#include "model_io/text_model.h"

#include <algorithm>
#include <array>
#include <map>

namespace tril::model {
namespace {

constexpr std::array multimodal{"gemma3", "mistral3", "qwen3_5", "qwen3_5_moe"};

// Prefixes of names in files, and their replacements.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> renamed{
    {{"language_model.model.", "model."},
     {"model.language_model.", "model."},
     {"language_model.lm_head.", "lm_head."}}};
constexpr std::array<std::string_view, 5> left_alone{"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                                     "model.multi_modal_projector.", "model.visual."};

std::string text_name(std::string_view name) {
  for (const auto& [prefix, own] : renamed)
    if (name.starts_with(prefix)) return std::string(own) + std::string(name.substr(prefix.size()));
  return std::string(name);
}

}  // namespace

bool names_text_model(const WeightFiles& weights) {
  return std::ranges::any_of(weights.names(), [](const std::string& name) { return text_name(name) != name; });
}

bool holds_text_model(const JsonObject& config) {
  return std::ranges::find(multimodal, config.get<std::string>("model_type", "")) != multimodal.end() &&
         config.find_object("text_config").has_value();
}

ConfigDocument text_config(const ConfigDocument& whole, const WeightNamesOf& weight_names) {
  ConfigDocument text{.json = whole.json.at("text_config"), .where = whole.where + ": text_config"};
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings", "quantization_config"})
    if (const auto at = whole.json.find(key); at != whole.json.end() && !at->is_null()) text.json[key] = *at;
  if (!whole.json.contains("tie_word_embeddings"))
    text.json["tie_word_embeddings"] = std::ranges::none_of(
        weight_names(), [](const std::string& name) { return text_name(name) == "lm_head.weight"; });
  return text;
}

WeightFiles text_weights(const std::shared_ptr<const WeightFiles>& whole) {
  std::map<std::string, std::string, std::less<>> in_file;
  WeightFiles::Contents contents{.where = {}, .tensors = {}, .maps = whole};
  for (const std::string& name : whole->names()) {
    contents.where = whole->file_of(name);
    if (std::ranges::any_of(left_alone, [&](std::string_view prefix) { return name.starts_with(prefix); })) continue;
    StoredTensor tensor{whole->at(name), whole->file_of(name)};
    tensor.view.name = text_name(name);
    in_file[tensor.view.name] = name;
    contents.tensors.push_back(std::move(tensor));
  }
  contents.name_in_file = name_in_file_of(std::move(in_file));
  return WeightFiles(std::move(contents));
}

}  // namespace tril::model
