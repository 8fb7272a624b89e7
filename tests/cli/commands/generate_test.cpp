// tril generate from outside: its output, options and messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "support/language_model.h"
#include "unicode/trim.h"

namespace tril {
namespace {

// A character vocabulary with neither { nor ": what it can spell still follows the format, greedily, sampled and in a beam.
TEST_F(LanguageModel, WritesWhatARegularExpressionOrASchemaAllows) {
  const std::string schema = folder->write("schema.json", R"({"enum": [10, 100, 1]})");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--sampling", "--n", "3", "--temperature", "3"}, {"-b", "3", "--n", "2"}}) {
    const auto texts = [&](std::vector<std::string> args) {
      args.insert(args.end(), {"--prompt", "the dog ", "--max-new-tokens", "16", "--json"});
      args.insert(args.end(), more.begin(), more.end());
      const Ran ran = generate(args);
      EXPECT_EQ(ran.code, 0) << ran.err;
      std::vector<std::string> list;
      const auto object = nlohmann::json::parse(ran.out);
      for (const auto& g : object["generations"]) {
        EXPECT_EQ(g["finish_reason"], "end_token");
        list.push_back(g["text"]);
      }
      return list;
    };
    for (const std::string& text : texts({"--regex", "(us|it|\u20ac)+ [^a-z]{2,3}"}))
      EXPECT_TRUE(std::regex_match(text, std::regex("(us|it|\u20ac)+ [^a-z]{2,9}"))) << text;
    for (const std::string& text : texts({"--json-schema", schema}))
      EXPECT_TRUE(text == "10" || text == "1" || text == "100") << text;
  }
  const auto refused = [&](std::vector<std::string> args, const std::string& expected) {
    if (args[0] != "--prompt") args.insert(args.end(), {"--prompt", "the "});
    const Ran ran = generate(args);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  };
  refused({"--json-object"}, "the vocabulary has no token for");
  refused({"--regex", "it{40}", "--max-new-tokens", "9"},
          "the shortest text that it allows has 42 tokens with its end token, but at most 9 are allowed");
  refused({"--regex", "a(?=b)"}, "look-ahead");
  refused({"--prompt", "a\xff"}, "--prompt: expected UTF-8");
  refused({"--regex", "a", "--stop", "b"}, "--stop");
  refused({"--regex", "a", "--json-object"}, "choose one of them");
  refused({"--json-space", "none"}, "has no effect without JSON");
  const std::string not_known = folder->write("not.json", R"x({"pattern": "(?=a)"})x");
  const Ran ran = generate({"--prompt", "the ", "--json-schema", not_known});
  EXPECT_EQ(ran.code, 1) << "what a file says wrong";
  EXPECT_NE(ran.err.find("not.json: JSON schema: #/pattern: regular expression: character 3: look-ahead"),
            std::string::npos)
      << ran.err;
  const std::string told = folder->write("told.json", R"({"enum": [10, 1], "x-order": 3, "maxLenght": 2})");
  const Ran warned = generate({"--prompt", "the ", "--json-schema", told});
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_NE(
      warned.err.find(
          "told.json: ignored, because no draft defines it: \"x-order\", \"maxLenght\" (did you mean \"maxLength\"?)"),
      std::string::npos)
      << warned.err;
}

TEST_F(LanguageModel, TheSameSeedGivesTheSameTextInAnyCompany) {
  const std::vector<std::string> prompts{"the ", "one cat is", "a", "x", "a \u00e9"};
  const auto texts = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"--sampling", "--top-k", "0", "--n", "3", "--json", "--max-new-tokens", "15"};
    args.insert(args.end(), more.begin(), more.end());
    std::string file;
    for (const std::string& p : prompts) file += p + "\n";
    const Ran ran = generate(args, file);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<std::string> list;
    for (const std::string& line : lines_of(ran.out)) {
      const auto object = nlohmann::json::parse(line);
      for (const auto& g : object["generations"]) list.push_back(g["text"]);
    }
    return list;
  };
  const auto alone = texts({"--batch-size", "1", "--threads", "1"});
  ASSERT_EQ(alone.size(), 15u);
  EXPECT_EQ(texts({"--batch-size", "32", "--threads", "1"}), alone);
  EXPECT_EQ(texts({"--batch-size", "2", "--threads", "3"}), alone);
  EXPECT_EQ(texts({"--no-cache"}), alone);
  EXPECT_EQ(texts({"--seed", "1"}), alone);
  EXPECT_NE(texts({"--seed", "2"}), alone);
}

