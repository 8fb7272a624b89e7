// The blocks of a text give its lines, in whatever order they are read.
#include "corpus/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temporary.h"

namespace tril {
namespace {

const std::function<bool()> never = [] { return false; };

TEST(Blocks, AreTheLinesInAnyOrder) {
  for (const bool packed : {false, true})
    for (const std::string text :
         {"", "\n", "one", "one\ntwo\r\n\nfour\nfive\nsix\n", "\xef\xbb\xbfone\ntwo\nthree\nfour", "a\nb\n\n\n"}) {
      const TemporaryDirectory at;
      const std::string path = packed ? at.write("text.gz", gzip(text)) : at.write("text", text);
      const std::vector<std::string> lines = read_lines(path);
      for (const std::int64_t each : {1, 2, 3, 100}) {
        const std::vector<TextBlock> blocks = find_blocks(path, each, {}, never);
        ASSERT_EQ(std::ssize(blocks), (std::ssize(lines) + each - 1) / each);
        BlockReader reader(path, {});
        for (const bool backwards : {false, true})
          for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::size_t b = backwards ? blocks.size() - 1 - i : i;
            const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(b) * each;
            ASSERT_EQ(blocks[b].first, begin - lines.begin());
            const std::vector<std::string> expected(begin, begin + std::min<std::ptrdiff_t>(each, lines.end() - begin));
            EXPECT_EQ(reader.read(blocks[b]), expected) << text << " " << each;
          }
      }
    }
}

TEST(Blocks, OtherLinesThanWereFoundAreTold) {
  const TemporaryDirectory at;
  const std::string path = at.write("text", "one\ntwo\nthree\nfour\n");
  const std::vector<TextBlock> blocks = find_blocks(path, 2, {}, never);
  const std::string before = file_fingerprint(path);
  for (const char* changed : {"one\ntwo\nthree\nfive\n", "one\ntwo\nthree\n", "one\n", ""}) {
    at.write("text", changed);
    EXPECT_NE(file_fingerprint(path), before);
    BlockReader reader(path, {});
    EXPECT_THROW(reader.read(blocks[1]), Error) << changed;
  }
}

TEST(Blocks, WhatIsNotUtf8IsSkippedOrTold) {
  const TemporaryDirectory at;
  const std::string path = at.write("text", "one\nb\xff\nthree\n");
  EXPECT_THROW(find_blocks(path, 2, {}, never), Error);
  const std::vector<TextBlock> blocks = find_blocks(path, 2, {.skip_invalid = true}, never);
  BlockReader reader(path, {.skip_invalid = true});
  EXPECT_EQ(reader.read(blocks[0]), (std::vector<std::string>{"one", ""}));
  EXPECT_EQ(reader.invalid(), 1);
}

}  // namespace
}  // namespace tril
