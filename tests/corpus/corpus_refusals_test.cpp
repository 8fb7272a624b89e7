// What a corpus refuses: bad files and options, and a checkpoint's state of another corpus or another text.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/hash.h"
#include "corpus/document.h"
#include "corpus/reader.h"
#include "support/numbered_pairs.h"
#include "support/temporary.h"

namespace tril::corpus_refusals_test {
namespace {

using namespace numbered;

TEST(Corpus, NamesBadFilesAndOptions) {
  const TemporaryDirectory at;
  const auto error_with = [&](auto&& change) {
    CorpusOptions options = options_for(at, 20);
    change(options);
    return error_of([&] { read_batches(options, words); });
  };
  EXPECT_EQ(error_with([](CorpusOptions&) {}), "");
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.source = {at.path("no")}; }), "No such file"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.source = {at.path()}; }), "directory"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.source = {at.write("e", "")}; }), "is empty"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.source = {"-"}; }), "regular file"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.source.clear(); }), "no files"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.target.clear(); }), "1 source files", "0 target files"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.tsv = o.source; }), "expected either tab-separated files"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.max_tokens = 1; }), "max_tokens"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) { o.max_length = 1; }), "max_length"));
  EXPECT_TRUE(contains(error_with([&](CorpusOptions& o) {
                         o.source = {at.write("x", "\n\n")};
                         o.target = {at.write("y", "1\n2\n")};
                       }),
                       "no usable pair", "2 pairs", "2 empty"));
}

TEST(Corpus, RefusesAStateOfAnother) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 100);
  Corpus corpus(options, words);
  take(corpus, 5);
  CorpusOptions changed = options;
  changed.max_tokens = 120;
  EXPECT_TRUE(contains(error_of([&] { Corpus(changed, words, corpus.state()); }), "differ"));
  for (const char* bad : {"[]", "{}", R"({"epoch": -1})", R"({"epoch": "x"})"})
    EXPECT_TRUE(contains(error_of([&] { nlohmann::json::parse(bad).get<CorpusState>(); }), "corpus state")) << bad;
}

// A changed text is another corpus, even at the same size; a checkpoint without this hash matches any.
TEST(Corpus, RefusesAStateOfOtherText) {
  const TemporaryDirectory at;
  CorpusOptions options = options_for(at, 100);
  CorpusState state;
  {
    Corpus corpus(options, words);
    take(corpus, 5);
    state = nlohmann::json::parse(nlohmann::json(corpus.state()).dump());
    EXPECT_EQ(state, corpus.state());
  }
  EXPECT_NO_THROW(Corpus(options, words, state));
  std::string text = read_text(options.target[0], 1 << 20);
  char& digit = text[text.find_last_of("0123456789")];
  digit = digit == '1' ? '2' : '1';
  at.write(std::filesystem::path(options.target[0]).filename(), text);
  const std::string error = error_of([&] { Corpus(options, words, state); });
  EXPECT_TRUE(contains(error, "same sizes", "their text differs", "`overwrite`"));
  nlohmann::json old = state;
  old.erase("contents");
  EXPECT_NO_THROW(Corpus(options, words, old.get<CorpusState>()));
}

// A checkout without git-lfs leaves pointer files, which no reader accepts.
TEST(Corpus, RefusesAPointerOfGitLfs) {
  const TemporaryDirectory at;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 77\n",
                    path = at.write("train.de", pointer);
  for (const std::string& error : {error_of([&] { LineReader{path}; }), error_of([&] { read_document(path, 1 << 20); }),
                                   error_of([&] { check_files({.source = {path}, .target = {path}}); })})
    EXPECT_TRUE(contains(error, "train.de: ", "Git LFS pointer", "77 bytes", "`git lfs pull` in " + at.path()));
  LineReader like_it(at.write("like", "version https://git-lfs.github.com/spec/v1\nis the first line of a pointer\n"));
  std::string line;
  EXPECT_EQ(like_it.next(line), Line::text);
  EXPECT_EQ(line, "version https://git-lfs.github.com/spec/v1");
}

// A large file is sampled in 64 stretches, the first at its start and the last at its end. Old versions rounded the
// offsets, and had one more stretch at the end: their checkpoints still match.
TEST(Corpus, LargeFilesAreToldApartByStretches) {
  const TemporaryDirectory dir;
  constexpr std::size_t size = (std::size_t{256} << 20) + (1 << 20) + 77, stretch = 4 << 20, last = size - stretch;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "a b c\n";
  const std::string path = dir.write("large", text);
  std::filesystem::resize_file(path, size);  // zeros, which take no space
  CorpusOptions options;
  options.source = {path}, options.target = {path};
  options.max_tokens = 100, options.max_length = 100, options.prefetch = 0;

  const MappedFile file = MappedFile::open(path);
  const auto add = [&](Hash& hash, std::size_t begin) {
    hash.add(static_cast<std::int64_t>(content_hash(file.bytes().subspan(begin, stretch))));
  };
  Hash even, old;
  for (std::size_t i = 0; i < 64; ++i) add(even, last * i / 63), add(old, last / 63 * i);
  add(old, last);
  const auto both_files = [](const Hash& one) {
    return Hash().add(static_cast<std::int64_t>(one.value())).add(static_cast<std::int64_t>(one.value())).value();
  };
  EXPECT_EQ(corpus_contents(options), both_files(even));
  EXPECT_NE(both_files(even), both_files(old));

  CorpusState state;
  state.contents = both_files(old);
  EXPECT_EQ(error_of([&] { Corpus(options, words, state); }), "");
  state.contents += 1;
  EXPECT_TRUE(contains(error_of([&] { Corpus(options, words, state); }), "but their text differs"));
}

}  // namespace
}  // namespace tril::corpus_refusals_test
