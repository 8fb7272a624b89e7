#include "tokenizer/files/tokenizer_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "format/json_text.h"
#include "tokenizer/files/chat_template_files.h"
#include "tokenizer/files/config_values.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 7> special_names = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                      "pad_token", "cls_token", "mask_token"};

// A file of the model; the model's reader reports its errors.
Json file_of_model(const std::string& directory, const char* name) {
  const auto file = read_tokenizer_file(directory, name);
  Json json = file ? Json::parse(file->bytes, nullptr, false) : Json();
  return json.is_object() ? json : Json::object();
}

// The number of rows of the model, if its configuration has it.
std::int32_t model_ids_of(const Json& model) {
  double most = 0;
  for (const char* key : {"vocab_size", "decoder_vocab_size"})
    if (model.contains(key) && model[key].is_number()) most = std::max(most, model[key].get<double>());
  constexpr std::int32_t all = std::numeric_limits<std::int32_t>::max();
  return most >= 1 && most < all ? static_cast<std::int32_t>(most) : all;
}

// The id under a key, the first of a list; -1: none.
std::int32_t special_id_of(const Json& model, const char* key) {
  if (!model.contains(key)) return -1;
  const Json& value = model[key].is_array() && !model[key].empty() ? model[key][0] : model[key];
  const bool fits = value.is_number_integer() && value.get<double>() >= 0 && value.get<double>() <= (1 << 27);
  return fits ? value.get<std::int32_t>() : -1;
}

SpecialIds special_ids_of(const Json& generation, const Json& model) {
  const auto either = [&](const char* key) {
    const std::int32_t id = special_id_of(generation, key);
    return id >= 0 ? id : special_id_of(model, key);
  };
  return {.pad = either("pad_token_id"), .bos = either("bos_token_id"), .eos = either("eos_token_id"), .unk = -1};
}

// The tokenizer class that transformers assumes for a model whose tokenizer names none.
std::string class_of_model(const Json& model) {
  const auto text = [&](const char* key) {
    return model.contains(key) && model[key].is_string() ? model[key].get<std::string>() : "";
  };
  if (std::string name = text("tokenizer_class"); !name.empty()) return name;
  const std::string family = text("model_type");
  for (const auto& [type, name] : {std::pair{"t5", "T5Tokenizer"},
                                   {"mt5", "MT5Tokenizer"},
                                   {"pegasus", "PegasusTokenizer"},
                                   {"mbart", "MBartTokenizer"},
                                   {"m2m_100", "M2M100Tokenizer"},
                                   {"bart", "BartTokenizer"},
                                   {"mvp", "MvpTokenizer"},
                                   {"umt5", "T5Tokenizer"},
                                   {"switch_transformers", "T5Tokenizer"},
                                   {"qwen2", "Qwen2Tokenizer"},
                                   {"qwen3", "Qwen2Tokenizer"}})
    if (family == type) return name;
  return "";
}

AddedToken added_token(const Json& json, std::int32_t id) {
  const auto is = [&](const char* key) { return config_flag(json, key).value_or(false); };
  return {.content = token_content(json).value_or(""),
          .id = id,
          .special = is("special"),
          .lstrip = is("lstrip"),
          .rstrip = is("rstrip"),
          .single_word = is("single_word"),
          .normalized = is("normalized")};
}

Json parse_object(const TokenizerFile& file, const std::string& where) {
  Json json = Json::parse(file.bytes, nullptr, false);
  if (!json.is_object()) fail(where, "is not a JSON object");
  return json;
}

void take_special_tokens(const Json& json, TokenizerConfig& config) {
  for (const char* name : special_names)
    if (const auto text = config_text(json, name)) config.set_default(name, *text);
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
    if (const auto list = json.find(key); list != json.end() && list->is_array())
      for (const Json& token : *list)
        if (const auto text = token_content(token)) config.additional_special_tokens.push_back(*text);
}

std::int32_t id_of(const std::string& key, const std::string& where) {
  std::int32_t id = 0;
  for (char c : key) {
    if (c < '0' || c > '9' || id > (1 << 27)) fail(where, fmt::format("\"{}\" is not an id", printable(key)));
    id = 10 * id + (c - '0');
  }
  return id;
}

void take_config(const Json& json, const std::string& where, TokenizerConfig& config) {
  config.tokenizer_class = config_text(json, "tokenizer_class").value_or("");
  config.add_bos_token = config_flag(json, "add_bos_token");
  config.add_eos_token = config_flag(json, "add_eos_token");
  config.add_prefix_space = config_flag(json, "add_prefix_space");
  config.clean_up_spaces = config_flag(json, "clean_up_tokenization_spaces").value_or(false);
  config.legacy_behaviour = config_flag(json, "legacy_behaviour").value_or(false);
  if (config_flag(json, "split_special_tokens").value_or(false))
    fail(where + ": split_special_tokens", "true is not supported",
         "special tokens written out in a text are always read as special tokens");
  config.source_language = config_text(json, "src_lang").value_or("");
  config.target_language = config_text(json, "tgt_lang").value_or("");
  config.stated_languages = {config_text(json, "source_lang").value_or(config.source_language),
                             config_text(json, "target_lang").value_or(config.target_language)};
  config.language_codes = config_text(json, "language_codes").value_or("");
  if (const auto n = json.find("extra_ids"); n != json.end() && n->is_number_integer())
    config.extra_ids = static_cast<std::int32_t>(std::clamp(n->get<double>(), 0.0, 1e5));
  if (const auto length = config_max_length(json)) config.model_max_length = length;
  take_special_tokens(json, config);
  if (const auto added = json.find("added_tokens_decoder"); added != json.end() && added->is_object())
    for (const auto& [key, token] : added->items())
      if (token.is_object()) config.added_tokens.push_back(added_token(token, id_of(key, where)));
}

}  // namespace

