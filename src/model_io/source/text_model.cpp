#include "model_io/source/text_model.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/log.h"
#include "base/printable.h"
#include "model_io/contents/split_experts.h"

namespace tril::model {
namespace {

// The model_type of directories with several kinds of input whose texts go through a language model of a known family, as
// they would without pictures, speech or video. In paligemma, blip and kosmos they do not: a prompt attends to all of itself,
// or the family is one of its own.
constexpr std::string_view multimodal =
    " aya_vision blip-2 cohere2_vision deepseek_vl deepseek_vl_hybrid exaone4_5 fast_vlm fun_asr_nano gemma3 "
    "gemma4 gemma4_unified glm46v glm4v glm4v_moe glm_ocr glmasr glmga got_ocr2 granite4_vision "
    "granite_docling granite_speech granite_speech_plus hyperclovax_vision_v2 idefics2 idefics3 instructblip "
    "instructblipvideo internvl janus "
    "kimi_k25 lfm2_vl lfm3_vl lighton_ocr llava llava_next llava_next_video llava_onevision minicpm_ocr "
    "minicpmv4_6 minicpmv4_7 mistral3 moss_transcribe_diarize omniasr ovis2 perception_lm "
    "paddleocr_vl pp_chart2table qianfan_ocr qwen2_5_vl qwen2_audio qwen2_vl qwen3_5 qwen3_5_moe qwen3_asr qwen3_vl "
    "qwen3_vl_moe shieldgemma2 smolvlm step3p7 vibevoice_asr video_llama_3 video_llava vipllava voxtral ";

// Language models whose texts are rotated by three positions, which are equal where there are no pictures: the families that
// they then are.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> without_pictures{
    {{"paddleocr_vl_text", "llama"},
     {"qwen2_vl_text", "qwen2"},
     {"qwen2_5_vl_text", "qwen2"},
     {"qwen3_vl_text", "qwen3"},
     {"qwen3_vl_moe_text", "qwen3_moe"},
     {"glm4v_text", "glm4"},
     {"glm_ocr_text", "glm4"},
     {"glm4v_moe_text", "glm4_moe"}}};
// Names of language models in directories of their publishers, and the families that they are.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> published{
    {{"exaone4_5_text", "exaone4"},
     {"gemma4_unified_text", "gemma4_text"},
     {"granite4_vision_text", "granite"},
     {"granite_docling_text", "granite"},
     {"kimi_k2", "deepseek_v3"}}};
// Directories whose config.json may have the keys of the language model at its top, beside those of the pictures.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> flat{
    {{"paddleocr_vl", "paddleocr_vl_text"}, {"qwen2_vl", "qwen2_vl_text"}, {"qwen2_5_vl", "qwen2_5_vl_text"}}};
constexpr std::array picture_keys{"vision_config",  "vision_start_token_id", "vision_end_token_id", "vision_token_id",
                                  "image_token_id", "video_token_id",        "architectures"};

// Prefixes of names in files, and their replacements.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> renamed{
    {{"language_model.model.", "model."},
     {"model.language_model.model.", "model."},
     {"model.language_model.", "model."},
     {"model.text_model.", "model."},
     {"model.language_model.lm_head.", "lm_head."},
     {"language_model.lm_head.", "lm_head."}}};

// The first components of a name, without "model.", of what does not belong to the language model.
constexpr std::string_view other_parts =
    " acoustic_tokenizer_encoder aligner audio_tower connector embed_audio embed_vision encoder generation_aligner "
    "generation_embeddings generation_head high_res_vision_alpha high_res_vision_model high_res_vision_neck "
    "high_res_vision_proj image_newline image_tower language_projection layerwise_projectors merger mlp_AR "
    "mm_projector "
    "multi_modal_projector projector qformer query_tokens semantic_tokenizer_encoder spatial_projectors video_tower "
    "vision_embedder vision_encoder vision_model vision_projection vision_projector vision_tower visual "
    "visual_embeddings_table "
    "vit_large_projector vqmodel ";

// True if the word is one of those in the list, which have blanks around them.
bool is_in(std::string_view list, std::string_view word) {
  return word.find(' ') == word.npos && list.find(fmt::format(" {} ", word)) != list.npos;
}

template <class Table>
std::string_view found_in(const Table& table, std::string_view name) {
  const auto at = std::ranges::find(table, name, [](const auto& entry) { return entry.first; });
  return at == table.end() ? std::string_view() : at->second;
}

