#include "model_io/exports/marian_export.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "format/npz_write.h"
#include "format/sentencepiece_file.h"
#include "model_io/contents/stored_weight.h"
#include "model_io/marian/marian_names.h"

namespace tril::model {
namespace {

constexpr Side both_sides[] = {Side::source, Side::target};

// One side's vocabulary without the padding token, which Marian lacks.
struct Words {
  nlohmann::json ids;  // piece -> id
  std::int64_t count = 0;
  std::string spm;
  bool is_spm = false;  // the SentencePiece model has the same ids
};

std::string content_of(const std::vector<TokenizerFile>& files, std::string_view name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const TokenizerFile& f) { return f.name == name; });
  if (found == files.end())
    fail_usage("tokenizer", fmt::format("has no {}", name), "Marian's files need a vocabulary of SentencePiece pieces");
  return found->bytes;
}

bool numbers_as_spm(const nlohmann::json& ids, const std::string& spm) {
  const SentencePieceFile file = read_sentencepiece_file(spm);
  if (file.pieces.size() != ids.size()) return false;
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    const auto& piece = file.pieces[i];
    const auto id = ids.find(piece.type == PieceType::unknown ? "<unk>" : piece.text);
    if (id == ids.end() || *id != i) return false;
  }
  return true;
}

Words words_of(const Tokenizer& tokenizer, Side side) {
  const std::vector<TokenizerFile> files = tokenizer.files();
  const bool own = side == Side::target && !tokenizer.shared_vocabulary();
  Words w{.ids = nlohmann::json::parse(content_of(files, own ? "target_vocab.json" : "vocab.json")),
          .spm = content_of(files, side == Side::source ? "source.spm" : "target.spm")};
  for (auto it = w.ids.begin(); it != w.ids.end();)
    it = *it == tokenizer.special(side).pad ? w.ids.erase(it) : std::next(it);
  for (const auto& [piece, id] : w.ids.items()) w.count = std::max(w.count, id.get<std::int64_t>() + 1);
  for (const char* piece : {"</s>", "<unk>"})
    if (!w.ids.contains(piece)) fail_usage("tokenizer", fmt::format("has no {}, which Marian needs", piece));
  w.is_spm = numbers_as_spm(w.ids, w.spm);
  return w;
}

void check_is_marians(const Model& m, const nlohmann::json& config) {
  if (m.family() != "marian_nmt")
    fail_usage(m.family(), "is not a family that Marian can run",
               m.family() == "marian"
                   ? "in this family of `transformers`, positions and norms differ from Marian's; train "
                     "a model of the family marian_nmt"
                   : "only marian_nmt is");
  const auto need = [](bool ok, const char* key, const char* why) {
    if (!ok) fail_usage(key, why, "Marian has no option for it");
  };
  need(config.at("decoder_start_token_id") == config.at("pad_token_id"), "decoder_start_token_id",
       "the decoder does not begin with padding, a vector of zeros");
  need(config.at("encoder_attention_heads") == config.at("decoder_attention_heads"), "decoder_attention_heads",
       "the sides have different numbers of heads");
  need(config.at("scale_embedding"), "scale_embedding", "embeddings are not multiplied by the square root of d_model");
  const std::string activation = config.at("activation_function");
  need(activation == "silu" || activation == "relu" || activation == "gelu", "activation_function",
       "is not silu, relu or gelu");
}

// Marian's decoder begins with a vector of zeros, where this model begins with the embedding of its padding token.
void check_padding_is_zero(const Model& m, const nlohmann::json& config) {
  const bool shared = config.at("share_encoder_decoder_embeddings");
  const char* const name = shared ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
  const nn::Parameter* const p = m.parameters().find(name);
  check(p != nullptr, name, "the model has no such weight");
  const std::int64_t pad = config.at("pad_token_id");
  const std::vector<float> row = host_copy<float>(p->value.rows(pad, pad + 1));
  if (std::ranges::any_of(row, [](float v) { return v != 0; }))
    fail_usage(name, fmt::format("the row of the padding token {} is not zero, but Marian begins with zeros", pad),
               "set this row to zero and train the model further: `tril train` keeps it at zero");
}

