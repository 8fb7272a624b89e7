// The files of a small run: three reports, three validations with a sample and its attention.
#pragma once

#include <filesystem>
#include <string>

#include "support/run_program.h"

namespace tril::test {

/// @return the run's directory
inline std::string write_run(const ScratchFolder& folder, const std::string& name) {
  std::filesystem::create_directory(folder.at(name));
  std::string figures = R"({"type":"run","update":0,"parameters":12345,"threads":2,"options":{"seed":1}})"
                        "\n",
              samples;
  for (int i = 1; i <= 3; ++i) {
    const std::string at = "\"update\":" + std::to_string(10 * i) + ",\"epoch\":" + std::to_string(i - 1) +
                           ",\"seconds\":" + std::to_string(60 * i) + ",\"target_tokens\":" + std::to_string(1000 * i);
    figures += R"({"type":"train",)" + at + ",\"loss\":" + std::to_string(8.0 / i) +
               R"(,"learning_rate":0.0005,"gradient_norm":1.5,"tokens_per_second":900,"skipped":0})"
               "\n";
    figures += R"({"type":"valid",)" + at + ",\"cross_entropy\":" + std::to_string(5.0 / i) +
               ",\"perplexity\":20,\"best\":true}\n";
    // Heads [1 0; 0 1] and [0 1; 1 0].
    samples += R"({"type":"samples",)" + at +
               R"(,"kind":"translation","samples":[{"line":3,"source":"ein Hund","reference":"a dog",)" +
               R"("hypothesis":"a dog )" + std::to_string(i) +
               R"(","attention":{"kind":"cross","queries":["▁dog","</s>"],"keys":["▁Hund","</s>"],"layers":[)" +
               R"({"name":"model.decoder.layers.0.encoder_attn","heads":2,"codes":"/wAA/wD//wA="}]}}]})"
               "\n";
  }
  folder.write(name + "/train.jsonl", figures);
  folder.write(name + "/samples.jsonl", samples);
  return folder.at(name);
}

}  // namespace tril::test
