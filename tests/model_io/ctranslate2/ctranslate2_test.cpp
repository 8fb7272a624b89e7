// Models of CTranslate2: whatever form they come in, of which type their weights are, and what is refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "format/ctranslate2_file.h"
#include "model_io/exports/ctranslate2_export.h"
#include "model_io/exports/ctranslate2_layout.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/file_text.h"
#include "support/paths.h"
#include "support/raw_ctranslate2.h"
#include "support/raw_zip.h"
#include "support/temporary.h"

namespace tril::model::ctranslate2_test {
namespace {

using testing::raw_ctranslate2;
using testing::raw_zip;
using testing::RawMember;
using testing::RawVariable;
namespace fs = std::filesystem;
using Values = std::vector<float>;

fs::path golden(const std::string& name) {
  return fs::path(test::test_dir()) / "golden/ctranslate2" / name;
}

Values values_of(const fs::path& path, std::optional<nn::Precision> serving = {}) {
  const auto m = load(ModelSource::open(path), serving);
  return serving ? Values{} : host_copy<float>(m->parameters().flat());
}

// A copy of a golden directory whose file `name` is `bytes`.
void copy_with(const TemporaryDirectory& to, const std::string& from, const std::string& name,
               const std::string& bytes) {
  for (const auto& entry : fs::directory_iterator(golden(from)))
    if (entry.is_regular_file()) fs::copy_file(entry.path(), to.path(entry.path().filename().string()));
  fs::remove(to.path(name));
  to.write(name, bytes);
}

std::string error_with(const std::string& from, const std::string& name, const std::string& bytes) {
  const TemporaryDirectory directory;
  copy_with(directory, from, name, bytes);
  return error_of([&] { load(ModelSource::open(directory.path())); });
}

// The golden model.bin with another byte pattern of the same length.
std::string edited(const std::string& from, const std::string& old, const std::string& now) {
  std::string bytes = file_text(golden(from) / "model.bin");
  const std::size_t at = bytes.find(old);
  EXPECT_NE(at, bytes.npos) << old;
  return bytes.replace(at, old.size(), now);
}

TEST(Ctranslate2, TheSameModelInFloatsOfEachType) {
  const Values exact = values_of(golden("marian.float32"));
  double largest = 0;
  for (float v : exact)
    if (std::abs(v) < 1e6f) largest = std::max(largest, std::abs(static_cast<double>(v)));
  // 8 bits: half a step of a row's largest value; 10 bits and bfloat16's 8: likewise.
  for (const auto& [type, off] : {std::pair{"float16", 1e-3},
                                  {"bfloat16", 4e-3},
                                  {"int16", 1e-3},
                                  {"int8", 4e-3},
                                  {"int8_float32", 4e-3},
                                  {"int8_float16", 5e-3},
                                  {"int8_bfloat16", 8e-3}}) {
    const Values found = values_of(golden(std::string("marian.") + type));
    ASSERT_EQ(found.size(), exact.size());
    double worst = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(found[i]) - exact[i]) / largest);
    EXPECT_LT(worst, off) << type;
    EXPECT_GT(worst, 0) << type;
  }
}

TEST(Ctranslate2, EightBitsServeInEightBitsWithoutChange) {
  const auto source = ModelSource::open(golden("llama.int8"));
  EXPECT_EQ(source.stored_precision(), nn::Precision::int8);
  EXPECT_EQ(ModelSource::open(golden("llama.float32")).stored_precision(), nn::Precision::fp32);
  const WeightView* const stored = source.weights().find("model.layers.0.self_attn.o_proj.weight");
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->type_name(), "I8");
  const Values values = to_f32(*stored);
  const auto width = static_cast<std::size_t>(stored->shape[1]);
  for (std::size_t row = 0; row < values.size(); row += width) {
    float largest = 0;
    for (std::size_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(values[row + i]));
    for (std::size_t i = 0; i < width; ++i) {
      const float steps = values[row + i] * 127 / largest;  // as quantising once more would count them
      EXPECT_NEAR(steps, std::round(steps), 1e-3f);
    }
  }
}

TEST(Ctranslate2, FamiliesAreThoseOfTheOriginal) {
  for (const auto& [name, family] : {std::pair{"marian.int8", "opennmt"},
                                     {"m2m100.float32", "opennmt"},
                                     {"t5.int8_float16", "t5"},
                                     {"t5_v1_1.float32", "t5"},
                                     {"llama.float32", "llama"},
                                     {"mistral_swa.float16", "mistral"},
                                     {"qwen2.int8", "qwen2"},
                                     {"qwen3.float32", "qwen3"},
                                     {"gemma.float16", "gemma"},
                                     {"gpt2.float32", "gpt2"},
                                     {"opt.int8", "opt"}})
    EXPECT_EQ(make(ModelSource::open(golden(name)))->family(), family) << name;
}

TEST(Ctranslate2, ASavedModelIsTheSameModel) {
  for (const char* name :
       {"marian.float32", "mbart.float16", "t5_v1_1.float32", "llama.float32", "gpt2.float32", "opt.int8"}) {
    const TemporaryDirectory directory;
    const auto source = ModelSource::open(golden(name));
    save(*load(source), directory.path());
    EXPECT_EQ(values_of(directory.path()), values_of(golden(name))) << name;
  }
}

