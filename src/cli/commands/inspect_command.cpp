// tril inspect: describes a model directory from its files, without loading the weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/message_text.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/commands/inspect_adapter.h"
#include "cli/commands/inspect_cost.h"
#include "cli/commands/inspect_medusa.h"
#include "cli/io/standard_output.h"
#include "decode/models/decoding_options.h"
#include "doctor/model_check.h"
#include "format/json_text.h"
#include "format/safetensors.h"
#include "model_io/contents/weight_files.h"
#include "model_io/source/directory_reader.h"
#include "model_io/source/model_source.h"
#include "model_io/source/packed_image.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

struct InspectOptions {
  std::string model;
  bool tensors = false, json = false;
  std::optional<std::int64_t> length;
};

Fields fields_of(InspectOptions& o) {
  Fields f;
  f.group("Model");
  f.add("model", &o.model, fmt::format("model: {}; or a PEFT adapter, or Medusa heads", forms_of_models))
      .value_name("DIR")
      .letter('m')
      .positional()
      .required();
  f.group("Output");
  f.add("length", &o.length, "count the operations of the token at this position; unset: 512, or the last position")
      .at_least(1)
      .at_most(1 << 20);
  f.add("tensors", &o.tensors, "list every weight with its shape and type");
  f.add("json", &o.json, "print one JSON object");
  return f;
}

struct Stored {
  std::map<std::string, std::int64_t> parameters_by_type;
  std::int64_t parameters = 0;
};

// Tensors that share their values, as tied embeddings do in PyTorch's files, count once, and those that no file holds not at all.
Stored stored(const WeightFiles& files) {
  Stored s;
  std::set<std::pair<const std::byte*, std::size_t>> counted;
  for (const std::string& name : files.names()) {
    const WeightView& view = files.at(name);
    if (view.bytes.empty() ? view.form.starts_with("made")
                           : !counted.emplace(view.bytes.data(), view.bytes.size()).second)
      continue;
    s.parameters += view.elements();
    s.parameters_by_type[std::string(view.type_name())] += view.elements();
  }
  return s;
}

// The tokenizer's description, or why there is none.
nlohmann::ordered_json tokenizer_json(const model::ModelSource& source) {
  try {
    const auto tokenizer = source.tokenizer();
    const SpecialIds& ids = tokenizer->special(Side::target);
    return {{"source_vocabulary", tokenizer->size(Side::source)},
            {"target_vocabulary", tokenizer->size(Side::target)},
            {"shared", tokenizer->shared_vocabulary()},
            {"eos", ids.eos},
            {"unk", ids.unk},
            {"pad", ids.pad},
            {"decoder_start", ids.decoder_start},
            {"languages", tokenizer->languages().empty() ? tagged_languages(*tokenizer) : tokenizer->languages()},
            {"longest", tokenizer->model_max_length()}};
  } catch (const Error& e) {
    return {{"problem", e.what()}};
  }
}

// The error that loading would give: a weight that is missing or has another shape, or a tokenizer that does not fit.
std::string problem_of(const model::Model& m, const model::ModelSource& source,
                       const nlohmann::ordered_json& tokenizer) {
  std::string problem = doctor::problem_of_weights(m, source.weights());
  if (problem.empty() && !tokenizer.contains("problem")) problem = doctor::misfit_of(m, *source.tokenizer());
  return problem;
}

std::string human(double bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t u = 0;
  while (bytes >= 1024 && u < 4) bytes /= 1024, ++u;
  return u == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.1f} {}", bytes, units[u]);
}

// A size, under the names that configurations use for it, for both sides or one.
struct Size {
  const char* name;
  std::vector<std::array<const char*, 2>> keys;  ///< the encoder's and the decoder's; "": one number for both
};

