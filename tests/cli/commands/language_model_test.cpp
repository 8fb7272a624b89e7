// Language models from outside: trained, resumed, exported; and how they and translation models refuse each other's
// options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/language_model.h"
#include "support/paths.h"

namespace tril {
namespace {

TEST_F(LanguageModel, TrainsResumesGeneratesAndIsScored) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("tril generate --model " + model), std::string::npos) << trained.err;

  const std::string halves = folder->at("halves");
  ASSERT_EQ(run_tril(training(halves, "50u")).code, 0);
  const Ran resumed = run_tril(training(halves, "120u"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resuming after update 50"), std::string::npos) << resumed.err;
  EXPECT_EQ(file_text(halves + "/model.safetensors"), file_text(model + "/model.safetensors"));

  const Ran greedy = generate({"--prompt", "the d", "--max-new-tokens", "12"});
  ASSERT_EQ(greedy.code, 0) << greedy.err;
  EXPECT_EQ(greedy.out.substr(0, 8), "the dog ") << greedy.out;
  EXPECT_NE(greedy.err.find("12 tokens generated; ended: 1 at the maximum length"), std::string::npos) << greedy.err;

  const Ran perplexity = score({"--source", valid_text, "--document", "--summary", "--json", "--stride", "24"});
  ASSERT_EQ(perplexity.code, 0) << perplexity.err;
  const auto totals = nlohmann::json::parse(perplexity.out);
  EXPECT_LT(totals["perplexity"].get<double>(), 2) << "most of the text can be foretold";
  EXPECT_NEAR(totals["bits_per_character"].get<double>(), std::log2(totals["perplexity"].get<double>()), 1e-9)
      << "a token is a character";
  // Adjacent windows equal the blocks of validation.
  const std::string log = file_text(model + "/train.jsonl");
  double best = 1e9;
  for (const std::string& line : lines_of(log)) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.contains("cross_entropy")) best = std::min(best, entry["cross_entropy"].get<double>());
  }
  EXPECT_NEAR(totals["cross_entropy"].get<double>(), best, 1e-4) << log;
}

// Our own family whose state does not grow: trained, continued, inspected, served with fewer bits; unsupported uses are
// refused by name.
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
    EXPECT_NE(ran.err.find("recurrent state"), std::string::npos) << option << ": " << ran.err;
  }
  *std::next(std::find(args.begin(), args.end(), "--attention-dropout")) = "0.1";
  const Ran dropped = run_tril(args);
  EXPECT_EQ(dropped.code, 2) << dropped.err;
  EXPECT_NE(dropped.err.find("--attention-dropout"), std::string::npos) << dropped.err;
}