TEST(Ctranslate2, APackageOfArgosTranslateIsItsDirectory) {
  const Values values = values_of(golden("argos/model"));
  EXPECT_EQ(values_of(golden("argos")), values);
  const auto ids = ModelSource::open(golden("argos")).tokenizer()->encode("the old dog sees a cat.");
  EXPECT_EQ(ids.size(), ModelSource::open(golden("argos/model")).tokenizer()->encode("the old dog sees a cat.").size());
  for (const bool deflated : {false, true}) {
    const TemporaryDirectory directory;
    std::vector<RawMember> members{{"translate-en_de-1_0/stanza/en/model.pt", "not looked at"}};
    for (const auto& entry : fs::recursive_directory_iterator(golden("argos")))
      if (entry.is_regular_file())
        members.push_back({"translate-en_de-1_0/" + fs::relative(entry.path(), golden("argos")).string(),
                           file_text(entry.path()), deflated});
    const std::string path = directory.write("translate-en_de-1_0.argosmodel", raw_zip(members));
    const auto source = ModelSource::open(path);
    EXPECT_EQ(values_of(path), values);
    load(source);
    EXPECT_EQ(host_copy<float>(load(source)->parameters().flat()), values) << "what was read once can be read again";
    EXPECT_EQ(source.tokenizer()->encode("the old dog sees a cat."), ids);
    EXPECT_EQ(source.tokenizer()->stated_languages().target, "de");
  }
}

TEST(Ctranslate2, AnExportedModelIsTheSameModel) {
  for (const char* name : {"argos", "opus"}) {
    const auto source = ModelSource::open(golden(name));
    const TemporaryDirectory directory;
    export_ctranslate2(source, directory.path(), Ctranslate2Type::f32);
    const auto written = ModelSource::open(directory.path());
    EXPECT_EQ(values_of(directory.path()), values_of(golden(name))) << name;
    EXPECT_EQ(written.tokenizer()->encode("the old dog"), source.tokenizer()->encode("the old dog"));
    const TemporaryDirectory small;
    export_ctranslate2(source, small.path(), Ctranslate2Type::int8);
    EXPECT_EQ(ModelSource::open(small.path()).stored_precision(), nn::Precision::int8);
  }
  EXPECT_TRUE(contains(
      error_of([] { export_ctranslate2(ModelSource::open(golden("llama.int8")), "nowhere", Ctranslate2Type::int8); }),
      "no tokenizer"));
}

// CTranslate2 would generate them; tril never does.
TEST(Ctranslate2, RowsBeyondTheTokenizerAreNotExported) {
  for (const char* name : {"llama", "gpt2", "opt", "bart", "t5_v1_1"}) {
    const auto m = make(ModelSource::open(fs::path(test::test_dir()) / "golden/hf" / name));
    const Ctranslate2Layout layout = ctranslate2_layout(*m, 7);
    EXPECT_EQ(layout.words, 7) << name;
    for (const Ctranslate2Variable& v : layout.variables) {
      if (v.name != "decoder/embeddings/weight" && v.name != "decoder/projection/weight") continue;
      EXPECT_EQ(v.parts.at(0).count, 7) << name << ": " << v.name;
    }
  }
}

TEST(Ctranslate2, ATokenizerCutsAndNumbersAsTheOriginal) {
  const fs::path marian = fs::path(test::test_dir()) / "golden/marian";
  for (const auto& [here, there] : {std::pair{"opus", "opus"}, {"argos", "spm"}}) {
    const auto a = ModelSource::open(golden(here)).tokenizer(), b = ModelSource::open(marian / there).tokenizer();
    const auto json = nlohmann::json::parse(file_text(golden(here) / "texts.json"));
    for (const auto& text : json["texts"]) {
      const std::string line = text;
      EXPECT_EQ(a->encode(line), b->encode(line)) << here;
      EXPECT_EQ(a->decode(a->encode(line, Side::source)), b->decode(b->encode(line, Side::source)));
    }
    EXPECT_EQ(a->frame(Side::source).suffix, b->frame(Side::source).suffix);
    EXPECT_EQ(a->special(Side::target).pad, b->special(Side::target).pad);
  }
}

