// A small run of `tril train` as a user starts it, for tests of the program.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "support/contains.h"
#include "support/run_program.h"

namespace tril::test {

inline void write_pairs(const ScratchFolder& folder, const std::string& prefix, int lines, std::uint64_t seed) {
  RandomSequence random(seed, 3);
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    std::string s, t;
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
      std::string word;
      for (std::uint64_t k = 1 + random.below(4); k > 0; --k) word += static_cast<char>('a' + random.below(12));
      s += word + " ";
      t = word + " " + t;
    }
    source += s + "\n";
    target += t + "\n";
  }
  folder.write(prefix + ".src", source);
  folder.write(prefix + ".tgt", target);
}

struct TrainData {
  ScratchFolder folder;
  TrainData() {
    write_pairs(folder, "train", 300, 1);
    write_pairs(folder, "valid", 30, 2);
  }
  /// The arguments of a small run; `more` ("--after", "1u") replaces the defaults of the same name.
  std::vector<std::string> train(const std::string& model, const std::vector<std::string>& more = {}) const {
    const std::vector<std::vector<std::string>> usual{{"--model", folder.at(model)},
                                                      {"--train-sets", folder.at("train.src"), folder.at("train.tgt")},
                                                      {"--valid-sets", folder.at("valid.src"), folder.at("valid.tgt")},
                                                      {"--vocab-size", "60"},
                                                      {"--d-model", "16"},
                                                      {"--num-heads", "2"},
                                                      {"--ffn-dim", "24"},
                                                      {"--enc-depth", "1"},
                                                      {"--dec-depth", "1"},
                                                      {"--max-tokens", "300"},
                                                      {"--threads", "2"},
                                                      {"--after", "300u"},
                                                      {"--save-freq", "7u"},
                                                      {"--valid-freq", "20u"},
                                                      {"--disp-freq", "10u"},
                                                      {"--warmup", "10"},
                                                      {"--ema", "0.9"}};
    std::vector<std::string> args{"train"};
    const auto given = [&](const std::string& name) { return std::find(more.begin(), more.end(), name) != more.end(); };
    for (const auto& option : usual)
      if (!given(option[0]) && !(option[0] == "--vocab-size" && (given("--vocab") || given("--teacher"))))
        args.insert(args.end(), option.begin(), option.end());
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
};

// Starts the program, sends `signal` when `wait` returns, and returns how it ended.
inline Ran run_with_signal(std::vector<std::string> args, int signal, const std::function<void()>& wait) {
  const auto before = [] { std::signal(SIGHUP, SIG_DFL); };  // nohup sets it to be ignored
  return run_tril(std::move(args), {.input = {}, .stdout_to = {}, .before = before, .meanwhile = [&](pid_t child) {
                                      wait(), kill(child, signal);
                                    }});
}

// Waits until a file contains `part`, and not `but`: the program has started its work.
inline void wait_for(const std::string& file, const std::string& part, const std::string& but = "nothing") {
  const auto start = std::chrono::steady_clock::now();
  for (std::string text; !contains(text, part) || contains(text, but); text = file_text(file)) {
    if (std::chrono::steady_clock::now() - start > std::chrono::minutes(1)) FAIL() << file << " never has " << part;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// The lines of train.jsonl or samples.jsonl without anything that depends on the clock.
inline std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> list;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json j = nlohmann::json::parse(line);
    for (const char* key : {"seconds", "tokens_per_second", "options"}) j.erase(key);  // options: the directory's name
    list.push_back(j.dump());
  }
  return list;
}

}  // namespace tril::test
