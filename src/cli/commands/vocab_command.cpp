// tril vocab: learns a subword vocabulary from text.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/atomic_directory.h"
#include "base/number_text.h"
#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "cli/options/new_directory.h"
#include "corpus/byte_vocabulary.h"
#include "corpus/extend_vocabulary.h"
#include "corpus/vocabulary.h"
#include "format/sentencepiece_file.h"
#include "model_io/exports/grow_vocabulary.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {
namespace {

struct VocabOptions {
  std::vector<std::string> train_sets;
  bool tsv = false;
  std::string out, extend;
  std::int64_t add = 0;
  std::vector<std::string> language_tags;
  VocabularyOptions vocabulary;
  std::int64_t min_frequency = ByteVocabularyOptions{}.min_frequency;
};

Fields fields_of(VocabOptions& o) {
  VocabularyOptions& v = o.vocabulary;
  Fields f;
  f.group("Text");
  f.add("train-sets", &o.train_sets,
        "text to learn from, plain or gzip; for a joint vocabulary, the files of both sides")
      .value_name("FILE")
      .required();
  f.add("tsv", &o.tsv, "the files have two tab-separated columns; learn from both");
  f.add("skip-invalid", &v.skip_invalid, "skip lines that are not UTF-8");
  f.add("max-lines", &v.max_lines, "maximum number of lines to learn from; a larger text is sampled").at_least(1);
  f.add("seed", &v.seed, "seed of the sample");
  f.group("Vocabulary");
  f.add("out", &o.out,
        "output file for the SentencePiece model, - is standard output; with --type byte_bpe, a directory for "
        "tokenizer.json; "
        "with --extend, the new model directory")
      .letter('o')
      .value_name("FILE")
      .required();
  f.add("size", &v.size, "number of pieces").at_least(4).at_most(1'000'000);
  f.add("type", &v.model,
        "byte-pair encoding; a unigram language model; single characters, at most --size of them; or byte-level BPE as "
        "in GPT-2, written as tokenizer.json",
        subword_names())
      .value_name("NAME");
  f.add("min-frequency", &o.min_frequency, "byte_bpe: pairs of pieces that occur more rarely are not merged")
      .at_least(1);
  f.add("normalization", &v.normalization,
        "normalization of the text: Unicode NFKC; nmt_: white space too; _cf: case folding too; identity: none",
        normalization_names())
      .value_name("NAME");
  f.add("keep-spaces", &v.keep_spaces, "keep repeated, leading and trailing spaces, and do not add one in front");
  f.add("symbols", &v.symbols, "texts that each become a piece and are never split; \\n is the end of a line")
      .value_name("TEXT");
  f.add("character-coverage", &v.character_coverage,
        "share of the text's characters that must get a piece of their own")
      .above(0)
      .at_most(1);
  f.add("split-digits", &v.split_digits, "make every digit a piece of its own, for text with many numbers");
  f.add("byte-fallback", &v.byte_fallback, "spell characters without a piece in bytes instead of <unk>");
  f.group("Extension");
  f.add("extend", &o.extend,
        "model directory to add pieces to; if its sides have separate SentencePiece models, --train-sets alternate "
        "between source and target")
      .value_name("DIR");
  f.add("add", &o.add, "number of pieces to add").at_least(0).at_most(1'000'000);
  f.add("language-tags", &o.language_tags, "languages whose tags are added (de: >>de<<)").value_name("NAME");
  for (const char* name : {"add", "language-tags"}) f.needs(name, "extend", "the size of a new vocabulary is --size");
  for (const char* name : {"size", "type", "min-frequency", "normalization", "character-coverage", "split-digits",
                           "byte-fallback", "keep-spaces", "symbols"})
    f.excludes("extend", name, "an extended vocabulary keeps its settings");
  return f;
}

// Adds rows for the new ids to the weights; a directory with only a tokenizer has none.
void grow_model(const VocabOptions& o, const ExtendedTokenizer& more, const std::filesystem::path& to) {
  const std::filesystem::path from(o.extend);
  if (!std::filesystem::exists(from / "config.json")) return;
  const std::unique_ptr<model::Model> model = model::load(model::ModelSource::open(from));
  const auto* marian = dynamic_cast<const model::Marian*>(model.get());
  if (!marian)
    fail_usage(o.extend, fmt::format("is a {} model, but only marian models can be extended", model->family()));
  model::save(
      *model::with_more_words(*marian, {more.old_source, more.source_parts}, {more.old_target, more.target_parts}), to);
  if (std::filesystem::exists(from / "generation_config.json"))  // its ids stay valid
    write_file_atomic((to / "generation_config.json").string(),
                      read_text((from / "generation_config.json").string(), 1 << 20));
}

int extend(const VocabOptions& o) {
  check(o.add > 0 || !o.language_tags.empty(), "--extend", "nothing to add: pass --add or --language-tags");
  std::error_code ignored;
  if (o.out == "-") fail_usage("--out", "--extend writes a directory, not to standard output", "pass its name");
  if (std::filesystem::exists(o.out, ignored))
    fail_usage(o.out, "already exists", "choose another --out: the extended model is not changed");
  ExtensionRequest request;
  request.count = o.add;
  request.text = o.vocabulary;
  for (const std::string& name : o.language_tags) request.tags.push_back(language_tag(name, "--language-tags"));
  for (std::size_t i = 0; i < o.train_sets.size(); ++i) {
    if (o.tsv) {
      request.source.push_back({o.train_sets[i], 0});
      request.target.push_back({o.train_sets[i], 1});
    } else {
      (i % 2 == 0 ? request.source : request.target).push_back({o.train_sets[i]});
    }
  }
  const ExtendedTokenizer more = extend_marian_tokenizer(o.extend, request);
  write_directory(o.out, "config.json", [&](const std::string& out) {
    grow_model(o, more, out);
    save_tokenizer(*more.tokenizer, out);
  });
  spdlog::info("{}: {} of the source, {} of the target", o.out, counted(more.source_parts.size(), "new token"),
               more.target_parts.size());
  return exit_success;
}

std::vector<TextSource> sources_of(const VocabOptions& o) {
  std::vector<TextSource> sources;
  for (const std::string& path : o.train_sets) {
    sources.push_back({path, o.tsv ? 0 : -1});
    if (o.tsv) sources.push_back({path, 1});
  }
  return sources;
}

std::vector<std::string> symbols_of(const VocabOptions& o) {
  std::vector<std::string> symbols = o.vocabulary.symbols;
  std::replace(symbols.begin(), symbols.end(), std::string("\\n"), std::string("\n"));
  return symbols;
}

// Refuses options that only the other kinds of vocabularies have.
void check_kind(const VocabOptions& o, const Fields& fields) {
  const bool bytes = o.vocabulary.model == SubwordKind::byte_bpe;
  const std::vector<std::string> others =
      bytes ? std::vector<std::string>{"max-lines",          "seed",         "normalization", "keep-spaces",
                                       "character-coverage", "byte-fallback"}
            : std::vector<std::string>{"min-frequency"};
  for (const std::string& name : others)
    if (const Field* field = fields.find(name); field && field->given())
      fail_usage(field->given_at(), bytes ? "has no effect with --type byte_bpe, which takes all lines as they are"
                                          : "has no effect without --type byte_bpe");
}

int learn_bytes(const VocabOptions& o) {
  std::error_code ignored;
  if (o.out == "-") fail_usage("--out", "--type byte_bpe writes a directory, not to standard output", "pass its name");
  if (std::filesystem::exists(o.out, ignored) && !std::filesystem::is_directory(o.out, ignored))
    fail_usage("--out", fmt::format("{} is a file, but --type byte_bpe writes a directory", o.out));
  refuse_models(o.out, "--out");
  const auto tokenizer = train_byte_tokenizer(sources_of(o), {.size = o.vocabulary.size,
                                                              .min_frequency = o.min_frequency,
                                                              .symbols = symbols_of(o),
                                                              .split_digits = o.vocabulary.split_digits,
                                                              .skip_invalid = o.vocabulary.skip_invalid});
  write_directory(o.out, "tokenizer.json", [&](const std::string& out) { save_tokenizer(*tokenizer, out); });
  spdlog::info("{}: {} pieces", o.out, tokenizer->size(Side::target));
  return exit_success;
}

int learn(const VocabOptions& o) {
  OutputFile file(o.out);  // opened first, so that an unwritable path is reported at once
  const std::vector<TextSource> sources = sources_of(o);
  VocabularyOptions options = o.vocabulary;
  options.symbols = symbols_of(o);
  const std::string model = train_sentencepiece(sources, options);
  file.write(model);
  file.commit();
  spdlog::info("{}: {} pieces", o.out, read_sentencepiece_file(model).pieces.size());
  return exit_success;
}

}  // namespace

