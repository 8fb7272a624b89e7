// Directories that other programs quantised: their matrices are bit for bit what those programs read from them
// (tests/golden/make_quantized.py); a model of them computes what the same floats compute; hostile tensors and unknown
// options are refused by name.
#include "model_io/quantized/quantization.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "format/json_file.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::model {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(test::test_dir() + "/golden/quantized"))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Quantization, MatricesAreWhatTheirOwnProgramsRead) {
  int matrices = 0;
  for (const fs::path& directory : cases()) {
    SCOPED_TRACE(directory.filename());
    const ModelSource source = ModelSource::open(directory);
    EXPECT_EQ(source.stored_precision(), nn::Precision::int8);
    const WeightFiles& files = source.weights();
    EXPECT_TRUE(files.find("model.norm.weight"));
    const SafetensorsFile values = SafetensorsFile::open((directory / "values.safetensors").string());
    EXPECT_EQ(files.names().size(), values.tensors().size() + 1) << "parts of matrices are left";
    for (const WeightView& expected : values.tensors()) {
      const WeightView& view = files.at(expected.name);
      ASSERT_EQ(view.shape, expected.shape);
      const std::vector<float> got = to_f32(view), wanted = to_f32(expected);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(wanted[i]))
            << i << ": " << got[i] << ", expected " << wanted[i];
      ++matrices;
    }
  }
  EXPECT_EQ(matrices, 30);
}

// The bytes of a matrix are what `tril inspect` counts, and what a loader gives back to the system behind it.
TEST(Quantization, EachExpertOfAStackHasItsOwnBytes) {
  const ModelSource source = ModelSource::open(fs::path(test::test_dir()) / "golden/quantized/mxfp4");
  std::map<std::string, std::vector<std::span<const std::byte>>> stacks;
  for (const std::string& name : source.weights().names())
    if (const auto bracket = name.find('['); bracket != name.npos)
      stacks[name.substr(0, bracket)].push_back(source.weights().at(name).bytes);
  EXPECT_FALSE(stacks.empty());
  for (const auto& [name, experts] : stacks) {
    ASSERT_GT(experts.size(), 1u) << name;
    for (std::size_t e = 1; e < experts.size(); ++e) {
      EXPECT_EQ(experts[e].data(), experts[e - 1].data() + experts[e - 1].size()) << name << ", " << e;
      EXPECT_EQ(2 * experts[e].size(),
                static_cast<std::size_t>(source.weights().at(fmt::format("{}[{}]", name, e)).elements()));
    }
  }
}

// A golden case with other tensors or options.
class QuantizationMistakes : public ::testing::Test {
 protected:
  void take(const std::string& name) {
    const std::string directory = test::test_dir() + "/golden/quantized/" + name;
    file = std::make_unique<SafetensorsFile>(SafetensorsFile::open(directory + "/model.safetensors"));
    tensors = file->tensors();
    config = read_json(directory + "/config.json");
  }
  nlohmann::json& scheme() { return config["quantization_config"]; }
  WeightView& tensor(std::string_view ending) {
    for (WeightView& t : tensors)
      if (t.name.ends_with(ending)) return t;
    throw std::runtime_error("no tensor " + std::string(ending));
  }
  template <class T>
  void fill(std::string_view ending, StoredType type, std::vector<std::int64_t> shape, std::vector<T> values) {
    std::string& bytes = kept.emplace_back();
    bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    WeightView& t = tensor(ending);
    t.dtype = type, t.shape = std::move(shape), t.bytes = std::as_bytes(std::span(bytes));
  }
  // The message, and that it is none of an option of the command line.
  void expect_error(const std::string& part) {
    const TemporaryDirectory to;
    write_safetensors(to.path("model.safetensors"), tensors, {});
    write_file_atomic(to.path("config.json"), config.dump());
    std::string got;
    try {
      const ModelSource source = ModelSource::open(to.path());
      for (const std::string& name : source.weights().names()) to_f32(source.weights().at(name));
    } catch (const Error& e) {
      got = e.what();
    }
    EXPECT_TRUE(contains(got, part));
  }

  std::unique_ptr<SafetensorsFile> file;
  std::vector<WeightView> tensors;
  std::deque<std::string> kept;
  nlohmann::json config;
};