const std::vector<Size>& sizes() {
  static const std::vector<Size> list{
      {"layers",
       {{"encoder_layers", "decoder_layers"},
        {"num_layers", "num_decoder_layers"},
        {"num_hidden_layers", ""},
        {"n_layer", ""},
        {"n_layers", ""},
        {"num_layers", ""}}},
      {"heads",
       {{"encoder_attention_heads", "decoder_attention_heads"},
        {"num_attention_heads", ""},
        {"num_heads", ""},
        {"n_head", ""},
        {"n_heads", ""},
        {"attention_heads", ""}}},
      {"key heads", {{"num_key_value_heads", ""}}},
      {"feed-forward",
       {{"encoder_ffn_dim", "decoder_ffn_dim"},
        {"intermediate_size", ""},
        {"d_ff", ""},
        {"ffn_dim", ""},
        {"ffn_hidden_size", ""},
        {"n_inner", ""}}},
      {"experts", {{"num_local_experts", ""}, {"num_experts", ""}, {"n_routed_experts", ""}}},
      {"experts/token", {{"num_experts_per_tok", ""}, {"moe_topk", ""}}},
  };
  return list;
}

std::string size_of(const Size& size, const nlohmann::ordered_json& config, bool two_sides) {
  if (two_sides && config.contains("encoder") && config.contains("decoder")) {  // a config of its own for each side
    const std::string encoder = size_of(size, config["encoder"], false),
                      decoder = size_of(size, config["decoder"], false);
    return encoder.empty() || decoder.empty() ? "" : encoder + " + " + decoder;
  }
  const auto has = [&](const std::string& key) { return config.contains(key) && config[key].is_number_integer(); };
  for (const auto& [encoder, decoder] : size.keys) {
    if (!has(encoder) || (*decoder != 0 && !has(decoder))) continue;
    if (*decoder == 0) return config[encoder].dump();
    if (two_sides) return fmt::format("{} + {}", config[encoder].dump(), config[decoder].dump());
  }
  if (size.name != std::string_view("feed-forward")) return "";
  // Some families give it as a multiple of the width; the default is 4.
  for (const char* width : {"d_model", "hidden_size", "n_embed", "n_embd"})
    if (has(width)) {
      std::int64_t factor = 4;
      for (const char* key : {"forward_expansion", "expansion_ratio"})
        if (has(key)) factor = config[key].get<std::int64_t>();
      return fmt::format("{}", config[width].get<std::int64_t>() * factor);
    }
  return "";
}

// "46 ids for both sides, eos 0, pad 45, decoder starts from 45", with only those special ids that exist.
std::string tokenizer_text(const nlohmann::ordered_json& t) {
  if (t.contains("problem")) return message_text(t["problem"].get<std::string>());
  std::string text = fmt::format("{} ids{}", t["target_vocabulary"].dump(), t["shared"] ? " for both sides" : "");
  for (const auto& [key, called] : {std::pair{"eos", "eos"}, {"pad", "pad"}, {"decoder_start", "decoder starts from"}})
    if (t[key] >= 0) text += fmt::format(", {} {}", called, t[key].dump());
  return text;
}

// The existing images of `tril pack`, and their state.
std::vector<std::pair<std::string, std::string>> packed_images(const model::ModelSource& model) {
  std::vector<std::pair<std::string, std::string>> images;
  using enum nn::Precision;
  for (const nn::Precision p : {fp32, bf16, int8, int4, blocks})
    if (const auto state = model::packed_image_state(model, p))
      images.emplace_back(model::packed_image_path(model, p).filename().string(),
                          *state == model::PackedState::sound     ? "sound"
                          : *state == model::PackedState::damaged ? "damaged"
                                                                  : "made from other weights, or by another version");
  return images;
}

