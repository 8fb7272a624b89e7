// Language models from outside: trained on a small made-up text, resumed, continued and scored by the program; and what
// they and translation models refuse of each other's options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/rng.h"
#include "cli/run_program.h"
#include "support/paths.h"
#include "text/utf8.h"

namespace tril {
namespace {

std::string some_text(std::uint64_t seed, int sentences) {
  RandomSequence random(seed, 1);
  std::string text;
  for (int i = 0; i < sentences; ++i)
    for (int part = 0; part < 3; ++part)
      text += std::array{std::array{"the dog ", "a \u00e9l\u00e8ve ", "one cat "}, std::array{"sees ", "hears ", "is "},
                         std::array{"it.\n", "us.\n", "10 \u20ac.\n"}}[static_cast<std::size_t>(part)][random.below(3)];
  return text;
}

class LanguageModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    train_text = folder->write("train", some_text(1, 300));
    valid_text = folder->write("valid", some_text(2, 30));
    model = folder->at("model");
    trained = run_tril(training(model, "120u"));
  }
  static void TearDownTestSuite() { delete folder; }

  static std::vector<std::string> training(const std::string& dir, const std::string& after) {
    return {"train",    "--arch",
            "gpt2",     "--model",
            dir,        "--train-sets",
            train_text, "--vocab-type",
            "char",     "--valid-sets",
            valid_text, "--d-model",
            "32",       "--num-heads",
            "2",        "--ffn-dim",
            "64",       "--dec-depth",
            "2",        "--max-length",
            "24",       "--max-tokens",
            "480",      "--dropout",
            "0",        "--attention-dropout",
            "0",        "--learn-rate",
            "0.01",     "--warmup",
            "20",       "--after",
            after,      "--threads",
            "2"};
  }
  static Ran generate(std::vector<std::string> args, const std::string& input = "") {
    args.insert(args.begin(), {"generate", "--model", model});
    return run_tril(args, input);
  }
  static Ran score(std::vector<std::string> args) {
    args.insert(args.begin(), {"score", "--model", model});
    return run_tril(args);
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model, train_text, valid_text;
  static inline Ran trained;
};

TEST_F(LanguageModel, TrainsResumesGeneratesAndIsScored) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("tril generate --model " + model), std::string::npos) << trained.err;

  const std::string halves = folder->at("halves");
  ASSERT_EQ(run_tril(training(halves, "50u")).code, 0);
  const Ran resumed = run_tril(training(halves, "120u"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("going on after update 50"), std::string::npos) << resumed.err;
  EXPECT_EQ(file_text(halves + "/model.safetensors"), file_text(model + "/model.safetensors"));

  const Ran greedy = generate({"--prompt", "the d", "--max-new-tokens", "12"});
  ASSERT_EQ(greedy.code, 0) << greedy.err;
  EXPECT_EQ(greedy.out.substr(0, 8), "the dog ") << greedy.out;
  EXPECT_NE(greedy.err.find("12 tokens generated; ended: 1 at the greatest length"), std::string::npos) << greedy.err;

  const Ran perplexity = score({"--source", valid_text, "--document", "--summary", "--json", "--stride", "24"});
  ASSERT_EQ(perplexity.code, 0) << perplexity.err;
  const auto totals = nlohmann::json::parse(perplexity.out);
  EXPECT_LT(totals["perplexity"].get<double>(), 2) << "most of the text can be foretold";
  EXPECT_NEAR(totals["bits_per_character"].get<double>(), std::log2(totals["perplexity"].get<double>()), 1e-9)
      << "a token is a character";
  // Windows side by side are the blocks that validation measures.
  const std::string log = file_text(model + "/train.jsonl");
  double best = 1e9;
  for (const std::string& line : lines_of(log)) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.contains("cross_entropy")) best = std::min(best, entry["cross_entropy"].get<double>());
  }
  EXPECT_NEAR(totals["cross_entropy"].get<double>(), best, 1e-4) << log;
}

