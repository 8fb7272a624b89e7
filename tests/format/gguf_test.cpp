#include "format/gguf.h"
#include "format/gguf_write.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "support/contains.h"
#include "support/paths.h"
#include "support/raw_gguf.h"
#include "support/rounds.h"

namespace tril {
namespace {

using test::raw;
using test::raw_entry;
using test::raw_tensor;
using test::raw_text;
using test::RawGguf;

class GgufTest : public ::testing::Test {
 protected:
  GgufTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tril_gguf_XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~GgufTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string path() const { return directory_ + "/f.gguf"; }
  std::string put(const std::string& bytes) const {
    std::filesystem::remove(path());
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  // The error from opening these bytes; "" if they are accepted.
  std::string error_of(const std::string& bytes) const {
    try {
      GgufFile::open(put(bytes));
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find(path()), 0u) << e.what();
      EXPECT_LT(std::string(e.what()).size(), 2000u);
      return e.what();
    }
  }
  void expect_error(const RawGguf& file, const std::string& part) const {
    const std::string error = error_of(file.bytes());
    EXPECT_TRUE(contains(error, part));
  }

 private:
  std::string directory_;
};

// Two tensors, and a metadata entry of each kind that is encoded differently.
RawGguf small() {
  RawGguf f;
  f.entries = {raw_entry("general.architecture", 8, raw_text("llama")), raw_entry("n", 4, raw<std::uint32_t>(7)),
               raw_entry("on", 7, raw<std::uint8_t>(1)),
               raw_entry("texts", 9, raw<std::uint32_t>(8) + raw<std::uint64_t>(2) + raw_text("a") + raw_text("bc")),
               raw_entry("numbers", 9, raw<std::uint32_t>(5) + raw<std::uint64_t>(2) + raw(-1) + raw(2))};
  f.tensors = {raw_tensor("w.a", {3, 2}, 0, 0), raw_tensor("w.b", {32}, 8, 32)};
  f.data = std::string(24, '\1') + std::string(8, '\0') + std::string(34, '\2');
  return f;
}

TEST_F(GgufTest, ReadsWhatAnotherProgramWrote) {
  const GgufFile f = GgufFile::open(test::test_dir() + "/golden/gguf/blocks.gguf");
  EXPECT_EQ(f.version(), 3u);
  EXPECT_EQ(f.alignment(), 32u);
  EXPECT_EQ(f.at<std::int64_t>("test.uint8"), 200);
  EXPECT_EQ(f.at<std::int64_t>("test.int8"), -100);
  EXPECT_EQ(f.at<std::int64_t>("test.uint16"), 60000);
  EXPECT_EQ(f.at<std::int64_t>("test.int16"), -30000);
  EXPECT_EQ(f.at<std::int64_t>("test.uint32"), 4000000000);
  EXPECT_EQ(f.at<std::int64_t>("test.int32"), -2000000000);
  EXPECT_EQ(f.at<std::int64_t>("test.uint64"), std::int64_t{1} << 40);
  EXPECT_EQ(f.at<std::int64_t>("test.int64"), -(std::int64_t{1} << 40));
  EXPECT_EQ(f.at<double>("test.float32"), 0.5);
  EXPECT_EQ(f.at<double>("test.float64"), 0.1);
  EXPECT_TRUE(f.at<bool>("test.bool"));
  EXPECT_EQ(f.at<std::string_view>("test.string"), "gr\u00fc\u00df");
  EXPECT_EQ(f.at<std::vector<std::string_view>>("test.texts"), (std::vector<std::string_view>{"a", "", "\u2581b\n"}));
  EXPECT_EQ(f.at<std::vector<std::int64_t>>("test.numbers"), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(f.get<std::vector<double>>("test.floats"), (std::vector<double>{0.5, -0.25}));
  EXPECT_FALSE(f.get<bool>("test.absent"));
  const GgufTensor& t = f.tensor("Q4_K");
  EXPECT_EQ(t.type, GgufType::q4_k);
  EXPECT_EQ(t.shape, (std::vector<std::int64_t>{2, 768}));
  EXPECT_EQ(t.bytes.size(), 6 * 144u);
  EXPECT_EQ(f.find_tensor("Q4_X"), nullptr);
  EXPECT_THROW(f.tensor("Q4_X"), Error);
}

TEST_F(GgufTest, ReadsBothVersions) {
  for (const std::uint32_t version : {2u, 3u}) {
    RawGguf file = small();
    file.version = version;
    const GgufFile f = GgufFile::open(put(file.bytes()));
    EXPECT_EQ(f.version(), version);
    EXPECT_EQ(f.metadata().size(), 5u);
    EXPECT_EQ(f.tensor("w.a").shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(f.tensor("w.a").bytes[23], std::byte{1});
    EXPECT_EQ(f.tensor("w.b").bytes.size(), 34u);
    EXPECT_EQ(f.tensor("w.b").bytes[0], std::byte{2});
    EXPECT_EQ(f.at<std::vector<std::string_view>>("texts")[1], "bc");
  }
}

TEST_F(GgufTest, AValueOfAnotherKindIsAnError) {
  RawGguf file = small();
  file.entries.push_back(raw_entry("huge", 10, raw<std::uint64_t>(-1)));
  const GgufFile f = GgufFile::open(put(file.bytes()));
  EXPECT_THROW(f.get<bool>("n"), Error);
  EXPECT_THROW(f.get<double>("n"), Error);
  EXPECT_THROW(f.get<std::string_view>("n"), Error);
  EXPECT_THROW(f.get<std::vector<std::int64_t>>("n"), Error);
  EXPECT_THROW(f.get<std::int64_t>("numbers"), Error);
  EXPECT_THROW(f.get<std::vector<double>>("numbers"), Error);
  EXPECT_THROW(f.get<std::vector<std::int64_t>>("texts"), Error);
  EXPECT_THROW(f.get<std::int64_t>("huge"), Error);
  EXPECT_THROW(f.at<std::int64_t>("absent"), Error);
}

TEST_F(GgufTest, HostileHeadersAreRefused) {
  expect_error({.version = 1}, "version 1");
  expect_error({.version = 0x03000000}, "big-endian");
  EXPECT_TRUE(contains(error_of("GGUX" + std::string(40, '\0')), "not a GGUF file"));
  EXPECT_TRUE(contains(error_of(""), "expected 4 bytes", "at byte 0, found 0"));
  const std::uint64_t huge = ~std::uint64_t{0};
  for (const auto& [tensors, entries] :
       {std::pair{huge, std::uint64_t{0}}, {std::uint64_t{0}, huge}, {huge / 33, huge / 13}, {huge >> 1, huge >> 1}})
    EXPECT_TRUE(
        contains(error_of("GGUF" + raw(3u) + raw(tensors) + raw(entries) + std::string(64, '\0')), "more than fit"));

  const auto with_entry = [](const std::string& entry) {
    RawGguf f = small();
    f.entries.push_back(entry);
    return f;
  };
  expect_error(with_entry(raw_entry("n", 4, raw<std::uint32_t>(7))), "has the key n twice");
  expect_error(with_entry(raw_entry("", 4, raw<std::uint32_t>(7))), "key of 0 bytes");
  expect_error(with_entry(raw(huge) + "key"), "bytes for the metadata at byte ");
  expect_error(with_entry(raw_entry("k", 13, "")), "a value of type 13");
  expect_error(with_entry(raw_entry("k", 7, "\2")), "expected 0 or 1, got 2");
  expect_error(with_entry(raw_entry("k", 8, raw(huge) + "text")), "bytes for the metadata at byte ");
  expect_error(with_entry(raw_entry("k", 9, raw(9u) + raw<std::uint64_t>(1))), "array of arrays");
  for (const std::uint32_t kind : {0u, 6u, 8u, 10u})
    expect_error(with_entry(raw_entry("k", 9, raw(kind) + raw(huge))), "more than fit into the file");
  for (const std::uint32_t kind : {6u, 10u})  // the count overflows when converted to bytes
    expect_error(with_entry(raw_entry("k", 9, raw(kind) + raw((huge >> 2) + 1))), "more than fit into the file");
  for (const std::uint32_t alignment : {0u, 24u, 1u << 21})
    expect_error(with_entry(raw_entry("general.alignment", 4, raw(alignment))), "power of two");
  expect_error(with_entry(raw_entry("general.alignment", 8, raw_text("32"))), "expected an integer");
}

TEST_F(GgufTest, HostileTensorsAreRefused) {
  const auto with_tensor = [](const std::string& tensor) {
    RawGguf f = small();
    f.tensors.push_back(tensor);
    f.data.append(30, '\0');  // to the next multiple of 32, byte 96
    return f;
  };
  EXPECT_EQ(error_of(with_tensor(raw_tensor("c", {1}, 0, 96)).bytes()).empty(), false);
  RawGguf right = with_tensor(raw_tensor("c", {1}, 0, 96));
  right.data.append(4, '\0');
  EXPECT_EQ(error_of(right.bytes()), "");
  const std::uint64_t huge = ~std::uint64_t{0};
  expect_error(with_tensor(raw_tensor("c", {1}, 0, 96)), "has 96 bytes");           // beyond the end
  expect_error(with_tensor(raw_tensor("c", {1}, 0, 64)), "begins at byte 64");      // inside another
  expect_error(with_tensor(raw_tensor("c", {1}, 0, 0)), "begins at byte");          // the same place
  expect_error(with_tensor(raw_tensor("c", {1}, 0, 128)), "begins at byte 128");    // a gap
  expect_error(with_tensor(raw_tensor("c", {1}, 0, huge - 31)), "begins at byte");  // wraps round
  expect_error(with_tensor(raw_tensor("w.a", {1}, 0, 96)), "has 96 bytes");
  expect_error(with_tensor(raw_tensor("c", {}, 0, 96)), "has 0 dimensions");
  expect_error(with_tensor(raw_tensor("c", {1, 1, 1, 1, 1}, 0, 96)), "has 5 dimensions");
  expect_error(with_tensor(raw_tensor("c", {0}, 0, 96)), "the dimension 0");
  expect_error(with_tensor(raw_tensor("c", {huge}, 0, 96)), "overflows 64 bits");
  expect_error(with_tensor(raw_tensor("c", {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, 0, 96)),
               "overflows 64 bits");
  expect_error(with_tensor(raw_tensor("c", {std::uint64_t{1} << 40}, 0, 96)), "which has 96 bytes");
  expect_error(with_tensor(raw_tensor("c", {1}, 9, 96)), "Q8_1, which is not supported");
  expect_error(with_tensor(raw_tensor("c", {1}, 4, 96)), "number 4, which is not supported");
  expect_error(with_tensor(raw_tensor("c", {33}, 8, 96)), "not a multiple of the 32 in a block of Q8_0");
  expect_error(with_tensor(raw_tensor("c", {128}, 12, 96)), "not a multiple of the 256 in a block of Q4_K");
  expect_error(with_tensor(raw_tensor("", {1}, 0, 96)), "name has 0 bytes");
  RawGguf twice = with_tensor(raw_tensor("w.a", {1}, 0, 96));
  twice.data.append(4, '\0');
  expect_error(twice, "has the tensor w.a twice");
}

// Invariants of any accepted file.
void check_accepted(const GgufFile& f, std::size_t size) {
  std::size_t bytes = 0;
  for (const GgufTensor& t : f.tensors()) {
    const auto blocks = static_cast<std::size_t>(t.elements()) / values_of_block(t.type);
    EXPECT_EQ(t.bytes.size(), blocks * bytes_of_block(t.type));
    EXPECT_EQ(f.find_tensor(t.name), &t);
    bytes += t.bytes.size();
  }
  EXPECT_LE(bytes, size);
  for (const GgufEntry& e : f.metadata()) {
    EXPECT_EQ(f.find(e.key), &e);
    EXPECT_LE(e.bytes.size(), size);
    if (e.is_array && e.kind == GgufKind::string) {
      std::size_t length = 0;
      for (const std::string_view text : f.at<std::vector<std::string_view>>(e.key)) length += text.size();
      EXPECT_LE(length, size);
    }
  }
}

TEST_F(GgufTest, CutAtEveryByteIsAnError) {
  const std::string whole = small().bytes();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error_of(whole.substr(0, n)), "") << n;
  EXPECT_EQ(error_of(whole + std::string(3, 'x')), "");  // as in llama.cpp, trailing bytes are ignored
}

TEST_F(GgufTest, MutatedFilesAreErrorsOrRightAnswers) {
  const std::string whole = small().bytes();
  std::uint64_t accepted = 0;
  const std::uint64_t files = test::rounds(2000, [&](RandomSequence& random) {
    std::string bytes = whole;
    for (std::uint64_t n = 1 + random.below(3); n > 0 && !bytes.empty(); --n) {
      const std::size_t at = random.below(bytes.size());
      switch (random.below(6)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
          break;
        case 1:
          bytes[at] = static_cast<char>(random.bits());
          break;
        case 2:
          bytes[at] = static_cast<char>(random.below(2) ? 0xff : 0);
          break;
        case 3:
          bytes.erase(at, random.below(20));
          break;
        case 4:
          bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(60)));
          break;
        default:  // a whole field, where lengths and offsets are
          if (at + 8 <= bytes.size()) {
            const std::uint64_t value = random.below(2) ? random.bits() : random.below(200);
            std::memcpy(&bytes[at], &value, sizeof value);
          }
      }
    }
    try {
      const GgufFile f = GgufFile::open(put(bytes));
      check_accepted(f, bytes.size());
      ++accepted;
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find(path()), 0u) << e.what();
      EXPECT_LT(std::string(e.what()).size(), 2000u);
    }
  });
  std::cout << files << " files, " << accepted << " accepted\n";
  if (files >= 100) {
    EXPECT_GT(accepted, 0u);  // changes within the data
    EXPECT_LT(accepted, files / 2);
  }
}

TEST_F(GgufTest, WhatIsWrittenIsRead) {
  GgufMetadata m;
  m.add("general.architecture", "llama");
  m.add("u", std::uint32_t{5});
  m.add("f", 0.25f);
  m.add("b", true);
  m.add("texts", std::vector<std::string>{"x", "", "yz"});
  m.add("ids", std::vector<std::int32_t>{-1, 2});
  m.add("scores", std::vector<float>{-1.5f});
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::string b(68, '\7');
  GgufWriter w(path(), {{"a", GgufType::f32, {2, 3}}, {"b", GgufType::q8_0, {2, 32}}}, m);
  w.write("a", std::as_bytes(std::span(a)));
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_THROW(w.commit(), Error);
  EXPECT_THROW(w.write("c", std::as_bytes(std::span(b))), Error);
  EXPECT_THROW(w.write("b", std::as_bytes(std::span(a))), Error);
  w.write("b", std::as_bytes(std::span(b)));
  w.commit();
  const GgufFile f = GgufFile::open(path());
  EXPECT_EQ(f.at<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(f.at<std::int64_t>("u"), 5);
  EXPECT_EQ(f.at<double>("f"), 0.25);
  EXPECT_TRUE(f.at<bool>("b"));
  EXPECT_EQ(f.at<std::vector<std::string_view>>("texts"), (std::vector<std::string_view>{"x", "", "yz"}));
  EXPECT_EQ(f.at<std::vector<std::int64_t>>("ids"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(f.get<std::vector<double>>("scores"), (std::vector<double>{-1.5}));
  EXPECT_EQ(f.tensor("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(f.tensor("a").bytes.data(), a.data(), 24), 0);
  EXPECT_EQ(std::memcmp(f.tensor("b").bytes.data(), b.data(), b.size()), 0);
  EXPECT_TRUE(is_gguf_file(path()));
  EXPECT_FALSE(is_gguf_file(path() + "x"));
  EXPECT_FALSE(is_gguf_file(put("GGU")));
}

TEST_F(GgufTest, APointerOfGitLfsAndALinkToNothingAreTold) {
  put("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 77\n");
  try {
    is_gguf_file(path());
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_TRUE(contains(e.message(), "Git LFS pointer", "77 bytes"));
  }
  std::filesystem::remove(path());
  std::filesystem::create_symlink("gone.gguf", path());
  EXPECT_THROW(is_gguf_file(path()), Error);
  std::filesystem::remove(path());
}

TEST_F(GgufTest, NamesInAnyCase) {
  for (const char* name : {"m.gguf", "a/b.GGUF", "c.d.Gguf"}) EXPECT_TRUE(has_gguf_name(name)) << name;
  for (const char* name : {"m.ggu", "gguf", "a.gguf/b", ""}) EXPECT_FALSE(has_gguf_name(name)) << name;
}

TEST_F(GgufTest, TypesHaveNames) {
  EXPECT_EQ(gguf_type("q8_0"), GgufType::q8_0);
  EXPECT_EQ(gguf_type("Q4_K"), GgufType::q4_k);
  EXPECT_EQ(gguf_type("bf16"), GgufType::bf16);
  EXPECT_FALSE(gguf_type("q9"));
  EXPECT_FALSE(gguf_type(""));
  EXPECT_EQ(name_of(GgufType::q6_k), "Q6_K");
}

}  // namespace
}  // namespace tril