int inspect(const InspectOptions& o) {
  if (is_adapter_directory(o.model)) return inspect_adapter(o.model, o.json);
  if (model::is_medusa_directory(o.model)) return inspect_medusa(o.model, o.json);
  const auto source = model::ModelSource::open(o.model);
  const auto m = model::make(source);
  const WeightFiles& files = source.weights();
  const Stored s = stored(files);
  const nlohmann::ordered_json tokenizer = tokenizer_json(source);
  const std::string problem = problem_of(*m, source, tokenizer);

  nlohmann::ordered_json out{{"directory", o.model},
                             {"family", m->family()},
                             {"encoder", m->has_encoder()},
                             {"d_model", m->d_model()},
                             {"vocabulary", m->vocab_size()},
                             {"parameters", m->parameters().count()},
                             {"stored_parameters", s.parameters},
                             {"stored_bytes", files.stored_bytes()},
                             {"types", s.parameters_by_type},
                             {"files", files.file_count()},
                             {"served_in", nn::name_of(source.stored_precision())},
                             {"max_positions", m->max_positions()},
                             {"config", nlohmann::ordered_json::parse(m->config_json())},
                             {"tokenizer", tokenizer},
                             {"complete", problem.empty()}};
  if (!problem.empty()) out["problem"] = problem;
  const nlohmann::ordered_json cost = cost_json(*model::make(source), o.length);
  out.update(cost);
  const auto packed = packed_images(source);
  for (const auto& [name, state] : packed) out["packed"][name] = state;
  const bool sound = problem.empty() && std::none_of(packed.begin(), packed.end(),
                                                     [](const auto& one) { return one.second == "damaged"; });
  if (o.tensors) {
    out["tensors"] = nlohmann::ordered_json::array();
    for (const std::string& name : files.names()) {
      const WeightView& view = files.at(name);
      out["tensors"].push_back({{"name", name}, {"type", view.type_name()}, {"shape", view.shape}});
    }
  }
  if (o.json) {
    write_stdout(json_text(out) + "\n");
    return sound ? exit_success : exit_failure;
  }

  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<14} {}\n", name, value);
  };
  const nlohmann::ordered_json& config = out["config"];
  line("family", fmt::format("{} ({})", m->family(), m->has_encoder() ? "encoder-decoder" : "decoder"));
  line("d_model", fmt::format("{}", m->d_model()));
  for (const Size& size : sizes())
    if (const std::string value = size_of(size, config, m->has_encoder()); !value.empty()) line(size.name, value);
  line("vocabulary", m->source_vocab_size() == m->vocab_size()
                         ? fmt::format("{}", m->vocab_size())
                         : fmt::format("{} source, {} target", m->source_vocab_size(), m->vocab_size()));
  line("positions", m->max_positions() ? fmt::format("up to {}", m->max_positions()) : "any number");
  line("parameters", fmt::format("{}", m->parameters().count()));
  text += cost_text(cost);
  std::string types;
  for (const auto& [type, count] : s.parameters_by_type)
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, type);
  line("stored", fmt::format("{} in {} ({})", human(static_cast<double>(files.stored_bytes())),
                             counted(files.file_count(), "file"), types));
  line("served in", fmt::format("{}, unless --precision is given", nn::name_of(source.stored_precision())));
  const nlohmann::ordered_json& t = out["tokenizer"];
  line("tokenizer", tokenizer_text(t));
  if (const auto languages = t.value("languages", std::vector<std::string>()); !languages.empty())
    line("languages", fmt::format("{}", fmt::join(languages, " ")));
  for (const auto& [name, state] : packed)
    line("packed",
         message_text(fmt::format("{}: {}{}", name, state, state == "sound" ? "" : "; run `tril pack` again")));
  line("state", problem.empty() ? "complete" : message_text(problem));
  if (o.tensors)
    for (const auto& tensor : out["tensors"])
      text += fmt::format("  {:<60} {:<5} {}\n", tensor["name"].get<std::string>(), tensor["type"].get<std::string>(),
                          tensor["shape"].dump());
  write_stdout(text);
  return sound ? exit_success : exit_failure;
}

}  // namespace

void add_inspect(App& app) {
  auto o = std::make_shared<InspectOptions>();
  app.add(
      {.name = "inspect",
       .summary = "show what a model directory contains: family, shapes, parameters, sizes, tokenizer",
       .description =
           "Reads config.json, the headers of the weight files and every `tril pack` image in full; exits with 1 if a "
           "weight that the configuration requires is missing or has a different shape, or if an image is damaged. "
           "Shows the parameters by part, the multiply-adds of one token, and the memory that a token takes in the "
           "cache.",
       .examples = {{"tril inspect models/de", "a summary"},
                    {"tril inspect models/llama --length 4096", "with the operations of token 4096"},
                    {"tril inspect adapters/legal", "what a PEFT adapter changes"},
                    {"tril inspect models/de --tensors --json", "everything, for a script"}},
       .fields = fields_of(*o),
       .models = {"model"},
       .run = [o](const Invocation&) { return inspect(*o); }});
}

}  // namespace tril::cli