std::string text_name(std::string_view name) {
  for (const auto& [prefix, own] : renamed)
    if (name.starts_with(prefix)) return std::string(own) + std::string(name.substr(prefix.size()));
  return std::string(name);
}

// "vision_tower" for "model.vision_tower.layer.weight"; "": the tensor belongs to the language model.
std::string_view other_part(std::string_view name) {
  if (name.starts_with("model.")) name.remove_prefix(6);
  const std::string_view first = name.substr(0, name.find('.'));
  return is_in(other_parts, first) ? first : std::string_view();
}

// Rotation by three positions that are equal is rotation by one.
void rotate_by_one_position(nlohmann::json& text) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto rope = text.find(key);
    if (rope == text.end() || !rope->is_object()) continue;
    for (const char* part : {"mrope_section", "mrope_interleaved"}) rope->erase(part);
    for (const char* type : {"type", "rope_type"})
      if (const auto at = rope->find(type); at != rope->end() && *at == "mrope") *at = "default";
  }
}

// The defaults of GLM's text models, where they differ from those of the families that they are read as.
void use_glm_defaults(const std::string& name, nlohmann::json& text) {
  text.emplace("rms_norm_eps", 1e-5);
  if (name == "glm4v_moe_text") {
    text.emplace("attention_bias", true);
    for (const char* key : {"output_router_logits", "router_aux_loss_coef"}) text.erase(key);  // of training
  } else {
    text.emplace("partial_rotary_factor", 1.0);
    text["attention_bias"] = name == "glm4v_text";
  }
  if (name == "glm4v_text") text.erase("head_dim");  // transformers does not read it
  const auto width = text.find("hidden_size"), heads = text.find("num_attention_heads");
  if (width != text.end() && heads != text.end() && width->is_number_unsigned() && heads->is_number_unsigned() &&
      *heads != 0)
    text.emplace("head_dim", width->get<std::uint64_t>() / heads->get<std::uint64_t>());
}

// The values of keys that a config.json leaves out, where they differ from those of the family that the model is read as.
void add_defaults(nlohmann::json& text, const nlohmann::json& defaults) {
  text.insert(defaults.begin(), defaults.end());  // keeps what is there
}

// PaddleOCR-VL's text model is Llama with one key for all biases.
void use_paddle_keys(nlohmann::json& text) {
  add_defaults(text, {{"vocab_size", 103424},
                      {"hidden_size", 1024},
                      {"intermediate_size", 3072},
                      {"num_hidden_layers", 18},
                      {"num_attention_heads", 16},
                      {"num_key_value_heads", 2},
                      {"head_dim", 128},
                      {"max_position_embeddings", 131072},
                      {"rms_norm_eps", 1e-5},
                      {"rope_theta", 5e5},
                      {"pad_token_id", 0},
                      {"use_bias", false}});
  for (const char* key : {"attention_bias", "mlp_bias"}) text[key] = text.at("use_bias");
  // Keys of the authors' own code and of the training, which transformers does not read.
  for (const char* key : {"use_bias", "attention_dropout", "attention_probs_dropout_prob", "compression_ratio",
                          "hidden_dropout_prob", "ignored_index", "max_sequence_length", "rope_is_neox_style",
                          "use_3d_rope", "use_flash_attention", "weight_share_add_bias"})
    text.erase(key);
}

void use_qwen3_vl_moe_keys(nlohmann::json& text) {
  add_defaults(text, {{"intermediate_size", 5632},
                      {"num_attention_heads", 16},
                      {"num_key_value_heads", 16},
                      {"max_position_embeddings", 128000},
                      {"moe_intermediate_size", 1408},
                      {"num_experts_per_tok", 4},
                      {"rope_theta", 5e5}});
  if (!text.contains("num_local_experts")) text.emplace("num_experts", 60);
  text["norm_topk_prob"] = true;  // always; transformers reads no such key
  for (const char* key : {"use_sliding_window", "sliding_window"}) text.erase(key);
}

void use_granite_docling_defaults(nlohmann::json& text) {
  add_defaults(text, {{"vocab_size", 133800},
                      {"hidden_size", 1024},
                      {"intermediate_size", 2048},
                      {"num_hidden_layers", 28},
                      {"num_attention_heads", 16},
                      {"num_key_value_heads", 4},
                      {"max_position_embeddings", 32768},
                      {"rms_norm_eps", 1e-5},
                      {"pad_token_id", 100256},
                      {"bos_token_id", 100257},
                      {"eos_token_id", 100257},
                      {"embedding_multiplier", 12.0},
                      {"logits_scaling", 4.0},
                      {"residual_multiplier", 0.263},
                      {"attention_multiplier", 0.015625}});
}