TEST_F(LanguageModel, StreamsWhatItPrintsOtherwise) {
  const std::vector<std::string> args{"-p", "the ", "a \u00e9l", "--sampling", "--n", "2", "--max-new-tokens", "14"};
  const Ran whole = generate(args);
  std::vector<std::string> streaming = args;
  streaming.emplace_back("--stream");
  const Ran streamed = generate(streaming);
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(streamed.out, whole.out);
  EXPECT_TRUE(is_utf8(streamed.out));
  const auto lines = lines_of(whole.out);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "---"), 3);
  std::vector<std::string> bare = args;
  bare.emplace_back("--no-echo");
  EXPECT_EQ(generate(bare).out.size(), whole.out.size() - 2 * (4 + std::string("a \u00e9l").size()));
}

TEST_F(LanguageModel, SaysHowProbableTokensWere) {
  const std::vector<std::string> args{"-p", "the \u00e9", "--max-new-tokens", "12", "--logprobs", "3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), args.begin(), args.end());
    return generate(more);
  };
  const Ran json = with({"--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const auto g = nlohmann::json::parse(json.out)["generations"][0];
  ASSERT_EQ(g["logprobs"].size(), g["tokens"].get<std::size_t>());
  double sum = 0;
  std::string text;
  for (const auto& token : g["logprobs"]) {
    sum += token["logprob"].get<double>();
    text += token["text"].get<std::string>();
    ASSERT_EQ(token["top"].size(), 3u);
    EXPECT_EQ(token["top"][0]["id"], token["id"]) << "the likeliest is taken";
    EXPECT_GE(token["top"][1]["logprob"].get<double>(), token["top"][2]["logprob"].get<double>());
  }
  EXPECT_NEAR(sum, g["log_prob"].get<double>(), 1e-4);
  EXPECT_EQ(text, g["text"].get<std::string>());
  // Proposed tokens do not change results; sampled tokens are not always the most probable.
  const auto proposed = nlohmann::json::parse(with({"--json", "--prompt-lookup", "2"}).out)["generations"][0];
  ASSERT_EQ(proposed["logprobs"].size(), g["logprobs"].size());
  for (std::size_t i = 0; i < proposed["logprobs"].size(); ++i) {
    EXPECT_EQ(proposed["logprobs"][i]["id"], g["logprobs"][i]["id"]);
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(proposed["logprobs"][i]["top"][n]["id"], g["logprobs"][i]["top"][n]["id"]);
      EXPECT_NEAR(proposed["logprobs"][i]["top"][n]["logprob"].get<double>(),
                  g["logprobs"][i]["top"][n]["logprob"].get<double>(), 1e-3);
    }
  }
  const auto sampled =
      nlohmann::json::parse(with({"--json", "--temperature", "5", "--seed", "3"}).out)["generations"][0];
  bool other = false;
  for (const auto& token : sampled["logprobs"]) other = other || token["top"][0]["id"] != token["id"];
  EXPECT_TRUE(other);

  const Ran plain = with({});
  ASSERT_EQ(plain.code, 0) << plain.err;
  const auto lines = lines_of(plain.out);
  std::size_t tables = 0;
  for (const std::string& line : lines) tables += std::count(line.begin(), line.end(), '\t') == 3;
  EXPECT_EQ(tables, g["logprobs"].size()) << plain.out;
  const Ran beam = with({"-b", "3"});
  EXPECT_EQ(beam.code, 2);
  EXPECT_NE(beam.err.find("--logprobs"), std::string::npos) << beam.err;
}

TEST_F(LanguageModel, EndsAtStopsAndPositions) {
  const Ran stopped = generate({"-p", "the dog", "--stop", "\n", ".", "--json"});
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const auto g = nlohmann::json::parse(stopped.out)["generations"][0];
  EXPECT_EQ(g["finish_reason"], "stop");
  EXPECT_EQ(g["text"].get<std::string>().find_first_of(".\n"), std::string::npos) << g;
  EXPECT_LT(g["log_prob"].get<double>(), 0);

  const Ran full = generate({"-p", "the dog"});
  EXPECT_NE(full.err.find("generations that ended because the model's 24 positions were full: 1"), std::string::npos)
      << full.err;
  const Ran beam = generate({"-p", "the dog", "-b", "3", "--n", "3", "--max-new-tokens", "8"});
  ASSERT_EQ(beam.code, 0) << beam.err;
  EXPECT_EQ(std::count(beam.out.begin(), beam.out.end(), '-'), 6);
  const Ran forbidden = generate({"-p", "the d", "--bad-words", "o", "--max-new-tokens", "12", "--no-echo"});
  EXPECT_EQ(forbidden.out.find('o'), std::string::npos) << forbidden.out;
}

TEST_F(LanguageModel, WhatTheVocabularyLacksIsNamed) {
  for (const char* regex : {"Q", "aQb", "[Q]"}) {
    const Ran ran = generate({"-p", "the dog", "--regex", regex});
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("no token for \"Q\""), std::string::npos) << ran.err;
  }
}

