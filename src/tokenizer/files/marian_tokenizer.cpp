#include "tokenizer/files/marian_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/element.h"
#include "base/error.h"
#include "base/file.h"
#include "format/json_text.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/files/config_values.h"
#include "tokenizer/files/sentencepiece.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/models/bpe_dropout.h"
#include "tokenizer/models/piece_table.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/models/unigram_sampling.h"
#include "tokenizer/pipeline/piece_decoder.h"
#include "tokenizer/pipeline/sentencepiece_normalizer.h"
#include "unicode/trim.h"

namespace tril {

namespace {

// The contents of tokenizer_config.json, with MarianTokenizer's defaults.
struct MarianConfig {
  std::string source_lang, target_lang;
  std::string eos = "</s>", unk = "<unk>", pad = "<pad>";
  std::int32_t model_max_length = 512;
  bool separate_vocabularies = false;
  bool clean_up_spaces = false;
  bool splits_special_tokens = false;  ///< special tokens and language codes in a text are split like other text
  bool adds_source_eos = true;         ///< source texts end in eos
};

MarianConfig parse_config(std::string_view text, const std::string& where) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) fail(where, "is not a JSON object");
  const auto text_of = [&](const char* key, const std::string& otherwise) {
    const std::optional<std::string> found = config_text(json, key);
    return found && !found->empty() ? *found : otherwise;
  };
  const auto flag = [&](const char* key) { return config_flag(json, key).value_or(false); };
  MarianConfig config;
  config.source_lang = text_of("source_lang", "");
  config.target_lang = text_of("target_lang", "");
  config.eos = text_of("eos_token", config.eos);
  config.unk = text_of("unk_token", config.unk);
  config.pad = text_of("pad_token", config.pad);
  config.separate_vocabularies = flag("separate_vocabs");
  config.clean_up_spaces = flag("clean_up_tokenization_spaces");
  config.splits_special_tokens = flag("split_special_tokens");
  config.adds_source_eos = !flag("source_without_eos");
  config.model_max_length = config_max_length(json).value_or(config.model_max_length);
  return config;
}

std::string config_json(const MarianConfig& config) {
  nlohmann::ordered_json json;
  json["tokenizer_class"] = "MarianTokenizer";
  json["source_lang"] = config.source_lang;
  json["target_lang"] = config.target_lang;
  json["unk_token"] = config.unk;
  json["eos_token"] = config.eos;
  json["pad_token"] = config.pad;
  json["model_max_length"] = config.model_max_length;
  json["separate_vocabs"] = config.separate_vocabularies;
  json["clean_up_tokenization_spaces"] = config.clean_up_spaces;
  if (config.splits_special_tokens) json["split_special_tokens"] = true;
  if (!config.adds_source_eos) json["source_without_eos"] = true;  // tril's own key
  return json_text(json, 2) + "\n";
}

class MarianTokenizer : public Tokenizer {
 public:
  struct SideParts {
    std::string spm;    ///< bytes
    std::string where;  ///< names the vocabulary in errors
    std::shared_ptr<const SentencePiece> model;
    std::shared_ptr<const PieceTable> table;
  };

  struct OneSide {
    OneSide(SideParts given, const MarianConfig& config)
        : parts(std::move(given)), splits_special_tokens(config.splits_special_tokens) {
      const auto id = [&](const std::string& token) {
        const auto found = parts.table->find(token);
        if (!found) fail(parts.where, fmt::format("has no \"{}\"", token), "every Marian vocabulary needs it");
        spelt.emplace_back(token, *found);
        return *found;
      };
      special.unk = id(config.unk);
      special.pad = id(config.pad);
      const bool needs_eos = config.adds_source_eos || parts.table->find(config.eos);
      special.eos = needs_eos ? id(config.eos) : special.pad;
      special.decoder_start = special.pad;
      id_of.resize(static_cast<std::size_t>(parts.model->GetPieceSize()));
      for (int i = 0; i < parts.model->GetPieceSize(); ++i)
        element(id_of, i) = parts.table->find(parts.model->IdToPiece(i)).value_or(special.unk);
      SentencePieceFile file = read_sentencepiece_file(parts.spm);
      const bool restricted = std::any_of(file.pieces.begin(), file.pieces.end(),
                                          [](const auto& p) { return p.type == PieceType::unused; });
      if (restricted && file.algorithm == SubwordAlgorithm::bpe) return;
      // A joint vocabulary may have pieces that this side's model lacks: unknown text is looked up literally.
      cutter = make_sentencepiece_model(
          {std::move(file), id_of}, parts.where,
          [table = parts.table, unk = special.unk](std::string_view text) { return table->find(text).value_or(unk); });
    }

