// model.bin of CTranslate2: the content of each version, and damaged files.
#include "format/ctranslate2_file.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/paths.h"
#include "support/raw_ctranslate2.h"

namespace tril {
namespace {

using testing::raw_ctranslate2;
using testing::RawVariable;

const std::string bytes_of_two("\0\0\200\77\0\0\0\300", 8);  // 1, -2

Ctranslate2File model_bin_of(const std::string& bytes) {
  const auto kept = std::make_shared<const std::string>(bytes);
  return {"model.bin", std::as_bytes(std::span(*kept)), kept};
}

void expect_no_model_bin(const std::string& bytes, const std::string& part) {
  const std::string text = error_of([&] { model_bin_of(bytes); });
  EXPECT_TRUE(contains(text, part));
  EXPECT_TRUE(contains(text, "model.bin"));
}

TEST(Ctranslate2File, VariablesAndAliases) {
  const auto file = model_bin_of(raw_ctranslate2(
      6, {{"b", {2}, 0, bytes_of_two}, {"a", {}, 1, "\5"}, {"c", {1, 2}, 2, std::string("\1\0\377\377", 4)}},
      {{"z", "b"}, {"y", "z"}}));
  EXPECT_EQ(file.version(), 6u);
  EXPECT_EQ(file.specification(), "TransformerSpec");
  EXPECT_EQ(file.revision(), 7u);
  ASSERT_EQ(file.variables().size(), 3u);
  EXPECT_EQ(file.variables()[0].name, "a") << "in order";
  EXPECT_EQ(to_i32(*file.find("a")), std::vector<std::int32_t>{5});
  EXPECT_EQ(to_f32(*file.find("b")), (std::vector<float>{1, -2}));
  EXPECT_EQ(to_i32(*file.find("c")), (std::vector<std::int32_t>{1, -1}));
  EXPECT_EQ(file.find("z"), file.find("b"));
  EXPECT_EQ(file.find("y"), file.find("b"));
  EXPECT_EQ(file.find("x"), nullptr);
}

TEST(Ctranslate2File, OlderVersionsSayTheSizeOfAValue) {
  // u8 bytes of a value and u32 values, where newer ones have a type and bytes.
  for (const std::uint32_t version : {2u, 3u}) {
    const auto file = model_bin_of(raw_ctranslate2(version, {{"a", {2}, 4, bytes_of_two, 2}, {"b", {1}, 1, "\7", 1}}));
    EXPECT_EQ(to_f32(*file.find("a")), (std::vector<float>{1, -2})) << version;
    EXPECT_EQ(file.find("b")->dtype, StoredType::i8);
  }
  expect_no_model_bin(raw_ctranslate2(3, {{"a", {1}, 3, "abc", 1}}), "values of 3 bytes");
}

TEST(Ctranslate2File, DamagedFilesAreRefused) {
  const std::string whole = raw_ctranslate2(6, {{"a", {2}, 0, bytes_of_two}}, {{"b", "a"}});
  for (std::size_t n = 0; n < whole.size(); ++n) expect_no_model_bin(whole.substr(0, n), "the file is truncated");
  expect_no_model_bin(test::raw(std::uint32_t{6}) + test::raw(std::uint16_t{0}) + whole,
                      "to end in its only zero byte");
  expect_no_model_bin(whole + "x", "has 1 bytes after its last alias");
  expect_no_model_bin(raw_ctranslate2(7, {}), "of version 7, expected 2 to 6");
  expect_no_model_bin(raw_ctranslate2(1, {}), "of version 1, expected 2 to 6");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {3}, 0, bytes_of_two}}),
                      "its shape [3] needs 12 bytes of values, found 8");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {0xffffffff, 0xffffffff, 0xffffffff}, 0, bytes_of_two}}),
                      "more values than 64 bits can count");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {0x80000000, 0x80000000}, 1, bytes_of_two}}),
                      "needs 4611686018427387904 bytes");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {0xffffffff}, 1, bytes_of_two, 0xffffffff}}),
                      "expected 4294967295 bytes for the values of a at byte ");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", std::vector<std::uint32_t>(9, 1), 1, "x"}}), "has 9 dimensions");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {2}, 6, bytes_of_two}}), "values of type 6");
  expect_no_model_bin(raw_ctranslate2(6, {{"a", {2}, 0, bytes_of_two}, {"a", {2}, 0, bytes_of_two}}),
                      "a: occurs twice");
  expect_no_model_bin(raw_ctranslate2(6, {{std::string("a\0b", 3), {2}, 0, bytes_of_two}}),
                      "expected the name of a variable to end in its only zero byte");
}

TEST(Ctranslate2File, AliasesThatLeadNowhereAreRefused) {
  const RawVariable a{"a", {2}, 0, bytes_of_two};
  expect_no_model_bin(raw_ctranslate2(6, {a}, {{"b", "c"}}), "b: is an alias of c, which does not exist");
  expect_no_model_bin(raw_ctranslate2(6, {a}, {{"b", "c"}, {"c", "b"}}), "b: is an alias of c, which does not exist");
  expect_no_model_bin(raw_ctranslate2(6, {a}, {{"b", "b"}}), "b: is an alias of b");
  expect_no_model_bin(raw_ctranslate2(6, {a}, {{"a", "a"}}), "a: occurs twice");
  expect_no_model_bin(raw_ctranslate2(6, {a}, {{"b", "a"}, {"b", "a"}}), "b: occurs twice");
}

TEST(Ctranslate2File, IsKnownByItsBeginning) {
  const auto begins = [](const std::string& bytes) { return begins_as_ctranslate2(std::as_bytes(std::span(bytes))); };
  EXPECT_TRUE(begins(raw_ctranslate2(6, {})));
  EXPECT_TRUE(begins(raw_ctranslate2(99, {}))) << "a newer version is refused as such";
  EXPECT_FALSE(begins(""));
  EXPECT_FALSE(begins(raw_ctranslate2(6, {}).substr(0, 12)));
  EXPECT_FALSE(begins(std::string(64, '\0')));
  EXPECT_FALSE(begins(raw_ctranslate2(1, {})));
}

}  // namespace
}  // namespace tril
