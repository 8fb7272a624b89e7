// Which files of a repository its model consists of.
#include "hub/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/temporary.h"

namespace tril::hub {
namespace {

using Names = std::vector<std::string>;

Names planned(const Names& names, const std::string& file = "", const std::map<std::string, std::string>& texts = {}) {
  return files_of_model(
      names, file, [&](const std::string& name) { return texts.at(name); }, "a/b");
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

std::string plan_error(const Names& names, const std::string& file = "",
                       const std::map<std::string, std::string>& texts = {}) {
  return error_of([&] { planned(names, file, texts); });
}

TEST(Plan, TakesSafetensorsAndWhatIsReadBesideThem) {
  const Names all{".gitattributes",         "README.md",         "config.json",   "flax_model.msgpack",
                  "generation_config.json", "model.safetensors", "modeling_x.py", "pytorch_model.bin",
                  "rust_model.ot",          "source.spm",        "target.spm",    "tf_model.h5",
                  "tokenizer_config.json",  "training_args.bin", "vocab.json",    "onnx/model.onnx"};
  EXPECT_EQ(sorted(planned(all)), sorted({"config.json", "generation_config.json", "model.safetensors", "source.spm",
                                          "target.spm", "tokenizer_config.json", "vocab.json"}));
  EXPECT_EQ(planned(all).back(), "config.json") << "it marks the model as whole";
}

TEST(Plan, TakesPytorchsFilesIfThereIsNothingElse) {
  EXPECT_EQ(planned({"config.json", "pytorch_model.bin"}), Names({"pytorch_model.bin", "config.json"}));
  const std::string index =
      R"({"metadata": {}, "weight_map": {"a": "pytorch_model-1.bin", "b": "pytorch_model-2.bin"}})";
  EXPECT_EQ(sorted(planned({"config.json", "pytorch_model-1.bin", "pytorch_model-2.bin", "pytorch_model-3.bin",
                            "pytorch_model.bin.index.json"},
                           "", {{"pytorch_model.bin.index.json", index}})),
            sorted({"config.json", "pytorch_model-1.bin", "pytorch_model-2.bin", "pytorch_model.bin.index.json"}));
}

TEST(Plan, TakesCtranslate2sFilesIfThereIsNothingElse) {
  EXPECT_EQ(sorted(planned({"README.md", "config.json", "model.bin", "shared_vocabulary.json", "sub/vocabulary.txt",
                            "source.spm", "tokenizer.json"})),
            sorted({"config.json", "model.bin", "shared_vocabulary.json", "source.spm", "tokenizer.json"}));
  EXPECT_EQ(planned({"config.json", "model.bin", "model.safetensors", "shared_vocabulary.json"}),
            Names({"model.safetensors", "config.json"}));
  EXPECT_TRUE(contains(plan_error({"config.json", "model.bin"}), "vocabulary"));
}

TEST(Plan, TakesAnAdapter) {
  EXPECT_EQ(planned({"README.md", "adapter_config.json", "adapter_model.bin", "adapter_model.safetensors"}),
            Names({"adapter_model.safetensors", "adapter_config.json"}));
  EXPECT_EQ(planned({"adapter_config.json", "adapter_model.bin"}), Names({"adapter_model.bin", "adapter_config.json"}));
  EXPECT_EQ(planned({"adapter_config.json", "adapter_model.bin", "config.json"}),
            Names({"adapter_model.bin", "adapter_config.json"}));
  EXPECT_TRUE(contains(plan_error({"adapter_config.json"}), "incomplete"));
}

TEST(Plan, TakesMedusaHeads) {
  EXPECT_EQ(planned({"README.md", "config.json", "medusa_lm_head.pt", "medusa_lm_head.safetensors"}),
            Names({"medusa_lm_head.safetensors", "config.json"}));
  EXPECT_EQ(planned({"config.json", "medusa_lm_head.pt"}), Names({"medusa_lm_head.pt", "config.json"}));
  EXPECT_EQ(planned({"config.json", "medusa_lm_head.pt", "model.safetensors"}),
            Names({"model.safetensors", "config.json"}))
      << "a model with its heads is a model";
}

TEST(Plan, ShardsAreTheIndexs) {
  const Names names{"config.json", "m-1.safetensors", "m-2.safetensors", "model.safetensors.index.json",
                    "pytorch_model.bin"};
  const auto with = [&](const std::string& index) {
    return plan_error(names, "", {{"model.safetensors.index.json", index}});
  };
  EXPECT_EQ(with(R"({"weight_map": {"a": "m-1.safetensors"}})"), "");
  EXPECT_TRUE(contains(with(R"({"weight_map": {"a": "m-3.safetensors"}})"), "m-3.safetensors, which does not exist"));
  for (const char* shard : {"../m", "/etc/passwd", "a/b.safetensors", ""})
    EXPECT_TRUE(contains(with(R"({"weight_map": {"a": ")" + std::string(shard) + "\"}}"), "next to it")) << shard;
  for (const char* index : {"", "[]", "{}", R"({"weight_map": 1})", R"({"weight_map": {"a": 1}})"})
    EXPECT_NE(with(index), "") << index;
}

TEST(Plan, AGgufFileIsNamedWhereThereAreSeveral) {
  const Names two{"README.md", "q4.gguf", "q8.gguf"};
  EXPECT_TRUE(contains(plan_error(two), "a/b:q4.gguf"));
  EXPECT_EQ(planned(two, "q8.gguf"), Names{"q8.gguf"});
  EXPECT_TRUE(contains(plan_error({"README.md", "q4.gguf"}), "a/b:q4.gguf"));
  EXPECT_TRUE(contains(plan_error(two, "q5.gguf"), "did you mean"));
  EXPECT_TRUE(contains(plan_error({"config.json", "q4.gguf"}), "a/b:q4.gguf"));
  EXPECT_TRUE(contains(plan_error(two, "README.md"), "not a model"));
}

TEST(Plan, TakesAnArchiveByItsName) {
  const Names names{"README.md", "model.zip", "model.npz", "translate-en_de-1_0.argosmodel"};
  for (const char* file : {"model.zip", "model.npz", "translate-en_de-1_0.argosmodel"}) {
    EXPECT_EQ(planned(names, file), Names{file});
    EXPECT_EQ(model_path("/s", {file}), "/s/" + std::string(file));
  }
}

TEST(Plan, AGgufModelInPartsIsWhole) {
  const Names parts{"x-00001-of-00003.gguf", "x-00002-of-00003.gguf", "x-00003-of-00003.gguf", "y-00001-of-00003.gguf"};
  EXPECT_EQ(planned(parts, "x-00001-of-00003.gguf"),
            Names({"x-00003-of-00003.gguf", "x-00002-of-00003.gguf", "x-00001-of-00003.gguf"}));
  EXPECT_EQ(planned({"x-00001-of-00002.gguf", "x-00002-of-00002.gguf"}, "x-00002-of-00002.gguf").back(),
            "x-00001-of-00002.gguf");
  EXPECT_TRUE(contains(plan_error(parts, "y-00001-of-00003.gguf"), "1 of the 3"));
}

TEST(Plan, WhatIsNoModelIsRefused) {
  EXPECT_TRUE(contains(plan_error({"README.md"}), "config.json"));
  EXPECT_TRUE(contains(plan_error({"config.json", "tf_model.h5"}), "tf_model.h5"));
  EXPECT_TRUE(contains(plan_error({"config.json"}), "refs/pr"));
  EXPECT_TRUE(contains(plan_error({}), "not a model"));
}

TEST(Plan, ThePathIsTheDirectorysOrTheFiles) {
  EXPECT_EQ(model_path("/s", {"model.safetensors", "config.json"}), "/s");
  EXPECT_EQ(model_path("/s", {"adapter_model.bin", "adapter_config.json"}), "/s");
  EXPECT_EQ(model_path("/s", {"x.gguf"}), "/s/x.gguf");
}

}  // namespace
}  // namespace tril::hub
