#include "model_io/source/registry.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/as_size.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/contents/weight_files.h"
#include "model_io/families/family_list.h"
#include "model_io/families/left_out.h"
#include "model_io/families/publishers_code.h"
#include "model_io/gguf/gguf_weights.h"
#include "model_io/quantized/quantization.h"
#include "model_io/source/packed_image.h"
#include "model_io/source/set_weights.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

// The shape of a weight in a file.
std::vector<std::int64_t> stored_sizes(const nn::Parameter& p, const StoredAs& stored) {
  std::vector<std::int64_t> s = sizes_of(p.shape);
  if (stored.transposed) std::reverse(s.begin(), s.end());
  return s;
}

}  // namespace

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Family& f : family_list()) names.emplace_back(f.name);
  return names;
}

namespace {

// The token with which translations begin in `transformers`: the decoder_start_token_id of generation_config.json, or its
// bos_token_id. Without this file, config.json says them. Nothing if neither does; `transformers` then does not translate.
std::optional<std::int64_t> start_of_translations(const ModelSource& source) {
  const nlohmann::json generation = source.published_generation();
  for (const char* key : {"decoder_start_token_id", "bos_token_id"}) {
    if (!generation.is_object() || !generation.contains(key)) continue;
    const nlohmann::json& value = generation.at(key);
    const nlohmann::json& id = value.is_array() && !value.empty() ? value.front() : value;
    if (id.is_number_integer()) return id.get<std::int64_t>();  // read_generation_config() refuses other types
  }
  return std::nullopt;
}

// The config of an encoder-decoder, with this token.
nlohmann::json with_start(const ModelSource& source) {
  const JsonObject config = source.config();
  nlohmann::json changed = config.json();
  const std::optional<std::int64_t> start = start_of_translations(source);
  if (!start) return changed;
  const std::int64_t known = std::max(config.find<std::int64_t>("vocab_size").value_or(0),
                                      config.find<std::int64_t>("decoder_vocab_size").value_or(0));
  if (const auto own = config.find<std::int64_t>("decoder_start_token_id"); known > 0 && own && *own >= known)
    config.fail_at("decoder_start_token_id", fmt::format("there is no token {}: the vocabulary has {}", *own, known),
                   "translations begin with this token");
  if (known > 0 && (*start < 0 || *start >= known))
    fail(source.generation().where,
         fmt::format("decoder_start_token_id: there is no token {}: the vocabulary has {}", *start, known),
         "translations begin with this token, or with bos_token_id if it is absent");
  changed["decoder_start_token_id"] = *start;
  return changed;
}

std::unique_ptr<Model> make_by(const JsonObject& config, const WeightNames& weight_names,
                               const ModelSource* source = nullptr) {
  stored_precision_of(config);  // refuses unsupported quantisation methods
  std::string type = config.get<std::string>("model_type");
  const bool own = type == "tril";
  const std::string key = own ? "architecture" : "model_type";
  if (own) type = config.get<std::string>("architecture");
  for (const Family& f : family_list())
    if (f.name == type && (f.own || !own)) {
      const auto made = [&](const JsonObject& c) { return f.make ? f.make(c) : f.make_of_files(c, weight_names); };
      if (!source || f.kind != Family::Kind::encoder_decoder) return made(config);
      const nlohmann::json changed = with_start(*source);
      return changed == config.json() ? made(config) : made(JsonObject(changed, config.where()));
    }
  const std::string advice = own ? "" : advice_for_publishers_code(config, type);
  const std::string_view missing = own ? "" : missing_for(type);
  if (!missing.empty())
    config.fail_at(key, fmt::format("the family '{}' is not supported; tril lacks: {}", type, missing),
                   "`tril families` lists what loads");
  config.fail_at(key, fmt::format("the family '{}' is not supported", printable(type, 40)),
                 advice.empty() ? fmt::format("supported: {}", fmt::join(families(), ", ")) : advice);
}

}  // namespace

std::unique_ptr<Model> make(const JsonObject& config) {
  return make_by(config, [] { return std::nullopt; });
}

