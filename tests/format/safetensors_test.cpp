// safetensors: golden files are read, written files read back, and each kind of damage has its error.
#include "format/safetensors.h"
#include "format/safetensors_write.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "support/paths.h"
#include "support/raw_safetensors.h"
#include "support/temporary.h"

namespace tril {
namespace {

using testing::raw_safetensors;
namespace fs = std::filesystem;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Every safetensors file under tests/golden against a simple parse of its header.
TEST(Safetensors, GoldenFilesReadAsTheirHeadersSay) {
  int files = 0, tensors = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / "golden")) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string path = entry.path().string(), text = read_text(path, 1 << 30);
    const SafetensorsFile file = SafetensorsFile::open(path);
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    const auto header = nlohmann::json::parse(text.substr(8, length));
    std::size_t data_bytes = 0, named = 0;
    for (const auto& [name, tensor] : header.items()) {
      if (name == "__metadata__") {
        ASSERT_EQ(file.metadata().size(), tensor.size()) << path;
        for (const auto& [key, value] : tensor.items())
          EXPECT_EQ(*file.find_metadata(key), value.get<std::string>()) << path;
        continue;
      }
      const WeightView* const view = file.find(name);
      ASSERT_NE(view, nullptr) << path << " " << name;
      EXPECT_EQ(name_of(view->dtype), tensor["dtype"].get<std::string>());
      EXPECT_EQ(view->shape, tensor["shape"].get<std::vector<std::int64_t>>());
      const std::size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
      ASSERT_TRUE(same_bytes(view->bytes, std::as_bytes(std::span(text).subspan(8 + length + begin, end - begin))));
      if (is_floating(view->dtype)) {
        for (const float x : to_f32(*view)) ASSERT_TRUE(!std::isnan(x)) << path << " " << name;
      } else {
        EXPECT_EQ(to_i32(*view).size(), static_cast<std::size_t>(view->elements()));
      }
      data_bytes += view->bytes.size();
      ++named;
    }
    EXPECT_EQ(file.tensors().size(), named) << path;
    EXPECT_EQ(8 + length + data_bytes, text.size()) << path;
    ++files, tensors += static_cast<int>(named);
  }
  EXPECT_GE(files, 50);
  EXPECT_GE(tensors, 2000);
}

TEST(Safetensors, GoldenFilesSurviveWritingAndReading) {
  const TemporaryDirectory directory;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / "golden")) {
    if (entry.path().extension() != ".safetensors") continue;
    const SafetensorsFile before = SafetensorsFile::open(entry.path().string());
    write_safetensors(directory.path("a"), before.tensors(), before.metadata());
    const SafetensorsFile after = SafetensorsFile::open(directory.path("a"));
    EXPECT_EQ(before.metadata(), after.metadata());
    ASSERT_EQ(before.names(), after.names());
    for (std::size_t i = 0; i < before.tensors().size(); ++i) {
      const WeightView &a = before.tensors()[i], &b = after.tensors()[i];
      EXPECT_EQ(a.dtype, b.dtype);
      EXPECT_EQ(a.shape, b.shape);
      ASSERT_TRUE(same_bytes(a.bytes, b.bytes)) << entry.path() << " " << a.name;
    }
    write_safetensors(directory.path("b"), before.tensors(), before.metadata());
    EXPECT_EQ(read_text(directory.path("a"), 1 << 30), read_text(directory.path("b"), 1 << 30));
  }
}

