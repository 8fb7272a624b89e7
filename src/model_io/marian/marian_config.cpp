#include "model_io/marian/marian_config.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "format/yaml_file.h"
#include "model/spec/config_reader.h"

namespace tril::model {
namespace {

constexpr std::string_view yml_name = "special:model.yml";
constexpr JsonLimits yml_limits{.bytes = std::uint64_t{1} << 20, .depth = 8, .values = 100'000};
constexpr std::int64_t max_positions = 1024;  // Marian translates texts of up to 1000 tokens

// The letters of a processing string that matter without dropout: a: add, n: norm, h: highway.
std::string steps(const ConfigReader& reader, const std::string& text) {
  std::string kept = text;
  std::erase(kept, 'd');
  for (const char c : kept)
    if (c != 'a' && c != 'n')
      reader.json().fail_at("transformer-postprocess", fmt::format("the step '{}' is not supported", c));
  return kept;
}

// True if the norms are before the sublayers. Refuses other orders than pre-norm and post-norm.
bool is_pre_norm(ConfigReader& reader) {
  const std::string before = steps(reader, reader.get<std::string>("transformer-preprocess", "")),
                    after = steps(reader, reader.get<std::string>("transformer-postprocess", "dan")),
                    top = steps(reader, reader.get<std::string>("transformer-postprocess-top", "")),
                    embedding = steps(reader, reader.get<std::string>("transformer-postprocess-emb", "d"));
  if (!embedding.empty())
    reader.json().fail_at("transformer-postprocess-emb", "a norm of embeddings is not supported", "only \"d\" is");
  if (before.empty() && after == "an" && top.empty()) return false;
  if (before == "n" && after == "a" && top == "n") return true;
  reader.json().fail_at(
      "transformer-postprocess",
      fmt::format("preprocess \"{}\", postprocess \"{}\" and postprocess-top \"{}\" are not supported together", before,
                  after, top),
      "supported: postprocess \"dan\" alone; preprocess \"n\" with postprocess \"da\" and postprocess-top \"n\"");
}

// Options that change results, and their only supported values.
void refuse_what_is_not_computed(ConfigReader& reader) {
  reader.only("type", std::string("transformer"));
  reader.only("transformer-attention-mask", std::string("default"));
  reader.only("transformer-ffn-depth", std::int64_t{2});
  if (reader.get<std::int64_t>("transformer-decoder-ffn-depth", 0) != 0)
    reader.only("transformer-decoder-ffn-depth", std::int64_t{2});
}

// True if the decoder has an SSRU, the only supported recurrence.
bool has_ssru(ConfigReader& reader) {
  if (reader.get<std::string>("transformer-decoder-autoreg", "self-attention") != "rnn") {
    reader.only("transformer-decoder-autoreg", std::string("self-attention"));
    reader.ignore({"dec-cell", "transformer-rnn-projection"});
    return false;
  }
  if (reader.get<std::string>("dec-cell", "gru") != "ssru")
    reader.json().fail_at("dec-cell", "is not supported with transformer-decoder-autoreg: rnn", "only \"ssru\" is");
  reader.only("transformer-rnn-projection", false);
  return true;
}

// Options of other kinds of models, of training, or without effect on results.
void ignore_what_says_nothing(ConfigReader& reader) {
  reader.ignore({"version",
                 "dec-cell-base-depth",
                 "dec-cell-high-depth",
                 "dec-depth",
                 "dim-rnn",
                 "enc-cell",
                 "enc-cell-depth",
                 "enc-type",
                 "factors-combine",
                 "input-types",
                 "separator-symbol",
                 "transformer-aan-activation",
                 "transformer-aan-depth",
                 "transformer-aan-nogate",
                 "transformer-dim-aan",
                 "transformer-depth-scaling",
                 "transformer-guided-alignment-layer",
                 "bert-train-type-embeddings",
                 "bert-type-vocab-size",
                 "bert-mask-symbol",
                 "bert-sep-symbol",
                 "bert-class-symbol",
                 "bert-masking-fraction",
                 "original-type",
                 "char-conv-filters-num",
                 "char-conv-filters-widths",
                 "char-highway",
                 "char-stride",
                 "ulr-softmax-temperature"});
}

// The names in special:model.yml of keys of config.json.
KeyNames marian_key_names() {
  return {{"d_model", "dim-emb"},
          {"encoder_layers", "enc-depth"},
          {"decoder_layers", "dec-depth"},
          {"encoder_attention_heads", "transformer-heads"},
          {"decoder_attention_heads", "transformer-heads"},
          {"encoder_ffn_dim", "transformer-dim-ffn"},
          {"decoder_ffn_dim", "transformer-decoder-dim-ffn"},
          {"activation_function", "transformer-ffn-activation"},
          {"vocab_size", "dim-vocabs"},
          {"decoder_vocab_size", "dim-vocabs"}};
}

}  // namespace

nlohmann::json read_marian_model_yml(const MarianTensors& weights) {
  const std::string where = fmt::format("{}: {}", printable(weights.path(), 400), yml_name);
  const WeightView* const stored = weights.find(yml_name);
  if (!stored) fail(printable(weights.path(), 400), fmt::format("has no {}, so it is no model of Marian's", yml_name));
  if (size_of(stored->dtype == StoredType::blocks ? StoredType::f32 : stored->dtype) != 1)
    fail(where, fmt::format("holds {}, expected bytes", stored->type_name()));
  std::string_view text(reinterpret_cast<const char*>(stored->bytes.data()), stored->bytes.size());
  text = text.substr(0, text.find('\0'));  // padding follows
  nlohmann::json json = parse_yaml(text, where, yml_limits);
  if (!json.is_object()) fail(where, "is not a mapping of options");
  return json;
}

std::int64_t marian_vocabulary(const JsonObject& yml, std::size_t side) {
  const std::vector<std::int64_t> sizes = yml.get<std::vector<std::int64_t>>("dim-vocabs");
  if (sizes.size() != 2) yml.fail_at("dim-vocabs", fmt::format("has {} sizes, expected two", sizes.size()));
  if (sizes[side] < 2 || sizes[side] >= std::numeric_limits<std::int32_t>::max())
    yml.fail_at("dim-vocabs", fmt::format("{} is no size of a vocabulary", sizes[side]));
  return sizes[side];
}

std::int64_t marian_rows(const JsonObject& yml) {
  return std::max(marian_vocabulary(yml, 0), marian_vocabulary(yml, 1)) + 1;
}

ConfigDocument config_of_marian(const JsonObject& yml, const MarianIds& ids) {
  ConfigReader reader(yml, "marian_nmt");
  refuse_what_is_not_computed(reader);
  const bool pre_norm = is_pre_norm(reader), ssru = has_ssru(reader);
  const bool all = reader.get<bool>("tied-embeddings-all", false);
  const bool shared = reader.get<bool>("tied-embeddings-src", false) || all;
  const bool tied = reader.get<bool>("tied-embeddings", false) || all;
  if (shared && marian_vocabulary(yml, 0) != marian_vocabulary(yml, 1))
    yml.fail_at("dim-vocabs", "the sizes differ, but the embeddings are shared");
  const std::int64_t ffn = reader.size("transformer-dim-ffn");
  const std::int64_t decoder_ffn = reader.get<std::int64_t>("transformer-decoder-dim-ffn", 0);
  const std::int64_t rows = marian_rows(yml), heads = reader.size("transformer-heads");
  reader.ignore({"dim-vocabs", "output-omit-bias"});
  const std::int64_t width = reader.size("dim-emb");
  if (width % 2 != 0 || width % heads != 0)
    yml.fail_at("dim-emb", fmt::format("{} is odd or not divisible by {} heads", width, heads));
  const std::string activation = reader.get<std::string>("transformer-ffn-activation", "swish");
  if (activation != "swish" && activation != "relu" && activation != "gelu")
    yml.fail_at("transformer-ffn-activation", fmt::format("{} is not supported", printable(activation, 40)),
                "supported: swish, relu, gelu");
  ConfigDocument document{.json = {{"model_type", "tril"},
                                   {"architecture", "marian_nmt"},
                                   {"vocab_size", rows},
                                   {"decoder_vocab_size", rows},
                                   {"d_model", width},
                                   {"encoder_layers", reader.layers("enc-depth")},
                                   {"decoder_layers", reader.layers("dec-depth")},
                                   {"encoder_attention_heads", heads},
                                   {"decoder_attention_heads", heads},
                                   {"encoder_ffn_dim", ffn},
                                   {"decoder_ffn_dim", decoder_ffn == 0 ? ffn : decoder_ffn},
                                   {"activation_function", activation == "swish" ? "silu" : activation},
                                   {"scale_embedding", true},
                                   {"share_encoder_decoder_embeddings", shared},
                                   {"tie_word_embeddings", tied},
                                   {"normalize_before", pre_norm},
                                   {"add_final_layer_norm", pre_norm},
                                   {"max_position_embeddings", max_positions},
                                   {"pad_token_id", rows - 1},
                                   {"decoder_start_token_id", rows - 1},
                                   {"eos_token_id", ids.eos},
                                   {"bos_token_id", nullptr},
                                   {"forced_eos_token_id", nullptr},
                                   {"is_encoder_decoder", true}},
                          .where = yml.where(),
                          .names = marian_key_names()};
  if (ssru) document.json["decoder_cell"] = "ssru";
  ignore_what_says_nothing(reader);
  reader.finish();
  return document;
}

ConfigDocument generation_of_marian(const JsonObject& decoding, const nlohmann::json& config, const MarianIds& ids) {
  const std::int32_t pad = config.at("pad_token_id");
  nlohmann::json bad_words = {{pad}};
  if (!decoding.get<bool>("allow-unk", false)) bad_words.push_back({ids.unk});
  nlohmann::json json{{"eos_token_id", ids.eos},
                      {"pad_token_id", pad},
                      {"decoder_start_token_id", pad},
                      {"bad_words_ids", bad_words},
                      {"max_length", config.at("max_position_embeddings")}};
  const auto take = [&](const char* key, const char* name) {
    if (decoding.has(key)) json[name] = decoding.json().at(key);
  };
  take("beam-size", "num_beams");
  take("normalize", "length_penalty");
  take("word-penalty", "word_penalty");
  return {.json = std::move(json),
          .where = decoding.where(),
          .names = {{"num_beams", "beam-size"}, {"length_penalty", "normalize"}, {"word_penalty", "word-penalty"}}};
}

}  // namespace tril::model
