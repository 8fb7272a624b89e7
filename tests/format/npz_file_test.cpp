// NumPy's archives: in all forms, arrays equal the same arrays in safetensors; damaged members and others are refused.
#include "format/npz_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/paths.h"
#include "support/raw_number.h"
#include "support/raw_zip.h"
#include "support/temporary.h"

namespace tril {
namespace {

using test::raw;
using testing::raw_zip;
using testing::RawMember;

std::string npy(const std::string& header, const std::string& values) {
  return "\x93NUMPY\1" + std::string(1, '\0') + raw(static_cast<std::uint16_t>(header.size())) + header + values;
}

void expect_npz_refused(const std::vector<RawMember>& members, const std::string& part) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("x.npz", raw_zip(members));
  const std::string text = error_of([&] { NpzFile::open(path); });
  EXPECT_TRUE(contains(text, part));
  EXPECT_TRUE(contains(text, "x.npz"));
}

void expect_header_refused(const std::string& header, const std::string& part) {
  expect_npz_refused({{"a.npy", npy(header, std::string(24, '\1'))}}, part);
}

class NpzForms : public ::testing::TestWithParam<std::string> {};

TEST_P(NpzForms, HoldTheSameBitsAsSafetensors) {
  const std::string golden = test::test_dir() + "/golden/npz/";
  const NpzFile file = NpzFile::open(golden + GetParam());
  const SafetensorsFile expected = SafetensorsFile::open(golden + "arrays.safetensors");
  ASSERT_EQ(file.tensors().size(), expected.tensors().size());
  for (const WeightView& same : expected.tensors()) {
    const WeightView* const tensor = file.find(same.name);
    ASSERT_TRUE(tensor) << same.name;
    EXPECT_EQ(tensor->shape, same.shape) << same.name;
    EXPECT_EQ(tensor->dtype == StoredType::blocks, same.name.starts_with("fortran")) << same.name;
    if (tensor->dtype == StoredType::blocks) {
      EXPECT_EQ(to_f32(*tensor), to_f32(same)) << same.name;
    } else {
      EXPECT_EQ(tensor->dtype, same.dtype) << same.name;
      EXPECT_TRUE(std::equal(tensor->bytes.begin(), tensor->bytes.end(), same.bytes.begin(), same.bytes.end()))
          << same.name;
    }
  }
  EXPECT_FALSE(file.find("a.npy"));
}

INSTANTIATE_TEST_SUITE_P(All, NpzForms, ::testing::Values("arrays.npz", "arrays_deflated.npz"));

TEST(NpzFile, HeadersThatAreNoLiteralsAreRefused) {
  expect_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)", "expected }");
  expect_header_refused("{'descr': '<f4', 'shape': (6,), }", "lacks one of");
  expect_header_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "a key twice");
  expect_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} + x", "continues after its dict");
  expect_header_refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", "neither True nor False");
  expect_header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}", "a size that is not a number");
  expect_header_refused("{'descr': '<f4', 'fortran_order': False, 'order': 1}", "the unknown key 'order'");
  expect_header_refused("__import__('os')", "expected {");
}

TEST(NpzFile, TypesOtherThanNumbersAreRefused) {
  const auto header = [](const std::string& type) {
    return "{'descr': " + type + ", 'fortran_order': False, 'shape': (6,)}";
  };
  expect_header_refused(header("'|O'"), "Python objects");
  expect_header_refused(header("'>f4'"), "type '>f4'");
  expect_header_refused(header("'<U8'"), "type '<U8'");
  expect_header_refused(header("[('x', '<f4')]"), "records");
}

TEST(NpzFile, ShapesAreComparedWithTheBytes) {
  const auto header = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
  };
  expect_header_refused(header("(7,)"), "needs 28 bytes of values, found 24");
  expect_header_refused(header("(5,)"), "needs 20 bytes of values, found 24");
  expect_header_refused(header("(9223372036854775807,)"), "more values than 64 bits can count");
  expect_header_refused(header("(9223372036854775808,)"), "a size that does not fit into 64 bits");
  expect_header_refused(header("(4611686018427387904, 8, 0)"), "more values than 64 bits can count");
  expect_header_refused("{'descr': '|u1', 'fortran_order': True, 'shape': (4611686018427387904, 3, 0)}",
                        "more values than 64 bits can count");
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  expect_header_refused(header(many + ")"), "more than 32 dimensions");
}

TEST(NpzFile, MembersThatAreNoArraysAreRefused) {
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "1234");
  expect_npz_refused({{"a.npy", good}, {"b.txt", "x"}}, "b.txt: is not an array");
  expect_npz_refused({{"a.npy", "no array"}}, "a.npy: is not a .npy array");
  expect_npz_refused({{"../a.npy", good}}, "leads out of the archive");
  expect_npz_refused({{"/a.npy", good}}, "leads out of the archive");
  expect_npz_refused({{"a.npy", "\x93NUMPY\7" + std::string(3, '\0')}}, "of version 7");
  expect_npz_refused({{"a.npy", "\x93NUMPY\1" + std::string(1, '\0') + raw<std::uint16_t>(900)}},
                     "expected 900 bytes for the .npy header at byte 10, found 0");
  expect_npz_refused({{"a.npy", good.substr(0, 9)}},
                     "expected 2 bytes for the length of the header at byte 8, found 1");
}

TEST(NpzFile, WhatUnpacksToFarMoreThanTheFileIsRefused) {
  const std::string values(std::size_t{1} << 20, '\0');
  expect_npz_refused({{"a.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1048576,)}", values), true}},
                     "expected at most");
}

TEST(NpzFile, AnyLengthOfAFileIsReadOrRefused) {
  const TemporaryDirectory directory;
  const std::string whole =
      raw_zip({{"a.npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "1234"), true}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string path = directory.write("x.npz", whole.substr(0, length));
    EXPECT_TRUE(contains(error_of([&] { NpzFile::open(path); }), "damaged")) << length;
  }
}

}  // namespace
}  // namespace tril
