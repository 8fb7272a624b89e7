#include "train/loop/fine_tune.h"

#include <fnmatch.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "base/file.h"
#include "format/json_text.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/adapters/medusa_files.h"
#include "model_io/contents/generation_config.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/source/registry.h"
#include "nn/lora.h"
#include "nn/medusa_heads.h"
#include "train/loop/build_model.h"

namespace tril::train {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  for (std::size_t begin = 0;;) {
    if (fnmatch(pattern.c_str(), name.c_str() + begin, 0) == 0) return true;
    begin = name.find('.', begin);
    if (begin == name.npos) return false;
    ++begin;
  }
}

double most_dropout(const model::Model& m) {
  float most = 0;
  for (const model::Dropout& d : m.dropouts()) most = std::max(most, d.probability);
  return static_cast<double>(most);
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return matches(p, name); });
}

void check_patterns(const std::string& option, const std::vector<std::string>& patterns,
                    const std::vector<std::string>& names) {
  for (const std::string& p : patterns)
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return matches(p, name); })) {
      const std::string near = did_you_mean(p, names);
      fail_usage(option, fmt::format("'{}' matches no weight", p),
                 near.empty() && !names.empty() ? fmt::format("names look like {}", names[names.size() / 2]) : near);
    }
}

std::string layer_of(const nn::Parameter& p) {
  return p.name.substr(0, p.name.rfind('.'));
}

bool is_adaptable(const nn::Parameter& p) {
  return p.hidden_matrix && p.name.ends_with(".weight");
}

}  // namespace

void select_trained(nn::Parameters& parameters, const FineTuneOptions& tune) {
  std::vector<std::string> names;
  for (const nn::Parameter& p : parameters.all())
    if (p.trainable) names.push_back(p.name);
  check_patterns("train_only", tune.train_only, names);
  check_patterns("freeze", tune.freeze, names);
  bool any = false;
  for (nn::Parameter& p : parameters.all()) {
    if (!tune.train_only.empty() && !matches_any(tune.train_only, p.name)) p.trainable = false;
    if (matches_any(tune.freeze, p.name)) p.trainable = false;
    any |= p.trainable;
  }
  check(any, "freeze", "nothing is left to train");
}

void add_adapters(nn::Parameters& parameters, const FineTuneOptions& tune) {
  std::vector<nn::Parameter*> adaptable;
  std::vector<std::string> names;
  for (nn::Parameter& p : parameters.all()) {
    p.trainable = false;
    if (!is_adaptable(p)) continue;
    adaptable.push_back(&p);
    names.push_back(layer_of(p));
  }
  check_patterns("lora_targets", tune.lora_targets, names);
  nn::LoraOptions options;
  options.rank = tune.lora_rank;
  options.alpha = tune.lora_alpha > 0 ? tune.lora_alpha : static_cast<double>(tune.lora_rank);
  options.dropout = tune.lora_dropout;
  std::erase_if(adaptable, [&](const nn::Parameter* p) { return !matches_any(tune.lora_targets, layer_of(*p)); });
  std::int64_t most = 0;
  for (const nn::Parameter* p : adaptable) most = std::max(most, std::min(p->shape[0], p->shape[1]));
  if (options.rank > most)
    fail_usage("lora_rank", fmt::format("{} is above the largest rank of any adapted matrix", options.rank),
               fmt::format("pass at most {}", most));
  for (nn::Parameter* p : adaptable) nn::add_lora(parameters, *p, options);
}

namespace {

void add_heads(model::Model& m, const FineTuneOptions& tune) {
  for (nn::Parameter& p : m.parameters().all()) p.trainable = false;
  nn::MedusaHeads(m.parameters(), {.heads = tune.medusa_heads,
                                   .layers = tune.medusa_layers,
                                   .d_model = m.d_model(),
                                   .own_vocab = tune.medusa_own_output ? m.vocab_size() : 0});
}

nn::MedusaHeads heads_of(const model::Model& m) {
  return nn::MedusaHeads::find(m.parameters()).value();
}

}  // namespace

