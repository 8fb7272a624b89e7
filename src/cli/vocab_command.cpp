// tril vocab: learns a subword vocabulary from text.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "cli/commands.h"
#include "text/sentencepiece_file.h"
#include "text/vocabulary.h"

namespace tril::cli {
namespace {

struct VocabOptions {
  std::vector<std::string> train_sets;
  bool tsv = false;
  std::string out;
  VocabularyOptions vocabulary;
};

Fields fields_of(VocabOptions& o) {
  VocabularyOptions& v = o.vocabulary;
  Fields f;
  f.group("Text");
  f.add("train-sets", &o.train_sets, "text to learn from, plain or gzip; a joint vocabulary takes both sides' files")
      .value_name("FILE")
      .required();
  f.add("tsv", &o.tsv, "the files hold two columns with a tab between; learn from both");
  f.add("skip-invalid", &v.skip_invalid, "pass over lines that are not UTF-8");
  f.add("max-lines", &v.max_lines, "a larger text is sampled down to this many lines").at_least(1);
  f.add("seed", &v.seed, "of that sample");
  f.group("Vocabulary");
  f.add("out", &o.out, "where the SentencePiece model goes").letter('o').value_name("FILE").required();
  f.add("size", &v.size, "number of pieces").at_least(4).at_most(1'000'000);
  f.add("type", &v.model, "byte-pair encoding, a unigram language model, or single characters (--size at most)",
        {{"bpe", SubwordModel::bpe}, {"unigram", SubwordModel::unigram}, {"char", SubwordModel::character}})
      .value_name("NAME");
  f.add("normalization", &v.normalization,
        "what is done to the text first: Unicode's NFKC, with nmt_ spaces too, with _cf lower case; or nothing",
        normalization_names())
      .value_name("NAME");
  f.add("keep-spaces", &v.keep_spaces, "leave spaces in a row and at the ends as they are, and put none in front");
  f.add("symbols", &v.symbols, "texts that are pieces of their own and never cut; \\n is the end of a line")
      .value_name("TEXT");
  f.add("character-coverage", &v.character_coverage, "share of the text's characters that get a piece of their own")
      .above(0)
      .at_most(1);
  f.add("split-digits", &v.split_digits,
        "make every digit a piece of its own, where text has much to count or to copy");
  f.add("byte-fallback", &v.byte_fallback, "spell characters without a piece in bytes, not <unk>");
  return f;
}

int learn(const VocabOptions& o) {
  AtomicFile file(o.out);  // before the work: a path that cannot be written is known at once
  std::vector<TextSource> sources;
  for (const std::string& path : o.train_sets) {
    sources.push_back({path, o.tsv ? 0 : -1});
    if (o.tsv) sources.push_back({path, 1});
  }
  VocabularyOptions options = o.vocabulary;
  std::replace(options.symbols.begin(), options.symbols.end(), std::string("\\n"), std::string("\n"));
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
           .description = "`tril train` does this by itself where no vocabulary is given; here it is for one "
                          "vocabulary of several runs.",
           .examples = {{"tril vocab --train-sets train.en train.de --size 8000 --out spm.model",
                         "one vocabulary for both languages"},
                        {"tril vocab --train-sets tok.en tok.de --normalization identity --out spm.model",
                         "text that is tokenised and lower-cased already"},
                        {"tril vocab --train-sets pairs.tsv.gz --tsv --size 16000 --type unigram --out spm.model",
                         "a unigram model from a file of pairs"}},
           .fields = fields_of(*o),
           .reads_config = true,
           .apply_preset = {},
           .run = [o](const Invocation&) { return learn(*o); }});
}

}  // namespace tril::cli