TEST_F(QuantizationMistakes, UnknownMethodsAndOptionsAreRefusedByName) {
  const auto says = [&](const std::string& name, const nlohmann::json& changes, const std::string& text) {
    take(name);
    scheme().merge_patch(changes);
    expect_error(text);
  };
  says("gptq_4", {{"quant_method", "hqq"}}, "quant_method: 'hqq' is not supported; supported: tril, fp8");
  says("gptq_4", {{"bits", 5}}, "bits: 5 is not supported");
  says("gptq_4", {{"group_size", 0}}, "group_size: 0 is neither -1 nor above 0");
  says("gptq_4", {{"group_size", -7}}, "group_size: -7");
  says("gptq_4", {{"group_size", 16}}, "has 4 groups, but 128 inputs in groups of 16");
  says("gptq_4", {{"checkpoint_format", "marlin"}}, "'marlin' is not supported");
  says("gptq_4", {{"dynamic", {{"+:.*down.*", {{"bits", 8}}}}}}, "+:.*down.*");
  says("gptq_4", {{"grupsize", 32}}, "grupsize");
  says("awq", {{"version", "gemv"}}, "'gemv' is not supported");
  says("awq", {{"bits", 3}}, "bits: 3");
  says("awq", {{"group_size", 64}}, "groups of 32, but group_size is 64");
  says("fp8_blocks", {{"fmt", "e5m2"}}, "fmt: 'e5m2'");
  says("fp8_blocks", {{"weight_block_size", {0, 16}}}, "[0, 16] is not a height and a width");
  says("ct_int4_group", {{"format", "nvfp4-pack-quantized"}}, "'nvfp4-pack-quantized' is not supported");
  says("ct_int4_group", {{"sparsity_config", {{"format", "sparse-24-bitmask"}}}}, "sparsity_config: is not supported");
  says("ct_int4_group", {{"config_groups", {{"group_0", {{"weights", {{"strategy", "attn_head"}}}}}}}}, "'attn_head'");
  says("ct_int4_group", {{"config_groups", {{"group_0", {{"weights", {{"num_bits", 5}}}}}}}}, "weight_packed: is I32");
  says("ct_int4_group", {{"config_groups", {{"group_0", {{"weights", {{"symmetric", false}}}}}}}}, "no zero points");
  says("ct_int8_channel", {{"config_groups", {{"group_0", {{"weights", {{"type", "float"}}}}}}}}, "expected F8_E4M3");
  says("bnb_nf4", {{"load_in_3bit", true}}, "load_in_3bit");
  says("mxfp4", {{"swizzle", 1}}, "swizzle");
  take("gptq_4");
  config["model_type"] = "gpt2";
  expect_error("gptq is not supported for gpt2");
}

TEST_F(QuantizationMistakes, PartsThatDoNotBelongTogetherAreRefusedByName) {
  const auto without = [&](const std::string& name, const std::string& ending, const std::string& text) {
    take(name);
    std::erase_if(tensors, [&](const WeightView& t) { return t.name.ends_with(ending); });
    expect_error(text);
  };
  without("gptq_4", ".qzeros", "has no tensor model.layers.0.mlp.up_proj.qzeros");
  without("awq", ".scales", "has no tensor model.layers.0.mlp.up_proj.scales");
  without("fp8_blocks", ".weight_scale_inv", "is F8_E4M3 and has no scales");
  without("ct_int4_group", ".weight_shape", "weight_shape");
  without("bnb_nf4_double", ".nested_absmax", "nested_absmax");
  without("mxfp4", "_scales", "gate_up_proj_scales");

  const auto reshaped = [&](const std::string& name, const std::string& ending, std::vector<std::int64_t> shape) {
    take(name);
    tensor(ending).shape = std::move(shape);
    expect_error(ending + ": ");
  };
  reshaped("gptq_4", "up_proj.qzeros", {8, 4});
  reshaped("awq", "up_proj.qzeros", {8, 4});
  reshaped("fp8_blocks", "up_proj.weight_scale_inv", {2, 6});
  reshaped("ct_int4_zeros", "up_proj.weight_zero_point", {2, 6});
  reshaped("ct_int8_channel", "up_proj.weight_scale", {2, 24});
  reshaped("bnb_int8", "up_proj.SCB", {2, 24});
  reshaped("bnb_nf4", "up_proj.weight.absmax", {3, 16});
  reshaped("mxfp4", "gate_up_proj_scales", {10, 3, 2});
}