TEST(Ctranslate2, WhatIsNotKnownIsRefusedByName) {
  const auto refused = [](const std::string& text, const std::string& part) {
    EXPECT_TRUE(contains(text, part)) << text << "\nexpected: " << part;
  };
  refused(error_with("marian.float32", "model.bin", edited("marian.float32", "TransformerSpec", "WhisperXXXXSpec")),
          "is a WhisperXXXXSpec");
  refused(error_with("marian.float32", "model.bin",
                     edited("marian.float32", std::string("Spec\0\7", 6), std::string("Spec\0\11", 6))),
          "is revision 9 of TransformerSpec, expected 3 to 7");
  refused(error_with(
              "marian.float32", "model.bin",
              edited("marian.float32", "encoder/layer_1/ffn/layer_norm/beta", "encoder/layer_1/ffn/layer_norm/beto")),
          "encoder/layer_1/ffn/layer_norm/beta");
  refused(
      error_with("marian.float32", "model.bin", edited("marian.float32", "decoder/scale_alibi", "decoder/scale_alibj")),
      "decoder/scale_alibj: is unknown");
  refused(error_with("marian.int8", "model.bin",
                     edited("marian.int8", "decoder/layer_0/ffn/linear_0/weight_scale",
                            "decoder/layer_0/ffn/linear_0/weight_scalf")),
          "decoder/layer_0/ffn/linear_0/weight_scale: is missing");
  refused(error_with(
              "llama.float32", "model.bin",
              edited("llama.float32", "decoder/layer_0/ffn/layer_norm/gamma", "decoder/layer_0/shared_layer_norm/gg")),
          "layer");
  const auto config_with = [](const std::string& from, const nlohmann::json& change) {
    nlohmann::json config = nlohmann::json::parse(file_text(golden(from) / "config.json"));
    config.update(change);
    return config.dump();
  };
  refused(error_with("marian.float32", "config.json", config_with("marian.float32", {{"suppress_ids", {1}}})),
          "suppress_ids");
  refused(
      error_with("m2m100.float32", "config.json", config_with("m2m100.float32", {{"decoder_start_token", nullptr}})),
      "decoder_start_token");
  refused(error_with("m2m100.float32", "config.json",
                     config_with("m2m100.float32", {{"decoder_start_token", "<nowhere>"}})),
          "<nowhere>");
  refused(error_with("m2m100.float32", "config.json", config_with("m2m100.float32", {{"layer_norm_epsilon", 0.5}})),
          "0.5");
  refused(error_with("llama.float32", "config.json", config_with("llama.float32", {{"quantization_type", 1}})), "AWQ");
  refused(error_with("m2m100.float32", "shared_vocabulary.json", "{}"), "not a list of pieces");
  refused(error_with("m2m100.float32", "shared_vocabulary.json", "[\"a\", 1]"), "piece 1 is not a text");
  refused(error_with("m2m100.float32", "shared_vocabulary.json", "[\"a\"]"), "</s>");
}

TEST(Ctranslate2, VocabulariesMayBeTexts) {
  const TemporaryDirectory directory;
  const nlohmann::json pieces = nlohmann::json::parse(file_text(golden("m2m100.float32") / "shared_vocabulary.json"));
  for (const char* end : {"\n", "\r\n"}) {
    std::string text;
    for (const auto& piece : pieces) text += piece.get<std::string>() + end;
    const TemporaryDirectory one;
    copy_with(one, "m2m100.float32", "shared_vocabulary.txt", text);
    fs::remove(one.path("shared_vocabulary.json"));
    EXPECT_EQ(ModelSource::open(one.path()).config().json(),
              ModelSource::open(golden("m2m100.float32")).config().json());
    // The same for each side by itself.
    fs::rename(one.path("shared_vocabulary.txt"), one.path("source_vocabulary.txt"));
    fs::copy_file(one.path("source_vocabulary.txt"), one.path("target_vocabulary.txt"));
    EXPECT_EQ(values_of(one.path()), values_of(golden("m2m100.float32")));
  }
}

TEST(Ctranslate2, FilesOfOtherTokenizersAreRefused) {
  const TemporaryDirectory directory;
  copy_with(directory, "opus", "shared_vocabulary.json", [] {
    nlohmann::json pieces = nlohmann::json::parse(file_text(golden("opus") / "shared_vocabulary.json"));
    pieces[5] = pieces[4];
    return pieces.dump();
  }());
  EXPECT_TRUE(contains(error_of([&] { ModelSource::open(directory.path()).tokenizer(); }), "twice"));
  const TemporaryDirectory bare;
  copy_with(bare, "opus", "README", "");
  fs::remove(bare.path("source.spm"));
  EXPECT_FALSE(ModelSource::open(bare.path()).has_tokenizer());
  EXPECT_TRUE(contains(error_of([&] { ModelSource::open(bare.path()).tokenizer(); }), "no file next to it"));
}

TEST(Ctranslate2, ArchivesThatLeadOutsideAreRefused) {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::vector<RawMember>& members, const std::string& part) {
    const std::string path = directory.write("x.argosmodel", raw_zip(members));
    const std::string text = error_of([&] { load(ModelSource::open(path)); });
    EXPECT_TRUE(contains(text, part));
  };
  const std::string model = file_text(golden("argos/model") / "model.bin");
  refused({{"../model/model.bin", model}}, "leads out of the archive");
  refused({{"a/model/model.bin", model}, {"/etc/passwd", "x"}}, "leads out of the archive");
  refused({{"a/model/model.bin", model}, {"b/model/model.bin", model}}, "holds 2 files called model.bin");
  refused({{"README.md", "x"}}, "holds no model.bin");
  refused({{"a/model/model.bin", std::string(std::size_t{1} << 22, '\0'), true}}, "expected at most");
  refused({{"a/model/model.bin", model.substr(0, model.size() / 2)}}, "the file is truncated");
}

}  // namespace
}  // namespace tril::model::ctranslate2_test