TEST_F(LanguageModel, OneLineOfManyMayBeNoPrompt) {
  const std::string file = folder->write("prompts", "the dog\n" + std::string(60, 'd') + "\none cat\n");
  const Ran ran = generate({"-i", file, "--json", "--max-new-tokens", "3"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("prompts that cannot be continued: 1; the first is prompt 2: has 60 tokens"),
            std::string::npos)
      << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["generations"][0]["finish_reason"], "refused");
  EXPECT_EQ(nlohmann::json::parse(lines[2])["generations"][0]["tokens"], 3);
}

TEST_F(LanguageModel, AFileIsOnePrompt) {
  const std::string file = folder->write("one", "the dog\nsees\n");
  const Ran ran = generate({"--prompt-file", file, "--max-new-tokens", "4"}),
            given = generate({"-p", "the dog\nsees", "--max-new-tokens", "4"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, given.out);
  EXPECT_EQ(generate({"--prompt-file", file, "-p", "a"}).code, 2);
  EXPECT_EQ(generate({"--prompt-file", folder->at("none")}).code, 1);
  const Ran missing = generate({"-p", "a", "--prompt-cache", folder->at("none"), "--prompt-cache-ro"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("--prompt-cache-ro"), std::string::npos) << missing.err;
  EXPECT_EQ(generate({"-p", "a\xff"}).code, 2);
}

TEST_F(LanguageModel, TokensHaveBiases) {
  const Ran forbidden = generate({"-p", "the d", "--logit-bias", "o=-100", "--max-new-tokens", "12", "--no-echo"});
  ASSERT_EQ(forbidden.code, 0) << forbidden.err;
  EXPECT_EQ(forbidden.out.find('o'), std::string::npos) << forbidden.out;
  const Ran forced = generate({"-p", "the d", "--logit-bias", "e=90", "g=-100", "--max-new-tokens", "5", "--no-echo"});
  EXPECT_EQ(forced.out, "eeeee\n");
  for (const char* wrong : {"o", "o=", "=3", "o=101", "o=x", "999999=1", "-1=1", "the=1"}) {
    const Ran refused = generate({"-p", "the d", "--logit-bias", wrong});
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_NE(refused.err.find("--logit-bias"), std::string::npos) << refused.err;
  }
}

TEST_F(LanguageModel, ATokenHasOneBias) {
  const auto refused = [&](std::vector<std::string> biases, const std::string& message) {
    std::vector<std::string> args{"-p", "the d", "--logit-bias"};
    args.insert(args.end(), biases.begin(), biases.end());
    const Ran ran = generate(args);
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find(message), std::string::npos) << ran.err;
  };
  refused({"5=-100", "6=1", "5=100"}, "--logit-bias: \"5=-100\" and \"5=100\" are both for token 5");
  refused({"o=2", "o=2"}, "--logit-bias: \"o=2\" and \"o=2\" are both for token");
  const Ran ran =
      generate({"-p", "the d", "--logprobs", "0", "--max-new-tokens", "1", "--json", "--logit-bias", "o=90"});
  const auto id = nlohmann::json::parse(ran.out)["generations"][0]["logprobs"][0]["id"].get<int>();
  refused({"o=2", std::to_string(id) + "=1"}, "are both for token " + std::to_string(id));
}

// Each thread has its own memory, and together they must leave some for everything else.
TEST_F(LanguageModel, ThousandsOfThreadsMayWork) {
  const std::vector<std::string> args{"-p", "the d", "--max-new-tokens", "3"};
  std::vector<std::string> many = args;
  many.insert(many.end(), {"--threads", "4096"});
  const Ran ran = generate(many);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, generate(args).out);
}

