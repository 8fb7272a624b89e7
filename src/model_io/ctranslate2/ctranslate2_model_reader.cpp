#include "model_io/ctranslate2/ctranslate2_model_reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/once.h"
#include "base/printable.h"
#include "model_io/ctranslate2/ctranslate2_files.h"
#include "model_io/ctranslate2/ctranslate2_model.h"
#include "model_io/ctranslate2/ctranslate2_tokenizer.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

// Since version 6 the names of special tokens are in config.json; before, they were attributes.
Ctranslate2Tokens tokens_of(Ctranslate2Reader& r, const JsonObject& own, bool translates) {
  Ctranslate2Tokens t;
  if (r.file().version() < Ctranslate2File::newest_version) {
    t.unk = r.text("unk_token", t.unk), t.bos = r.text("bos_token", t.bos), t.eos = r.text("eos_token", t.eos);
    t.adds_source_bos = r.flag("with_source_bos", false), t.adds_source_eos = r.flag("with_source_eos", false);
    const bool by_caller = r.flag("user_decoder_start_tokens", false), with_bos = r.flag("with_target_bos", true);
    if (!by_caller) t.decoder_start = with_bos ? t.bos : t.eos;
  } else {
    check_keys(own, {"unk_token", "bos_token", "eos_token", "decoder_start_token", "add_source_bos", "add_source_eos",
                     "layer_norm_epsilon", "multi_query_attention", "quantization_type", "quantization_bits",
                     "quantization_group_size"});
    t.unk = own.get<std::string>("unk_token", ""), t.bos = own.get<std::string>("bos_token", "");
    t.eos = own.get<std::string>("eos_token");
    t.decoder_start = own.find<std::string>("decoder_start_token");
    t.adds_source_bos = own.get<bool>("add_source_bos", false),
    t.adds_source_eos = own.get<bool>("add_source_eos", false);
  }
  t.starts_from_zero = translates && r.flag("decoder/start_from_zero_embedding", false);
  return t;
}

std::int32_t id_of(const std::vector<std::string>& pieces, const std::string& piece) {
  const auto found = std::find(pieces.begin(), pieces.end(), piece);
  return piece.empty() || found == pieces.end() ? -1 : static_cast<std::int32_t>(found - pieces.begin());
}

class Ctranslate2ModelReader : public ModelReader {
 public:
  Ctranslate2ModelReader(fs::path path, Ctranslate2Files files)
      : path_(std::move(path)),
        files_(std::move(files)),
        where_(files_.model.place_of(files_.model.has("config.json") ? "config.json" : "model.bin")) {}

  ConfigDocument config() const override { return {.json = model().model.config, .where = where_, .names = {}}; }

  std::optional<ConfigDocument> generation() const override {
    const nlohmann::json& c = model().model.config;
    nlohmann::json json{{"eos_token_id", c.at("eos_token_id")}};
    for (const char* key : {"bos_token_id", "pad_token_id", "decoder_start_token_id"})
      if (c.contains(key) && !c.at(key).is_null()) json[key] = c.at(key);
    if (c.value("is_encoder_decoder", false))
      json["early_stopping"] = true;  // stops after beam_size finished hypotheses
    if (c.contains("architecture")) {
      json["bad_words_ids"] = {{c.at("pad_token_id")}};
      json["max_length"] = c.at("max_position_embeddings");
    }
    return ConfigDocument{.json = std::move(json), .where = where_, .names = {}};
  }

  bool has_weights() const override { return true; }
  WeightFiles weights() const override { return model().model.weights; }

  bool has_tokenizer() const override { return has_ctranslate2_tokenizer(files_); }
  std::shared_ptr<const Tokenizer> tokenizer() const override {
    return tokenizer_.get([&] {
      return from_files([&] {
        const Read& read = model();
        const auto rows = read.model.config.at("vocab_size").get<std::int32_t>();
        return load_ctranslate2_tokenizer(files_, read.pieces, read.tokens, rows);
      });
    });
  }
  TokenizerDescription tokenizer_description() const override {
    if (!has_published_tokenizer(files_))
      fail_usage(path_.string(),
                 "its tokenizer has a table of pieces beside SentencePiece models, which is not supported here");
    return describe_tokenizer(files_.directory.string());
  }