std::string TokenizerConfig::special(std::string_view name) const {
  for (const auto& [key, text] : special_tokens)
    if (key == name) return text;
  return "";
}

void TokenizerConfig::set_default(std::string_view name, std::string_view text) {
  if (special(name).empty() && !text.empty()) special_tokens.emplace_back(name, text);
}

void TokenizerConfig::name_ids_of_model(const std::function<std::string(std::int32_t)>& text_of) {
  if (is_there) return;
  set_default("bos_token", text_of(of_model.bos));
  set_default("eos_token", text_of(of_model.eos));
  set_default("pad_token", text_of(of_model.pad));
}

void TokenizerConfig::keep_ids_of_model(std::vector<AddedToken>& tokens) const {
  std::erase_if(tokens, [&](const AddedToken& token) { return token.id >= model_ids; });
}

std::optional<TokenizerFile> read_tokenizer_file(const std::string& directory, const std::string& name) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  if (!is_present(path)) return std::nullopt;
  return TokenizerFile{name, read_text(path, largest_tokenizer_file)};
}

TokenizerConfig read_tokenizer_config(const std::string& directory) {
  TokenizerConfig config;
  const auto where = [&](const char* name) { return (std::filesystem::path(directory) / name).string(); };
  const auto take = [&](const char* name, const auto& use) {
    auto file = read_tokenizer_file(directory, name);
    if (!file) return;
    use(*file);
    config.files.push_back(std::move(*file));
  };
  take("tokenizer_config.json", [&](const TokenizerFile& f) {
    take_config(parse_object(f, where("tokenizer_config.json")), where("tokenizer_config.json"), config);
    config.chat_templates = chat_templates_in(f.bytes, where("tokenizer_config.json"));
  });
  take("special_tokens_map.json",
       [&](const TokenizerFile& f) { take_special_tokens(parse_object(f, where("special_tokens_map.json")), config); });
  config.is_there = !config.files.empty();
  const bool decoder_has_them = !config.added_tokens.empty();  // transformers then ignores the older file
  take("added_tokens.json", [&](const TokenizerFile& f) {
    const Json json = parse_object(f, where("added_tokens.json"));
    for (const auto& [text, id] : json.items()) {
      if (!id.is_number_integer() || id.get<double>() < 0 || id.get<double>() > (1 << 27))
        fail(where("added_tokens.json"), fmt::format("the id of \"{}\" is not an id", printable(text)));
      if (!decoder_has_them)
        config.added_tokens.push_back({.content = text, .id = id.get<std::int32_t>(), .normalized = true});
    }
  });
  std::stable_sort(config.added_tokens.begin(), config.added_tokens.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  const Json model = file_of_model(directory, "config.json");
  config.model_ids = model_ids_of(model);
  config.of_model = special_ids_of(file_of_model(directory, "generation_config.json"), model);
  if (config.tokenizer_class.empty()) config.tokenizer_class = class_of_model(model);
  config.keep_ids_of_model(config.added_tokens);
  ChatTemplateFiles chat = read_chat_templates(directory, std::move(config.chat_templates));
  config.chat_templates = std::move(chat.templates);
  std::ranges::move(chat.files, std::back_inserter(config.files));
  return config;
}

std::string tokenizer_config_json(const TokenizerConfig& config) {
  nlohmann::ordered_json json;
  json["tokenizer_class"] = config.tokenizer_class.empty() ? "PreTrainedTokenizerFast" : config.tokenizer_class;
  for (const auto& [name, text] : config.special_tokens) json[name] = text;
  if (!config.additional_special_tokens.empty()) json["additional_special_tokens"] = config.additional_special_tokens;
  if (config.add_bos_token) json["add_bos_token"] = *config.add_bos_token;
  if (config.add_eos_token) json["add_eos_token"] = *config.add_eos_token;
  if (config.add_prefix_space) json["add_prefix_space"] = *config.add_prefix_space;
  json["clean_up_tokenization_spaces"] = config.clean_up_spaces;
  if (const std::int32_t length = config.model_max_length.value_or(1 << 30); length < (1 << 30))
    json["model_max_length"] = length;
  else
    json["model_max_length"] = 1e30;  // no limit
  if (!config.source_language.empty()) json["src_lang"] = config.source_language;
  if (!config.target_language.empty()) json["tgt_lang"] = config.target_language;
  if (config.chat_templates.size() == 1 && config.chat_templates[0].first == "default") {
    json["chat_template"] = config.chat_templates[0].second;
  } else if (!config.chat_templates.empty()) {
    for (const auto& [name, text] : config.chat_templates)
      json["chat_template"].push_back({{"name", name}, {"template", text}});
  }
  return json_text(json, 2) + "\n";
}

}  // namespace tril
