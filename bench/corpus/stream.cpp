// The tokens that a training stream gives when nothing but a counter consumes them, for each second of processor time and of the
// clock: of pairs, or of one text for a language model. All work is counted: reading, tokenising, shuffling, batches. The first
// epoch reads the files; later ones may come from memory.
// usage: stream VOCAB SOURCE [TARGET] [--epochs N] [--ahead] [--documents]
//   VOCAB  a SentencePiece model, or a directory with a tokenizer
//   --ahead  prepare batches in other threads, as training does; default: on demand, on one thread
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "corpus/corpus.h"
#include "corpus/lm_corpus.h"
#include "corpus/vocabulary.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/tokenizer.h"

namespace {

using namespace tril;

struct Arguments {
  std::vector<std::string> files;
  int epochs = 1;
  bool ahead = false, documents = false;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--ahead")
      a.ahead = true;
    else if (word == "--documents")
      a.documents = true;
    else if (word == "--epochs" && i + 1 < argc)
      a.epochs = std::stoi(argv[++i]);
    else
      a.files.push_back(word);
  }
  return a;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) return load_tokenizer(path);
  MarianParts parts;
  parts.source_spm = parts.target_spm = read_sentencepiece(path);
  return make_marian_tokenizer(std::move(parts));
}

std::unique_ptr<BatchStream> stream_of(const Arguments& a, const std::shared_ptr<const Tokenizer>& tokenizer) {
  if (a.files.size() == 2) {
    LmCorpusOptions o;
    o.file = a.files[1];
    if (a.documents) o.documents = Documents::lines;
    return std::make_unique<LmCorpus>(o, *tokenizer);
  }
  CorpusOptions o;
  o.source = {a.files[1]}, o.target = {a.files[2]};
  o.max_tokens = 4096;
  if (!a.ahead) o.prefetch = 0, o.threads = 1;
  return std::make_unique<Corpus>(o, tokenizer);
}

int run(const Arguments& a) {
  const auto tokenizer = tokenizer_of(a.files[0]);
  double begin = seconds_now();
  std::clock_t used = std::clock();
  const std::unique_ptr<BatchStream> stream = stream_of(a, tokenizer);
  for (int epoch = 1; epoch <= a.epochs; ++epoch) {
    std::int64_t tokens = 0;
    for (bool last = false; !last;) {
      const Batch batch = stream->next();
      last = batch.last_of_epoch;
      tokens += batch.target_tokens() + (a.files.size() == 3 ? batch.source_tokens() : 0);
    }
    const double seconds = seconds_now() - begin, processor = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
    std::printf("epoch %d: %lld tokens, %.0f per second of a processor, %.0f per second\n", epoch,
                static_cast<long long>(tokens), static_cast<double>(tokens) / processor,
                static_cast<double>(tokens) / seconds);
    begin = seconds_now(), used = std::clock();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  if (a.files.size() != 2 && a.files.size() != 3) {
    std::fprintf(stderr, "usage: stream VOCAB SOURCE [TARGET] [--epochs N] [--ahead] [--documents]\n");
    return 2;
  }
  try {
    return run(a);
  } catch (const Error& error) {
    std::fprintf(stderr, "stream: %s\n", error.what());
    return 1;
  }
}
