#include "model_io/source/model_source.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/once.h"
#include "base/printable.h"
#include "model_io/contents/inner_generation_keys.h"
#include "model_io/source/model_formats.h"
#include "model_io/source/text_model.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ModelReader> reader_of(const fs::path& path) {
  for (const ModelFormat& format : model_formats())
    if (std::unique_ptr<ModelReader> reader = format.open(path)) return reader;
  const std::string shown = printable(path.string(), 400);
  std::error_code problem;
  if (!fs::exists(path, problem)) fail(shown, "no such file or directory", "check the path");
  fail(shown, "is neither a directory nor a GGUF file, nor a Marian .npz, .bin or .zip, nor an .argosmodel",
       "pass the directory that holds config.json, or one of these files");
}

}  // namespace

struct ModelSource::State {
  fs::path path;
  std::unique_ptr<ModelReader> reader;
  Once<ConfigDocument> whole_config, config;  // config: only for a text model inside another model
  Once<std::optional<ConfigDocument>> own_generation;
  Once<ConfigDocument> with_inner_keys;  // config.json, for its generation keys
  Once<GenerationConfig> generation;
  Once<std::shared_ptr<const WeightFiles>> whole_weights, weights;  // weights: without the names of the outer model
  Once<std::shared_ptr<const Tokenizer>> tokenizer;

  const ConfigDocument& whole_document() const {
    return whole_config.get([&] { return reader->config(); });
  }
  const ConfigDocument& config_document() const {
    const ConfigDocument& whole = whole_document();
    if (!holds_text_model(whole.object())) return whole;
    return config.get([&] {
      return text_config(
          whole, [&] { return reader->has_weights() ? stored_weights()->names() : std::vector<std::string>{}; });
    });
  }
  const std::shared_ptr<const WeightFiles>& stored_weights() const {
    return whole_weights.get([&] { return std::make_shared<const WeightFiles>(reader->weights()); });
  }
  const std::optional<ConfigDocument>& generation_document() const {
    return own_generation.get([&] { return reader->generation(); });
  }
  // As in `transformers`: without a generation_config.json, config.json has the generation keys.
  JsonObject generation_keys() const {
    const std::optional<ConfigDocument>& own = generation_document();
    if (own) return own->object();
    const ConfigDocument& all = with_inner_keys.get([&] {
      ConfigDocument document = whole_document();
      document.json = with_inner_generation_keys(std::move(document.json));
      return document;
    });
    return all.object();
  }
};

ModelSource ModelSource::open(const fs::path& path) {
  auto state = std::make_shared<State>();
  state->path = path;
  state->reader = reader_of(path);
  return ModelSource(std::move(state));
}

const fs::path& ModelSource::path() const {
  return state_->path;
}

std::string ModelSource::name() const {
  return state_->path.string();
}

JsonObject ModelSource::config() const {
  return state_->config_document().object();
}

std::optional<std::string> ModelSource::published_config() const {
  return state_->reader->published_config();
}

const GenerationConfig& ModelSource::generation() const {
  return state_->generation.get(
      [&] { return from_files([&] { return read_generation_config(state_->generation_keys()); }); });
}

std::vector<std::int32_t> ModelSource::end_tokens() const {
  const std::vector<std::int32_t>& own = generation().eos_token_ids;
  // `transformers` would never end a text here.
  return own.empty() ? from_files([&] { return read_end_tokens(config()); }) : own;
}

std::optional<nn::AttentionHeads> ModelSource::alignment_heads() const {
  return from_files([&] { return read_alignment_heads(state_->generation_keys()); });
}

nlohmann::json ModelSource::published_generation() const {
  const std::optional<ConfigDocument>& own = state_->generation_document();
  return own ? own->json : generation_of_config(config());
}

bool ModelSource::has_weights() const {
  return state_->reader->has_weights();
}

const WeightFiles& ModelSource::weights() const {
  return *state_->weights.get([&] {
    const std::shared_ptr<const WeightFiles>& whole = state_->stored_weights();
    const bool inside = names_text_model(*whole) && holds_text_model(state_->whole_document().object());
    if (!inside) return whole;
    return std::make_shared<const WeightFiles>(text_weights(whole, state_->whole_document().object()));
  });
}

nn::Precision ModelSource::stored_precision() const {
  return state_->reader->stored_precision(config());
}

bool ModelSource::has_tokenizer() const {
  return state_->reader->has_tokenizer();
}

std::shared_ptr<const Tokenizer> ModelSource::tokenizer() const {
  return state_->tokenizer.get([&] { return state_->reader->tokenizer(); });
}

TokenizerDescription ModelSource::tokenizer_description() const {
  return state_->reader->tokenizer_description();
}

fs::path ModelSource::beside(const std::string& name) const {
  return state_->reader->beside(name);
}

void ModelSource::copy_companions(const fs::path& directory) const {
  state_->reader->copy_companions(directory);
}

}  // namespace tril::model
