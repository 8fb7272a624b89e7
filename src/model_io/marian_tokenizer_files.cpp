#include "model_io/marian_tokenizer_files.h"

#include "base/error.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "format/yaml_file.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/tokenizer_files.h"

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

// Older models of OPUS-MT have source.bpe and target.bpe, and a preprocess.sh that runs Moses before subword-nmt.
[[noreturn]] void fail_without_spm(const FileShelf& shelf, const std::string& vocabulary) {
  for (const char* codes : {"source.bpe", "target.bpe"})
    if (shelf.has(codes))
      fail(shelf.place_of(codes), "splits words like subword-nmt, after Moses' tokenizer, which is not supported",
           "use a release of the model that has source.spm and target.spm, as OPUS-MT has for most languages");
  fail(vocabulary, "has ids for pieces, but no file next to it splits text into pieces",
       "put the SentencePiece models source.spm and target.spm there, as OPUS-MT has them; a vocabulary of whole words "
       "is "
       "not supported");
}

MarianVocabulary of_yaml(const FileShelf& shelf, const std::string& name, const std::optional<std::string>& spm,
                         std::int64_t rows) {
  MarianVocabulary v;
  v.where = shelf.place_of(name);
  if (!name.ends_with(".yml") && !name.ends_with(".yaml") && !name.ends_with(".json"))
    fail(v.where, "is a vocabulary of another form, expected .spm, .yml or .json");
  if (!spm) fail_without_spm(shelf, v.where);
  const nlohmann::json pieces = parse_yaml(shelf.text(name, largest_tokenizer_file), v.where, vocabulary_limits);
  if (!pieces.is_object() || pieces.empty()) fail(v.where, "is not a mapping of pieces to ids");
  v.table = PieceTable::of(within(pieces, rows), v.where);
  v.spm = shelf.text(*spm, largest_tokenizer_file);
  v.spm_where = shelf.place_of(*spm);
  return v;
}

}  // namespace

std::shared_ptr<const Tokenizer> load_marian_vocabularies(const MarianFiles& files, const JsonObject& yml) {
  if (files.vocabularies.empty())
    fail(files.shelf.place_of(files.weights), "has no vocabulary next to it",
         "put the .spm or .yml files there that the model was trained with");
  const auto side = [&](std::size_t i, const std::optional<std::string>& spm) {
    const std::string& name = files.vocabularies[i];
    const std::int64_t rows = marian_vocabulary(yml, i);
    return is_spm(name) ? of_spm(files.shelf, name, rows) : of_yaml(files.shelf, name, spm, rows);
  };
  return make_marian_tokenizer({.source = side(0, files.source_spm),
                                .target = side(1, files.target_spm),
                                .shared = files.vocabularies[0] == files.vocabularies[1],
                                .splits_special_tokens = is_spm(files.vocabularies[0]),
                                .pad = static_cast<std::int32_t>(marian_rows(yml) - 1),
                                .model_max_length = longest_text});
}

}  // namespace tril::model
