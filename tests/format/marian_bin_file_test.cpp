// Marian's .bin files: tensors are read without conversion, and one that exceeds the file is refused.
#include "format/marian_bin_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/raw_marian_bin.h"
#include "support/temporary.h"

namespace tril {
namespace {

using test::raw;
using testing::raw_marian_bin;
using testing::RawBinTensor;

std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float v : values) bytes += raw(v);
  return bytes;
}

void expect_bin_refused(const std::string& bytes, const std::string& part) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("x.bin", bytes);
  const std::string text = error_of([&] { MarianBinFile::open(path); });
  EXPECT_TRUE(contains(text, part));
  EXPECT_TRUE(contains(text, "x.bin"));
}

TEST(MarianBinFile, TensorsAreReadAsTheyLie) {
  const TemporaryDirectory directory;
  const std::string ints = {1, 2, 3, -4, 5, 6};
  const std::string path =
      directory.write("x.bin", raw_marian_bin({{"b_W", 0x10001, {3, 2}, ints + raw(2.0f) + std::string(7, 'x')},
                                               {"Wemb", 0x4101, {3, 2}, ints + raw(2.0f)},
                                               {"a_W", 0x10002, {1, 2}, std::string("\1\0\2\0", 4) + raw(4.0f)},
                                               {"c", 0x404, {1, 2}, floats({1.5f, -2}) + std::string(56, '\0')},
                                               {"special:model.yml", 0x101, {5}, "a: b\n"}},
                                              17));
  const MarianBinFile file = MarianBinFile::open(path);
  ASSERT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.tensors()[0].name, "Wemb") << "in order of name";
  EXPECT_FALSE(file.find("d"));
  EXPECT_EQ(to_f32(*file.find("c")), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(file.find("special:model.yml")->bytes.size(), 5u);

  // A matrix of a product is stored transposed, an embedding as it is.
  EXPECT_EQ(file.find("b_W")->shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(file.find("b_W")->type_name(), "intgemm8");
  EXPECT_EQ(to_f32(*file.find("b_W")), (std::vector<float>{0.5f, -2, 1, 2.5f, 1.5f, 3}));
  EXPECT_EQ(to_f32(*file.find("Wemb")), (std::vector<float>{0.5f, 1, 1.5f, -2, 2.5f, 3}));
  EXPECT_EQ(to_f32(*file.find("a_W")), (std::vector<float>{0.25f, 0.5f}));
  ASSERT_TRUE(file.find_int8("b_W"));
  EXPECT_EQ(file.find_int8("b_W")->rows, 2);
  EXPECT_EQ(file.find_int8("b_W")->multiplier, 2);
  EXPECT_EQ(file.find_int8("Wemb")->rows, 3);
  EXPECT_FALSE(file.find_int8("a_W"));
  EXPECT_TRUE(file.has_int8());
}

TEST(MarianBinFile, WhatDoesNotFitIsRefused) {
  const RawBinTensor good{"a", 0x404, {2}, floats({1, 2})};
  expect_bin_refused("", "expected 8 bytes for the version at byte 0, found 0");
  expect_bin_refused(raw<std::uint64_t>(2), "begins with 2");
  expect_bin_refused(raw<std::uint64_t>(1) + raw<std::uint64_t>(~std::uint64_t{0}), "more than fit into the file");
  expect_bin_refused(raw_marian_bin({good}) + "x", "1 bytes follow the last tensor");
  expect_bin_refused(raw_marian_bin({good, good}), "occurs twice");
  expect_bin_refused(raw_marian_bin({{"a", 0x404, {3}, floats({1, 2})}}), "needs 12 bytes of values, found 8");
  expect_bin_refused(raw_marian_bin({{"a", 0x404, {-1}, ""}}), "has the size -1");
  expect_bin_refused(raw_marian_bin({{"a", 0x404, {1 << 30, 1 << 30, 1 << 30}, ""}}), "more values than 64 bits");
  expect_bin_refused(raw_marian_bin({{"a", 0x404, std::vector<std::int32_t>(9, 1), floats({1})}}), "9 dimensions");
  expect_bin_refused(raw_marian_bin({{"a", 0x1801, {1}, "x"}}), "0x1801");
  expect_bin_refused(raw_marian_bin({{"a", 0x11001, {1}, "x"}}), "to float32 or intgemm8 with marian-conv");
  expect_bin_refused(raw_marian_bin({{std::string("a\0b", 3), 0x404, {1}, floats({1})}}),
                     "each name to have characters and then one zero byte");
  expect_bin_refused(raw_marian_bin({{"", 0x404, {1}, floats({1})}}),
                     "each name to have characters and then one zero byte");
  std::string padded = raw_marian_bin({good});
  padded.replace(16 + 32 + 2 + 4, 8, raw(~std::uint64_t{0}));
  expect_bin_refused(padded, "bytes for the padding at byte ");
}

TEST(MarianBinFile, MultipliersAreChecked) {
  const auto with = [](float multiplier, std::vector<std::int32_t> shape) {
    return raw_marian_bin({{"a_W", 0x10001, std::move(shape), std::string(4, '\1') + raw(multiplier)}});
  };
  expect_bin_refused(with(0, {2, 2}), "has the multiplier 0");
  expect_bin_refused(with(-1, {2, 2}), "has the multiplier -1");
  expect_bin_refused(with(std::numeric_limits<float>::infinity(), {2, 2}), "has the multiplier inf");
  expect_bin_refused(with(std::numeric_limits<float>::quiet_NaN(), {2, 2}), "has the multiplier nan");
  expect_bin_refused(with(1, {4}), "is quantised and has 1 dimensions");
  expect_bin_refused(raw_marian_bin({{"a_W", 0x10001, {2, 2}, std::string(6, '\1')}}), "needs 4 bytes of values");
}

TEST(MarianBinFile, AnyLengthOfABinIsReadOrRefused) {
  const TemporaryDirectory directory;
  const std::string whole =
      raw_marian_bin({{"a_W", 0x10001, {1, 1}, std::string(1, '\1') + raw(1.0f)}, {"b", 0x404, {2}, floats({1, 2})}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string path = directory.write("x.bin", whole.substr(0, length));
    EXPECT_NE(error_of([&] { MarianBinFile::open(path); }), "") << length;
  }
}

}  // namespace
}  // namespace tril
