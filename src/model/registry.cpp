#include "model/registry.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "model/full_transformer.h"
#include "model/gpt2.h"
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

const std::vector<Family>& registry() {
  static const std::vector<Family> list{
      {"marian", make_marian},
      {"gpt2", make_gpt2},
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

// [rows, columns] -> [columns, rows]
std::vector<float> transposed(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> turned(values.size());
  const auto R = static_cast<std::size_t>(rows), C = static_cast<std::size_t>(columns);
  for (std::size_t r = 0; r < R; ++r)
    for (std::size_t c = 0; c < C; ++c) turned[c * R + r] = values[r * C + c];
  return turned;
}

// The shape that a file has for a weight.
std::vector<std::int64_t> stored_sizes(const nn::Parameter& p, const StoredAs& stored) {
  std::vector<std::int64_t> s = sizes(p.shape);
  if (stored.transposed) std::reverse(s.begin(), s.end());
  return s;
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
  std::vector<std::string> known;
  for (nn::Parameter& p : parameters.all()) {
    if (p.is_adapter) continue;
    const StoredAs stored = m.stored_as(p);
    known.insert(known.end(), stored.names.begin(), stored.names.end());
    const WeightView* view = nullptr;
    for (const std::string& name : stored.names)
      if (!view) view = files.find(name);
    if (!view && stored.optional) continue;
    if (!view) view = &files.at(stored.names[0]);  // the Error names the nearest
    const std::string where = fmt::format("{}: {}", files.file_of(view->name), view->name);
    const std::vector<std::int64_t> expected = stored_sizes(p, stored);
    if (view->shape != expected)
      fail_usage(where,
                 fmt::format("the file has [{}], config.json needs [{}]", fmt::join(view->shape, ", "),
                             fmt::join(expected, ", ")),
                 "the weights belong to another config.json");
    const std::vector<float> values = to_f32(*view);
    parameters.set(kern::best(), p, stored.transposed ? transposed(values, p.shape[1], p.shape[0]) : values);
  }
  for (const std::string& name : files.names())
    if (std::find(known.begin(), known.end(), name) == known.end() && !m.is_redundant(name))
      fail_usage(fmt::format("{}: {}", files.file_of(name), name),
                 fmt::format("a {} model has no such weight", m.family()), did_you_mean(name, known));
  parameters.refresh(kern::best());
}

std::unique_ptr<Model> load(const fs::path& directory, std::optional<nn::Precision> serving) {
  std::unique_ptr<Model> m = make(directory / "config.json");
  if (serving) m->parameters().allocate_serving(*serving);
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
  std::deque<std::vector<float>> turned;  // must stay until they are written
  for (const nn::Parameter& p : m.parameters().all()) {
    if (p.is_adapter) continue;
    const std::size_t begin = static_cast<std::size_t>(m.parameters().offset_of(p));
    std::span<const float> values = flat.subspan(begin, static_cast<std::size_t>(p.shape.count()));
    const StoredAs stored = m.stored_as(p);
    if (stored.transposed) values = turned.emplace_back(transposed(values, p.shape[0], p.shape[1]));
    weights.push_back({stored.names[0], StoredType::f32, stored_sizes(p, stored), std::as_bytes(values)});
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
