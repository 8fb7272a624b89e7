#include "model/registry.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "model/full_transformer.h"
#include "model/json_file.h"
#include "model/learned_position_decoder.h"
#include "model/marian.h"
#include "model/padded_decoder.h"
#include "model/safetensors.h"
#include "model/tied_decoder.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

struct Family {
  std::string name;
  std::unique_ptr<Model> (*make)(const JsonObject& config);
};

float number(const JsonObject& j, std::string_view key, double otherwise) {
  return static_cast<float>(j.get<double>(key, otherwise));
}

std::int32_t token_id(const JsonObject& j, std::string_view key, std::int64_t otherwise) {
  const std::int64_t id = j.get<std::int64_t>(key, otherwise);
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    j.fail_at(key, fmt::format("expected a token id of at least 0, got {}", id));
  return static_cast<std::int32_t>(id);
}

// Layers are made before the weights are compared with them: a number in a small file must not ask for all the memory.
std::int64_t layer_count(const JsonObject& j) {
  constexpr std::int64_t most = 1000;
  const std::int64_t n = j.size("num_layers");
  if (n > most) j.fail_at("num_layers", fmt::format("{} is more than the {} that are supported", n, most));
  return n;
}

std::unique_ptr<Model> make_padded_decoder(const JsonObject& j) {
  return std::make_unique<PaddedDecoder>(
      PaddedDecoderConfig{.vocab_size = j.size("vocab_size"),
                          .d_model = j.size("d_model"),
                          .num_heads = j.size("num_heads"),
                          .d_ff = j.size("d_ff"),
                          .num_layers = layer_count(j),
                          .pad_idx = token_id(j, "pad_idx", 0),
                          .mask_target_padding = j.get<bool>("mask_target_padding", true),
                          .eps = number(j, "eps", 1e-5),
                          .dropout = number(j, "dropout", 0)});
}

std::unique_ptr<Model> make_full_transformer(const JsonObject& j) {
  return std::make_unique<FullTransformer>(FullTransformerConfig{.vocab_size = j.size("vocab_size"),
                                                                 .d_model = j.size("d_model"),
                                                                 .num_heads = j.size("num_heads"),
                                                                 .d_ff = j.size("d_ff"),
                                                                 .num_layers = layer_count(j),
                                                                 .share_norm2 = j.get<bool>("share_norm2", false),
                                                                 .pad_idx = token_id(j, "pad_idx", 0),
                                                                 .eps = number(j, "eps", 1e-6),
                                                                 .dropout = number(j, "dropout", 0)});
}

std::unique_ptr<Model> make_learned_position_decoder(const JsonObject& j) {
  return std::make_unique<LearnedPositionDecoder>(
      LearnedPositionDecoderConfig{.vocab_size = j.size("vocab_size"),
                                   .d_model = j.size("d_model"),
                                   .num_heads = j.size("num_heads"),
                                   .num_layers = layer_count(j),
                                   .forward_expansion = j.size("forward_expansion", 4),
                                   .max_length = j.size("max_length"),
                                   .eps = number(j, "eps", 1e-5),
                                   .dropout = number(j, "dropout", 0)});
}

std::unique_ptr<Model> make_tied_decoder(const JsonObject& j) {
  return std::make_unique<TiedDecoder>(TiedDecoderConfig{.vocab_size = j.size("vocab_size"),
                                                         .d_model = j.size("d_model"),
                                                         .num_heads = j.size("num_heads"),
                                                         .d_ff = j.size("d_ff"),
                                                         .num_layers = layer_count(j),
                                                         .max_length = j.size("max_length"),
                                                         .eps = number(j, "eps", 1e-5),
                                                         .dropout = number(j, "dropout", 0),
                                                         .causal = j.get<bool>("causal", true)});
}

const std::vector<Family>& registry() {
  static const std::vector<Family> list{
      {"marian",
       [](const JsonObject& j) -> std::unique_ptr<Model> { return std::make_unique<Marian>(marian_config(j)); }},
      {"padded_decoder", make_padded_decoder},
      {"full_transformer", make_full_transformer},
      {"learned_position_decoder", make_learned_position_decoder},
      {"tied_decoder", make_tied_decoder},
  };
  return list;
}

std::vector<std::int64_t> sizes(const Shape& s) {
  std::vector<std::int64_t> v;
  for (std::size_t i = 0; i < s.rank(); ++i) v.push_back(s[i]);
  return v;
}

