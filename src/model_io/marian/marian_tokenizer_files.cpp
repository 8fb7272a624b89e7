#include "model_io/marian/marian_tokenizer_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "format/yaml_file.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/tokenizer_files.h"
#include "tokenizer/files/word_tokenizer.h"

namespace tril::model {
namespace {

constexpr JsonLimits vocabulary_limits{.bytes = largest_tokenizer_file, .depth = 2, .values = 20'000'000};
constexpr std::int32_t longest_text = 1000;  // Marian's own limit

bool is_spm(const std::string& name) {
  return name.ends_with(".spm");
}

// The pieces whose ids have a row in the model. As in Marian, other pieces are unknown.
nlohmann::json within(const nlohmann::json& pieces, std::int64_t rows) {
  nlohmann::json kept = nlohmann::json::object();
  for (const auto& [piece, id] : pieces.items())
    if (!id.is_number_integer() || id.get<std::int64_t>() < rows) kept[piece] = id;
  return kept;
}

// As in Marian, id 0 is the end of sentence if it is unused or has the name that Nematus gives it; id 1 likewise is the unknown
// word. These ids get Marian's names.
void name_special_ids(nlohmann::json& pieces, const std::string& where) {
  const std::array<std::array<std::string, 2>, 2> names{{{"</s>", "eos"}, {"<unk>", "UNK"}}};
  std::int64_t largest = 0;
  std::array<std::string, 2> used;
  for (const auto& [piece, id] : pieces.items()) {
    if (!id.is_number_integer()) continue;
    const auto number = id.get<std::int64_t>();
    largest = std::max(largest, number);
    if (number == 0 || number == 1) used[static_cast<std::size_t>(number)] = piece;
  }
  for (std::size_t id = 0; id < 2; ++id) {
    const auto& [name, of_nematus] = names[id];
    const bool is_unused = used[id].empty() && std::cmp_less_equal(id, largest);
    if (!is_unused && used[id] != of_nematus) continue;
    if (const auto other = pieces.find(name); other != pieces.end())
      fail(
          where,
          fmt::format("\"{}\" has the id {}, but Marian takes id {} for it, which {}", name,
                      printable(other->dump(), 40), id, is_unused ? "is unused" : fmt::format("is \"{}\"", of_nematus)),
          fmt::format("give \"{}\" the id {} in the vocabulary", name, id));
    pieces.erase(of_nematus);
    pieces[name] = id;
  }
}

MarianVocabulary of_spm(const FileShelf& shelf, const std::string& name, std::int64_t rows) {
  MarianVocabulary v{.table = {}, .spm = shelf.text(name, largest_tokenizer_file), .where = {}, .spm_where = {}};
  v.where = v.spm_where = shelf.place_of(name);
  nlohmann::json pieces = nlohmann::json::object();
  const SentencePieceFile file = read_sentencepiece_file(v.spm);
  for (std::size_t id = 0; id < file.pieces.size(); ++id)
    pieces.emplace(file.pieces[id].type == PieceType::unknown ? "<unk>" : file.pieces[id].text, id);
  v.table = PieceTable::of(within(pieces, rows), v.where);
  return v;
}

// subword-nmt's codes for a side: source.bpe and target.bpe, as older models of OPUS-MT have them, or bpe.codes for both. Marian's
// own files do not name them. The preprocess.sh of OPUS-MT runs Moses before subword-nmt.
std::optional<SubwordNmt> codes_of(const FileShelf& shelf, std::size_t side) {
  for (const std::string name : {side == 0 ? "source.bpe" : "target.bpe", "bpe.codes"}) {
    if (!shelf.has(name)) continue;
    if (shelf.has("preprocess.sh"))
      fail(shelf.place_of("preprocess.sh"), "runs Moses' tokenizer before subword-nmt, which is not supported",
           "use a release of the model that has source.spm and target.spm, as OPUS-MT has for most languages");
    return SubwordNmt::parse(shelf.text(name, largest_tokenizer_file), shelf.place_of(name));
  }
  return std::nullopt;
}

// Fails unless a vocabulary without codes has whole words, which need no file that splits text.
void check_has_words(const std::string& where, const nlohmann::json& pieces) {
  for (const auto& [piece, id] : pieces.items()) {
    if (piece.find("\u2581") != piece.npos)
      fail(where, "has ids for SentencePiece's pieces, but no file next to it splits text into pieces",
           "put the SentencePiece models source.spm and target.spm there, as OPUS-MT has them");
    if (piece.size() > 2 && piece.ends_with("@@"))
      fail(where, "has ids for subword-nmt's pieces (\"@@\"), but its codes are not next to it",
           "put the codes there: source.bpe and target.bpe, or bpe.codes for both sides");
  }
}

// Without an spm: a vocabulary of whole words.
MarianVocabulary of_yaml(const FileShelf& shelf, const std::string& name, const std::optional<std::string>& spm,
                         std::int64_t rows, bool has_codes) {
  MarianVocabulary v;
  v.where = shelf.place_of(name);
  if (!name.ends_with(".yml") && !name.ends_with(".yaml") && !name.ends_with(".json"))
    fail(v.where, "is a vocabulary of another form, expected .spm, .yml or .json");
  nlohmann::json pieces = parse_yaml(shelf.text(name, largest_tokenizer_file), v.where, vocabulary_limits);
  if (!pieces.is_object() || pieces.empty()) fail(v.where, "is not a mapping of pieces to ids");
  name_special_ids(pieces, v.where);
  v.table = PieceTable::of(within(pieces, rows), v.where);
  if (!spm) {
    if (!has_codes) check_has_words(v.where, pieces);
    return v;
  }
  v.spm = shelf.text(*spm, largest_tokenizer_file);
  v.spm_where = shelf.place_of(*spm);
  return v;
}

}  // namespace

std::shared_ptr<const Tokenizer> load_marian_vocabularies(const MarianFiles& files, const JsonObject& yml) {
  if (files.vocabularies.empty())
    fail(files.shelf.place_of(files.weights), "has no vocabulary next to it",
         "put the .spm or .yml files there that the model was trained with");
  std::array<std::optional<SubwordNmt>, 2> codes;
  const auto side = [&](std::size_t i, const std::optional<std::string>& spm) {
    const std::string& name = files.vocabularies[i];
    if (!is_spm(name) && !spm) codes[i] = codes_of(files.shelf, i);
    const std::int64_t rows = marian_vocabulary(yml, i);
    return is_spm(name) ? of_spm(files.shelf, name, rows) : of_yaml(files.shelf, name, spm, rows, codes[i].has_value());
  };
  MarianVocabulary source = side(0, files.source_spm), target = side(1, files.target_spm);
  const bool shared = files.vocabularies[0] == files.vocabularies[1];
  const auto pad = static_cast<std::int32_t>(marian_rows(yml) - 1);
  if (source.spm.empty() != target.spm.empty())
    fail(source.spm.empty() ? source.where : target.where,
         "has whole words, but the vocabulary of the other side has SentencePiece's pieces, which is not supported");
  if (source.spm.empty())
    return make_word_tokenizer({.source = std::move(source.table),
                                .target = std::move(target.table),
                                .source_where = source.where,
                                .target_where = target.where,
                                .shared = shared,
                                .pad = pad,
                                .model_max_length = longest_text,
                                .source_codes = std::move(codes[0]),
                                .target_codes = std::move(codes[1])});
  return make_marian_tokenizer({.source = std::move(source),
                                .target = std::move(target),
                                .shared = shared,
                                .splits_special_tokens = is_spm(files.vocabularies[0]),
                                .pad = pad,
                                .model_max_length = longest_text});
}

}  // namespace tril::model
