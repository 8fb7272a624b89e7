// tril translate on the golden MarianMT model with a small tokenizer of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {

class Translate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    model = write_tiny_marian(*folder);
  }
  static void TearDownTestSuite() { delete folder; }

  static Ran translate(std::vector<std::string> args, const std::string& input) {
    args.insert(args.begin(), {"translate", "--model", model});
    return run_tril(args, input);
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model;
};

inline const std::string text = "a dog runs\nthe red ball\n\ntwo men\n";

}  // namespace tril