TEST(Safetensors, EveryDtypeAtEveryAlignment) {
  const TemporaryDirectory directory;
  const std::vector<double> f64{1.5, -0x1p-149, 0};
  const std::vector<float> f32{0.1f, -3e38f, std::numeric_limits<float>::denorm_min()};
  const std::vector<std::uint16_t> f16{0x3c00, 0xfbff, 1}, bf16{0x3f80, 0xff7f, 1};
  const std::vector<std::int64_t> i64{1, -2147483648, 2147483647};
  const std::vector<std::int32_t> i32{1, -2147483647 - 1, 2147483647};
  const std::vector<std::int16_t> i16{1, -32768, 32767};
  const std::vector<std::int8_t> i8{1, -128, 127};
  const std::vector<std::uint8_t> u8{1, 255, 0}, boolean{1, 0, 2};
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::vector<std::uint8_t> pad(shift, 9);
    const std::vector<WeightView> tensors{
        {"pad", StoredType::u8, {static_cast<std::int64_t>(shift)}, bytes_of(pad)},
        {"f64", StoredType::f64, {3}, bytes_of(f64)},
        {"f32", StoredType::f32, {3, 1}, bytes_of(f32)},
        {"f16", StoredType::f16, {1, 3}, bytes_of(f16)},
        {"bf16", StoredType::bf16, {3}, bytes_of(bf16)},
        {"i64", StoredType::i64, {3}, bytes_of(i64)},
        {"i32", StoredType::i32, {3}, bytes_of(i32)},
        {"i16", StoredType::i16, {3}, bytes_of(i16)},
        {"i8", StoredType::i8, {3}, bytes_of(i8)},
        {"u8", StoredType::u8, {3}, bytes_of(u8)},
        {"bool", StoredType::boolean, {3}, bytes_of(boolean)},
        {"scalar", StoredType::f32, {}, std::span(bytes_of(f32)).first(4)},
        {"none", StoredType::f32, {0, 5}, {}},
    };
    write_safetensors(directory.path("a"), tensors, {});
    const SafetensorsFile file = SafetensorsFile::open(directory.path("a"));
    EXPECT_EQ(file.tensors().size(), tensors.size());
    EXPECT_EQ(to_f32(file.at("f64")), (std::vector<float>{1.5f, -0x1p-149f, 0}));
    EXPECT_EQ(to_f32(file.at("f32")), f32);
    EXPECT_EQ(to_f32(file.at("f16")), (std::vector<float>{1, -65504, 0x1p-24f}));
    EXPECT_EQ(to_f32(file.at("bf16")), (std::vector<float>{1, bf16_to_f32(0xff7f), bf16_to_f32(1)}));
    EXPECT_EQ(to_i32(file.at("i64")), i32);
    EXPECT_EQ(to_i32(file.at("i32")), i32);
    EXPECT_EQ(to_i32(file.at("i16")), (std::vector<std::int32_t>{1, -32768, 32767}));
    EXPECT_EQ(to_i32(file.at("i8")), (std::vector<std::int32_t>{1, -128, 127}));
    EXPECT_EQ(to_i32(file.at("u8")), (std::vector<std::int32_t>{1, 255, 0}));
    EXPECT_EQ(to_i32(file.at("bool")), (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(to_f32(file.at("scalar")), std::vector<float>{0.1f});
    EXPECT_TRUE(file.at("scalar").shape.empty());
    EXPECT_TRUE(to_f32(file.at("none")).empty());
    EXPECT_EQ(file.at("none").shape, (std::vector<std::int64_t>{0, 5}));
  }
}

TEST(Safetensors, ValuesThatDoNotFitAreNamed) {
  const std::vector<double> f64{0, 1e300};
  const std::vector<std::int64_t> i64{0, 0, std::int64_t{1} << 31};
  const WeightView large{"w", StoredType::f64, {2}, bytes_of(f64)}, ids{"ids", StoredType::i64, {3}, bytes_of(i64)};
  EXPECT_TRUE(contains(error_of([&] { to_f32(large); }), "w: value 1 is 1e+300", "32-bit float"));
  EXPECT_TRUE(contains(error_of([&] { to_i32(ids); }), "ids: value 2 is 2147483648", "32 bits"));
  EXPECT_TRUE(contains(error_of([&] { to_f32(ids); }), "ids: ", "I64", "floating-point"));
  EXPECT_TRUE(contains(error_of([&] { to_i32(large); }), "w: ", "F64", "integers"));
  std::vector<float> small(1);
  EXPECT_TRUE(contains(error_of([&] { to_f32(large, small); }), "w: has 2 values", "room for 1"));
  const std::vector<double> infinite{INFINITY, -INFINITY, NAN};
  const std::vector<float> kept = to_f32(WeightView{"w", StoredType::f64, {3}, bytes_of(infinite)});
  EXPECT_TRUE(kept[0] == INFINITY && kept[1] == -INFINITY && std::isnan(kept[2]));
}

TEST(Safetensors, LooksUpByNameAndSuggests) {
  const TemporaryDirectory directory;
  directory.write(
      "a", raw_safetensors(R"({"__metadata__":{"z":"1","b":"ü"},"w.b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                           R"("w.a":{"shape":[],"data_offsets":[0,1],"dtype":"I8"}}   )",
                           "\xff\x07"));
  const SafetensorsFile file = SafetensorsFile::open(directory.path("a"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"w.a", "w.b"}));
  EXPECT_EQ(to_i32(file.at("w.a")), std::vector<std::int32_t>{-1});
  EXPECT_EQ(to_i32(file.at("w.b")), std::vector<std::int32_t>{7});
  EXPECT_EQ(file.find("w"), nullptr);
  EXPECT_EQ(file.find("x"), nullptr);
  EXPECT_EQ(*file.find_metadata("b"), "ü");
  EXPECT_EQ(file.find_metadata("y"), nullptr);
  EXPECT_TRUE(
      contains(error_of([&] { file.at("wa"); }), directory.path("a") + ": ", "no tensor wa", "did you mean w.a?"));
}