// 3 bits of GPTQModel: its format 1 is the zeros in words minus three constants that are no ones in each number.
TEST_F(QuantizationMistakes, ThreeBitsOfGptqmodelHaveItsOwnZeros) {
  take("gptq_3");
  const std::vector<std::int64_t> shape = tensor(".qzeros").shape;
  const std::span<const std::byte> bytes = tensor(".qzeros").bytes;
  std::vector<std::uint32_t> stored(bytes.size() / 4), words(stored.size());
  std::memcpy(stored.data(), bytes.data(), bytes.size());
  const auto row = static_cast<std::size_t>(shape[1]);
  for (std::size_t bit = 0; bit < 32 * words.size(); bit += 3) {  // rows are whole numbers of three words
    const auto bit_of = [&](std::size_t i) { return stored[i / 32] >> i % 32 & 1u; };
    const std::uint32_t zero = (bit_of(bit) + 2 * bit_of(bit + 1) + 4 * bit_of(bit + 2) + 1) & 7u;
    for (std::size_t i = 0; i < 3; ++i) words[(bit + i) / 32] |= (zero >> i & 1u) << (bit + i) % 32;
  }
  constexpr std::uint32_t subtracted[] = {0x24924924u, 0x92492492u, 0x49249249u};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] -= subtracted[i % row % 3];
  fill(".qzeros", StoredType::i32, shape, words);
  const SafetensorsFile values =
      SafetensorsFile::open(test::test_dir() + "/golden/quantized/gptq_3/values.safetensors");
  for (const bool stated : {true, false}) {
    if (stated)
      scheme()["meta"] = {{"quantizer", {"optimum:1.23.0", "gptqmodel:5.0.0"}}};
    else
      scheme().erase("meta");
    const TemporaryDirectory to;
    write_safetensors(to.path("model.safetensors"), tensors, {});
    write_file_atomic(to.path("config.json"), config.dump());
    const ModelSource source = ModelSource::open(to.path());
    bool same = true;
    for (const WeightView& expected : values.tensors())
      same = same && to_f32(source.weights().at(expected.name)) == to_f32(expected);
    EXPECT_EQ(same, stated);
  }
}

TEST_F(QuantizationMistakes, HostileNumbersAreRefused) {
  for (const std::int32_t bad : {-1, 4, 0x7fffffff}) {
    take("gptq_4_g_idx");
    std::vector<std::int32_t> groups(128, 0);
    groups[77] = bad;
    fill<std::int32_t>(".g_idx", StoredType::i32, {128}, groups);
    expect_error(fmt::format("g_idx: has the group {}, but there are 4", bad));
  }
  for (const std::int64_t size :
       {std::int64_t{0}, std::int64_t{-48}, std::int64_t{1} << 40, std::int64_t{0x7fffffff}}) {
    take("ct_int4_group");
    fill<std::int64_t>(".weight_shape", StoredType::i64, {2}, {size, 64});
    expect_error("up_proj.");
  }
  for (const char* state : {"", "{", "{\"quant_type\": \"fp4\"}", "{\"quant_type\": \"nf4\", \"blocksize\": 0}",
                            R"({"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": [-4, 64]})",
                            R"({"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": [2147483647, 9]})",
                            R"({"quant_type": "nf4", "blocksize": 64, "dtype": "float8", "shape": [48, 64]})"}) {
    take("bnb_nf4");
    const std::string text = state;
    fill<char>("__nf4", StoredType::u8, {static_cast<std::int64_t>(text.size())}, {text.begin(), text.end()});
    expect_error("up_proj.weight");
  }
}

// Each matrix of a model as 8-bit numbers with scales, beside the same values as floats.
TEST(Quantization, AModelIsTheModelOfTheSameFloats) {
  const fs::path original = test::test_dir() + "/golden/hf/llama";
  const SafetensorsFile file = SafetensorsFile::open((original / "model.safetensors").string());
  std::deque<std::vector<float>> floats, scales;
  std::deque<std::vector<std::int8_t>> numbers;
  std::vector<WeightView> plain, quantised;
  for (const WeightView& t : file.tensors()) {
    if (!t.name.ends_with("_proj.weight")) {
      plain.push_back(t), quantised.push_back(t);
      continue;
    }
    std::vector<float>& values = floats.emplace_back(to_f32(t));
    std::vector<float>& row_scales = scales.emplace_back();
    std::vector<std::int8_t>& q = numbers.emplace_back(values.size());
    const auto columns = static_cast<std::size_t>(t.shape[1]);
    for (std::size_t row = 0; row * columns < values.size(); ++row) {
      row_scales.push_back(0.003f + 0.0001f * static_cast<float>(row));
      for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
        q[i] = static_cast<std::int8_t>(std::clamp(std::round(values[i] / row_scales.back()), -127.f, 127.f));
        values[i] = row_scales.back() * static_cast<float>(q[i]);
      }
    }
    plain.push_back({t.name, StoredType::f32, t.shape, std::as_bytes(std::span(values)), {}});
    quantised.push_back({t.name, StoredType::i8, t.shape, std::as_bytes(std::span(q)), {}});
    quantised.push_back(
        {t.name + "_scale", StoredType::f32, {t.shape[0], 1}, std::as_bytes(std::span(row_scales)), {}});
  }
  const auto logits_of = [&](const std::vector<WeightView>& tensors, const nlohmann::json& scheme) {
    const TemporaryDirectory to;
    nlohmann::json config = read_json((original / "config.json").string());
    config["quantization_config"] = scheme;
    write_safetensors(to.path("model.safetensors"), tensors, {});
    write_file_atomic(to.path("config.json"), config.dump());
    const auto m = load(ModelSource::open(to.path()));
    Arena arena;
    Context c(arena, kern::best());
    const std::vector<std::int32_t> ids{1, 17, 5, 42, 3};
    const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{5});
    return host_copy<float>(logits(c, *m, m->decode(c, {.ids = ids, .rows = rows})));
  };
  const nlohmann::json weights{{"num_bits", 8}, {"type", "int"}, {"strategy", "channel"}, {"symmetric", true}};
  const nlohmann::json scheme{{"quant_method", "compressed-tensors"},
                              {"format", "int-quantized"},
                              {"config_groups", {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}}}}}};
  EXPECT_EQ(logits_of(quantised, scheme), logits_of(plain, nullptr));
}

