#include "tokenizer/files/sentencepiece_directory.h"

#include <array>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "tokenizer/files/languages.h"
#include "tokenizer/files/sentencepiece.h"
#include "tokenizer/files/tokenizer_config.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/tokenizer_settings.h"
#include "tokenizer/models/piece_table.h"

namespace tril {
namespace {

constexpr std::array<const char*, 3> model_files = {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"};

enum class Family { t5, pegasus, llama, mbart, mbart50, m2m100, nllb };

Family family_of(std::string_view name, std::string_view file, const std::string& where) {
  constexpr auto families = std::to_array<std::pair<std::string_view, Family>>({{"T5Tokenizer", Family::t5},
                                                                                {"MT5Tokenizer", Family::t5},
                                                                                {"PegasusTokenizer", Family::pegasus},
                                                                                {"LlamaTokenizer", Family::llama},
                                                                                {"MBart50Tokenizer", Family::mbart50},
                                                                                {"MBartTokenizer", Family::mbart},
                                                                                {"M2M100Tokenizer", Family::m2m100},
                                                                                {"NllbTokenizer", Family::nllb}});
  for (const auto& [like, family] : families)
    if (name.starts_with(like)) return family;
  if (name.empty() && file == "spiece.model") return Family::t5;
  if (name.empty() && file == "tokenizer.model") return Family::llama;
  fail(where, fmt::format("tokenizer_class is \"{}\", which is not supported with {}", printable(name), file),
       "supported: T5Tokenizer, PegasusTokenizer, LlamaTokenizer, MBartTokenizer, MBart50Tokenizer, M2M100Tokenizer, "
       "NllbTokenizer; any other needs a tokenizer.json");
}

// Builds a directory's parts by the rules of its family.
class Numbering {
 public:
  Numbering(SentencePieceFile file, TokenizerConfig& config) : config_(config) {
    model_.file = std::move(file);
    for (std::size_t i = 0; i < model_.file.pieces.size(); ++i) {
      model_.id_of.push_back(static_cast<std::int32_t>(i));
      if (model_.file.pieces[i].type == PieceType::unknown) unknown_ = i;
    }
  }

  /// The model's own ids, then T5's sentinels in reverse order.
  void as_t5() {
    name({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}});
    const std::int32_t extra = config_.extra_ids.value_or(100);
    for (std::int32_t i = 0; i < extra; ++i) add(fmt::format("<extra_id_{}>", i), size() + extra - 1 - i, Strips::both);
    ends_with_eos_ = true;
  }

  void as_llama() {
    name({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}});
    begins_with_bos_ = config_.add_bos_token.value_or(true);
    ends_with_eos_ = config_.add_eos_token.value_or(false);
  }

