// --adapter of the commands: scores with an adapter are those of the model that it was merged into.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

std::string golden(const std::string& name) {
  return test::test_dir() + "/golden/" + name;
}

// A golden model, which has no tokenizer, with one of bytes.
std::string with_tokenizer(const std::string& model, const ScratchFolder& folder) {
  const std::string to = folder.at("model");
  fs::copy(golden("hf/" + model), to);
  const std::string config =
      "{\"tokenizer_class\": \"GPT2Tokenizer\", \"eos_token\": \"<e>\", \"unk_token\": \"<e>\"}\n";
  nlohmann::json vocab;
  for (int i = 0; i < 26; ++i) vocab[std::string(1, static_cast<char>('a' + i))] = 3 + i;
  vocab["<e>"] = 2;
  folder.write("model/vocab.json", vocab.dump());
  folder.write("model/merges.txt", "#version: 0.2\n");
  folder.write("model/tokenizer_config.json", config);
  return to;
}

TEST(AdapterOption, ScoresAreThoseOfTheMergedModel) {
  const ScratchFolder folder;
  const std::string model = with_tokenizer("llama", folder), text = folder.write("text", "abcdefg\nhello\n");
  for (const char* name : {"llama_lora", "llama_dora", "llama_regex"}) {
    SCOPED_TRACE(name);
    const std::string adapter = golden(std::string("adapters/") + name),
                      merged = folder.at(std::string("merged-") + name);
    const Ran exported = run_tril({"export", "-m", model, "--adapter", adapter, "--to", merged});
    ASSERT_EQ(exported.code, 0) << exported.err;
    const auto scores = [&](std::vector<std::string> more, const std::string& of) {
      std::vector<std::string> words{"score", "-m", of, "-s", text, "--precision", "fp32"};
      words.insert(words.end(), more.begin(), more.end());
      const Ran ran = run_tril(words);
      EXPECT_EQ(ran.code, 0) << ran.err;
      std::vector<double> values;
      for (const std::string& line : lines_of(ran.out)) values.push_back(std::stod(line));
      return values;
    };
    const auto with = scores({"--adapter", adapter}, model), of_merged = scores({}, merged),
               without = scores({}, model);
    ASSERT_EQ(with.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(with[i], of_merged[i], 1e-3);
      EXPECT_GT(std::abs(with[i] - without[i]), 1e-3);
    }
  }
}

TEST(AdapterOption, InspectDescribesOne) {
  const Ran ran = run_tril({"inspect", golden("adapters/llama_dora"), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["adapter"], "DoRA");
  EXPECT_EQ(json["ranks"], nlohmann::json({3}));
  EXPECT_EQ(run_tril({"inspect", golden("adapters/llama_lora")}).code, 0);
}

TEST(AdapterOption, SaysWhatIsWrong) {
  const ScratchFolder folder;
  const std::string model = with_tokenizer("llama", folder), text = folder.write("text", "abc\n");
  const Ran other = run_tril({"score", "-m", model, "-s", text, "--adapter", golden("adapters/gpt2_dora")});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("no such module"), std::string::npos) << other.err;
  const Ran none = run_tril({"score", "-m", model, "-s", text, "--adapter", folder.at("nothing")});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(
      run_tril({"export", "-m", model, "--adapter", golden("adapters/llama_lora"), "--to", folder.at("m.gguf")}).code,
      2);
  const std::string adapter = golden("adapters/llama_lora");
  for (const std::string& wrong : {std::string("legal"), "=" + adapter, "other:legal=" + adapter})
    EXPECT_EQ(run_tril({"serve", "-m", "base=" + model, "--adapter", wrong, "--port", "0"}).code, 2) << wrong;
}

}  // namespace
}  // namespace tril