  nn::Precision stored_precision(const JsonObject&) const override {
    return model().is_int8 ? nn::Precision::int8 : nn::Precision::fp32;
  }

  fs::path beside(const std::string& name) const override {
    return files_.directory.empty() ? fs::path(path_.string() + "." + name) : files_.directory / name;
  }

  void copy_companions(const fs::path& directory) const override {
    write_file_atomic((directory / "generation_config.json").string(), generation()->json.dump(2) + "\n");
    if (has_tokenizer()) save_tokenizer(*tokenizer(), directory.string());
  }

 private:
  struct Read {
    Ctranslate2Tokens tokens;
    Ctranslate2Vocabularies pieces;
    Ctranslate2Model model;
    bool is_int8 = false;
  };

  const Read& model() const {
    return read_.get([&] { return from_files([&] { return read(); }); });
  }

  Read read() const {
    const FileShelf::Content content = files_.model.content("model.bin");
    Ctranslate2Reader r(
        std::make_shared<const Ctranslate2File>(files_.model.place_of("model.bin"), content.bytes, content.owner),
        content.mapped);
    check_specification(r.file());
    const bool translates = r.file().specification() == "TransformerSpec";
    const JsonObject own(files_.config, where_);
    if (r.file().version() == Ctranslate2File::newest_version && !files_.model.has("config.json"))
      fail(files_.model.place_of("config.json"), "is missing", "the model is incomplete: get it again");
    Ctranslate2Tokens tokens = tokens_of(r, own, translates);
    Ctranslate2Vocabularies pieces = read_ctranslate2_vocabularies(files_, translates);
    check_size(r, "decoder/embeddings/weight", pieces.target, pieces.where);
    if (translates)
      for (const char* name : {"encoder/embeddings_0/weight", "encoder/embeddings/weight"})
        check_size(r, name, pieces.source, pieces.where);
    const Ctranslate2Ids ids = ids_of(tokens, pieces, translates);
    const bool is_int8 = r.is_int8();
    Ctranslate2Model m = read_ctranslate2(r, own, ids);
    return {std::move(tokens), std::move(pieces), std::move(m), is_int8};
  }

  static void check_size(const Ctranslate2Reader& r, const std::string& name, const std::vector<std::string>& pieces,
                         const std::string& where) {
    if (!r.has(name)) return;
    const auto words = static_cast<std::size_t>(r.shape(name, 2)[0]);
    if (pieces.size() > words)
      fail(where, fmt::format("has {} pieces, and {} has {} words", pieces.size(), name, words),
           "the files belong to different models: get them again");
  }

  Ctranslate2Ids ids_of(const Ctranslate2Tokens& tokens, const Ctranslate2Vocabularies& pieces, bool translates) const {
    Ctranslate2Ids ids{.bos = id_of(pieces.target, tokens.bos),
                       .eos = id_of(pieces.target, tokens.eos),
                       .pad = id_of(pieces.target, "<pad>"),
                       .decoder_start = -1};
    if (ids.eos < 0)
      fail(pieces.where, fmt::format("has no {}, the token that ends a text", printable(tokens.eos, 100)));
    if (!translates || tokens.starts_from_zero) return ids;
    if (!tokens.decoder_start)
      fail(where_,
           "decoder_start_token: null is not supported: CTranslate2 then expects each caller to give the first token");
    ids.decoder_start = id_of(pieces.target, *tokens.decoder_start);
    if (ids.decoder_start < 0)
      fail(pieces.where,
           fmt::format("has no {}, with which translations begin", printable(*tokens.decoder_start, 100)));
    return ids;
  }

  fs::path path_;
  Ctranslate2Files files_;
  std::string where_;
  Once<Read> read_;
  Once<std::shared_ptr<const Tokenizer>> tokenizer_;
};

}  // namespace

std::unique_ptr<ModelReader> open_ctranslate2(const fs::path& path) {
  std::optional<Ctranslate2Files> files = find_ctranslate2_files(path);
  return files ? std::make_unique<Ctranslate2ModelReader>(path, std::move(*files)) : nullptr;
}

}  // namespace tril::model