// special:model.yml: the options that describe the model, and the other options that Marian requires.
std::string model_yml(const nlohmann::json& config, const std::array<Words, 2>& words) {
  const bool pre_norm = config.at("normalize_before"), tied = config.at("tie_word_embeddings"),
             shared = config.at("share_encoder_decoder_embeddings");
  const bool ssru = config.value("decoder_cell", "") == "ssru";
  const std::string activation = config.at("activation_function");
  const auto size = [&](const char* key) { return std::to_string(config.at(key).get<std::int64_t>()); };
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  const std::vector<std::pair<const char*, std::string>> options{
      {"type", "transformer"},
      {"version", "v1.12.0"},
      {"dim-vocabs", fmt::format("[{}, {}]", words[0].count, words[1].count)},
      {"dim-emb", size("d_model")},
      {"enc-depth", size("encoder_layers")},
      {"dec-depth", size("decoder_layers")},
      {"enc-type", "bidirectional"},
      {"enc-cell", "gru"},
      {"enc-cell-depth", "1"},
      {"dec-cell", ssru ? "ssru" : "gru"},
      {"dec-cell-base-depth", "2"},
      {"dec-cell-high-depth", "1"},
      {"dim-rnn", "1024"},
      {"skip", "false"},
      {"layer-normalization", "false"},
      {"right-left", "false"},
      {"input-types", "[]"},
      {"factors-combine", "sum"},
      {"factors-dim-emb", "0"},
      {"lemma-dependency", "\"\""},
      {"lemma-dim-emb", "0"},
      {"tied-embeddings", truth(tied && !shared)},
      {"tied-embeddings-src", truth(shared && !tied)},
      {"tied-embeddings-all", truth(shared && tied)},
      {"output-omit-bias", "false"},
      {"transformer-heads", size("encoder_attention_heads")},
      {"transformer-no-projection", "false"},
      {"transformer-no-bias", "false"},
      {"transformer-no-affine", "false"},
      {"transformer-rnn-projection", "false"},
      {"transformer-pool", "false"},
      {"transformer-dim-ffn", size("encoder_ffn_dim")},
      {"transformer-decoder-dim-ffn", size("decoder_ffn_dim")},
      {"transformer-ffn-depth", "2"},
      {"transformer-decoder-ffn-depth", "2"},
      {"transformer-ffn-activation", activation == "silu" ? "swish" : activation},
      {"transformer-dim-aan", "2048"},
      {"transformer-aan-depth", "2"},
      {"transformer-aan-activation", "swish"},
      {"transformer-aan-nogate", "false"},
      {"transformer-decoder-autoreg", ssru ? "rnn" : "self-attention"},
      {"transformer-tied-layers", "[]"},
      {"transformer-guided-alignment-layer", "last"},
      {"transformer-preprocess", pre_norm ? "n" : "\"\""},
      {"transformer-postprocess-emb", "d"},
      {"transformer-postprocess", pre_norm ? "da" : "dan"},
      {"transformer-postprocess-top", pre_norm ? "n" : "\"\""},
      {"transformer-train-position-embeddings", "false"},
      {"transformer-disable-position-embeddings", "false"},
      {"transformer-depth-scaling", "false"},
      {"transformer-attention-mask", "default"},
      {"transformer-alibi-shift", "false"},
      {"transformer-alibi-trainable", "false"},
      {"separator-symbol", "\"[eos]\""},
      {"ulr", "false"},
      {"ulr-dim-emb", "0"},
      {"ulr-trainable-transformation", "false"}};
  std::string text;
  for (const auto& [key, value] : options) text += fmt::format("{}: {}\n", key, value);
  return text;
}