    void cut(std::string_view text, std::vector<std::int32_t>& ids) const {
      if (cutter) return cutter->encode(text, *scratch.lend(), ids);
      cut_by_library(text, ids);
    }

    // BPE around unused pieces, whose splitting only the library implements.
    void cut_by_library(std::string_view text, std::vector<std::int32_t>& ids) const {
      std::vector<std::string> pieces;
      const auto status = parts.model->Encode(text, &pieces);
      if (!status.ok()) fail("tokenizer", fmt::format("cannot split text into pieces: {}", status.ToString()));
      for (const std::string& piece : pieces) ids.push_back(parts.table->find(piece).value_or(special.unk));
    }

    SideParts parts;
    bool splits_special_tokens;
    SpecialIds special;
    std::vector<std::int32_t> id_of;                          ///< by the model's own id
    std::vector<std::pair<std::string, std::int32_t>> spelt;  ///< special tokens as a text may spell them
    std::unique_ptr<const SubwordModel> cutter;               ///< null: the library splits
    mutable Pool<EncodeScratch> scratch;
  };

  MarianTokenizer(MarianConfig config, SideParts source, SideParts target)
      : config_(std::move(config)), source_(std::move(source), config_), target_(std::move(target), config_) {}

  using Tokenizer::decode;
  using Tokenizer::encode;

  void encode(std::string_view text, Side which, std::vector<std::int32_t>& ids) const override {
    const OneSide& side = at(which);
    encode_by(text, side, ids, [&](std::string_view plain) { side.cut(plain, ids); });
  }

  std::unique_ptr<const SubwordSampler> sampler(Side side, const SubwordSampling& how) const override;

  TextFrame frame(Side side, std::string_view language) const override {
    TextFrame frame = Tokenizer::frame(side, language);
    if (side == Side::target || config_.adds_source_eos) frame.suffix = {special(side).eos};
    return frame;
  }

  // Calls `cut` for the text to be split into pieces, and handles the rest.
  template <class Cut>
  static void encode_by(std::string_view text, const OneSide& side, std::vector<std::int32_t>& ids, const Cut& cut) {
    if (side.splits_special_tokens) return cut(text);
    // Special tokens that the text spells out become their ids; the text between them is split into pieces. The next
    // occurrence of each is searched only once.
    std::vector<std::size_t> next(side.spelt.size());
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = text.find(side.spelt[i].first);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t found = std::string_view::npos;
      const std::pair<std::string, std::int32_t>* token = nullptr;
      for (std::size_t i = 0; i < next.size(); ++i) {
        const auto& candidate = side.spelt[i];
        if (next[i] < at) next[i] = text.find(candidate.first, at);
        if (next[i] == std::string_view::npos) continue;
        if (next[i] < found || (next[i] == found && candidate.first.size() > token->first.size()))
          found = next[i], token = &candidate;
      }
      const std::string_view plain = text.substr(at, std::min(found, text.size()) - at);
      if (!plain.empty()) cut(past_language_code(plain, side, ids));
      if (!token) return;
      ids.push_back(token->second);
      at = found + token->first.size();
    }
  }

  std::string decode(std::span<const std::int32_t> ids, Side which) const override {
    const OneSide& side = at(which);
    std::vector<std::string_view> pieces;
    pieces.reserve(ids.size());
    for (std::int32_t id : ids)
      if (id != side.special.eos && id != side.special.unk && id != side.special.pad)
        pieces.push_back(side.parts.table->piece(id));
    std::string text;
    const auto status = side.parts.model->Decode(pieces, &text);
    if (!status.ok()) fail("tokenizer", fmt::format("cannot join pieces: {}", status.ToString()));
    replace_all(text, space_mark, " ");
    text = std::string(trim(text));
    if (config_.clean_up_spaces) clean_up_spaces(text);
    return text;
  }

  bool cleans_up() const override { return config_.clean_up_spaces; }
  StatedLanguages stated_languages() const override { return {config_.source_lang, config_.target_lang}; }
  const std::string& piece(std::int32_t id, Side side) const override { return at(side).parts.table->piece(id); }
  std::optional<std::int32_t> find(std::string_view piece, Side side) const override {
    return at(side).parts.table->find(piece);
  }
  std::int32_t size(Side side) const override { return at(side).parts.table->size(); }
  const SpecialIds& special(Side side) const override { return at(side).special; }
  bool shared_vocabulary() const override { return !config_.separate_vocabularies; }
  std::int32_t model_max_length() const override { return config_.model_max_length; }

  std::vector<TokenizerFile> files() const override {
    std::vector<TokenizerFile> all = {{"source.spm", source_.parts.spm},
                                      {"target.spm", target_.parts.spm},
                                      {"vocab.json", source_.parts.table->json()}};
    if (config_.separate_vocabularies) all.push_back({"target_vocab.json", target_.parts.table->json()});
    all.push_back({"tokenizer_config.json", config_json(config_)});
    return all;
  }

 private:
  const OneSide& at(Side side) const { return side == Side::source ? source_ : target_; }

  // A leading language code (">>de<<") is one token, known or not.
  static std::string_view past_language_code(std::string_view text, const OneSide& side,
                                             std::vector<std::int32_t>& ids) {
    const std::size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
    if (end == std::string_view::npos) return text;
    ids.push_back(side.parts.table->find(text.substr(0, end + 2)).value_or(side.special.unk));
    return text.substr(end + 2);
  }

  class Sampler;

  MarianConfig config_;
  OneSide source_, target_;
};