InitialModel open_initial_model(const FineTuneOptions& tune) {
  return tune.init_from.empty() ? InitialModel() : model::ModelSource::open(tune.init_from);
}

void take_form(TrainOptions& options, const Fields& given, const InitialModel& initial) {
  if (!initial) return;
  const std::unique_ptr<model::Model> m = model::make(*initial);
  if (!given.given("router-aux-loss")) options.learning.router_aux_loss = 0;
  if (!m->has_encoder() && !given.given("arch")) options.model.arch = "gpt2";
  if (m->max_positions() > 0 && !given.given("max-length"))
    options.data.max_length = std::min(options.data.max_length, m->max_positions());
  if (!m->has_encoder()) {
    if (m->family() != "gpt2") {
      options.model.dropout = most_dropout(*m);
      for (const char* name : {"dropout", "embedding-dropout", "attention-dropout"})
        if (const Field* field = given.find(name); field && field->given())
          fail_usage(field->given_at(), fmt::format("a {} model takes its dropout from config.json", m->family()),
                     "change it in " + options.tune.init_from + "/config.json");
    }
    return;
  }
  options.model.dec_depth = m->cross_layers();
  options.model.num_heads = m->cross_heads();
  options.model.d_model = m->d_model();
}

std::unique_ptr<model::Model> build_tuned_model(const TrainOptions& options, const model::ModelSource& initial) {
  initial.generation();  // reads it now for save_tuned()
  std::unique_ptr<model::Model> m = with_training_options(model::make(initial), options.model);
  if (m->has_encoder() == is_language_model(options.model))
    fail_usage("arch", fmt::format("{} holds a model of the family {}", options.tune.init_from, m->family()),
               m->has_encoder() ? "pass `arch` marian" : "pass `arch` gpt2");
  check(m->max_positions() == 0 || options.data.max_length <= m->max_positions(), "max_length",
        "{} tokens, but {} has {} positions", options.data.max_length, options.tune.init_from, m->max_positions());
  check(m->experts_per_token() > 0 || options.learning.router_aux_loss == 0, "router_aux_loss",
        "a {} model has no experts", m->family());
  if (!m->has_encoder() && m->family() != "gpt2" && most_dropout(*m) == 0 && options.tune.lora_dropout == 0) {
    // settle() checks the options of `arch` gpt2, some of which this family does not have.
    check(options.learning.r_drop == 0, "r_drop", "has no effect: {} has no dropout, so both passes are the same",
          options.tune.init_from);
    check(options.model.dropout_warmup == 0, "dropout_warmup", "has no effect: {} has no dropout",
          options.tune.init_from);
  }
  m->set_gradient_checkpointing(options.model.gradient_checkpointing);
  if (options.tune.medusa_heads > 0)
    add_heads(*m, options.tune);
  else if (options.tune.lora_rank > 0)
    add_adapters(m->parameters(), options.tune);
  else
    select_trained(m->parameters(), options.tune);
  if (!m->parameters().flat()) m->parameters().allocate();
  return m;
}

// A head's own matrix begins as a copy of the model's.
void load_initial_weights(model::Model& m, const model::ModelSource& initial) {
  model::load_weights(m, initial);
  const std::optional<nn::MedusaHeads> heads = nn::MedusaHeads::find(m.parameters());
  if (!heads || heads->sizes().own_vocab == 0) return;
  const std::vector<float> output = host_copy<float>(m.output().weight.value);
  for (std::int64_t k = 0; k < heads->count(); ++k) host_write<float>(heads->output(k)->value, output);
  m.parameters().refresh(kern::best());
}