// Keys of a language model that is read as another family, in that family's terms.
void use_keys_of(const std::string& name, nlohmann::json& text) {
  if (name == "gemma4_unified_text") {  // its layers have no inputs of their own
    text["hidden_size_per_layer_input"] = 0;
    add_defaults(text, {{"sliding_window", 1024}, {"max_position_embeddings", 262144}});
  }
  if (name.starts_with("glm")) use_glm_defaults(name, text);
  if (name == "paddleocr_vl_text") use_paddle_keys(text);
  if (name == "qwen3_vl_moe_text") use_qwen3_vl_moe_keys(text);
  if (name == "granite_docling_text") use_granite_docling_defaults(text);
}

}  // namespace

bool names_text_model(const WeightFiles& weights) {
  return std::ranges::any_of(
      weights.names(), [](const std::string& name) { return text_name(name) != name || !other_part(name).empty(); });
}

bool holds_text_model(const JsonObject& config) {
  const std::string type = config.get<std::string>("model_type", "");
  if (!is_in(multimodal, type)) return false;
  return config.find_object("text_config").has_value() || !found_in(flat, type).empty();
}

ConfigDocument text_config(const ConfigDocument& whole, const WeightNamesOf& weight_names) {
  const bool nested = whole.json.contains("text_config") && whole.json.at("text_config").is_object();
  ConfigDocument text{.json = nested ? whole.json.at("text_config") : whole.json,
                      .where = nested ? whole.where + ": text_config" : whole.where};
  if (!nested) {
    for (const char* key : picture_keys) text.json.erase(key);
    text.json["model_type"] = found_in(flat, whole.json.at("model_type").get<std::string>());
  }
  if (const auto type = text.json.find("model_type"); type != text.json.end() && type->is_string()) {
    const std::string name = type->get<std::string>();
    if (const std::string_view family = found_in(published, name); !family.empty()) *type = family;
    use_keys_of(name, text.json);
    if (const std::string_view family = found_in(without_pictures, name); !family.empty()) {
      *type = family;
      rotate_by_one_position(text.json);
    }
  }
  if (whole.json.value("model_type", "") == "step3p7")
    text.json["model_type"] = "step3p5";  // whatever the file calls it
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings", "quantization_config"})
    if (const auto at = whole.json.find(key); at != whole.json.end() && !at->is_null()) text.json[key] = *at;
  // transformers ties the output, unless the files hold another one, of PaddleOCR-VL whatever its config.json says, and of others if
  // text_config alone says so, as older versions wrote it.
  const auto ties = [](const nlohmann::json& config) {
    return config.value("tie_word_embeddings", nlohmann::json()) == true;
  };
  const bool inside_alone = nested && !ties(whole.json) && ties(whole.json.at("text_config"));
  if (!whole.json.contains("tie_word_embeddings") || inside_alone ||
      whole.json.value("model_type", "") == "paddleocr_vl")
    text.json["tie_word_embeddings"] = std::ranges::none_of(
        weight_names(), [](const std::string& name) { return text_name(name) == "lm_head.weight"; });
  return text;
}

WeightFiles text_weights(const std::shared_ptr<const WeightFiles>& whole, const JsonObject& config) {
  std::map<std::string, std::string, std::less<>> in_file;
  std::map<std::string, std::int64_t, std::less<>> ignored;  // numbers of tensors
  WeightFiles::Contents contents{.where = {}, .tensors = {}, .maps = whole};
  for (const std::string& name : whole->names()) {
    contents.where = whole->file_of(name);
    if (const std::string_view part = other_part(name); !part.empty()) {
      ++ignored[std::string(part)];
      continue;
    }
    StoredTensor tensor = whole->tensor(name);
    tensor.view.name = text_name(name);
    in_file[tensor.view.name] = name;
    contents.tensors.push_back(std::move(tensor));
  }
  if (config.get<std::string>("model_type", "") == "qwen3_vl_moe")
    contents.tensors = split_experts(contents.tensors, in_file);
  std::string parts;
  for (const auto& [part, count] : ignored) parts += fmt::format("{}{} ({})", parts.empty() ? "" : ", ", part, count);
  if (!parts.empty())
    logger()->info("{}: only the language model is used; tensors of other parts are ignored: {}",
                   printable(contents.where, 400), printable(parts, 400));
  contents.name_in_file = name_in_file_of(std::move(in_file));
  return WeightFiles(std::move(contents));
}

}  // namespace tril::model
