// A language model trained by the program on a small synthetic text.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/rng.h"
#include "support/run_program.h"

namespace tril {

inline std::string some_text(std::uint64_t seed, int sentences) {
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

}  // namespace tril
