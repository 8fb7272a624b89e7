// Files of torch.save(): in all forms, tensors equal the same tensors in safetensors; other objects are refused by name.
#include "format/pytorch_file.h"

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/pickles.h"
#include "support/raw_zip.h"
#include "support/rounds.h"
#include "support/temporary.h"

namespace tril {
namespace {

using testing::PickleText;
using testing::raw_zip;

std::string golden(const std::string& name) {
  return test::test_dir() + "/golden/pytorch/" + name;
}

std::vector<std::string> names_of(const std::vector<WeightView>& tensors) {
  std::vector<std::string> names;
  for (const WeightView& t : tensors) names.push_back(t.name);
  return names;
}

class PytorchForms : public ::testing::TestWithParam<std::string> {};

TEST_P(PytorchForms, HoldTheSameBitsAsSafetensors) {
  const PytorchFile file = PytorchFile::open(golden("tensors_" + GetParam() + ".bin"));
  const SafetensorsFile expected = SafetensorsFile::open(golden("tensors.safetensors"));
  ASSERT_EQ(names_of(file.tensors()), expected.names());
  for (const WeightView& tensor : file.tensors()) {
    const WeightView& same = expected.at(tensor.name);
    EXPECT_EQ(tensor.shape, same.shape) << tensor.name;
    EXPECT_EQ(tensor.elements(), same.elements()) << tensor.name;
    if (tensor.dtype == StoredType::blocks) {
      EXPECT_EQ(to_f32(tensor), to_f32(same)) << tensor.name;
    } else {
      EXPECT_EQ(tensor.dtype, same.dtype) << tensor.name;
      EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), same.bytes.begin(), same.bytes.end()))
          << tensor.name;
    }
  }
}

TEST_P(PytorchForms, OnlyTensorsOutOfOrderAreGathered) {
  const PytorchFile file = PytorchFile::open(golden("tensors_" + GetParam() + ".bin"));
  for (const WeightView& tensor : file.tensors()) {
    const bool in_order = tensor.name != "transposed" && tensor.name != "columns" && tensor.name != "every_other" &&
                          tensor.name != "permuted" && tensor.name != "half_transposed";
    EXPECT_EQ(tensor.dtype != StoredType::blocks, in_order) << tensor.name;
  }
}

TEST_P(PytorchForms, AnyLengthOfAFileIsReadOrRefused) {
  const TemporaryDirectory directory;
  const std::string whole = read_text(golden("tensors_" + GetParam() + ".bin"), 1 << 20);
  for (std::size_t length = 0; length < whole.size(); length += test::stride(whole.size())) {
    const std::string path = directory.write("x.bin", whole.substr(0, length));
    EXPECT_NE(error_of([&] { PytorchFile::open(path); }), "") << length;
  }
}