namespace {

// Blocks of a file that are served as they are, by weight.
void find_blocks(Model& m, const WeightFiles& files) {
  for (nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter || p.shape.rank() != 2) continue;
    const StoredWeight stored = find_weight(m, p, files);
    if (!stored.values || !stored.values->stored_blocks || !stored.as_in_model() || stored.scales || stored.part)
      continue;
    const kern::BlockFormat format = block_format_of(stored.values->stored_blocks->type);
    if (format != kern::BlockFormat::none && as_size(p.shape[1]) % kern::size_of(format).values == 0)
      p.stored_blocks = format;
  }
}

}  // namespace

std::unique_ptr<Model> make(const ModelSource& source) {
  return from_files([&] {
    std::unique_ptr<Model> m = make_by(
        source.config(), [&] { return source.has_weights() ? std::optional(source.weights().names()) : std::nullopt; },
        &source);
    if (source.stored_precision() == nn::Precision::blocks) find_blocks(*m, source.weights());
    return m;
  });
}

namespace {

// Throws an Error if a file has a weight twice, under two names, with different values.
void check_copy(const WeightFiles& files, const std::string& name, const WeightView& weight) {
  const WeightView& copy = files.at(name);
  if (weight.name == name || copy.dtype != weight.dtype || copy.shape != weight.shape) return;
  if (copy.bytes.data() == weight.bytes.data()) return;
  if (!std::equal(copy.bytes.begin(), copy.bytes.end(), weight.bytes.begin(), weight.bytes.end()))
    fail_usage(
        files.place_of(name),
        fmt::format("differs from {}, but the configuration ties the two", printable(files.name_in_file(weight.name))),
        "set tie_word_embeddings to false, or remove the copy from the file");
  files.release(copy.bytes);
}

// The same if the configuration ties the output to the embedding, but a file has another output matrix.
void check_embedding_copy(const Model& m, const WeightFiles& files, const std::string& name) {
  for (const nn::Parameter& p : m.parameters().all()) {
    if (!p.gathered || !p.in_products) continue;  // used both as an embedding and in products
    if (const WeightView* const embedding = find_weight(m, p, files).values) check_copy(files, name, *embedding);
    return;
  }
}

// The most that a number from -1 to 1 changes if it is rounded to bfloat16, twice: files hold tables that a program with other
// sines computed, in 16 or 32 bits.
constexpr float most_rounding = 1.0f / 256;

// Throws an Error if a file has other values than the model computes: `transformers` would take those of the file.
void check_computed(const Model& m, const WeightFiles& files, const std::string& name) {
  const WeightView& view = files.at(name);
  const bool is_table = view.shape.size() == 2 && view.shape[1] == m.d_model() && is_floating(view.dtype);
  if (!is_table) fail_usage(files.place_of(name), fmt::format("expected floats [positions, {}]", m.d_model()));
  const std::int64_t rows = std::min(view.shape[0], m.max_positions());
  const std::vector<float> stored = to_f32(view), computed = m.computed_values(rows);
  for (std::size_t i = 0; i < computed.size(); ++i)
    if (!(std::abs(stored[i] - computed[i]) <= most_rounding))
      fail_usage(files.place_of(name),
                 fmt::format("position {} has {} where a {} model computes {}", i / as_size(m.d_model()), stored[i],
                             m.family(), computed[i]),
                 "tables of positions that were trained are not supported for this family");
  files.release(view.bytes);
}

void read_weights(Model& m, const WeightFiles& files, int threads) {
  nn::Parameters& parameters = m.parameters();
  if (!parameters.flat()) parameters.allocate();
  std::unordered_set<std::string> known;
  std::vector<WeightToSet> weights;
  for (nn::Parameter& p : parameters.all()) {
    if (p.is_adapter) continue;
    const StoredWeight stored = find_weight(m, p, files);
    for (const WeightView* view : {stored.values, stored.scales, stored.multipliers})
      if (view) known.insert(view->name);
    for (const std::string& name : m.stored_as(p).names) {
      known.insert(name);
      if (stored.values && files.find(name) && m.redundant(name) != Redundant::unused)
        check_copy(files, name, *stored.values);
    }
    if (stored.values) weights.push_back({&p, stored});
  }
  set_weights(parameters, weights, files, threads);
  for (const std::string& name : files.names()) {
    if (known.contains(name)) continue;
    const Redundant redundant = m.redundant(name);
    if (redundant == Redundant::no)
      fail_usage(files.place_of(name), fmt::format("a {} model has no such weight", m.family()),
                 did_you_mean(name, {known.begin(), known.end()}));
    if (redundant == Redundant::embedding_copy) check_embedding_copy(m, files, name);
    if (redundant == Redundant::computed) check_computed(m, files, name);
  }
  parameters.refresh(kern::best());
}

}  // namespace