// A family of our own whose memory does not grow: trained, continued, looked at, served with fewer bits; and what its states
// cannot do is refused by name.
TEST_F(LanguageModel, LinearAttentionIsAFamilyToo) {
  const std::string linear = folder->at("linear");
  std::vector<std::string> args = training(linear, "150u");
  args[2] = "linear_decoder";
  args.insert(args.end(), {"--precision", "bf16"});
  const Ran learnt = run_tril(args);
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  EXPECT_EQ(nlohmann::json::parse(file_text(linear + "/config.json"))["architecture"], "linear_decoder");
  const auto go_on = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "--model", linear, "--prompt", "the d", "--max-new-tokens", "60"});
    return run_tril(more);
  };
  const Ran whole = go_on({"--no-cache", "--precision", "fp32"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out.substr(0, 8), "the dog ") << whole.out;
  EXPECT_GT(whole.out.size(), 60u) << "longer than any text that it was trained on";
  EXPECT_EQ(go_on({"--precision", "fp32"}).out, whole.out);
  EXPECT_EQ(go_on({"--precision", "fp32", "-b", "3", "--prompt-chunk", "2"}).out,
            go_on({"--precision", "fp32", "-b", "3", "--no-cache"}).out);
  const Ran rounded = go_on({"--precision", "int8"});
  ASSERT_EQ(rounded.code, 0) << rounded.err;
  EXPECT_EQ(rounded.out.substr(0, 8), "the dog ") << rounded.out;
  const Ran looked = run_tril({"attend", "--model", linear, "--source", "the dog", "--out", folder->at("linear.html")});
  EXPECT_EQ(looked.code, 0) << looked.err;
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{{"--attention-window", "4"},
                                                                                      {"--cache-precision", "int8"},
                                                                                      {"--prompt-lookup", "2"},
                                                                                      {"--prompt-cache", "kept"}}) {
    const Ran ran = go_on({option, value});
    EXPECT_EQ(ran.code, 2) << option << ran.err;
    EXPECT_NE(ran.err.find("linear attention"), std::string::npos) << option << ": " << ran.err;
  }
  *std::next(std::find(args.begin(), args.end(), "--attention-dropout")) = "0.1";
  const Ran dropped = run_tril(args);
  EXPECT_EQ(dropped.code, 2) << dropped.err;
  EXPECT_NE(dropped.err.find("--attention-dropout"), std::string::npos) << dropped.err;
}

