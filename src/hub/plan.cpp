#include "hub/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "hub/model_file.h"
#include "hub/repo_name.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::hub {
namespace {

using Names = std::vector<std::string>;

constexpr const char* marker = "config.json";
constexpr const char* adapter_marker = "adapter_config.json";

// Optional files besides the config, the weights and the tokenizer (tokenizer_file_names).
constexpr std::array companions{"generation_config.json", "chat_template.json", "processor_config.json",
                                "preprocessor_config.json", "quantize_config.json"};

// In transformers' order of preference.
struct WeightForm {
  const char *single, *index;
};
constexpr std::array weight_forms{WeightForm{"model.safetensors", "model.safetensors.index.json"},
                                  WeightForm{"pytorch_model.bin", "pytorch_model.bin.index.json"}};

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The shards that an index names: files beside it.
Names shards_of(const Names& names, const std::string& index, const TextOf& text_of, const std::string& where) {
  const std::string place = where + ": " + index;
  const nlohmann::json json =
      parse_json(text_of(index), place, {.bytes = largest_index, .depth = 8, .values = 2'000'000});
  if (!json.is_object()) fail(place, "is not an index of weights");
  const JsonObject weight_map = JsonObject(json, place).object("weight_map");
  std::set<std::string> shards;
  for (const std::string& tensor : weight_map.keys()) shards.insert(weight_map.get<std::string>(tensor));
  for (const std::string& shard : shards) {
    if (!stays_inside(shard) || shard.find('/') != shard.npos)
      fail(place, fmt::format("names \"{}\", expected a file next to it", printable(shard)), "do not use this model");
    if (!has(names, shard))
      fail(place, fmt::format("names {}, which does not exist", printable(shard)),
           "the model is incomplete; another revision may be complete: REPO@REVISION");
  }
  return {shards.begin(), shards.end()};
}

Names weights(const Names& names, const TextOf& text_of, const std::string& where) {
  for (const WeightForm& form : weight_forms) {
    if (has(names, form.single)) return {form.single};
    if (!has(names, form.index)) continue;
    Names files = shards_of(names, form.index, text_of, where);
    files.emplace_back(form.index);
    return files;
  }
  return {};
}

// "x-00002-of-00003.gguf" -> "x", "-of-00003.gguf", 3; nothing for a file that is no part.
struct PartName {
  std::string stem, rest;
  std::size_t count;
};
std::optional<PartName> part_name(std::string_view name) {
  constexpr std::string_view pattern = "-00000-of-00000.gguf";
  if (name.size() <= pattern.size()) return std::nullopt;
  const std::string_view end = name.substr(name.size() - pattern.size());
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == '0' ? !std::isdigit(static_cast<unsigned char>(end[i])) : pattern[i] != end[i])
      return std::nullopt;
  std::size_t count = 0;
  for (const char digit : end.substr(10, 5)) count = 10 * count + static_cast<std::size_t>(digit - '0');
  return PartName{std::string(name.substr(0, name.size() - pattern.size())), std::string(end.substr(6)), count};
}

// A GGUF file, or all parts of a split model. The first part comes last in the list: the model's path is this part.
Names with_parts(const Names& names, const std::string& file, const std::string& where) {
  const auto one = part_name(file);
  if (!one) return {file};
  Names parts;
  for (const std::string& name : names)
    if (const auto other = part_name(name); other && other->stem == one->stem && other->rest == one->rest)
      parts.push_back(name);
  if (parts.size() != one->count)
    fail(where,
         fmt::format("has only {} of the {} parts of the model that {} belongs to", parts.size(), one->count,
                     printable(file)),
         "the model is incomplete; another revision may be complete: REPO@REVISION");
  std::sort(parts.rbegin(), parts.rend());
  return parts;
}

Names one_file(const Names& names, const std::string& file, const std::string& where) {
  if (!has(names, file)) {
    const std::string near = nearest(file, names);
    fail(where, fmt::format("has no file {}", printable(file)),
         near.empty() ? "look at the repository's list of files" : "did you mean " + printable(near) + "?");
  }
  if (is_gguf_name(file)) return with_parts(names, file, where);
  if (!is_archive_name(file) && !file.ends_with(".npz"))
    fail(where, fmt::format("{} is not a model in one file", printable(file)),
         "name a .gguf, .zip, .argosmodel or .npz file, or only the repository to use its config.json and weights");
  return {file};
}