void load_weights(Model& m, const ModelSource& source, int threads) {
  kern::best();  // reports an unsupported processor here, not as an error of the files
  from_files([&] { read_weights(m, source.weights(), threads); });
}

void check_servable(const ModelSource& source, nn::Precision precision) {
  if (precision == nn::Precision::blocks && source.stored_precision() != nn::Precision::blocks)
    fail_usage("precision",
               fmt::format("{} does not store most of its weights in blocks that are served as they are",
                           printable(source.name(), 400)),
               "leave `precision` out, or choose fp32, bf16, int8 or int4");
}

std::unique_ptr<Model> load(const ModelSource& source, std::optional<nn::Precision> serving, int threads) {
  if (serving) check_servable(source, *serving);
  std::unique_ptr<Model> m = make(source);
  if (!serving || !adopt_packed_image(*m, source, *serving)) {
    if (serving) m->parameters().allocate_serving(*serving);
    load_weights(*m, source, threads);
  }
  if (m->has_encoder()) m->set_alignment_heads(source.alignment_heads());
  return m;
}

void save(const Model& m, const fs::path& directory) {
  const std::vector<float> flat = host_copy<float>(m.parameters().flat());
  save(m, directory, flat);
}

void save(const Model& m, const fs::path& directory, std::span<const float> flat, const nlohmann::json& published) {
  create_directories(directory.string());
  const auto file = [&](const char* name) { return (directory / name).string(); };
  check(std::ssize(flat) == m.parameters().flat().count(), "save", "got {} values for a model of {}", flat.size(),
        m.parameters().flat().count());

  std::vector<WeightView> weights;
  std::deque<std::vector<float>> turned;             // must live until they are written
  std::map<std::string, std::vector<float>> wholes;  // tensors of several weights; the same applies
  for (const nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter) continue;
    const auto begin = flat.begin() + m.parameters().offset_of(p);
    std::span<const float> values(begin, begin + p.shape.count());
    const StoredAs stored = m.stored_as(p);
    if (stored.transposed || stored.added != 0 || !stored.row_order.empty())
      values = turned.emplace_back(values_to_store(values, p.shape, stored));
    if (const auto [index, count] = stored.part; count > 0) {
      std::vector<float>& whole = wholes[stored.names[0]];
      if (whole.empty()) {
        whole.resize(values.size() * static_cast<std::size_t>(count));
        std::vector<std::int64_t> all = stored_sizes(p, stored);
        all.insert(all.begin(), count);
        weights.push_back({stored.names[0], StoredType::f32, all, std::as_bytes(std::span(whole))});
      }
      std::ranges::copy(values, whole.begin() + std::ssize(values) * index);
      continue;
    }
    weights.push_back({stored.names[0], StoredType::f32, stored_sizes(p, stored), std::as_bytes(values)});
  }
  write_safetensors(file("model.safetensors"), weights, {{"format", "pt"}});
  save_configs(m, directory, published);
}

void save_configs(const Model& m, const fs::path& directory, const nlohmann::json& published) {
  const auto file = [&](const char* name) { return (directory / name).string(); };
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
  if (m.alignment_heads())
    for (const std::int32_t head : m.alignment_heads()->heads)
      generation["alignment_heads"].push_back({m.alignment_heads()->layer, head});
  for (const auto& [key, value] : published.items())
    if (key != "transformers_version" && key != "_from_model_config" && key != "alignment_heads")
      generation[key] = value;
  write_file_atomic(file("generation_config.json"), generation.dump(2) + "\n");
  write_file_atomic(file("config.json"), m.config_json() + "\n");
}

}  // namespace tril::model
