#include "model_io/ctranslate2/ctranslate2_tokenizer.h"

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/tokenizer_files.h"

namespace tril::model {
namespace {

constexpr std::int32_t most_ids = 1000;  // the most ids of a text, which bounds batches

// A SentencePiece model in the package, or next to the model.
struct SpmFile {
  const FileShelf* shelf = nullptr;
  std::string name;
};

// The model that splits one side's texts.
std::optional<SpmFile> find_spm(const Ctranslate2Files& files, const char* own) {
  for (const FileShelf* shelf : {&files.model, files.package ? &*files.package : nullptr}) {
    if (!shelf) continue;
    for (const char* name :
         {own, "sentencepiece.model", "spm.model", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model"})
      if (shelf->has(name)) return SpmFile{shelf, name};
  }
  return std::nullopt;
}

PieceTable table_of(const std::vector<std::string>& pieces, const std::string& where) {
  PieceTable table;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].empty()) continue;
    if (table.find(pieces[id])) fail(where, fmt::format("has the piece {} twice", printable(pieces[id], 100)));
    table.put(pieces[id], static_cast<std::int32_t>(id));
  }
  return table;
}

// Hugging Face's files must have the ids of the model's vocabulary.
void check_ids(const Tokenizer& tokenizer, const std::vector<std::string>& pieces, Side side,
               const std::string& where) {
  std::size_t known = 0;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const auto found = tokenizer.find(pieces[id], side);
    if (found && *found != static_cast<std::int32_t>(id))
      fail(where,
           fmt::format("numbers the piece {} as {}, and {} as {}", printable(pieces[id], 100), id,
                       printable(tokenizer.where(), 400), *found),
           "the tokenizer's files belong to another model: copy those of the original one");
    known += found ? 1 : 0;
  }
  if (2 * known < pieces.size())
    fail(where,
         fmt::format("has {} pieces, of which {} knows only {}", pieces.size(), printable(tokenizer.where(), 400),
                     known),
         "the tokenizer's files belong to another model: copy those of the original one");
}

}  // namespace

Ctranslate2Vocabularies read_ctranslate2_vocabularies(const Ctranslate2Files& files, bool translates) {
  const auto read = [&](const char* name) { return read_ctranslate2_vocabulary(files.model, name); };
  const auto place = [&](const std::string& name) {
    return files.model.place_of(files.model.has(name + ".json") ? name + ".json" : name + ".txt");
  };
  const auto need = [&](const char* name) {
    auto pieces = read(name);
    if (!pieces)
      fail(files.model.place_of(std::string(name) + ".json"), "is missing, and so is a .txt",
           "the model is incomplete: get it again");
    return *std::move(pieces);
  };
  Ctranslate2Vocabularies v;
  if (!translates) {
    v.target = need("vocabulary");
    v.where = place("vocabulary");
  } else if (auto shared = read("shared_vocabulary")) {
    v = {.source = *shared, .target = *shared, .shared = true, .where = place("shared_vocabulary")};
  } else {
    if (files.model.has("source_1_vocabulary.json") || files.model.has("source_1_vocabulary.txt"))
      fail(files.model.place_of("source_1_vocabulary"),
           "belongs to a model with word features, which is not supported");
    v = {.source = need("source_vocabulary"),
         .target = need("target_vocabulary"),
         .shared = false,
         .where = place("target_vocabulary")};
  }
  return v;
}

bool has_published_tokenizer(const Ctranslate2Files& files) {
  if (files.directory.empty()) return false;
  // OPUS-MT's .spm files have no valid ids of their own.
  if (files.model.has("source.spm") && !files.model.has("vocab.json")) return false;
  return tril::has_tokenizer(files.directory.string());
}

bool has_ctranslate2_tokenizer(const Ctranslate2Files& files) {
  return has_published_tokenizer(files) || find_spm(files, "source.spm");
}

std::shared_ptr<const Tokenizer> load_ctranslate2_tokenizer(const Ctranslate2Files& files,
                                                            const Ctranslate2Vocabularies& pieces,
                                                            const Ctranslate2Tokens& tokens, std::int32_t rows) {
  if (has_published_tokenizer(files)) {
    auto tokenizer = load_tokenizer(files.directory.string());
    if (!pieces.source.empty()) check_ids(*tokenizer, pieces.source, Side::source, pieces.where);
    check_ids(*tokenizer, pieces.target, Side::target, pieces.where);
    return tokenizer;
  }
  const std::optional<SpmFile> source = find_spm(files, "source.spm"), target = find_spm(files, "target.spm");
  if (!source || !target || pieces.source.empty()) {
    const bool moses = files.package && files.package->has("bpe.model");
    fail(files.model.place_of("model.bin"),
         moses ? "belongs to a package whose bpe.model splits text like Moses and subword-nmt, which is not supported"
               : "has ids for pieces, but no file next to it splits text into pieces",
         "put the original model's tokenizer files next to it: sentencepiece.model, source.spm and target.spm, or "
         "tokenizer.json");
  }
  if (tokens.adds_source_bos)
    fail(files.model.place_of("config.json"), "add_source_bos: true is not supported beside a SentencePiece model");
  const auto side = [&](const SpmFile& spm, const std::vector<std::string>& list) {
    return MarianVocabulary{.table = table_of(list, pieces.where),
                            .spm = spm.shelf->text(spm.name, largest_tokenizer_file),
                            .where = pieces.where,
                            .spm_where = spm.shelf->place_of(spm.name)};
  };
  return make_marian_tokenizer({.source = side(*source, pieces.source),
                                .target = side(*target, pieces.target),
                                .shared = pieces.shared,
                                .splits_special_tokens = false,
                                .pad = rows - 1,
                                .model_max_length = most_ids,
                                .eos = tokens.eos,
                                .unk = tokens.unk,
                                .adds_source_eos = tokens.adds_source_eos || tokens.starts_from_zero,
                                .source_lang = files.from,
                                .target_lang = files.to});
}

}  // namespace tril::model