  /// 103 tokens of pretraining, then the pieces.
  void as_pegasus() {
    constexpr std::int32_t offset = 103;
    name({{"pad_token", "<pad>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"mask_token", "<mask_2>"}});
    for (std::int32_t& id : model_.id_of) id += offset;
    add(config_.special("pad_token"), 0);
    add(config_.special("eos_token"), 1);
    add("<mask_1>", 2);
    add(config_.special("mask_token"), 3);
    for (std::int32_t i = 2; i < offset; ++i) add(fmt::format("<unk_{}>", i), i + 2);
    add(config_.special("unk_token"), model_.id_of[unknown_]);
    ends_with_eos_ = true;
  }

  /// fairseq's ids: "<s>" 0, "<pad>" 1, "</s>" 2, "<unk>" 3, every piece one id higher than in the model, then the
  /// languages, then "<mask>".
  void as_fairseq(std::span<const std::string_view> languages) {
    name({{"bos_token", "<s>"},
          {"eos_token", "</s>"},
          {"unk_token", "<unk>"},
          {"pad_token", "<pad>"},
          {"sep_token", "</s>"},
          {"cls_token", "<s>"},
          {"mask_token", "<mask>"}});
    for (std::size_t i = 0; i < model_.id_of.size(); ++i) {
      const std::string& text = model_.file.pieces[i].text;
      model_.id_of[i] = i == unknown_ ? 3 : text == "<s>" ? 0 : text == "</s>" ? 2 : static_cast<std::int32_t>(i) + 1;
    }
    add("<s>", 0);
    add("<pad>", 1);
    add("</s>", 2);
    add("<unk>", 3);
    std::int32_t next = size() + 1;
    for (std::string_view code : languages) add(std::string(code), next++);
    add("<mask>", next, Strips::left);
  }

  /// vocab.json numbers the model's pieces, and further pieces by their text; the languages follow as "__de__".
  void as_m2m100(const PieceTable& table, const std::string& where) {
    name({{"bos_token", "<s>"},
          {"eos_token", "</s>"},
          {"unk_token", "<unk>"},
          {"pad_token", "<pad>"},
          {"sep_token", "</s>"}});
    const auto unk = table.find(config_.special("unk_token"));
    if (!unk) fail(where, fmt::format("has no \"{}\"", config_.special("unk_token")));
    for (std::size_t i = 0; i < model_.id_of.size(); ++i)
      model_.id_of[i] = table.find(model_.file.pieces[i].text).value_or(*unk);
    add_beyond_model(table);
    for (const auto& [key, text] : config_.special_tokens)
      if (const auto id = table.find(text)) add(text, *id);
    std::int32_t next = table.size();
    for (std::string_view code : languages_of_m2m100(where)) add(fmt::format("__{}__", code), next++);
  }

  TokenizerDescription finish(const std::string& where, std::vector<TokenizerFile> files, bool strip) {
    std::unordered_map<std::string, std::int32_t> ids;
    for (std::size_t i = 0; i < model_.id_of.size(); ++i) ids.emplace(model_.file.pieces[i].text, model_.id_of[i]);
    for (const AddedToken& token : parts_.added) ids[token.content] = token.id;
    for (const AddedToken& token : config_.added_tokens) {
      const std::int32_t id = ids.emplace(token.content, token.id).first->second;
      if (id != token.id)
        fail(where,
             fmt::format("has \"{}\" as id {}, but the directory adds it as id {}", printable(token.content), id,
                         token.id),
             "remove it from added_tokens.json or added_tokens_decoder");
      add(token);
    }
    for (const auto& [key, text] : config_.special_tokens)  // control pieces that a text may spell out
      if (const auto id = ids.find(text); id != ids.end()) add(text, id->second);
    TokenizerSettings settings = settings_of(config_, where, [&](std::string_view text) -> std::optional<std::int32_t> {
      const auto id = ids.find(std::string(text));
      return id == ids.end() ? std::nullopt : std::optional(id->second);
    });
    settings.strip_decoded = strip;
    if (begins_with_bos_ && settings.special.bos >= 0) parts_.prefix = {settings.special.bos};
    if (ends_with_eos_ && settings.special.eos >= 0) parts_.suffix = {settings.special.eos};
    settings.files.insert(settings.files.begin(), std::make_move_iterator(files.begin()),
                          std::make_move_iterator(files.end()));
    parts_.model = std::move(model_);
    return {std::move(parts_), std::move(settings)};
  }

 private:
  enum class Strips { none, left, both };

  std::int32_t size() const { return static_cast<std::int32_t>(model_.file.pieces.size()); }

  void add_beyond_model(const PieceTable& table) {
    std::unordered_set<std::string_view> of_model;
    for (const SentencePieceEntry& piece : model_.file.pieces) of_model.insert(piece.text);
    for (std::int32_t id = 0; id < table.size(); ++id)
      if (table.has(id) && !of_model.contains(table.piece(id))) model_.beyond_model.emplace_back(table.piece(id), id);
  }

  std::span<const std::string_view> languages_of_m2m100(const std::string& where) const {
    const std::string& list = config_.language_codes;
    if (list.empty() || list == "m2m100") return m2m100_languages();
    if (list == "wmt21") return wmt21_languages();
    fail(where,
         fmt::format("its tokenizer_config.json has language_codes \"{}\", which is not a known list of languages",
                     printable(list)),
         "known lists are m2m100 and wmt21");
  }
  void name(std::initializer_list<std::pair<const char*, const char*>> defaults) {
    for (const auto& [key, text] : defaults) config_.set_default(key, text);
  }
  void add(AddedToken token) {
    for (AddedToken& known : parts_.added)
      if (known.content == token.content) {
        known.special |= token.special;
        return;
      }
    parts_.added.push_back(std::move(token));
  }
  void add(std::string content, std::int32_t id, Strips strips = Strips::none) {
    add({.content = std::move(content),
         .id = id,
         .special = true,
         .lstrip = strips != Strips::none,
         .rstrip = strips == Strips::both});
  }

  TokenizerConfig& config_;
  SentencePieceParts model_;
  TokenizerParts parts_;
  std::size_t unknown_ = 0;
  bool begins_with_bos_ = false, ends_with_eos_ = false;
};

}  // namespace

bool is_sentencepiece_directory(const std::string& directory) {
  for (const char* name : model_files)
    if (is_present(in_directory(directory, name))) return true;
  return false;
}

TokenizerDescription describe_sentencepiece_directory(const std::string& directory) {
  std::optional<TokenizerFile> file;
  for (const char* name : model_files)
    if (!file) file = read_tokenizer_file(directory, name);
  if (!file) fail(directory, "has no SentencePiece model");
  const std::string where = in_directory(directory, file->name.c_str());
  parse_sentencepiece(file->bytes, where);  // an error names the fault
  TokenizerConfig config = read_tokenizer_config(directory);
  const Family family = family_of(config.tokenizer_class, file->name, in_directory(directory, "tokenizer_config.json"));
  Numbering numbering(read_sentencepiece_file(file->bytes), config);
  std::vector<TokenizerFile> files = {*std::move(file)};
  switch (family) {
    case Family::t5:
      numbering.as_t5();
      break;
    case Family::pegasus:
      numbering.as_pegasus();
      break;
    case Family::llama:
      numbering.as_llama();
      break;
    case Family::mbart:
      numbering.as_fairseq(mbart_languages());
      break;
    case Family::mbart50:
      numbering.as_fairseq(mbart50_languages());
      break;
    case Family::nllb:
      numbering.as_fairseq(nllb_languages());
      break;
    case Family::m2m100: {
      auto vocab = read_tokenizer_file(directory, "vocab.json");
      const std::string vocab_path = in_directory(directory, "vocab.json");
      if (!vocab) fail(vocab_path, "does not exist", "M2M100 models need it to number their pieces");
      numbering.as_m2m100(PieceTable::parse(vocab->bytes, vocab_path), vocab_path);
      files.push_back(*std::move(vocab));
      break;
    }
  }
  return numbering.finish(where, std::move(files), family != Family::llama);
}

TokenizerDescription describe_sentencepiece_model(const std::string& path) {
  TokenizerFile file{.name = "tokenizer.model", .bytes = read_text(path, largest_tokenizer_file)};
  parse_sentencepiece(file.bytes, path);  // an error names the fault
  TokenizerConfig config;
  Numbering numbering(read_sentencepiece_file(file.bytes), config);
  numbering.as_llama();
  return numbering.finish(path, {std::move(file)}, /*strip=*/false);
}

}  // namespace tril