// gpt-oss: the experts of a layer in one tensor of 4-bit floats, and the same values as floats.
TEST(Quantization, StackedExpertsAreThoseOfTheSameFloats) {
  nlohmann::json config = read_json(test::test_dir() + "/golden/hf/gpt_oss/config.json");
  config["hidden_size"] = 64;
  const TemporaryDirectory original, packed, plain;
  {
    const auto m = make(JsonObject(config, "config.json"));
    m->parameters().allocate();
    m->parameters().initialise(1);
    save(*m, original.path());
  }
  const SafetensorsFile file = SafetensorsFile::open(original.path("model.safetensors"));
  std::deque<std::vector<std::uint8_t>> bytes;
  std::vector<WeightView> tensors;
  std::uint32_t state = 1;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape, std::uint32_t least,
                       std::uint32_t range) {
    std::size_t count = 1;
    for (const std::int64_t n : shape) count *= static_cast<std::size_t>(n);
    std::vector<std::uint8_t>& values = bytes.emplace_back(count);
    for (std::uint8_t& v : values)
      state = state * 1664525u + 1013904223u, v = static_cast<std::uint8_t>(least + (state >> 16) % range);
    tensors.push_back({name, StoredType::u8, std::move(shape), std::as_bytes(std::span(values)), {}});
  };
  const auto is_stacked = [](const WeightView& t) { return t.shape.size() == 3; };
  for (const WeightView& t : file.tensors()) {
    if (!is_stacked(t)) {
      tensors.push_back(t);
      continue;
    }
    const std::int64_t experts = t.shape[0], in = t.shape[1], out = t.shape[2];
    ASSERT_EQ(in % 32, 0) << t.name;
    add(t.name + "_blocks", {experts, out, in / 32, 16}, 0, 256);
    add(t.name + "_scales", {experts, out, in / 32}, 117, 6);
  }
  nlohmann::json quantised = config;
  quantised["quantization_config"] = {{"quant_method", "mxfp4"}, {"modules_to_not_convert", {"lm_head"}}};
  write_safetensors(packed.path("model.safetensors"), tensors, {});
  write_file_atomic(packed.path("config.json"), quantised.dump());

  const ModelSource source = ModelSource::open(packed.path());
  std::deque<std::vector<float>> floats;
  std::vector<WeightView> decoded;
  for (const WeightView& t : file.tensors()) {
    decoded.push_back(t);
    if (!is_stacked(t)) continue;
    std::vector<float>& all = floats.emplace_back();
    for (std::int64_t e = 0; e < t.shape[0]; ++e) {
      const std::vector<float> one = to_f32(source.weights().at(fmt::format("{}[{}]", t.name, e)));
      all.insert(all.end(), one.begin(), one.end());
    }
    decoded.back().bytes = std::as_bytes(std::span(all));
  }
  EXPECT_FALSE(floats.empty());
  write_safetensors(plain.path("model.safetensors"), decoded, {});
  write_file_atomic(plain.path("config.json"), config.dump());
  const auto a = load(source), b = load(ModelSource::open(plain.path()));
  EXPECT_EQ(host_copy<float>(a->parameters().flat()), host_copy<float>(b->parameters().flat()));
}

}  // namespace
}  // namespace tril::model