// Beside `tril score` and the sums of its definitions, for several texts, from a pipe, and cut short.
TEST_F(LanguageModel, PerplexityOfTexts) {
  const auto perplexity = [&](std::vector<std::string> args, const std::string& input = "") {
    args.insert(args.begin(), {"perplexity", "--model", model, "--json"});
    const Ran ran = run_tril(args, input);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<nlohmann::json> objects;
    for (const std::string& line : lines_of(ran.out)) objects.push_back(nlohmann::json::parse(line));
    return objects;
  };
  const auto value = [](const nlohmann::json& object, const char* key) { return object.at(key).get<double>(); };
  const auto whole = perplexity({"-i", valid_text, "--stride", "5"}).at(0);
  const auto scored =
      nlohmann::json::parse(score({"--source", valid_text, "--document", "--summary", "--json", "--stride", "5"}).out);
  EXPECT_NEAR(value(whole, "perplexity"), value(scored, "perplexity"), 1e-9);
  EXPECT_NEAR(value(whole, "bits_per_character"), value(scored, "bits_per_character"), 1e-9);
  const double log_prob = value(whole, "log_prob");
  EXPECT_NEAR(value(whole, "word_perplexity"), std::exp(-log_prob / value(whole, "words")), 1e-6);
  EXPECT_NEAR(value(whole, "bits_per_byte"), -log_prob / std::log(2.0) / value(whole, "bytes"), 1e-9);
  EXPECT_NEAR(value(whole, "byte_perplexity"), std::exp(-log_prob / value(whole, "bytes")), 1e-9);
  EXPECT_GT(value(whole, "standard_error"), 0);
  EXPECT_EQ(value(whole, "stride"), 5);
  EXPECT_EQ(value(whole, "context"), 24);

  const std::string text = "the dog sees \u00e9l\u00e8ve 10 \u20ac.\n";
  const auto small = perplexity({}, text).at(0);
  EXPECT_EQ(small["input"], "standard input");
  EXPECT_EQ(small["tokens"], 24) << "the first is given";
  EXPECT_EQ(small["characters"], 24);
  EXPECT_EQ(small["bytes"], 28);
  EXPECT_EQ(small["words"], 6);
  const auto begun = perplexity({"--begin"}, text).at(0);
  EXPECT_EQ(begun["tokens"], 25);
  EXPECT_EQ(begun["bytes"], 29);
  const auto first = perplexity({"--tokens", "15"}, text).at(0);
  EXPECT_EQ(first["tokens"], 15);
  EXPECT_EQ(first["characters"], 15);
  EXPECT_EQ(first["bytes"], 17);
  EXPECT_GT(value(first, "log_prob"), value(small, "log_prob"));

  const std::string other = folder->write("some", text);
  const auto several = perplexity({"-i", valid_text, other, "--stride", "5"});
  ASSERT_EQ(several.size(), 3u);
  EXPECT_EQ(several[0], whole);
  EXPECT_NEAR(value(several[2], "log_prob"), log_prob + value(several[1], "log_prob"), 1e-9);
  EXPECT_EQ(value(several[2], "tokens"), value(whole, "tokens") + 24);

  const Ran shown = run_tril({"perplexity", "--model", model, "-i", other});
  EXPECT_NE(shown.out.find("tokens 24  words 6  characters 24  bytes 28"), std::string::npos) << shown.out;
}

// A vocabulary of characters that has neither { nor "; what it can spell keeps to the form, greedily, drawn and in a beam.
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
    args.insert(args.end(), {"--prompt", "the "});
    const Ran ran = generate(args);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  };
  refused({"--json-object"}, "the vocabulary has no token for");
  refused({"--regex", "it{40}", "--max-new-tokens", "9"},
          "the shortest text that it allows has 41 tokens, and 8 may come");
  refused({"--regex", "a(?=b)"}, "look-ahead");
  refused({"--regex", "a", "--stop", "b"}, "--stop");
  refused({"--regex", "a", "--json-object"}, "held to one of them");
  refused({"--json-space", "none"}, "no JSON is asked for");
  refused({"--json-schema", folder->write("not.json", R"({"not": {}})")}, "the keyword \"not\" is not supported");
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
  EXPECT_EQ(text, g["text"]);
  // Proposed tokens change nothing; sampled ones are not always the likeliest.
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

