// Damaged files: any bytes give an Error or a correct result, within memory bounded by the file's size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "format/json_file.h"
#include "format/safetensors.h"
#include "support/allocations.h"
#include "support/paths.h"
#include "support/raw_safetensors.h"
#include "support/rounds.h"
#include "support/temporary.h"

namespace tril {
namespace {

using testing::AllocationMeter;
using testing::raw_safetensors;

std::string small_file() {
  return raw_safetensors(
      R"({"__metadata__":{"format":"pt","k":"v\u00e4"},"w.a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("w.b":{"dtype":"BF16","shape":[3],"data_offsets":[24,30]},"ids":{"dtype":"I64","shape":[1],"data_offsets":[30,38]},)"
      R"("mask":{"dtype":"BOOL","shape":[],"data_offsets":[38,39]},"none":{"dtype":"I8","shape":[0,7],"data_offsets":[39,39]}} )",
      std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40\x80\x3f\0\x40\x40\x40\x07\0\0"
                  "\0\0\0\0\0\x01",
                  39));
}

// Opens the bytes as a file; true if they are accepted, after checking all invariants.
bool accepts(const TemporaryDirectory& directory, const std::string& bytes) {
  const std::string path = directory.write("f.safetensors", bytes);
  const AllocationMeter meter;
  bool accepted = false;
  try {
    const SafetensorsFile file = SafetensorsFile::open(path);
    std::size_t data = 0;
    for (const WeightView& t : file.tensors()) {
      std::size_t expected = size_of(t.dtype);
      for (const std::int64_t n : t.shape) expected *= static_cast<std::size_t>(n);
      EXPECT_EQ(t.bytes.size(), expected);
      EXPECT_EQ(file.find(t.name), &t);
      try {
        if (is_floating(t.dtype))
          EXPECT_EQ(to_f32(t).size() * size_of(t.dtype), t.bytes.size());
        else
          EXPECT_EQ(to_i32(t).size() * size_of(t.dtype), t.bytes.size());
      } catch (const Error&) {  // a value that does not fit
      }
      data += t.bytes.size();
    }
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    EXPECT_EQ(sizeof header + header + data, bytes.size());
    accepted = true;
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find(path), 0u) << e.what();
    EXPECT_LT(std::string(e.what()).size(), 2000u);
  }
  const std::size_t constant = bytes.size() < 10'000 ? 64 << 10 : 2 << 20;  // the latter for 10,000 entries of metadata
  EXPECT_LT(meter.largest_bytes(), 3 * bytes.size() + constant);
  EXPECT_LT(meter.peak_bytes(), 12 * bytes.size() + constant);
  return accepted;
}

// Applies up to four changes: bits, bytes, digits, pieces cut, doubled or swapped, so that JSON often stays JSON.
std::string mutated(std::string bytes, RandomSequence& random) {
  const auto anywhere = [&] { return bytes.empty() ? 0 : static_cast<std::size_t>(random.below(bytes.size())); };
  for (std::uint64_t n = 1 + random.below(4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = anywhere(), length = static_cast<std::size_t>(random.below(20));
    switch (random.below(8)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.bits());
        break;
      case 2:
        bytes[at] = "0123456789-.eE[]{}\",:\\ u\0"[random.below(25)];
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(anywhere(), length));
        break;
      case 5:
        bytes.resize(at);
        break;
      case 6:
        if (const std::size_t digit = bytes.find_first_of("0123456789", at); digit != bytes.npos)
          bytes[digit] = static_cast<char>('0' + random.below(10));
        break;
      default:
        bytes.insert(at, std::string(length * 10, "[{\"9, "[random.below(6)]));
    }
    // Half of the time the length field is corrected, since otherwise nothing after it would be reached.
    if (bytes.size() >= 8 && random.below(2)) {
      const std::size_t end = bytes.rfind('}');
      if (end != bytes.npos && end >= 8) bytes.replace(0, 8, testing::length_field(end - 8 + 1));
    }
  }
  return bytes;
}

