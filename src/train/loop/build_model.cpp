#include "train/loop/build_model.h"

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "model/families/bart.h"
#include "model/families/gpt2.h"
#include "model/families/t5.h"
#include "model_io/source/registry.h"
#include "train/families/new_family.h"

namespace tril::train {

namespace {

void set_dropouts(model::BartConfig& c, const ModelOptions& options) {
  c.dropout = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(-1));
  c.attention_dropout = static_cast<float>(options.attention_dropout);
  c.activation_dropout = static_cast<float>(options.activation_dropout);
}

void set_dropouts(model::T5Config& c, const ModelOptions& options) {
  c.dropout_rate = static_cast<float>(options.dropout);
  c.embedding_dropout = static_cast<float>(options.embedding_dropout.value_or(-1));
  c.attention_dropout = static_cast<float>(options.attention_dropout);
  c.activation_dropout = static_cast<float>(options.activation_dropout);
}

void set_dropouts(model::Gpt2Config& c, const ModelOptions& options) {
  c.resid_pdrop = static_cast<float>(options.dropout);
  c.embd_pdrop = static_cast<float>(options.embedding_dropout.value_or(options.dropout));
  c.attn_pdrop = static_cast<float>(options.attention_dropout);
}

}  // namespace

std::unique_ptr<model::Model> with_training_options(std::unique_ptr<model::Model> m, const ModelOptions& options) {
  if (const auto* bart = dynamic_cast<const model::Bart*>(m.get())) {
    model::BartConfig c = bart->config();
    set_dropouts(c, options);
    c.encoder_layerdrop = c.decoder_layerdrop = options.layer_drop;
    c.depth_scaled_init = options.depth_scaled_init;
    return bart->with(c);
  }
  if (const auto* t5 = dynamic_cast<const model::T5*>(m.get())) {
    model::T5Config c = t5->config();
    set_dropouts(c, options);
    return model::make_t5(c);
  }
  if (const auto* gpt2 = dynamic_cast<const model::Gpt2*>(m.get())) {
    model::Gpt2Config c = gpt2->config();
    set_dropouts(c, options);
    return std::make_unique<model::Gpt2>(c);
  }
  return m;
}

namespace {

void check_one_vocabulary(const ModelOptions& options, const Tokenizer& tokenizer) {
  check(tokenizer.shared_vocabulary(), "vocab",
        "`arch` {} needs one vocabulary for both sides, but this tokenizer has two", options.arch);
}

// A sentence needs an end token, and a decoder a start token.
void check_ends_sentences(const ModelOptions& options, const Tokenizer& tokenizer) {
  const SpecialIds& special = tokenizer.special(Side::target);
  if (special.eos >= 0 && special.pad >= 0 && special.decoder_start >= 0) return;
  const char* const missing = special.eos < 0   ? "no end token"
                              : special.pad < 0 ? "no padding token"
                                                : "no decoder start token";
  fail_usage("vocab", fmt::format("the vocabulary has {}, which `arch` {} needs", missing, options.arch),
             "pass a SentencePiece model, or the directory of a translation model; vocabularies like GPT-2's are for "
             "language models");
}

// The sizes and dropouts of a new model, without its vocabulary.
NewModel without_vocabulary(const ModelOptions& options) {
  NewModel m;
  m.d_model = options.d_model, m.num_heads = options.num_heads, m.ffn_dim = options.ffn_dim;
  m.enc_depth = options.enc_depth, m.dec_depth = options.dec_depth, m.max_positions = options.max_positions;
  m.activation = model::name_of(options.activation);
  m.dropout = options.dropout, m.embedding_dropout = options.embedding_dropout.value_or(options.dropout);
  m.attention_dropout = options.attention_dropout, m.activation_dropout = options.activation_dropout;
  return m;
}

NewModel new_model(const ModelOptions& options, const Tokenizer& tokenizer) {
  NewModel m = without_vocabulary(options);
  m.source_vocab = tokenizer.size(Side::source), m.target_vocab = tokenizer.size(Side::target);
  m.shared_vocabulary = tokenizer.shared_vocabulary();
  m.special = tokenizer.special(Side::target);
  return m;
}

// The model of this config.json. What is wrong with it is wrong with the options that it follows from.
std::unique_ptr<model::Model> make_new(const nlohmann::json& config, const ModelOptions& options) {
  try {
    return model::make(JsonObject(config, fmt::format("config.json of a new {} model", options.arch)));
  } catch (const Error& e) {
    throw Error(ErrorKind::usage, e.where(), e.message(), e.hint());
  }
}

// A key that neither stands in the new model's config.json nor changes it is none of the family's.
void check_model_keys(const NewFamily& family, const NewModel& m, const ModelOptions& options,
                      const std::string& config_json) {
  const nlohmann::json written = nlohmann::json::parse(config_json);
  for (std::size_t i = 0; i < options.model_keys.size(); ++i) {
    const std::string& text = options.model_keys[i];
    const std::string key = text.substr(0, text.find_first_of(".="));
    if (written.contains(key)) continue;
    std::vector<std::string> others = options.model_keys;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (make_new(new_config(family, m, others), options)->config_json() != config_json) continue;
    std::vector<std::string> names;
    for (const auto& [name, value] : written.items()) names.push_back(name);
    fail_usage("model_keys", fmt::format("{} has no effect on a {} model", printable(key, 100), options.arch),
               did_you_mean(key, names));
  }
}

}  // namespace

void check_model_options(const ModelOptions& options, std::int64_t pieces, bool separate) {
  const NewFamily& family = new_family(options.arch);
  NewModel sizes = without_vocabulary(options);
  sizes.source_vocab = sizes.target_vocab = pieces;
  sizes.shared_vocabulary = !separate;
  sizes.special = {.pad = 0, .bos = 1, .eos = 2, .unk = 3, .decoder_start = 0};
  const auto m = make_new(new_config(family, sizes, options.model_keys), options);
  check_model_keys(family, sizes, options, m->config_json());
}

std::unique_ptr<model::Model> build_model(const ModelOptions& options, const Tokenizer& tokenizer) {
  const NewFamily& family = new_family(options.arch);
  if (family.encoder_decoder) check_ends_sentences(options, tokenizer);
  if (family.encoder_decoder && !family.two_vocabularies) check_one_vocabulary(options, tokenizer);
  const NewModel sizes = new_model(options, tokenizer);
  std::unique_ptr<model::Model> m = make_new(new_config(family, sizes, options.model_keys), options);
  check_model_keys(family, sizes, options, m->config_json());
  m = with_training_options(std::move(m), options);
  m->set_gradient_checkpointing(options.gradient_checkpointing);
  if (!m->parameters().flat()) m->parameters().allocate();
  return m;
}

}  // namespace tril::train