TEST_F(LanguageModel, BecomesAGgufFileAndADirectoryAgain) {
  const auto at = [&](const char* name) { return folder->at(name); };
  const auto text_of = [](const std::string& from) {
    const Ran ran = run_tril({"generate", "--model", from, "-p", "the \u00e9", "one c", "--max-new-tokens", "16"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const Ran written = run_tril({"export", "--model", model, "--to", at("model.gguf"), "--type", "f32"});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(text_of(at("model.gguf")), text_of(model));
  const auto perplexity = [&](const std::string& of) {
    const Ran ran = run_tril({"perplexity", "--model", of, "-i", valid_text, "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["perplexity"].get<double>();
  };
  EXPECT_NEAR(perplexity(at("model.gguf")), perplexity(model), 1e-6);
  const Ran inspected = run_tril({"inspect", at("model.gguf"), "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["tokenizer"],
            nlohmann::json::parse(run_tril({"inspect", model, "--json"}).out)["tokenizer"]);

  ASSERT_EQ(run_tril({"export", "-m", at("model.gguf"), "--to", at("again")}).code, 0);
  EXPECT_EQ(text_of(at("again")), text_of(model));
  ASSERT_EQ(run_tril({"quantize", "-m", at("model.gguf"), "-o", at("fewer")}).code, 0);
  EXPECT_FALSE(text_of(at("fewer")).empty());
  ASSERT_EQ(run_tril({"export", "-m", model, "--to", at("half.gguf"), "--name", "dogs"}).code, 0);
  EXPECT_LT(file_text(at("half.gguf")).size(), file_text(at("model.gguf")).size() * 3 / 4);
  EXPECT_NE(file_text(at("half.gguf")).find("dogs"), std::string::npos);

  // What a publisher asks of generation goes along from directory to directory.
  std::filesystem::copy(model, at("published"), std::filesystem::copy_options::recursive);
  std::ofstream(at("published") + "/generation_config.json") << R"({"eos_token_id": [1, 2], "temperature": 0.5})";
  ASSERT_EQ(run_tril({"export", "-m", at("published"), "--to", at("further")}).code, 0);
  const auto generation = nlohmann::json::parse(file_text(at("further") + "/generation_config.json"));
  EXPECT_EQ(generation["eos_token_id"], nlohmann::json({1, 2}));
  EXPECT_EQ(generation["temperature"], 0.5);

  const Ran there = run_tril({"export", "-m", model, "--to", at("again")});
  EXPECT_EQ(there.code, 2);
  EXPECT_NE(there.err.find("holds a model already"), std::string::npos) << there.err;
  const Ran type = run_tril({"export", "-m", model, "--to", at("other"), "--type", "f16"});
  EXPECT_EQ(type.code, 2);
  EXPECT_NE(type.err.find("--type: is of a GGUF file"), std::string::npos) << type.err;
  const Ran family = run_tril({"export", "-m", test::test_dir() + "/golden/hf/marian", "--to", at("marian.gguf")});
  EXPECT_EQ(family.code, 2);
  EXPECT_NE(family.err.find("no architecture of llama.cpp for a marian model"), std::string::npos) << family.err;
  EXPECT_FALSE(std::filesystem::exists(at("marian.gguf")));
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

TEST_F(LanguageModel, IsTrainedOnFromAModelThatIsThere) {
  const std::string more = folder->at("more");
  for (const std::vector<std::string>& arch : {std::vector<std::string>{}, {"--arch", "gpt2"}}) {
    std::vector<std::string> args{"train",        "--model",      more,      "--init-from", model,
                                  "--train-sets", train_text,     "--after", "2u",          "--max-tokens",
                                  "480",          "--max-length", "24",      "--overwrite"};
    args.insert(args.end(), arch.begin(), arch.end());
    const Ran ran = run_tril(args);
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Ran text = run_tril({"generate", "--model", more, "-p", "the dog", "--max-new-tokens", "5"});
    EXPECT_EQ(text.code, 0) << text.err;
  }
  const Ran longer = run_tril({"train", "--model", folder->at("longer"), "--init-from", model, "--train-sets",
                               train_text, "--after", "2u", "--max-tokens", "480", "--max-length", "25"});
  EXPECT_EQ(longer.code, 2);
  EXPECT_NE(longer.err.find("--max-length"), std::string::npos) << longer.err;
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
  EXPECT_NE(ran.err.find("prompts that nothing can follow: 1; the first is prompt 2: has 60 tokens"), std::string::npos)
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

TEST_F(LanguageModel, InspectShowsItsSizes) {
  const Ran ran = run_tril({"inspect", model});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("layers         2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("heads          2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("feed-forward   64\n"), std::string::npos) << ran.out;
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

TEST_F(LanguageModel, ScoresLinesAndTokens) {
  const std::string lines = folder->write("lines", "the dog sees it.\n\nthe dog sees qq.\nx\n");
  const Ran ran = score({"--source", lines, "--word-scores"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto scores = lines_of(ran.out);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_GT(std::stod(scores[0]), std::stod(scores[2]) + 5);
  EXPECT_EQ(scores[1], "0.000000 ||| ");
  EXPECT_EQ(scores[3], "0.000000 ||| ") << "the first token is given";
  EXPECT_EQ(std::count(scores[0].begin(), scores[0].end(), '.'), 16) << "a sum and 15 tokens";
  EXPECT_NE(ran.err.find("perplexity"), std::string::npos) << ran.err;
  const Ran begun = score({"--source", lines, "--word-scores", "--begin"});
  EXPECT_EQ(std::count(begun.out.begin(), begun.out.end(), '.'), 17 + 1 + 17 + 2);
}

TEST_F(LanguageModel, BenchmarksPrintOneObject) {
  const Ran generating = run_tril({"bench", "generate", "--model", model, "--prompt-length", "8", "--new-tokens", "10",
                                   "--batch-size", "2", "--repeat", "1", "--threads", "1"});
  ASSERT_EQ(generating.code, 0) << generating.err;
  auto figures = nlohmann::json::parse(generating.out);
  for (const char* key : {"prompt_tokens_per_second", "generate_tokens_per_second", "weight_bytes_per_token",
                          "read_bandwidth", "share_of_bandwidth", "peak_mib"})
    EXPECT_GT(figures[key].get<double>(), 0) << key;
  EXPECT_FALSE(figures.contains("with_proposals"));
  const Ran proposing =
      run_tril({"bench",           "generate", "--model",           model,  "--input",          train_text,
                "--prompt-length", "4",        "--new-tokens",      "10",   "--repeat",         "1",
                "--draft-model",   model,      "--draft-precision", "fp32", "--draft-min-prob", "0",
                "--draft-tokens",  "2"});
  ASSERT_EQ(proposing.code, 0) << proposing.err;
  figures = nlohmann::json::parse(proposing.out)["with_proposals"];
  EXPECT_EQ(figures["same_texts"], 1.0) << figures;
  EXPECT_EQ(figures["acceptance"], 1.0) << "a model agrees with itself: " << figures;
  EXPECT_NEAR(figures["tokens_per_step"].get<double>(), 2.5, 0.5) << figures;
  const Ran short_text = run_tril({"bench", "generate", "--model", model, "--input", train_text, "--prompt-length", "4",
                                   "--new-tokens", "2", "--batch-size", "90000"});
  EXPECT_EQ(short_text.code, 2);
  EXPECT_NE(short_text.err.find("are wanted"), std::string::npos) << short_text.err;
  const auto with = [&](const char* instruction_set) {
    return run_tril({"bench", "generate", "--model", model, "--prompt-length", "2", "--new-tokens", "1"},
                    {.input = {},
                     .stdout_to = {},
                     .before = [=] { setenv("TRIL_INSTRUCTION_SET", instruction_set, 1); },
                     .meanwhile = {}});
  };
  EXPECT_EQ(nlohmann::json::parse(with("generic").out)["instruction_set"], "generic");
  const Ran refused = with("mmx");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("'mmx' is none that this processor has; one of generic"), std::string::npos)
      << refused.err;
  const Ran training_speed =
      run_tril({"bench",       "train", "--arch",      "gpt2", "--train-sets", train_text, "--d-model",    "16",
                "--num-heads", "2",     "--dec-depth", "1",    "--max-length", "16",       "--max-tokens", "64",
                "--updates",   "4",     "--skip",      "1",    "--threads",    "1"});
  ASSERT_EQ(training_speed.code, 0) << training_speed.err;
  figures = nlohmann::json::parse(training_speed.out);
  for (const char* key : {"target_tokens_per_second", "updates_per_second", "loss", "peak_mib"})
    EXPECT_GT(figures[key].get<double>(), 0) << key;
}

// Fewer bits bring a cache of 8 bits along, but not where there is to be none.
TEST_F(LanguageModel, FewerBitsNeedNoCache) {
  const std::vector<std::string> args{"--prompt", "the d", "--max-new-tokens", "8", "--precision", "int8"};
  std::vector<std::string> more = args;
  more.push_back("--no-cache");
  const Ran with = generate(args), without = generate(more);
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(without.out, with.out);
}

// What would be passed over in silence, or cannot be, is refused with exit code 2 and a message that says why.
TEST_F(LanguageModel, UselessAndContradictoryOptionsAreRefused) {
  const auto refused = [](const Ran& ran, const std::string& what, const std::string& why) {
    EXPECT_EQ(ran.code, 2) << what << ran.err;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
    EXPECT_TRUE(ran.out.empty()) << ran.out;
  };
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"--enc-depth", "2"},
                                                                                    {"--valid-beam", "4"},
                                                                                    {"--valid-samples", "3"},
                                                                                    {"--valid-attention", "1"},
                                                                                    {"--vocab-size", "100"},
                                                                                    {"--corpus-temperature", "2"},
                                                                                    {"--bpe-dropout-sides", "target"},
                                                                                    {"--max-length-crop", ""},
                                                                                    {"--skip-invalid", ""},
                                                                                    {"--valid-metrics", "bleu"},
                                                                                    {"--bpe-dropout", "0.1"},
                                                                                    {"--layer-drop", "0.1"},
                                                                                    {"--language-tags", "de"}}) {
    std::vector<std::string> args = training(folder->at("refused"), "1u");
    args.push_back(name);
    if (!value.empty()) args.push_back(value);
    refused(run_tril(args), name, "");
  }
  EXPECT_FALSE(std::filesystem::exists(folder->at("refused")));
  refused(run_tril({"find-rate", "--arch", "gpt2", "--vocab-type", "char", "--model", folder->at("refused"),
                    "--train-sets", train_text, "--enc-depth", "2"}),
          "--enc-depth", "has no encoder");

  refused(run_tril({"translate", "--model", model}, "a\n"), "gpt2 model continues text", "use `tril generate`");
  refused(score({"--source", valid_text, "--target", valid_text}), "--target", "is a language model");
  const std::string marian = test::test_dir() + "/golden/hf/marian";
  const std::string translating = folder->at("translating");
  std::filesystem::copy(marian, translating);
  for (const char* file : {"vocab.json", "merges.txt", "tokenizer_config.json"})
    std::filesystem::copy(model + "/" + file, translating);
  refused(run_tril({"generate", "--model", translating, "-p", "a"}), "marian model translates", "use `tril translate`");
  refused(run_tril({"score", "--model", translating, "-s", valid_text, "--document"}), "--document", "translates");
  refused(run_tril({"score", "--model", translating, "-s", valid_text}), "--target", "is required");
  refused(run_tril({"bench", "generate", "--model", translating}), "marian model translates", "bench translate");

  refused(generate({"-p", "a", "--temperature", "0", "--top-k", "5"}), "--temperature", "--top-k nothing to choose");
  refused(generate({"-p", "a", "--top-p", "0.9", "-b", "4"}), "--beam-size", "choose one of them");
  refused(generate({"-p", "a", "--seed", "4"}), "--seed", "nothing is drawn");
  refused(generate({"-p", "a", "--n", "4"}), "--n", "or draw them");
  refused(generate({"-p", "a", "--stream", "-b", "4"}), "--stream", "pass -b 1");
  refused(generate({"-p", "a", "--stop", ""}), "--stop", "everything at once");
  refused(generate({"-p", "a", "--min-new-tokens", "9", "--max-new-tokens", "4"}), "--min-new-tokens", "above");
  refused(generate({"-p", "the dog sees it. the dog sees it."}), "prompt 1", "the model has 24 positions");
  refused(score({"--source", valid_text, "--context", "25"}), "context", "24 positions");
  refused(run_tril({"perplexity", "--model", model, "-i", valid_text, "--stride", "25"}), "stride",
          "24 tokens, got 25");
  refused(run_tril({"perplexity", "--model", translating, "-i", valid_text}), "marian model translates", "tril score");
}

}  // namespace
}  // namespace tril