// Names under which Hugging Face's Marian also stores what is tied or computed: known, and nothing to be read from
// them.
bool is_known_duplicate(std::string_view name) {
  for (std::string_view known :
       {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
        "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"})
    if (name == known) return true;
  return false;
}

}  // namespace

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Family& f : registry()) names.push_back(f.name);
  return names;
}

std::unique_ptr<Model> make(const fs::path& config_json) {
  const nlohmann::json json = read_json(config_json.string());
  const JsonObject config(json, config_json.string());
  std::string type = config.get<std::string>("model_type");
  const std::string key = type == "tril" ? "architecture" : "model_type";
  if (type == "tril") type = config.get<std::string>("architecture");
  for (const Family& f : registry())
    if (f.name == type) return f.make(config);
  config.fail_at(key, fmt::format("'{}' is not a family that is supported", type),
                 fmt::format("there are {}", fmt::join(families(), ", ")));
}

void load_weights(Model& m, const fs::path& directory) {
  const WeightFiles files = WeightFiles::open(directory.string());
  nn::Parameters& parameters = m.parameters();
  if (!parameters.flat()) parameters.allocate();
  for (nn::Parameter& p : parameters.all()) {
    const WeightView* view = files.find(p.name);
    if (!view && p.name == "final_logits_bias") continue;  // older files leave it out: it is zero
    if (!view) view = &files.at(p.name);                   // the Error names the nearest
    const std::string where = fmt::format("{}: {}", files.file_of(p.name), p.name);
    if (view->shape != sizes(p.shape))
      fail_usage(where, fmt::format("the file has [{}], config.json needs {}", fmt::join(view->shape, ", "), p.shape),
                 "the weights belong to another config.json");
    host_write<float>(p.value, to_f32(*view));
  }
  for (const std::string& name : files.names())
    if (!parameters.find(name) && !is_known_duplicate(name))
      fail_usage(fmt::format("{}: {}", files.file_of(name), name),
                 fmt::format("a {} model has no such weight", m.family()), did_you_mean(name, parameters.names()));
  parameters.refresh(kern::best());
}

std::unique_ptr<Model> load(const fs::path& directory) {
  std::unique_ptr<Model> m = make(directory / "config.json");
  load_weights(*m, directory);
  return m;
}

void save(const Model& m, const fs::path& directory) {
  const std::vector<float> flat = host_copy<float>(m.parameters().flat());
  save(m, directory, flat);
}

void save(const Model& m, const fs::path& directory, std::span<const float> flat) {
  create_directories(directory.string());
  const auto file = [&](const char* name) { return (directory / name).string(); };
  check(flat.size() == static_cast<std::size_t>(m.parameters().flat().count()), "save", "{} values for a model of {}",
        flat.size(), m.parameters().flat().count());

  std::vector<WeightView> weights;
  for (const nn::Parameter& p : m.parameters().all()) {
    const std::size_t begin = static_cast<std::size_t>(m.parameters().offset_of(p));
    weights.push_back({p.name, StoredType::f32, sizes(p.shape),
                       std::as_bytes(flat.subspan(begin, static_cast<std::size_t>(p.shape.count())))});
  }
  write_safetensors(file("model.safetensors"), weights, {{"format", "pt"}});

  const nlohmann::json config = nlohmann::json::parse(m.config_json());
  nlohmann::ordered_json generation{{"_from_model_config", true}};
  const SpecialIds ids = m.special_ids();
  const auto put = [&](const char* key, std::int32_t id) {
    if (id >= 0) generation[key] = id;
  };
  put("bos_token_id", ids.bos), put("eos_token_id", ids.eos), put("pad_token_id", ids.pad),
      put("decoder_start_token_id", ids.decoder_start);
  if (ids.pad >= 0 && m.has_encoder()) generation["bad_words_ids"] = {{ids.pad}};
  if (config.contains("forced_eos_token_id") && !config["forced_eos_token_id"].is_null())
    generation["forced_eos_token_id"] = config["forced_eos_token_id"];
  if (m.max_positions() > 0) generation["max_length"] = m.max_positions();
  write_file_atomic(file("generation_config.json"), generation.dump(2) + "\n");
  write_file_atomic(file("config.json"), m.config_json() + "\n");
}

}  // namespace tril::model