// Splits the normal form of a text itself.
class MarianTokenizer::Sampler : public SubwordSampler {
 public:
  Sampler(const OneSide& side, const SubwordSampling& how)
      : Sampler(side, how, read_sentencepiece_file(side.parts.spm)) {}

  void encode(std::string_view text, RandomKey key, std::vector<std::int32_t>& ids) const override {
    RandomSequence random(key);
    encode_by(text, side_, ids, [&](std::string_view plain) { cut(plain, random, ids); });
  }

 private:
  Sampler(const OneSide& side, const SubwordSampling& how, const SentencePieceFile& file)
      : side_(side),
        how_(how),
        pieces_(file),
        normalizer_(file, side.parts.where),
        has_bytes_(
            std::any_of(file.pieces.begin(), file.pieces.end(), [](auto& p) { return p.type == PieceType::byte; })) {
    if (how.bpe_dropout > 0 && file.algorithm != SubwordAlgorithm::bpe)
      fail_usage("bpe_dropout", "the vocabulary was not learned by byte-pair encoding",
                 "learn one with `vocab_type` bpe; `subword_alpha` is for unigram vocabularies");
    if (how.unigram_alpha > 0 && file.algorithm != SubwordAlgorithm::unigram)
      fail_usage("subword_alpha", "the vocabulary is not a unigram model",
                 "learn one with `vocab_type` unigram; `bpe_dropout` is for byte-pair encoding");
  }

  void cut(std::string_view text, RandomSequence& random, std::vector<std::int32_t>& ids) const {
    std::string normal;
    normalizer_.apply(text, normal);
    std::vector<std::string_view> pieces;
    if (how_.bpe_dropout > 0)
      segment_by_merges(pieces_, normal, how_.bpe_dropout, random, pieces);
    else if (how_.unigram_alpha > 0)
      sample_unigrams(pieces_, normal, how_.unigram_alpha, random, pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (const auto* piece = pieces_.find(pieces[i])) {
        ids.push_back(element(side_.id_of, piece->id));
        continue;
      }
      // A run of unknown characters is one piece, as in the library.
      std::string_view unknown = pieces[i];
      while (i + 1 < pieces.size() && !pieces_.find(pieces[i + 1]))
        unknown = {unknown.data(), unknown.size() + pieces[++i].size()};
      append_unknown(unknown, ids);
    }
  }

  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (!has_bytes_) {
      ids.push_back(side_.parts.table->find(text).value_or(side_.special.unk));
      return;
    }
    for (char byte : text)
      ids.push_back(element(side_.id_of,
                            side_.parts.model->PieceToId(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)))));
  }

  const OneSide& side_;
  SubwordSampling how_;
  SubwordPieces pieces_;
  SentencePieceNormalizer normalizer_;
  bool has_bytes_;
};

std::unique_ptr<const SubwordSampler> MarianTokenizer::sampler(Side side, const SubwordSampling& how) const {
  return std::make_unique<Sampler>(at(side), how);
}

PieceTable marian_table(std::initializer_list<const SentencePiece*> models, const std::vector<std::string>& tags) {
  PieceTable table;
  table.add("</s>");
  table.add("<unk>");
  for (const SentencePiece* model : models)
    for (int id = 0; id < model->GetPieceSize(); ++id) {
      const bool numbered_already = model->IsUnknown(id) || id == model->eos_id() || id == model->pad_id();
      const std::string& piece = model->IdToPiece(id);
      if (!numbered_already && piece != "<pad>" && !piece.empty()) table.add(piece);
    }
  for (const std::string& tag : tags) table.add(tag);
  table.add("<pad>");
  return table;
}

std::string file_in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