TEST_P(PytorchForms, DamagedBytesAreReadOrRefused) {
  const TemporaryDirectory directory;
  const std::string whole = read_text(golden("tensors_" + GetParam() + ".bin"), 1 << 20);
  test::rounds(2000, [&](RandomSequence& random) {
    std::string bytes = whole;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
    try {
      const PytorchFile file = PytorchFile::open(directory.write("x.bin", bytes));
      for (const WeightView& tensor : file.tensors())
        if (is_floating(tensor.dtype)) to_f32(tensor);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::failure) << e.what();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, PytorchForms,
                         ::testing::Values("zip_p2", "zip_p3", "zip_p4", "zip_p5", "stream_p2", "stream_p3",
                                           "stream_p4", "stream_p5"),
                         [](const auto& test) { return test.param; });

// An archive with this pickle as the mapping and one storage of 24 bytes.
std::string archive(const PickleText& mapping) {
  return raw_zip({{"x/data.pkl", mapping.text()}, {"x/data/0", std::string(24, '\1')}});
}

// {"w": a tensor of 6 floats}, with one part of it changed.
struct OneTensor {
  std::int64_t count = 6, offset = 0;
  std::vector<std::int64_t> shape{2, 3}, strides{3, 1};
  std::string type = "FloatStorage", key = "0", rebuild = "torch._utils\n_rebuild_tensor_v2\n";

  PickleText pickle() const {
    PickleText p;
    p.raw("}").text("w").raw("c" + rebuild + "(");
    p.raw("(").text("storage").raw("ctorch\n" + type + "\n").text(key).text("cpu").integer(count).raw("tQ");
    p.integer(offset).integers(shape).integers(strides);
    p.raw("\x89").raw("}").raw("tRs.");
    return p;
  }
};

std::string refusal_of(const std::string& bytes) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("x.bin", bytes);
  return error_of([&] { PytorchFile::open(path); });
}

void expect_refused(const std::string& bytes, const std::string& part) {
  const std::string text = refusal_of(bytes);
  EXPECT_TRUE(contains(text, part));
}

TEST(PytorchFile, ByHandAsPytorchWritesIt) {
  EXPECT_EQ(refusal_of(archive(OneTensor().pickle())), "");
}

TEST(PytorchFile, WhatWouldRunIsRefusedByName) {
  for (const char* global : {"os\nsystem\n", "builtins\neval\n", "torch.serialization\n_load\n", "torch\nload\n",
                             "torch._utils\n_rebuild_tensor_v2.__globals__\n", "collections\nOrderedDict.fromkeys\n"}) {
    std::string name = global;
    name.pop_back();
    name[name.find('\n')] = '.';
    expect_refused(archive(OneTensor{.rebuild = global}.pickle()), "refers to " + name + " of Python");
    PickleText called;
    called.raw(std::string("c") + global + "(").text("echo").raw("tR.");
    expect_refused(archive(called), "refers to " + name + " of Python");
  }
}

TEST(PytorchFile, TensorsStayWithinTheirStorage) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const std::string beyond = "reaches beyond its storage of 6 values";
  expect_refused(archive(OneTensor{.shape = {2, 4}, .strides = {4, 1}}.pickle()), beyond);
  expect_refused(archive(OneTensor{.offset = 1}.pickle()), beyond);
  expect_refused(archive(OneTensor{.offset = huge}.pickle()), beyond);
  expect_refused(archive(OneTensor{.shape = {2, 3}, .strides = {huge, huge}}.pickle()), beyond);
  expect_refused(archive(OneTensor{.shape = {huge, huge}, .strides = {1, 1}}.pickle()),
                 "more values than 64 bits can count");
  expect_refused(archive(OneTensor{.shape = {huge}, .strides = {0}}.pickle()), "repeats values of its storage");
  expect_refused(archive(OneTensor{.shape = {-1, 3}}.pickle()), "is not a number of 0 or more");
  expect_refused(archive(OneTensor{.count = 7}.pickle()), "a storage of 7 values has 24 bytes");
  expect_refused(archive(OneTensor{.count = std::int64_t{1} << 61, .type = "DoubleStorage"}.pickle()), "has 24 bytes");
  expect_refused(archive(OneTensor{.shape = {6}, .strides = {1, 1}}.pickle()),
                 "has a different number of strides than of sizes");
  expect_refused(archive(OneTensor{.key = "1"}.pickle()), "lacks the storage 1");
  expect_refused(archive(OneTensor{.key = "../0"}.pickle()), "lacks the storage ../0");
}

TEST(PytorchFile, OtherContentsAreNamed) {
  expect_refused(archive(PickleText().raw("].")), "the file holds a list");
  expect_refused(archive(PickleText().raw("}").text("epoch").integer(3).raw("s.")),
                 "epoch is an integer, not a tensor");
  expect_refused(archive(PickleText().raw("}").text("model").raw("}s.")), "model is a dict, not a tensor");
  expect_refused(archive(PickleText().raw("}").integer(3).integer(3).raw("s.")), "a key is an integer");
  expect_refused(raw_zip({{"x/data.pkl", "}."}, {"x/constants.pkl", "."}}), "is a TorchScript program");
  expect_refused(raw_zip({{"x/data.pkl", "}."}, {"x/byteorder", "big"}}), "big-endian");
  expect_refused(raw_zip({{"word/document.xml", ""}}), "a ZIP archive without data.pkl");
  expect_refused(raw_zip({{"x/data.pkl", "}."}, {"y/data.pkl", "}."}}), "two files data.pkl");
  expect_refused("", "for the pickle at byte 0, found 0");
  expect_refused("\x80\x02K\x01.", "is not a file of torch.save()");
}

}  // namespace
}  // namespace tril