TEST(SafetensorsFuzz, TheFileItselfIsAccepted) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(accepts(directory, small_file()));
}

TEST(SafetensorsFuzz, CutAtEveryByteIsAnError) {
  const TemporaryDirectory directory;
  const std::string whole = small_file();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(accepts(directory, whole.substr(0, n))) << n;
  for (const std::string more : {"x", "xxxxxxxx"}) EXPECT_FALSE(accepts(directory, whole + more));
}

TEST(SafetensorsFuzz, EveryByteChangedIsAnErrorOrARightAnswer) {
  const TemporaryDirectory directory;
  const std::string whole = small_file();
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int change : {1, 2, 0x80, 0xff}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ change);
      accepts(directory, changed);
    }
}

TEST(SafetensorsFuzz, MutatedFiles) {
  const TemporaryDirectory directory;
  const std::string whole = small_file();
  std::uint64_t accepted = 0;
  const std::uint64_t files =
      test::rounds(2000, [&](RandomSequence& random) { accepted += accepts(directory, mutated(whole, random)); });
  std::cout << files << " files, " << accepted << " accepted\n";
  if (files >= 100) {
    EXPECT_GT(accepted, 0u);  // some mutations hit values only
    EXPECT_LT(accepted, files / 2);
  }
}

TEST(SafetensorsFuzz, DeepOrWideHeadersCostNoMemory) {
  const TemporaryDirectory directory;
  constexpr std::size_t n = 1'000'000;
  EXPECT_FALSE(accepts(directory, raw_safetensors(std::string(n, '{'), "")));
  EXPECT_FALSE(accepts(directory, raw_safetensors("{\"a\":" + std::string(n, '['), "")));
  EXPECT_FALSE(
      accepts(directory, raw_safetensors(R"({"a":{"dtype":"F32","shape":[)" + std::string(n, '1') + "]}}", "")));
  std::string shape = "1";
  while (shape.size() < n) shape += ",1";
  EXPECT_FALSE(accepts(directory, raw_safetensors(R"({"a":{"dtype":"F32","shape":[)" + shape + "]}}", "")));
  const auto tensors = [](int count) {
    std::string header = "{";
    for (int i = 0; i < count; ++i)
      header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", i > 0 ? "," : "", i);
    return raw_safetensors(header + "}", "");
  };
  EXPECT_TRUE(accepts(directory, tensors(20'000)));
  EXPECT_FALSE(accepts(directory, tensors(250'001)));
  const auto texts = [](int count) {
    std::string header = R"({"__metadata__":{)";
    for (int i = 0; i < count; ++i) header += fmt::format(R"({}"{}":"")", i > 0 ? "," : "", i);
    return raw_safetensors(header + "}}", "");
  };
  EXPECT_TRUE(accepts(directory, texts(100)));
  EXPECT_FALSE(accepts(directory, texts(1'000'000)));
  EXPECT_FALSE(accepts(directory, texts(10'001)));
}

TEST(JsonFuzz, MutatedConfigs) {
  const std::string whole = read_text(test::test_dir() + "/golden/hf/marian/config.json", 1 << 20);
  test::rounds(2000, [&](RandomSequence& random) {
    const std::string text = mutated(whole, random);
    const AllocationMeter meter;
    try {
      const nlohmann::json json = parse_json(text, "config.json");
      const JsonObject object(json, "config.json");
      EXPECT_EQ(parse_json(json.dump(), "again"), json);
      const std::int64_t d_model = object.size("d_model", 1);
      EXPECT_TRUE(d_model > 0 && d_model < std::int64_t{1} << 31);
      object.get<std::vector<std::string>>("architectures", {});
      object.get<std::string>("model_type", "");
      check_keys(object, {"d_model"});
    } catch (const Error& e) {
      EXPECT_EQ(std::string(e.what()).find("config.json"), 0u) << e.what();
      EXPECT_LT(std::string(e.what()).size(), 2000u);
    }
    EXPECT_LT(meter.peak_bytes(), 40 * text.size() + 64 * 1024);
  });
}

}  // namespace
}  // namespace tril