// CTranslate2's weights, and the vocabularies beside them.
Names ctranslate2_files(const Names& names) {
  constexpr const char* model = "model.bin";
  if (!has(names, model)) return {};
  Names files{model};
  for (const std::string& name : names)
    if (name.find('/') == name.npos && (name.ends_with("vocabulary.json") || name.ends_with("vocabulary.txt")))
      files.push_back(name);
  return files.size() > 1 ? files : Names();  // a model.bin without a vocabulary belongs to another program
}

// The files of a PEFT adapter; its base model is another repository.
Names adapter_files(const Names& names, const std::string& where) {
  for (const char* weights : {"adapter_model.safetensors", "adapter_model.bin"})
    if (has(names, weights)) return {weights, adapter_marker};
  fail(where, fmt::format("has {}, but neither adapter_model.safetensors nor adapter_model.bin", adapter_marker),
       "the adapter is incomplete; another revision may be complete: REPO@REVISION");
}

// The files of Medusa heads, which propose tokens for another repository's model; none: it has no heads.
Names medusa_files(const Names& names) {
  for (const char* weights : {"medusa_lm_head.safetensors", "medusa_lm_head.pt"})
    if (has(names, weights)) return {weights, marker};
  return {};
}

// The GGUF files to choose from; of a split model, the first part.
Names gguf_models(const Names& names) {
  Names models;
  for (const std::string& name : names)
    if (is_gguf_name(name) && (!part_name(name) || name.find("-00001-of-") != name.npos)) models.push_back(name);
  return models;
}

[[noreturn]] void fail_without_weights(const Names& names, const std::string& where) {
  Names others;
  for (const char* name : {"tf_model.h5", "flax_model.msgpack", "model.onnx", "onnx/model.onnx"})
    if (has(names, name)) others.emplace_back(name);
  const std::string also = others.empty() ? "" : fmt::format("; it has {}", fmt::join(others, ", "));
  fail(where,
       fmt::format("has no weights that tril reads: model.safetensors, pytorch_model.bin or their shards, or "
                   "CTranslate2's model.bin with a vocabulary{}",
                   also),
       "a pull request may have them: REPO@refs/pr/N");
}

}  // namespace

Names files_of_model(const Names& names, const std::string& file, const TextOf& text_of, const std::string& where) {
  if (!file.empty()) return one_file(names, file, where);
  if (!has(names, marker)) {
    const Names models = gguf_models(names);
    if (models.empty() && has(names, adapter_marker)) return adapter_files(names, where);
    if (models.empty()) fail(where, "has neither a config.json nor a GGUF file, so it is not a model that tril reads");
    const std::size_t shown = std::min<std::size_t>(models.size(), 12);
    // A single file is not selected either: a cache may lack the others.
    fail(where,
         fmt::format("has {}: {}{}", counted(models.size(), "GGUF model"),
                     fmt::join(models.begin(), models.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                     shown < models.size() ? ", ..." : ""),
         fmt::format("name one of them: {}:{}", where, models.front()));
  }
  Names files = weights(names, text_of, where);
  if (files.empty()) files = ctranslate2_files(names);
  if (files.empty())
    if (Names heads = medusa_files(names); !heads.empty()) return heads;
  if (files.empty()) {
    if (!gguf_models(names).empty())
      fail(where, "has a config.json, but its weights are in GGUF files",
           fmt::format("name one of them: {}:{}", where, gguf_models(names).front()));
    if (has(names, adapter_marker))
      return adapter_files(names, where);  // some adapters also have the base model's config
    fail_without_weights(names, where);
  }
  const auto take = [&](std::string_view name) {
    if (has(names, name) && !has(files, name)) files.emplace_back(name);
  };
  for (const char* name : companions) take(name);
  for (const char* name : tokenizer_file_names) take(name);
  for (const std::string& name : names)
    if (name.starts_with("chat_templates/") && name.ends_with(".jinja") && name.find('/') == name.rfind('/'))
      take(name);
  files.emplace_back(marker);
  return files;
}

std::string model_path(const std::string& directory, const Names& files) {
  return files.back() == marker || files.back() == adapter_marker ? directory : directory + "/" + files.back();
}

}  // namespace tril::hub
