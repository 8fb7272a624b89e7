#include "tokenizer/files/word_tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "format/json_file.h"
#include "format/json_text.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril {
namespace {

constexpr const char* word_class = "WordTokenizer";

class WordTokenizer : public Tokenizer {
 public:
  struct OneSide {
    std::shared_ptr<const PieceTable> table;
    SpecialIds special;
    std::optional<SubwordNmt> codes;
  };

  WordTokenizer(OneSide source, OneSide target, std::int32_t longest)
      : source_(std::move(source)), target_(std::move(target)), longest_(longest) {}

  using Tokenizer::decode;
  using Tokenizer::encode;

  void encode(std::string_view text, Side which, std::vector<std::int32_t>& ids) const override {
    const OneSide& side = at(which);
    const auto add = [&](std::string_view piece) {
      const std::int32_t id = side.table->find(piece).value_or(side.special.unk);
      ids.push_back(id == side.special.pad ? side.special.unk : id);  // Marian has no padding token
    };
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      const std::string_view word = text.substr(begin, end - begin);
      begin = end + 1;
      if (word.empty()) continue;
      if (!side.codes) {
        add(word);
        continue;
      }
      pieces.clear();
      side.codes->split(word, pieces);
      for (const std::string& piece : pieces) add(piece);
    }
  }

  TextFrame frame(Side side, std::string_view language) const override {
    TextFrame frame = Tokenizer::frame(side, language);
    frame.suffix = {special(side).eos};
    return frame;
  }

  std::string decode(std::span<const std::int32_t> ids, Side which) const override {
    const OneSide& side = at(which);
    std::vector<std::string> pieces;
    for (const std::int32_t id : ids)
      if (id != side.special.eos && id != side.special.pad) pieces.push_back(side.table->piece(id));
    return side.codes ? SubwordNmt::join(pieces) : fmt::format("{}", fmt::join(pieces, " "));
  }

  const std::string& piece(std::int32_t id, Side side) const override { return at(side).table->piece(id); }
  std::optional<std::int32_t> find(std::string_view piece, Side side) const override {
    return at(side).table->find(piece);
  }
  std::int32_t size(Side side) const override { return at(side).table->size(); }
  const SpecialIds& special(Side side) const override { return at(side).special; }
  bool shared_vocabulary() const override { return source_.table == target_.table; }
  std::int32_t model_max_length() const override { return longest_; }

  std::vector<TokenizerFile> files() const override {
    std::vector<TokenizerFile> all = {{"vocab.json", source_.table->json()}};
    if (!shared_vocabulary()) all.push_back({"target_vocab.json", target_.table->json()});
    const nlohmann::ordered_json config{{"tokenizer_class", word_class},
                                        {"pad_token", source_.table->piece(source_.special.pad)},
                                        {"model_max_length", longest_},
                                        {"separate_vocabs", !shared_vocabulary()}};
    all.push_back({"tokenizer_config.json", json_text(config, 2) + "\n"});
    if (source_.codes) all.push_back({"source.bpe", source_.codes->codes()});
    if (target_.codes) all.push_back({"target.bpe", target_.codes->codes()});
    return all;
  }

 private:
  const OneSide& at(Side side) const { return side == Side::source ? source_ : target_; }

  OneSide source_, target_;
  std::int32_t longest_;
};

WordTokenizer::OneSide side_of(std::shared_ptr<const PieceTable> table, const std::string& where,
                               const std::string& pad, std::optional<SubwordNmt> codes) {
  WordTokenizer::OneSide side{.table = std::move(table), .special = {}, .codes = std::move(codes)};
  const auto id = [&](const std::string& word) {
    const auto found = side.table->find(word);
    if (!found) fail(where, fmt::format("has no \"{}\"", word), "every vocabulary of Marian's needs it");
    return *found;
  };
  side.special.unk = id("<unk>");
  side.special.eos = id("</s>");
  side.special.pad = side.special.decoder_start = id(pad);
  return side;
}

std::string path_in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

}  // namespace

std::shared_ptr<const Tokenizer> make_word_tokenizer(WordVocabularies v) {
  std::string pad = "<pad>";
  while (v.source.find(pad) || v.target.find(pad)) pad.insert(pad.size() - 1, "_");
  const auto with_pad = [&](PieceTable& table) {
    table.put(pad, v.pad);
    return std::make_shared<const PieceTable>(std::move(table));
  };
  const auto source = with_pad(v.source);
  const auto target = v.shared ? source : with_pad(v.target);
  return std::make_shared<WordTokenizer>(
      side_of(source, v.source_where, pad, std::move(v.source_codes)),
      side_of(target, v.shared ? v.source_where : v.target_where, pad, std::move(v.target_codes)), v.model_max_length);
}

bool is_word_directory(const std::string& directory) {
  const std::string path = path_in(directory, "tokenizer_config.json");
  if (!is_present(path)) return false;
  const auto json = nlohmann::json::parse(read_text(path, largest_tokenizer_file), nullptr, false);
  return json.is_object() && json.value("tokenizer_class", nlohmann::json()) == word_class;
}

std::shared_ptr<const Tokenizer> load_word_tokenizer(const std::string& directory) {
  const std::string config_path = path_in(directory, "tokenizer_config.json");
  const nlohmann::json json = read_json(config_path);
  const JsonObject config(json, config_path);
  const auto table = [&](const char* name) {
    const std::string path = path_in(directory, name);
    return std::make_shared<const PieceTable>(PieceTable::parse(read_text(path, largest_tokenizer_file), path));
  };
  const std::string pad = config.get<std::string>("pad_token");
  const auto source = table("vocab.json");
  const bool separate = config.get<bool>("separate_vocabs", false);
  const auto target = separate ? table("target_vocab.json") : source;
  const auto codes = [&](const char* name) -> std::optional<SubwordNmt> {
    const std::string path = path_in(directory, name);
    if (!is_present(path)) return std::nullopt;
    return SubwordNmt::parse(read_text(path, largest_tokenizer_file), path);
  };
  return std::make_shared<WordTokenizer>(
      side_of(source, path_in(directory, "vocab.json"), pad, codes("source.bpe")),
      side_of(target, path_in(directory, separate ? "target_vocab.json" : "vocab.json"), pad, codes("target.bpe")),
      static_cast<std::int32_t>(config.size("model_max_length", 512)));
}

}  // namespace tril