// A family of today from nothing: its vocabulary is learned before, or by the run itself.
TEST_F(LanguageModel, OfAnyFamilyLearnsPiecesToo) {
  const std::string pieces = folder->at("pieces"), mixture = folder->at("mixture");
  const Ran learned =
      run_tril({"vocab", "--train-sets", train_text, "--type", "byte_bpe", "--size", "280", "--out", pieces});
  ASSERT_EQ(learned.code, 0) << learned.err;
  const auto train = [&](const std::string& dir, const std::string& arch, std::vector<std::string> more) {
    std::vector<std::string> args{"train",    "--arch",       arch, "--model",      dir,   "--train-sets",
                                  train_text, "--d-model",    "32", "--num-heads",  "4",   "--dec-depth",
                                  "2",        "--max-length", "24", "--max-tokens", "480", "--learn-rate",
                                  "0.01",     "--warmup",     "20", "--after",      "60u", "--threads",
                                  "2"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args);
  };
  const auto greedy = [](const std::string& dir) {
    const Ran ran = run_tril({"generate", "--model", dir, "--prompt", "the d", "--max-new-tokens", "6"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out.substr(0, 8);
  };
  const Ran trained_mixture = train(mixture, "qwen3_moe", {"--vocab", pieces, "--ffn-dim", "64"});
  ASSERT_EQ(trained_mixture.code, 0) << trained_mixture.err;
  EXPECT_EQ(file_text(mixture + "/tokenizer.json"), file_text(pieces + "/tokenizer.json"));
  EXPECT_EQ(nlohmann::json::parse(file_text(mixture + "/config.json"))["model_type"], "qwen3_moe");
  EXPECT_EQ(greedy(mixture), "the dog ");
  const std::string own = folder->at("own");
  const Ran alone =
      train(own, "llama",
            {"--vocab-size", "280", "--ffn-dim", "64", "--model-keys", "rms_norm_eps=1e-4", "num_key_value_heads=2"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(file_text(own + "/tokenizer.json"), file_text(pieces + "/tokenizer.json"));
  EXPECT_EQ(nlohmann::json::parse(file_text(own + "/config.json"))["num_key_value_heads"], 2);
  EXPECT_EQ(greedy(own), "the dog ");

  const auto refused = [](const Ran& ran, const std::string& what) {
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
  };
  const std::string never = folder->at("never");
  refused(train(never, "lama", {}), "did you mean llama?");
  refused(train(never, "llama", {"--vocab-type", "bpe"}), "--vocab-type");
  refused(train(never, "llama", {"--dropout", "0.1"}), "--dropout: a llama model has no dropout of sublayers");
  refused(train(never, "llama", {"--model-keys", "experts=3"}), "experts");
  refused(train(never, "lfm2", {"--activation", "gelu"}), "--activation: --arch lfm2 has only its own");
  refused(train(never, "bloom", {"--ffn-dim", "64"}), "--ffn-dim: ");
  refused(train(never, "mixtral", {"--gradient-checkpointing"}), "--router-aux-loss: the routers of recomputed layers");
  EXPECT_FALSE(std::filesystem::exists(never + "/config.json"));
  for (const char* option : {"--max-lines", "--seed"})
    refused(run_tril({"vocab", "--train-sets", train_text, "--type", "byte_bpe", "--out", pieces, option, "5"}),
            "has no effect with --type byte_bpe");
  refused(run_tril({"vocab", "--train-sets", train_text, "--min-frequency", "5", "--out", never}),
          "has no effect without --type byte_bpe");
  refused(run_tril({"vocab", "--train-sets", train_text, "--type", "byte_bpe", "--size", "200", "--out", never}),
          "200 is too small");
  refused(run_tril({"vocab", "--train-sets", train_text, "--type", "byte_bpe", "--out", valid_text}), "is a file");
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

  // A GGUF file is recognised by an upper-case name too, and the user is warned of end tokens for which it has no keys.
  std::filesystem::copy(model, at("ends"), std::filesystem::copy_options::recursive);
  std::ofstream(at("ends") + "/generation_config.json") << R"({"eos_token_id": [1, 2, 3, 4, 5]})";
  const Ran ends = run_tril({"export", "-m", at("ends"), "--to", at("ends.GGUF")});
  ASSERT_EQ(ends.code, 0) << ends.err;
  EXPECT_EQ(file_text(at("ends.GGUF")).substr(0, 4), "GGUF");
  EXPECT_NE(ends.err.find("a GGUF file names three end tokens"), std::string::npos) << ends.err;
  EXPECT_EQ(text_of(at("ends.GGUF")).empty(), false);

  // The publisher's generation settings are copied from directory to directory.
  std::filesystem::copy(model, at("published"), std::filesystem::copy_options::recursive);
  std::ofstream(at("published") + "/generation_config.json") << R"({"eos_token_id": [1, 2], "temperature": 0.5})";
  ASSERT_EQ(run_tril({"export", "-m", at("published"), "--to", at("further")}).code, 0);
  const auto generation = nlohmann::json::parse(file_text(at("further") + "/generation_config.json"));
  EXPECT_EQ(generation["eos_token_id"], nlohmann::json({1, 2}));
  EXPECT_EQ(generation["temperature"], 0.5);

  const Ran there = run_tril({"export", "-m", model, "--to", at("again")});
  EXPECT_EQ(there.code, 2);
  EXPECT_NE(there.err.find("already holds a model"), std::string::npos) << there.err;
  const Ran no_file = run_tril({"export", "-m", model, "--to", at("other"), "--format", "gguf"});
  EXPECT_EQ(no_file.code, 2);
  EXPECT_NE(no_file.err.find("--to: expected FILE.gguf for --format gguf"), std::string::npos) << no_file.err;
  EXPECT_NE(no_file.err.find("pass --to " + at("other") + ".gguf"), std::string::npos) << no_file.err;
  const Ran type = run_tril({"export", "-m", model, "--to", at("other"), "--type", "f16"});
  EXPECT_EQ(type.code, 2);
  EXPECT_NE(type.err.find("--type: is not for a Hugging Face directory"), std::string::npos) << type.err;
  const Ran family = run_tril({"export", "-m", test::test_dir() + "/golden/hf/marian", "--to", at("marian.gguf")});
  EXPECT_EQ(family.code, 2);
  EXPECT_NE(family.err.find("llama.cpp has no architecture for a marian model"), std::string::npos) << family.err;
  EXPECT_FALSE(std::filesystem::exists(at("marian.gguf")));
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

TEST_F(LanguageModel, InspectShowsItsSizes) {
  const Ran ran = run_tril({"inspect", model});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("layers         2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("heads          2\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("feed-forward   64\n"), std::string::npos) << ran.out;
}

// Fewer bits imply an 8-bit cache, unless caching is off.
TEST_F(LanguageModel, FewerBitsNeedNoCache) {
  const std::vector<std::string> args{"--prompt", "the d", "--max-new-tokens", "8", "--precision", "int8"};
  std::vector<std::string> more = args;
  more.push_back("--no-cache");
  const Ran with = generate(args), without = generate(more);
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(without.out, with.out);
}

// Options without effect, and impossible ones, are refused with exit code 2 and a message that says why.
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

  refused(run_tril({"translate", "--model", model}, "a\n"), "--prompt-template", "has no chat template");
  refused(score({"--source", valid_text, "--target", valid_text}), "--prompt-template", "has no chat template");
  const std::string marian = test::test_dir() + "/golden/hf/marian";
  const std::string translating = folder->at("translating");
  std::filesystem::copy(marian, translating);
  for (const char* file : {"vocab.json", "merges.txt", "tokenizer_config.json"})
    std::filesystem::copy(model + "/" + file, translating);
  refused(run_tril({"generate", "--model", translating, "-p", "a"}), "marian model translates", "use `tril translate`");
  refused(run_tril({"score", "--model", translating, "-s", valid_text, "--document"}), "--document", "translates");
  refused(run_tril({"score", "--model", translating, "-s", valid_text}), "--target", "is required");
  refused(run_tril({"translate", "--model", translating, "--style", "formal"}, "a\n"), "--style", "language models");
  refused(run_tril({"bench", "generate", "--model", translating}), "marian model translates", "bench translate");

  refused(generate({"-p", "a", "--temperature", "0", "--top-k", "5"}), "--temperature", "--top-k has no effect");
  refused(generate({"-p", "a", "--top-p", "0.9", "-b", "4"}), "--beam-size", "leave one of them out");
  refused(generate({"-p", "a", "--seed", "4"}), "--seed", "has no effect without sampling");
  refused(generate({"-p", "a", "--n", "4"}), "--n", "or --sampling to draw them");
  refused(generate({"-p", "a", "--stream", "-b", "4"}), "--stream", "pass -b 1");
  refused(generate({"-p", "a", "--stop", ""}), "--stop", "end every text at once");
  refused(generate({"-p", "a", "--min-new-tokens", "9", "--max-new-tokens", "4"}), "--min-new-tokens", "above");
  refused(generate({"-p", "the dog sees it. the dog sees it."}), "prompt 1", "the model has 24 positions");
  refused(score({"--source", valid_text, "--context", "25"}), "context", "24 positions");
  refused(run_tril({"perplexity", "--model", model, "-i", valid_text, "--stride", "25"}), "stride",
          "24 tokens, got 25");
  refused(run_tril({"perplexity", "--model", translating, "-i", valid_text}), "marian model translates", "tril score");
}

// The message names this command's option, not training's.
TEST_F(LanguageModel, AlignmentsOfWordsThatCannotBeCountedAreTold) {
  const std::string alignments = folder->write("alignments", "0-0\n");
  const Ran ran = run_tril(
      {"shortlist", "-m", model, "-t", valid_text, valid_text, "--alignments", alignments, "-o", folder->at("table")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.find("tril shortlist: --alignments: no piece of the vocabulary"), 0u) << ran.err;
  EXPECT_NE(ran.err.find("pass --alignment-units tokens"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace tril