namespace {

// generation_config.json besides ids and lengths. A new translation model sets its beams: a directory without them is
// decoded greedily, as in `transformers`.
nlohmann::json generation_of(const model::Model& m, const InitialModel& initial) {
  if (initial) return initial->published_generation();
  return m.has_encoder() ? nlohmann::json{{"num_beams", 4}} : nlohmann::json::object();
}

void save_adapter_config(const model::Model& m, const std::string& directory, const FineTuneOptions& tune) {
  std::vector<std::string> targets;
  for (const nn::Parameter& p : m.parameters().all())
    if (p.lora) targets.push_back(layer_of(p));
  const std::string folder = directory + "/adapter";
  create_directories(folder);
  const nlohmann::ordered_json config{
      {"peft_type", "LORA"},
      {"task_type", m.has_encoder() ? "SEQ_2_SEQ_LM" : "CAUSAL_LM"},
      {"base_model_name_or_path", tune.init_from},
      {"r", tune.lora_rank},
      {"lora_alpha", tune.lora_alpha > 0 ? tune.lora_alpha : static_cast<double>(tune.lora_rank)},
      {"lora_dropout", tune.lora_dropout},
      {"target_modules", targets},
      {"bias", "none"},
      {"fan_in_fan_out", false},
      {"inference_mode", true}};
  write_file_atomic(folder + "/adapter_config.json", json_text(config, 2) + "\n");
}

// B has a row for each row of its matrix. Its rows are stored in the order that the matrix has in the model's files.
void save_adapter_weights(const model::Model& m, const std::string& folder) {
  create_directories(folder);
  std::vector<WeightView> weights;
  std::deque<std::vector<float>> stored;  // lives until it is written
  const std::vector<float> flat = host_copy<float>(m.parameters().flat());
  for (const nn::Parameter& w : m.parameters().all()) {
    if (!w.lora) continue;
    const model::StoredAs rows{.names = {}, .row_order = m.stored_as(w).row_order};
    for (const nn::Parameter* p : {w.lora->a, w.lora->b}) {
      const auto values = std::span(flat).subspan(as_size(m.parameters().offset_of(*p)), as_size(p->shape.count()));
      stored.push_back(model::values_to_store(values, p->shape, p == w.lora->b ? rows : model::StoredAs()));
      weights.push_back({"base_model.model." + p->name,
                         StoredType::f32,
                         {p->shape[0], p->shape[1]},
                         std::as_bytes(std::span(stored.back()))});
    }
  }
  write_safetensors(folder + "/adapter_model.safetensors", weights, {{"format", "pt"}});
}

}  // namespace

void save_tuned(const model::Model& m, const std::string& directory, const FineTuneOptions& tune,
                const InitialModel& initial) {
  if (tune.medusa_heads > 0) return model::save_medusa(m.parameters(), heads_of(m), directory, tune.init_from);
  const nlohmann::json published = generation_of(m, initial);
  if (tune.lora_rank == 0) {
    const Tensor& all = m.parameters().flat();
    model::save(m, directory, std::span<const float>(all.data<float>(), as_size(all.count())), published);
    return;
  }
  model::save(m, directory, nn::merged_weights(m.parameters()), published);

  save_adapter_weights(m, directory + "/adapter");
  save_adapter_config(m, directory, tune);
}

void save_tuned_configs(const model::Model& m, const std::string& directory, const FineTuneOptions& tune,
                        const InitialModel& initial) {
  if (tune.medusa_heads > 0) return model::save_medusa_config(heads_of(m), directory, tune.init_from);
  model::save_configs(m, directory, generation_of(m, initial));
  if (tune.lora_rank > 0) save_adapter_config(m, directory, tune);
}

LostFiles lost_files(const std::string& directory, const FineTuneOptions& tune) {
  const auto lost = [&](std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) {
      const std::filesystem::path file = std::filesystem::path(directory) / name;
      std::error_code none;  // a file whose size is unknown counts as lost
      return std::filesystem::exists(file, none) && std::filesystem::file_size(file, none) > 0;
    });
    return names;
  };
  if (tune.medusa_heads > 0) return {lost({model::medusa_weights_name}), lost({"config.json"})};
  std::vector<std::string> weights{"model.safetensors"}, configs{"config.json", "generation_config.json"};
  if (tune.lora_rank > 0) {
    weights.emplace_back("adapter/adapter_model.safetensors");
    configs.emplace_back("adapter/adapter_config.json");
  }
  return {lost(std::move(weights)), lost(std::move(configs))};
}

}  // namespace tril::train
