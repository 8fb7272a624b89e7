// The blocks of a text: every token predicted once an epoch, with different cuts each time, and resumable at any batch.
#include "corpus/lm_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "corpus/document.h"
#include "support/temporary.h"
#include "tokenizer/files/gpt2_tokenizer.h"

namespace tril {
namespace {

struct Text {
  Text() {
    for (int i = 0; i < 1003; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 26);
    tokenizer = make_character_tokenizer(text, 64);
    options.file = dir.write("text", text);
    options.context = 16, options.max_tokens = 100, options.seed = 5;
  }
  TemporaryDirectory dir;
  std::string text;
  std::shared_ptr<const Tokenizer> tokenizer;
  LmCorpusOptions options;
};

TEST(LmCorpus, AnEpochPredictsEveryTokenButTheFirstOnce) {
  const Text t;
  const std::vector<std::int32_t> ids = t.tokenizer->encode(t.text);
  LmCorpus corpus(t.options, *t.tokenizer);
  std::set<std::int64_t> offsets;
  std::set<std::vector<std::int64_t>> orders;
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::map<std::int64_t, int> predicted;
    std::vector<std::int64_t> order;
    for (bool last = false; !last;) {
      const Batch batch = corpus.next();
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_LE(batch.target_tokens(), 100);
      EXPECT_EQ(batch.source, batch.target);
      for (std::int64_t r = 0; r < batch.sentences(); ++r) {
        const std::int64_t begin = batch.lines[static_cast<std::size_t>(r)];
        order.push_back(begin);
        EXPECT_LE(batch.target.length(r), 16);
        for (std::int32_t i = 0; i < batch.target.length(r); ++i) {
          const auto at = static_cast<std::size_t>(begin + i);
          EXPECT_EQ(batch.source_row(r)[static_cast<std::size_t>(i)], ids[at]);
          EXPECT_EQ(batch.target_row(r)[static_cast<std::size_t>(i)], ids[at + 1]);
          ++predicted[begin + i + 1];
        }
        if (batch.target.length(r) == 16) offsets.insert(begin % 16);
      }
      last = batch.last_of_epoch;
    }
    EXPECT_EQ(predicted.size(), 1002u);
    for (const auto& [at, times] : predicted) EXPECT_EQ(times, 1) << at;
    orders.insert(order);
    EXPECT_EQ(corpus.state().epoch, epoch + 1);
  }
  EXPECT_GT(offsets.size(), 2u) << "cut elsewhere";
  EXPECT_EQ(orders.size(), 5u);
  EXPECT_EQ(corpus.state().target_tokens, 5 * 1002);
}

TEST(LmCorpus, GoesOnFromAnyState) {
  const Text t;
  LmCorpus whole(t.options, *t.tokenizer);
  std::vector<CorpusState> states{whole.state()};
  std::vector<Batch> batches;
  for (int i = 0; i < 40; ++i) batches.push_back(whole.next()), states.push_back(whole.state());
  for (std::size_t i = 0; i < 40; i += 3) {
    LmCorpus corpus(t.options, *t.tokenizer, states[i]);
    for (std::size_t j = i; j < 40; ++j) {
      ASSERT_EQ(corpus.next(), batches[j]) << i << " " << j;
      ASSERT_EQ(corpus.state(), states[j + 1]);
    }
  }
}

TEST(LmCorpus, AStateOfAnotherTextOrOtherOptionsIsRefused) {
  const Text t;
  LmCorpus corpus(t.options, *t.tokenizer);
  corpus.next();
  LmCorpusOptions o = t.options;
  o.seed = 6;
  EXPECT_TRUE(contains(error_of([&] { LmCorpus(o, *t.tokenizer, corpus.state()); }), "differ"));
  o = t.options;
  o.context = 15;
  EXPECT_TRUE(contains(error_of([&] { LmCorpus(o, *t.tokenizer, corpus.state()); }), "differ"));
  o = t.options;
  o.file = t.dir.write("other", t.text + "a");
  EXPECT_TRUE(contains(error_of([&] { LmCorpus(o, *t.tokenizer, corpus.state()); }), "differ"));
}

// The documents of a file, as the tokens between begin and end of each row of an epoch in order.
std::vector<std::string> documents_of(const Text& t, const std::string& file, Documents how) {
  LmCorpusOptions o = t.options;
  o.file = t.dir.write("documents", file);
  o.documents = how;
  o.context = 64;
  std::vector<std::string> documents;
  const std::int32_t end = t.tokenizer->special(Side::target).eos;
  for (const Batch& b : read_lm_batches(o, *t.tokenizer))
    for (std::int64_t r = 0; r < b.sentences(); ++r) {
      const auto source = b.source_row(r), target = b.target_row(r);
      EXPECT_EQ(source.front(), end) << "this vocabulary begins a text with the end token";
      EXPECT_EQ(target.back(), end);
      EXPECT_TRUE(std::equal(source.begin() + 1, source.end(), target.begin(), target.end() - 1));
      documents.push_back(t.tokenizer->decode(target.first(target.size() - 1)));
    }
  return documents;
}

TEST(LmCorpus, DocumentsAreLinesOrWhatBlankLinesSeparate) {
  Text t;
  t.tokenizer = make_character_tokenizer("abc \n\r\t", 64);
  const std::string file = "\n a\r\nbb\n\n \t\nc\n\nab\nca";
  EXPECT_EQ(documents_of(t, file, Documents::lines), (std::vector<std::string>{" a", "bb", "c", "ab", "ca"}));
  EXPECT_EQ(documents_of(t, file, Documents::blank_lines), (std::vector<std::string>{" a\r\nbb", "c", "ab\nca"}));
  EXPECT_EQ(documents_of(t, "a", Documents::blank_lines), std::vector<std::string>{"a"});
}

// Each token of each document and its end are predicted once an epoch, from the begin of the row, which is in one document.
TEST(LmCorpus, NoRowHasTwoDocuments) {
  Text t;
  std::string file;
  for (int i = 0; i < 60; ++i)
    file += t.text.substr(static_cast<std::size_t>(7 * i), static_cast<std::size_t>(i)) + "\n";
  t.options.file = t.dir.write("lines", file);
  t.options.documents = Documents::lines;
  LmCorpus corpus(t.options, *t.tokenizer);
  EXPECT_EQ(corpus.documents(), 59) << "the first line is empty";
  const std::int32_t end = t.tokenizer->special(Side::target).eos;
  std::set<std::vector<std::int64_t>> orders;
  std::set<std::int64_t> cuts;
  for (int epoch = 0; epoch < 4; ++epoch) {
    std::map<std::int64_t, int> predicted;
    std::vector<std::int64_t> order;
    std::int64_t begun = 0;
    for (bool last = false; !last;) {
      const Batch batch = corpus.next();
      EXPECT_LE(batch.target_tokens(), 100);
      for (std::int64_t r = 0; r < batch.sentences(); ++r) {
        const auto source = batch.source_row(r), target = batch.target_row(r);
        EXPECT_LE(std::ssize(source), 16);
        EXPECT_EQ(std::count(source.begin() + 1, source.end(), end), 0) << "only a begin";
        EXPECT_EQ(std::count(target.begin(), target.end() - 1, end), 0) << "only an end";
        begun += source.front() == end;
        if (source.front() != end) cuts.insert(batch.lines[static_cast<std::size_t>(r)]);
        order.push_back(batch.lines[static_cast<std::size_t>(r)]);
        for (std::int64_t i = 0; i < std::ssize(target); ++i) ++predicted[order.back() + i + 1];
      }
      last = batch.last_of_epoch;
    }
    EXPECT_EQ(begun, 59);
    EXPECT_EQ(std::ssize(predicted), 59 * 60 / 2 + 59) << "every token and every end";
    for (const auto& [at, times] : predicted) EXPECT_EQ(times, 1) << at;
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 4u);
  EXPECT_GT(cuts.size(), 150u) << "long documents are cut elsewhere in each epoch";

  LmCorpus again(t.options, *t.tokenizer, corpus.state());
  EXPECT_EQ(again.next(), corpus.next());
  LmCorpusOptions o = t.options;
  o.documents = Documents::blank_lines;
  EXPECT_TRUE(contains(error_of([&] { LmCorpus(o, *t.tokenizer, corpus.state()); }), "differ"));
  o.file = t.dir.write("empty lines", "\n \n");
  EXPECT_TRUE(contains(error_of([&] { LmCorpus(o, *t.tokenizer); }), "no document"));
}

TEST(LmCorpus, AValidationSetIsCutInOrder) {
  const Text t;
  const std::vector<Batch> batches = read_lm_batches(t.options, *t.tokenizer);
  std::int64_t at = 0;
  for (const Batch& b : batches)
    for (std::int64_t r = 0; r < b.sentences(); ++r) {
      EXPECT_EQ(b.lines[static_cast<std::size_t>(r)], at);
      at += b.target.length(r);
    }
  EXPECT_EQ(at, 1002);
}

TEST(LmCorpus, WhatCannotBeLearnedFromIsSaid) {
  const Text t;
  const auto says = [&](const LmCorpusOptions& o, const std::string& part) {
    const std::string text = error_of([&] { LmCorpus(o, *t.tokenizer); });
    EXPECT_TRUE(contains(text, part));
  };
  LmCorpusOptions o = t.options;
  o.file = t.dir.path("nowhere");
  says(o, "cannot be read");
  o.file = t.dir.write("one", "a");
  says(o, "nothing to predict");
  o.file = t.dir.write("none", "");
  says(o, "is empty");
  o.file = t.dir.write("broken", "ab\ncd\xff");
  says(o, "line 2");
  o = t.options;
  o.memory_bytes = 500;
  says(o, "500");
  o.memory_bytes = 2000;  // enough for the text but not for its ids
  says(o, "memory");
  o = t.options;
  o.max_tokens = 8;
  says(o, "cannot hold a block");
}

TEST(Document, IsTheFileAsItStands) {
  const TemporaryDirectory dir;
  const std::string text = "  a\r\n\n\n b \t";
  EXPECT_EQ(read_document(dir.write("plain", text), 100), text);
  EXPECT_EQ(read_document(dir.write("packed.gz", gzip(text)), 100), text);
  EXPECT_EQ(read_document(dir.write("marked", "\xef\xbb\xbf" + text), 100), text);
  EXPECT_TRUE(contains(error_of([&] { read_document(dir.write("nul", std::string("a\0b", 3)), 9); }), "NUL"));
  const std::string fault = error_of([&] { read_document(dir.write("bad", "x\ny\xc3\xa9z\xff"), 99); });
  EXPECT_TRUE(contains(fault, "line 2") && contains(fault, "column 4")) << fault;
}

}  // namespace
}  // namespace tril