TEST(Safetensors, NoTensorsAtAll) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(SafetensorsFile::open(directory.write("a", raw_safetensors("{}", ""))).tensors().empty());
  write_safetensors(directory.path("b"), {}, {});
  EXPECT_TRUE(SafetensorsFile::open(directory.path("b")).tensors().empty());
  write_safetensors(directory.path("b"), {}, {{"format", "pt"}});
  EXPECT_EQ(*SafetensorsFile::open(directory.path("b")).find_metadata("format"), "pt");
}

struct Wrong {
  std::string header, data, error;  ///< error: a part of the message
};

TEST(Safetensors, EachMistakeHasItsError) {
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  const std::string f32 = R"("F32")", four = "abcd", huge = "9223372036854775807";
  const std::vector<Wrong> wrongs{
      {"", "", "does not begin with {"},
      {"[]", "", "does not begin with {"},
      {"{", "", "not valid JSON"},
      {"{}x", "", "not valid JSON"},
      {std::string("{}\0 ", 4), "", "NUL byte"},
      {"{\"\xff\":1}", "", "not valid JSON"},
      {R"({"t":1})", "", "t: is the number 1, expected an object"},
      {R"({"t":null})", "", "t: is null, expected an object"},
      {R"({"t":[]})", "", "t: is an array, expected an object"},
      {R"({"t":{}})", "", "t: needs dtype, shape and data_offsets"},
      {R"({"t":{"dtype":"F32","shape":[1]}})", four, "needs dtype, shape and data_offsets"},
      {R"({"t":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four, "has dtype twice"},
      {R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", four, "has the key \"x\""},
      {R"({"t":{"dtype":{"a":1},"shape":[1],"data_offsets":[0,4]}})", four,
       "its dtype is an object, expected a string"},
      {R"({"__metadata__":{"a":1}})", "", "__metadata__: a is the number 1, expected a string"},
      {R"({"__metadata__":{"a":{"b":"c"}}})", "", "__metadata__: a is an object, expected a string"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "", "has a twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "", "__metadata__ twice"},
      {R"({"__metadata__":"x"})", "", "expected an object"},
      {tensor(R"("F8_E5M2")", "[4]", "[0,4]"), four,
       "has the dtype F8_E5M2, which is not supported; supported dtypes: F64, F32"},
      {tensor(R"("f32")", "[1]", "[0,4]"), four, "has the dtype f32"},
      {tensor("5", "[1]", "[0,4]"), four, "its dtype is the number 5, expected a string"},
      {tensor(f32, "1", "[0,4]"), four, "its shape is the number 1, expected an array"},
      {tensor(f32, "[-1]", "[0,4]"), four, "its shape contains the number -1"},
      {tensor(f32, "[1.0]", "[0,4]"), four, "its shape contains the number 1.0"},
      {tensor(f32, "[[1]]", "[0,4]"), four, "its shape contains an array"},
      {tensor(f32, "[\"1\"]", "[0,4]"), four, "its shape contains the string \"1\""},
      {tensor(f32, "[18446744073709551615]", "[0,4]"), four, "its shape contains the dimension 18446744073709551615"},
      {tensor(f32, "[18446744073709551617]", "[0,4]"), four, "its shape contains the number 18446744073709551617"},
      {tensor(f32, "[4294967296,4294967296]", "[0,4]"), four, "more values than 64 bits can count"},
      {tensor(f32, "[4611686018427387905]", "[0,4]"), four, "more values than 64 bits can count"},  // times 4: 4 again
      {tensor(f32, "[" + huge + "," + huge + ",0]", "[0,0]"), "", "more values than 64 bits can count"},
      {tensor(f32, "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), four, "more than 16 dimensions"},
      {tensor(f32, "[2]", "[0,4]"), four, "has 4 bytes, but its shape [2] of F32 needs 8"},
      {tensor(f32, "[1]", "[0,8]"), four, "lies at bytes 0 to 8 of the data, which has 4 bytes"},
      {tensor(f32, "[1]", "[4,0]"), four, "lies at bytes 4 to 0"},
      {tensor(f32, "[1]", "[-4,0]"), four, "data_offsets contain the number -4"},
      {tensor(f32, "[1]", "[0]"), four, "needs two data_offsets"},
      {tensor(f32, "[1]", "[0,4,4]"), four, "data_offsets contain the number 4"},
      {tensor(f32, "[1]", "[18446744073709551612,18446744073709551615]"), four, "lies at bytes 18446744073709551612"},
      {tensor(f32, "[1]", "[0,4]"), "abcdX", "bytes 4 to 5 of the data belong to no tensor"},
      {tensor(f32, "[1]", "[1,5]"), "Xabcd", "bytes 0 to 1 of the data belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       "xyz", "bytes 1 to 2 of the data belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       "xyz", "b: overlaps a at byte 1"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       "xy", "has a twice"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       "", "has a twice"},
  };
  const TemporaryDirectory directory;
  for (const Wrong& wrong : wrongs) {
    const std::string path = directory.write("a", raw_safetensors(wrong.header, wrong.data));
    const std::string error = error_of([&] { SafetensorsFile::open(path); });
    EXPECT_EQ(error.find(path), 0u) << wrong.header << "\n" << error;
    EXPECT_TRUE(contains(error, wrong.error)) << wrong.header << "\n" << error;
  }
}

TEST(Safetensors, LengthOfTheHeaderIsChecked) {
  const TemporaryDirectory directory;
  const auto error = [&](const std::string& bytes) {
    return error_of([&] { SafetensorsFile::open(directory.write("a", bytes)); });
  };
  EXPECT_TRUE(contains(error(""), "has 0 bytes"));
  EXPECT_TRUE(contains(error("1234567"), "has 7 bytes"));
  EXPECT_TRUE(contains(error(testing::length_field(3) + "{}"), "header of 3 bytes", "only 2 more"));
  EXPECT_TRUE(contains(error(testing::length_field(100'000'001) + "{}"), "at most 100000000 are allowed"));
  EXPECT_TRUE(contains(error(testing::length_field(~std::uint64_t{0}) + "{}"), "at most 100000000 are allowed"));
}

TEST(Safetensors, HostileNamesDoNotReachTheTerminal) {
  const TemporaryDirectory directory;
  const std::string name = "\\u001b[31m" + std::string(100'000, 'n');
  const std::string error =
      error_of([&] { SafetensorsFile::open(directory.write("a", raw_safetensors("{\"" + name + "\":1}", ""))); });
  EXPECT_FALSE(contains(error, "\x1b"));
  EXPECT_LT(error.size(), 500u);
}

TEST(SafetensorsWriter, TakesTensorsInOrderAndInPieces) {
  const TemporaryDirectory directory;
  const std::vector<float> a{1, 2, 3, 4}, b{5};
  const std::vector<TensorHeader> headers{
      {"a", StoredType::f32, {2, 2}}, {"none", StoredType::f32, {0}}, {"b", StoredType::f32, {}}};
  {
    SafetensorsWriter writer(directory.path("m"), headers, {{"format", "pt"}});
    writer.write("a", bytes_of(a).first(7));
    writer.write("a", bytes_of(a).subspan(7));
    writer.write("b", bytes_of(b));
    EXPECT_FALSE(fs::exists(directory.path("m")));
    writer.commit();
  }
  const SafetensorsFile file = SafetensorsFile::open(directory.path("m"));
  EXPECT_EQ(to_f32(file.at("a")), a);
  EXPECT_EQ(to_f32(file.at("b")), b);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.at("a").bytes.data()) % 8, 0u);  // the header is padded

  const auto error = [&](auto action) {
    SafetensorsWriter writer(directory.path("m"), headers, {});
    return error_of([&] { action(writer); });
  };
  EXPECT_TRUE(contains(error([&](auto& w) { w.write("b", bytes_of(b)); }), "got b", "a was expected", "0 of its 16"));
  EXPECT_TRUE(contains(error([&](auto& w) { w.write("a", bytes_of(a)), w.write("a", bytes_of(b)); }),
                       "a has 16 bytes, got 20"));
  EXPECT_TRUE(contains(error([&](auto& w) { w.write("a", bytes_of(b)), w.commit(); }), "a has 16 bytes, got only 4"));
  EXPECT_NE(error([&](auto& w) { w.write("c", bytes_of(b)); }), "");
  EXPECT_EQ(to_f32(SafetensorsFile::open(directory.path("m")).at("a")),
            a);  // the failed writes changed nothing in the file
}

TEST(SafetensorsWriter, RefusesWhatItCouldNotReadAgain) {
  const TemporaryDirectory directory;
  const auto error = [&](std::vector<TensorHeader> headers, const Metadata& metadata) {
    return error_of([&] { SafetensorsWriter(directory.path("m"), std::move(headers), metadata).commit(); });
  };
  EXPECT_TRUE(
      contains(error({{"a", StoredType::f32, {0}}, {"a", StoredType::f32, {0}}}, {}), "two tensors are called a"));
  EXPECT_NE(error({{"__metadata__", StoredType::f32, {0}}}, {}), "");
  EXPECT_TRUE(contains(error({{"\xff", StoredType::f32, {0}}}, {}), "not valid UTF-8"));
  EXPECT_TRUE(contains(error({}, {{"a", "\xc3"}}), "not valid UTF-8"));
  EXPECT_TRUE(contains(error({{"a", StoredType::f32, {-1}}}, {}), "cannot have the shape [-1]"));
  EXPECT_TRUE(contains(error({{"a", StoredType::f32, {std::int64_t{1} << 62}}}, {}), "cannot have the shape"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

}  // namespace
}  // namespace tril
