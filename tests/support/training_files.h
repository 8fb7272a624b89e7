// The files of a small training run.
#pragma once

#include <string>

#include "support/training.h"

namespace tril::test {

struct TrainingFiles {
  TemporaryDirectory dir;
  TrainingFiles() {
    write_reversals(dir, "train", 120, 1);
    write_reversals(dir, "valid", 20, 2);
  }
  std::string weights(const std::string& name, int lines) const {
    std::string text;
    for (int i = 0; i < lines; ++i) text += std::to_string(i % 5) + ".25\n";
    return dir.write(name + ".weights", text);
  }
  train::TrainOptions options(const std::string& model = "model") const { return small_options(dir, model); }
  train::TrainOptions validating(const std::string& model = "model") const {
    train::TrainOptions o = options(model);
    o.data.valid_sets = {dir.path("valid.src"), dir.path("valid.tgt")};
    o.validation.valid_freq = {{4, train::Unit::updates}};
    return o;
  }
};

}  // namespace tril::test
