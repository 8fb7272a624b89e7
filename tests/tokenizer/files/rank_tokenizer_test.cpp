// Vocabularies of ranks (make_rank_cases.py): ids equal to those of `tiktoken` and `mistral_common`, decoding, refusals.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "format/json_file.h"
#include "support/paths.h"
#include "support/temporary.h"
#include "tokenizer/files/rank_vocabulary.h"
#include "tokenizer/files/tekken_tokenizer.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

std::string cases_of(const std::string& name) {
  return test::test_dir() + "/tokenizer/files/rank_cases/" + name;
}

const char* const rank_cases[] = {"qwen", "hunyuan", "glm4", "tekken", "tekken_v11"};

TEST(RankTokenizer, IdsAreThoseOfTheOriginals) {
  for (const char* name : rank_cases) {
    const auto tokenizer = load_tokenizer(cases_of(name));
    const nlohmann::json list = read_json(cases_of(name) + "/cases.json");
    ASSERT_GT(list.size(), 100u);
    for (const auto& each : list) {
      const auto text = each["text"].get<std::string>();
      const auto ids = tokenizer->encode(text);
      EXPECT_EQ(ids, each["ids"].get<std::vector<std::int32_t>>()) << name << ": " << text;
      if (std::string(name) != "qwen") {
        EXPECT_EQ(tokenizer->decode(ids), text) << name;
      }
    }
  }
}

TEST(RankTokenizer, AnyTextComesBack) {
  RandomSequence random(5, 0);
  const std::string parts[] = {"a", "Bc", " ", "\n", "12", "\u00e9", "\u4f60", "\U0001f600", "'s", "-", "\t", "\u0301"};
  for (const char* name : rank_cases) {
    const auto tokenizer = load_tokenizer(cases_of(name));
    for (int i = 0; i < 300; ++i) {
      std::string text;
      for (std::uint64_t n = random.below(20); n > 0; --n) text += parts[random.below(11)];
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << name;
    }
  }
}

TEST(RankTokenizer, SpecialTokensAreThoseOfTheFamily) {
  const auto tekken = load_tokenizer(cases_of("tekken"));
  EXPECT_EQ(tekken->special(Side::target).bos, 1);
  EXPECT_EQ(tekken->special(Side::target).eos, 2);
  EXPECT_EQ(tekken->piece(10, Side::target), "[IMG]");
  EXPECT_EQ(tekken->piece(23, Side::target), "<SPECIAL_23>");
  EXPECT_EQ(tekken->size(Side::target), 424);
  EXPECT_EQ(tekken->frame(Side::target).prefix, std::vector<std::int32_t>{1});
  EXPECT_EQ(load_tokenizer(cases_of("tekken_v11"))->piece(5, Side::target), "<SPECIAL_5>");
  const auto qwen = load_tokenizer(cases_of("qwen"));
  EXPECT_EQ(qwen->find("<|im_start|>", Side::target), 421);
  EXPECT_EQ(qwen->special(Side::target).eos, 420);
  EXPECT_EQ(qwen->size(Side::target), 420 + 208);
  EXPECT_EQ(load_tokenizer(cases_of("glm4"))->special(Side::target).eos, 420);
}

TEST(RankTokenizer, ASavedOneIsTheSame) {
  for (const char* name : rank_cases) {
    const auto tokenizer = load_tokenizer(cases_of(name));
    const TemporaryDirectory dir;
    save_tokenizer(*tokenizer, dir.path());
    EXPECT_EQ(load_tokenizer(dir.path())->encode("The old book; 2024"), tokenizer->encode("The old book; 2024"))
        << name;
  }
}

// The error of load_tokenizer() for a copy of a case with one file changed.
std::string problem_of(const std::string& name, const std::string& file, const std::string& text) {
  const TemporaryDirectory dir;
  fs::copy(cases_of(name), dir.path(), fs::copy_options::recursive);
  std::ofstream(fs::path(dir.path()) / file) << text;
  try {
    load_tokenizer(dir.path());
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::failure) << e.what();
    return e.what();
  }
  return "";
}

TEST(RankTokenizer, RefusesBrokenRanks) {
  const std::string sound = read_text(cases_of("qwen") + "/qwen.tiktoken", 1 << 20);
  EXPECT_EQ(problem_of("qwen", "qwen.tiktoken", sound), "");
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, std::string>>{{sound + "!!!! 420\n", "line 421"},
                                                        {sound + "QUFB\n", "line 421"},
                                                        {sound + "QUFB -1\n", "line 421"},
                                                        {sound + "QUFB 99999999999\n", "line 421"},
                                                        {sound + "QUFB 4 4\n", "line 421"},
                                                        {sound + "QUFB 419\n", "two tokens have rank 419"},
                                                        {sound + "QQ== 420\n", "occurs twice"},
                                                        {sound + " 420\n", "0 bytes"},
                                                        {"QUFB 0\n", "has no token for the byte 0"},
                                                        {"", "has no token for the byte 0"}}) {
    const std::string problem = problem_of("qwen", "qwen.tiktoken", text);
    EXPECT_NE(problem.find(expected), problem.npos) << expected << ": " << problem;
  }
  const std::string unknown = problem_of("qwen", "tokenizer_config.json", R"({"tokenizer_class": "NewTokenizer"})");
  EXPECT_NE(unknown.find("NewTokenizer"), unknown.npos);
  EXPECT_NE(unknown.find("QWenTokenizer"), unknown.npos) << "lists what is supported";
  const std::string several = problem_of("qwen", "other.tiktoken", sound);
  EXPECT_NE(several.find("several vocabularies"), several.npos) << several;
}

TEST(RankTokenizer, RefusesABrokenTekken) {
  const nlohmann::json sound = read_json(cases_of("tekken_v11") + "/tekken.json");
  const auto with = [&](const char* path, const nlohmann::json& value) {
    nlohmann::json changed = sound;
    changed[nlohmann::json::json_pointer(path)] = value;
    return problem_of("tekken_v11", "tekken.json", changed.dump());
  };
  for (const auto& [path, value, expected] : std::vector<std::tuple<const char*, nlohmann::json, std::string>>{
           {"/config/default_vocab_size", 4'000, "default_vocab_size leaves room"},
           {"/config/default_vocab_size", 0, "default_vocab_size"},
           {"/config/default_num_special_tokens", -1, "default_num_special_tokens"},
           {"/config/default_num_special_tokens", 4, "special_tokens"},
           {"/config/pattern", "(", "pattern"},
           {"/config/pattern", R"(\p{N}{1,3}+)", "{n,m}+"},
           {"/vocab/3/rank", 4, "token 3 has rank 4"},
           {"/vocab/3/token_bytes", "?", "token 3"},
           {"/vocab/300/token_bytes", "QQ==", "occurs twice"},
           {"/vocab", 5, "vocab"},
           {"/special_tokens/1/token_str", "<unk>", "occurs twice"},
           {"/special_tokens/1/rank", 7, "rank 7"},
           {"/special_tokens", nullptr, "is missing in a file of version v11"}}) {
    const std::string problem = with(path, value);
    EXPECT_NE(problem.find(expected), problem.npos) << path << ": " << problem;
  }
  EXPECT_NE(problem_of("tekken", "tekken.json", "{").find("tekken.json"), std::string::npos);
}

}  // namespace
}  // namespace tril