void add_vocab(App& app) {
  auto o = std::make_shared<VocabOptions>();
  app.add({.name = "vocab",
           .summary = "learn a subword vocabulary from text",
           .description = "`tril train` learns a vocabulary itself if none is given; this command is for a vocabulary "
                          "shared by several runs.",
           .examples = {{"tril vocab --train-sets train.en train.de --size 8000 --out spm.model",
                         "one vocabulary for both languages"},
                        {"tril vocab --train-sets tok.en tok.de --normalization identity --out spm.model",
                         "text that is already tokenised and lower-cased"},
                        {"tril vocab --train-sets pairs.tsv.gz --tsv --size 16000 --type unigram --out spm.model",
                         "a unigram model from a file of pairs"},
                        {"tril vocab --train-sets train.txt --type byte_bpe --size 16000 --out pieces",
                         "byte-level BPE for language models: tril train --vocab pieces"},
                        {"tril vocab --extend de --train-sets new.en new.de --add 1000 --out wider",
                         "a model with 1,000 more pieces for another kind of text, to be trained further"}},
           .fields = fields_of(*o),
           .reads_config = true,
           .outputs = {"out"},
           .apply_preset = {},
           .run = [o](const Invocation& i) {
             const EndingSignal ending;
             if (!o->extend.empty()) return extend(*o);
             check_kind(*o, i.fields);
             return o->vocabulary.model == SubwordKind::byte_bpe ? learn_bytes(*o) : learn(*o);
           }});
}

}  // namespace tril::cli