TEST_F(LanguageModel, APromptsCacheThatCannotBeWrittenIsKnownFirst) {
  const Ran ran = generate({"-p", "the d", "--prompt-cache", folder->at("no/cache")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("no/cache: cannot create"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("tokens of the prompt"), std::string::npos) << ran.err;
}

TEST_F(LanguageModel, AnObjectMayBeWithoutItsPrompt) {
  const std::vector<std::string> args{"-p", "the d", "--max-new-tokens", "3", "--json"};
  std::vector<std::string> bare = args;
  bare.emplace_back("--no-echo");
  auto whole = nlohmann::json::parse(generate(args).out);
  const Ran ran = generate(bare);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(whole["prompt"], "the d");
  whole.erase("prompt");
  EXPECT_EQ(nlohmann::json::parse(ran.out), whole);
}

// Names used in libraries are replaced by the option that sets them.
TEST_F(LanguageModel, ErrorsNameOptions) {
  const auto refused = [&](std::vector<std::string> args, const std::string& message) {
    args.insert(args.begin(), {"-p", "the d"});
    const Ran ran = generate(args);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err.find("tril generate: " + message), 0u) << ran.err;
  };
  refused({"--alternatives", "--sampling"}, "--alternatives: ");
  refused({"--alternatives", "-b", "4", "--beam-groups", "2"}, "--alternatives: ");
  refused({"--regex", "it{40}", "--max-new-tokens", "9"}, "--regex: the shortest text");
  refused({"--regex", "a(?=b)"}, "--regex: ");
  refused({"-b", "4", "--n", "4", "--patience", "0.1"}, "--patience: ");
}

TEST_F(LanguageModel, GenerationConfigIsObeyed) {
  const std::string other = folder->at("other");
  std::filesystem::copy(model, other, std::filesystem::copy_options::recursive);
  const std::string path = other + "/generation_config.json";
  auto config = nlohmann::json::parse(file_text(path));
  config["max_new_tokens"] = 6;
  config["num_beam_groups"] = 2;
  config["do_sample"] = true;
  config["temperature"] = 3.0;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::ofstream(path) << config;
  const Ran published = run_tril({"generate", "--model", other, "-p", "the ", "--no-echo"});
  const Ran flags = generate({"-p", "the ", "--no-echo", "--temperature", "3", "--max-new-tokens", "6"});
  ASSERT_EQ(published.code, 0) << published.err;
  EXPECT_EQ(published.out, flags.out);
  const Ran greedy = run_tril({"generate", "--model", other, "-p", "the ", "--no-echo", "--temperature", "0"});
  EXPECT_EQ(greedy.out, generate({"-p", "the ", "--no-echo", "--max-new-tokens", "6"}).out);
  EXPECT_NE(greedy.out, published.out);
  const Ran groups = run_tril({"generate", "--model", other, "-p", "the ", "-b", "3"});
  EXPECT_NE(groups.err.find("2 groups, which do not divide a beam of 3"), std::string::npos) << groups.err;
}

}  // namespace
}  // namespace tril