void write_weights(const Model& m, const nlohmann::json& config, const std::array<Words, 2>& words,
                   const std::string& path) {
  NpzWriter npz(path);
  for (const MarianTensor& tensor : marian_tensors(config, /*has_transposed_output=*/false)) {
    const nn::Parameter* const p = m.parameters().find(tensor.here);
    check(p != nullptr, tensor.here, "the model has no such weight");
    const std::vector<float> values = host_copy<float>(p->value);
    const std::int64_t n = p->shape[0], d = p->shape.rank() == 2 ? p->shape[1] : 1;
    const std::int64_t count = words[tensor.marian == "encoder_Wemb" ? 0 : 1].count;
    switch (tensor.layout) {
      case MarianLayout::transposed:
        npz.write(tensor.marian, {d, n}, transposed_values(values, n, d));
        break;
      case MarianLayout::vector:
        npz.write(tensor.marian, {1, n}, values);
        break;
      case MarianLayout::rows:
        npz.write(tensor.marian, {count, d}, std::span(values).first(static_cast<std::size_t>(count * d)));
        break;
      case MarianLayout::logits_bias:
        npz.write(tensor.marian, {1, count}, std::span(values).first(static_cast<std::size_t>(count)));
        break;
    }
  }
  npz.write("special:model.yml", model_yml(config, words) + '\0');
  npz.commit();
}

std::string yml_of(const nlohmann::json& ids) {
  std::vector<std::pair<std::int64_t, std::string>> rows;
  for (const auto& [piece, id] : ids.items()) rows.emplace_back(id.get<std::int64_t>(), piece);
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const auto& [id, piece] : rows) text += fmt::format("{}: {}\n", nlohmann::json(piece).dump(), id);
  return text;
}

// Writes the vocabularies. @return the names of the two files that Marian reads
std::array<std::string, 2> write_vocabularies(const std::array<Words, 2>& words, bool shared, const std::string& path) {
  const bool one_spm = !shared || words[0].spm == words[1].spm;
  const bool are_spm = words[0].is_spm && words[1].is_spm && one_spm;
  const auto write = [&](const std::string& end, const std::string& content) {
    write_file_atomic(path + end, content);
    return std::filesystem::path(path).filename().string() + end;
  };
  if (!are_spm)  // these split text before Marian reads it
    write(".source.spm", words[0].spm), write(".target.spm", words[1].spm);
  const auto content = [&](int i) { return are_spm ? words[i].spm : yml_of(words[i].ids); };
  const char* const kind = are_spm ? "spm" : "yml";
  if (shared) {
    const std::string name = write(fmt::format(".vocab.{}", kind), content(0));
    return {name, name};
  }
  return {write(fmt::format(".source.{}", kind), content(0)), write(fmt::format(".target.{}", kind), content(1))};
}

}  // namespace

void export_marian(const Model& m, const Tokenizer& tokenizer, const nlohmann::json& generation,
                   const std::string& path) {
  const nlohmann::json config = nlohmann::json::parse(m.config_json());
  check_is_marians(m, config);
  check_padding_is_zero(m, config);
  std::array<Words, 2> words;
  for (const Side side : both_sides) words[side == Side::target] = words_of(tokenizer, side);
  const bool shared = config.at("share_encoder_decoder_embeddings");
  for (const Words& w : words)
    if (w.count > config.at("vocab_size") || w.count > config.at("decoder_vocab_size"))
      fail_usage("tokenizer", fmt::format("has {} words, more than the model", w.count),
                 "use the tokenizer of this model");
  if (shared) words[0].count = words[1].count = std::max(words[0].count, words[1].count);
  write_weights(m, config, words, path);
  const auto [source, target] = write_vocabularies(words, tokenizer.shared_vocabulary(), path);
  const auto number = [&](const char* key, double otherwise) {
    const auto found = generation.find(key);
    return found != generation.end() && found->is_number() ? found->get<double>() : otherwise;
  };
  write_file_atomic(
      path + ".decoder.yml",
      fmt::format("relative-paths: true\nmodels:\n  - {}\nvocabs:\n  - {}\n  - {}\nbeam-size: {}\n"
                  "normalize: {}\nword-penalty: 0\nmini-batch: 16\nmaxi-batch: 100\nmaxi-batch-sort: src\n",
                  nlohmann::json(std::filesystem::path(path).filename().string()).dump(), nlohmann::json(source).dump(),
                  nlohmann::json(target).dump(), static_cast<std::int64_t>(number("num_beams", 6)),
                  number("length_penalty", 1)));
}

}  // namespace tril::model