std::shared_ptr<const Tokenizer> read_directory(const std::string& directory, const MarianAdditions* more) {
  const auto path = [&](const char* name) { return file_in(directory, name); };
  const auto text = [&](const char* name) { return read_text(path(name), largest_tokenizer_file); };

  MarianConfig config;
  if (is_present(path("tokenizer_config.json")))
    config = parse_config(text("tokenizer_config.json"), path("tokenizer_config.json"));

  MarianTokenizer::SideParts source{
      .spm = more ? more->source_spm : text("source.spm"), .where = path("vocab.json"), .model = {}, .table = {}};
  MarianTokenizer::SideParts target{
      .spm = more ? more->target_spm : text("target.spm"), .where = path("vocab.json"), .model = {}, .table = {}};
  source.model = parse_sentencepiece(source.spm, path("source.spm"));
  target.model = source.spm == target.spm ? source.model : parse_sentencepiece(target.spm, path("target.spm"));
  auto table = std::make_shared<PieceTable>(PieceTable::parse(text("vocab.json"), path("vocab.json")));
  auto target_table = table;
  if (config.separate_vocabularies) {
    target.where = path("target_vocab.json");
    target_table = std::make_shared<PieceTable>(PieceTable::parse(text("target_vocab.json"), target.where));
  }
  if (more) {
    for (const std::string& token : more->source_tokens) table->add(token);
    for (const std::string& token : more->target_tokens) target_table->add(token);
  }
  source.table = std::move(table);
  target.table = std::move(target_table);
  return std::make_shared<MarianTokenizer>(std::move(config), std::move(source), std::move(target));
}

}  // namespace

std::shared_ptr<const Tokenizer> make_marian_tokenizer(MarianParts parts) {
  MarianTokenizer::SideParts source{
      .spm = std::move(parts.source_spm), .where = "source vocabulary", .model = {}, .table = {}};
  MarianTokenizer::SideParts target{
      .spm = std::move(parts.target_spm), .where = "target vocabulary", .model = {}, .table = {}};
  source.model = parse_sentencepiece(source.spm, "source SentencePiece model");
  target.model =
      source.spm == target.spm ? source.model : parse_sentencepiece(target.spm, "target SentencePiece model");
  if (parts.separate_vocabularies) {
    source.table = std::make_shared<PieceTable>(marian_table({source.model.get()}, parts.tags));
    target.table = std::make_shared<PieceTable>(marian_table({target.model.get()}, {}));
  } else {
    source.table = target.table =
        std::make_shared<PieceTable>(marian_table({source.model.get(), target.model.get()}, parts.tags));
  }
  MarianConfig config;
  config.source_lang = std::move(parts.source_lang);
  config.target_lang = std::move(parts.target_lang);
  config.model_max_length = parts.model_max_length;
  config.separate_vocabularies = parts.separate_vocabularies;
  return std::make_shared<MarianTokenizer>(std::move(config), std::move(source), std::move(target));
}

std::shared_ptr<const Tokenizer> make_marian_tokenizer(MarianVocabularies vocabularies) {
  MarianConfig config;
  config.eos = vocabularies.eos;
  config.unk = vocabularies.unk;
  config.source_lang = vocabularies.source_lang;
  config.target_lang = vocabularies.target_lang;
  config.adds_source_eos = vocabularies.adds_source_eos;
  const auto is_taken = [&](const std::string& piece) {
    return vocabularies.source.table.find(piece) || vocabularies.target.table.find(piece);
  };
  while (is_taken(config.pad)) config.pad.insert(config.pad.size() - 1, "_");
  config.model_max_length = vocabularies.model_max_length;
  config.separate_vocabularies = !vocabularies.shared;
  config.splits_special_tokens = vocabularies.splits_special_tokens;
  const auto side = [&](MarianVocabulary& v) {
    v.table.put(config.pad, vocabularies.pad);
    return MarianTokenizer::SideParts{.spm = std::move(v.spm),
                                      .where = v.where,
                                      .model = nullptr,
                                      .table = std::make_shared<const PieceTable>(std::move(v.table))};
  };
  MarianTokenizer::SideParts source = side(vocabularies.source), target = side(vocabularies.target);
  if (vocabularies.shared) target.table = source.table;
  source.model = parse_sentencepiece(source.spm, vocabularies.source.spm_where);
  target.model =
      source.spm == target.spm ? source.model : parse_sentencepiece(target.spm, vocabularies.target.spm_where);
  return std::make_shared<MarianTokenizer>(std::move(config), std::move(source), std::move(target));
}

bool is_marian_directory(const std::string& directory) {
  return is_present(file_in(directory, "source.spm"));
}

std::shared_ptr<const Tokenizer> load_marian_tokenizer(const std::string& directory) {
  return read_directory(directory, nullptr);
}

std::shared_ptr<const Tokenizer> extend_marian_directory(const std::string& directory, const MarianAdditions& more) {
  return read_directory(directory, &more);
}

}  // namespace tril
