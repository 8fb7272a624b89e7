// Models in several GGUF files: files of the gguf package's writer, and sets of files that do not form a model.
#include "format/gguf_parts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "support/paths.h"
#include "support/raw_gguf.h"
#include "support/temporary.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using test::raw;
using test::raw_entry;
using test::raw_tensor;

TEST(GgufParts, AnyPartOpensAll) {
  const fs::path directory = test::test_dir() + "/golden/gguf";
  for (const char* given : {"parts-00001-of-00003.gguf", "parts-00002-of-00003.gguf", "parts-00003-of-00003.gguf"}) {
    const GgufFile f = open_gguf_parts((directory / given).string());
    EXPECT_EQ(fs::path(f.path()).filename(), "parts-00001-of-00003.gguf");
    EXPECT_EQ(f.at<std::string_view>("test.text"), "of the first part");
    ASSERT_EQ(f.tensors().size(), 5u);
    EXPECT_EQ(f.file_count(), 3u);
    for (std::size_t i = 0; i < 5; ++i) {
      const GgufTensor& t = f.tensor("t." + std::to_string(i));
      EXPECT_EQ(t.shape, (std::vector<std::int64_t>{2, 3}));
      EXPECT_EQ(fs::path(f.file_of(t)).filename(), fmt::format("parts-0000{}-of-00003.gguf", i / 2 + 1));
      float first = 0;
      std::memcpy(&first, t.bytes.data(), sizeof first);
      EXPECT_EQ(first, 10.f * static_cast<float>(i));
    }
  }
}

TEST(GgufParts, AFileOfItsOwnIsOne) {
  EXPECT_EQ(open_gguf_parts(test::test_dir() + "/golden/gguf/blocks.gguf").file_count(), 1u);
}

TEST(GgufParts, AnyPartNamesAll) {
  const std::string directory = test::test_dir() + "/golden/gguf/";
  std::vector<std::string> parts;
  for (int i = 1; i <= 3; ++i) parts.push_back(directory + fmt::format("parts-0000{}-of-00003.gguf", i));
  for (const std::string& part : parts) EXPECT_EQ(gguf_part_paths(part), parts);
  for (const char* alone : {"blocks.gguf", "../README.md"})
    EXPECT_EQ(gguf_part_paths(directory + alone), std::vector{directory + alone});
}

// Two parts with a tensor each, and the ways in which they can be wrong.
class GgufPartsOf : public ::testing::Test {
 protected:
  struct Part {
    std::uint16_t number = 0, parts = 2;
    std::int32_t tensors = 2;
    std::string tensor = "a", more = {};
  };

  void put(const std::string& name, const Part& p) const {
    test::RawGguf file;
    file.entries = {raw_entry("split.no", 2, raw(p.number)), raw_entry("split.count", 2, raw(p.parts)),
                    raw_entry("split.tensors.count", 5, raw(p.tensors))};
    if (!p.more.empty()) file.entries.push_back(raw_entry(p.more, 5, raw(1)));
    file.tensors = {raw_tensor(p.tensor, {8}, 0, 0)};
    file.data = std::string(32, '\0');
    std::ofstream(to_.path(name), std::ios::binary) << file.bytes();
  }

  std::string error() const {
    try {
      open_gguf_parts(to_.path("m-00001-of-00002.gguf"));
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::failure);
      return e.what();
    }
  }
  void expect_error(const Part& second, const std::string& text) const {
    put("m-00001-of-00002.gguf", {});
    put("m-00002-of-00002.gguf", second);
    const std::string got = error();
    EXPECT_TRUE(contains(got, text));
    if (!text.empty()) {
      EXPECT_TRUE(contains(got, "m-0000"));
    }
  }

  TemporaryDirectory to_;
};

TEST_F(GgufPartsOf, FilesThatDoNotBelongTogetherAreRefused) {
  expect_error({.number = 1, .tensor = "b"}, "");
  EXPECT_EQ(error(), "");
  expect_error({.number = 0, .tensor = "b"}, "split.no: is 0, expected 1");
  expect_error({.number = 1, .parts = 3, .tensor = "b"}, "split.count: is 3, expected 2");
  expect_error({.number = 1, .tensors = 7, .tensor = "b"}, "split.tensors.count: is 7, expected 2");
  expect_error({.number = 1, .tensor = "a"}, "the tensor a is in two parts");
  expect_error({.number = 1, .tensor = "b", .more = "llama.block_count"}, "llama.block_count: is in a later part");
  put("m-00001-of-00002.gguf", {.tensors = 3});
  put("m-00002-of-00002.gguf", {.number = 1, .tensors = 3, .tensor = "b"});
  EXPECT_TRUE(contains(error(), "is 3", "the parts have 2"));
}

TEST_F(GgufPartsOf, AMissingPartIsNamed) {
  put("m-00001-of-00002.gguf", {});
  EXPECT_TRUE(contains(error(), "m-00002-of-00002.gguf: is missing", "2 parts"));
  std::ofstream(to_.path("m-00002-of-00002.gguf")) << "no such thing";
  EXPECT_TRUE(contains(error(), "m-00002-of-00002.gguf: is not a GGUF file"));
}

TEST_F(GgufPartsOf, TheNameSaysWhichPartItIs) {
  put("m-00001-of-00002.gguf", {.number = 1});
  EXPECT_TRUE(contains(error(), "should end in \"-00002-of-00002.gguf\""));
  put("m-00001-of-00002.gguf", {.number = 2});
  EXPECT_TRUE(contains(error(), "split.no: 2 ", "2 parts"));
  put("m-00001-of-00002.gguf", {.number = 0, .parts = 65535});
  EXPECT_TRUE(contains(error(), "-00001-of-65535.gguf"));
}

}  // namespace
}  // namespace tril
