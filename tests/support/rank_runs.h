// Small training runs of several processes, and their results.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "format/safetensors.h"
#include "support/contains.h"
#include "support/run_ranks.h"

namespace tril {

using nlohmann::json;
using std::chrono::seconds;

inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

inline void write_pairs(const std::string& prefix, int lines, std::uint64_t seed) {
  RandomSequence random(seed, 3);
  std::ofstream source(prefix + ".src"), target(prefix + ".tgt");
  for (int i = 0; i < lines; ++i) {
    std::string s, t;
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
      std::string word;
      for (std::uint64_t k = 1 + random.below(4); k > 0; --k) word += static_cast<char>('a' + random.below(12));
      s += (s.empty() ? "" : " ") + word;
      t = word + (t.empty() ? "" : " ") + t;
    }
    source << s << "\n";
    target << t << "\n";
  }
}

using Words = std::vector<std::string>;

class RanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!have_mpirun()) GTEST_SKIP() << "there is no mpirun here: several processes are not tested";
    write_pairs(folder.at("train"), 300, 1);
    write_pairs(folder.at("valid"), 30, 2);
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    host = name;
  }

  static bool has(const Words& words, const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  /// The arguments of a small run, with some ten pieces of weights for the ranks to share; `more` replaces the defaults.
  Words train(const std::string& model, const Words& more = {}) const {
    const std::vector<Words> usual{{"--model", folder.at(model)},
                                   {"--train-sets", folder.at("train.src"), folder.at("train.tgt")},
                                   {"--valid-sets", folder.at("valid.src"), folder.at("valid.tgt")},
                                   {"--vocab-size", "60"},
                                   {"--d-model", "64"},
                                   {"--num-heads", "4"},
                                   {"--ffn-dim", "160"},
                                   {"--enc-depth", "1"},
                                   {"--dec-depth", "1"},
                                   {"--max-tokens", "150"},
                                   {"--threads", "1"},
                                   {"--after", "40u"},
                                   {"--save-freq", "10u"},
                                   {"--valid-freq", "20u"},
                                   {"--disp-freq", "1u"},
                                   {"--warmup", "10"}};
    Words args{"train"};
    // Options that an existing model decides, or that a language model does not have.
    const auto decided = [&](const std::string& name) {
      for (const char* size : {"--vocab-size", "--d-model", "--num-heads", "--ffn-dim", "--enc-depth", "--dec-depth"})
        if (name == size && has(more, "--init-from")) return true;
      return (name == "--enc-depth" && (has(more, "gpt2") || has(more, "linear_decoder"))) ||
             (name == "--vocab-size" && has(more, "char"));
    };
    for (const Words& option : usual)
      if (!has(more, option[0].c_str()) && !decided(option[0])) args.insert(args.end(), option.begin(), option.end());
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  /// Likewise with --deterministic and 4 batches an update, whatever the ranks.
  Words fixed(const std::string& model, int ranks, Words more = {}) const {
    more.insert(more.end(), {"--deterministic", "--accumulate", std::to_string(4 / ranks)});
    return train(model, more);
  }

  /// Runs that must succeed.
  void run_alone(const Words& args) const {
    const Ran ran = run_tril(args);
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  std::string run_ranks(int ranks, const Words& args) const {
    const Ran ran = RankJob(folder, ranks).run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.err;
  }

  std::string file(const std::string& model, const std::string& name) const {
    return file_text(folder.at(model + "/" + name));
  }
  json state(const std::string& model) const {
    std::string last = file(model, "checkpoint/last");
    last.pop_back();
    return json::parse(file(model, "checkpoint/" + last + "/state.json"));
  }
  void expect_same_run(const std::string& model, const std::string& expected) const {
    for (const char* name : {"model.safetensors", "config.json", "vocab.json", "checkpoint/last"}) {
      EXPECT_FALSE(file(expected, name).empty()) << name;
      EXPECT_TRUE(file(model, name) == file(expected, name)) << name << " of " << model;
    }
    EXPECT_EQ(figures(model), figures(expected)) << model;
    for (const char* key : {"updates", "epochs", "target_tokens", "corpus", "optimizer_steps", "best", "best_update",
                            "usual_loss", "usual_gradient_norm", "batches"})
      EXPECT_EQ(state(model)[key], state(expected)[key]) << key << " of " << model;
  }

  /// The lines of train.jsonl without anything that depends on the clock or the number of ranks, and without the lines
  /// of resumes.
  std::vector<json> figures(const std::string& model) const {
    std::vector<json> list;
    for (const std::string& line : lines_of(file(model, "train.jsonl"))) {
      json j = json::parse(line);
      if (j["type"] == "run") continue;
      for (const char* key : {"seconds", "tokens_per_second", "took"}) j.erase(key);
      list.push_back(j);
    }
    return list;
  }

  std::map<std::string, std::vector<float>> weights(const std::string& model) const {
    const SafetensorsFile stored = SafetensorsFile::open(folder.at(model + "/model.safetensors"));
    std::map<std::string, std::vector<float>> all;
    for (const std::string& name : stored.names()) all[name] = to_f32(stored.at(name));
    return all;
  }

  /// Compares lines of two runs that differ only by rounding: measurements may differ by the relative amount `later`;
  /// in the first update, before any step, by 2e-6.
  void expect_near_figures(const std::string& model, const std::string& expected, double later) const {
    const auto lines = figures(model), others = figures(expected);
    ASSERT_EQ(lines.size(), others.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const json &line = lines[i], &other = others[i];
      for (const char* key : {"update", "type", "target_tokens"})
        EXPECT_EQ(line.value(key, json()), other.value(key, json()));
      for (const char* key : {"loss", "gradient_norm", "cross_entropy"})
        if (other.contains(key)) {
          EXPECT_NEAR(line[key].get<double>(), other[key].get<double>(),
                      (i == 0 ? 2e-6 : later) * other[key].get<double>())
              << key << " of update " << other["update"];
        }
    }
  }

  /// The distance between two runs' weights, relative to their distance from another checkpoint. Where a gradient is only
  /// rounding, the size of an update means nothing: Adam and Lion step such a weight by the rate, in either direction. These
  /// are the biases of keys, which do not affect attention (they are left out), and the few values near zero.
  double apart(const std::string& model, const std::string& other, const std::string& first) const {
    double apart = 0, come = 0;
    const auto a = weights(model), b = weights(other), start = weights(first);
    EXPECT_EQ(a.size(), b.size());
    for (const auto& [weight, values] : a) {
      if (contains(weight, "k_proj.bias")) continue;
      for (std::size_t v = 0; v < values.size(); ++v) {
        apart += std::pow(static_cast<double>(values[v]) - static_cast<double>(b.at(weight)[v]), 2);
        come += std::pow(static_cast<double>(values[v]) - static_cast<double>(start.at(weight)[v]), 2);
      }
    }
    EXPECT_GT(come, 0);
    return std::sqrt(apart / come);
  }

  ScratchFolder folder;
  std::string host;
};

}  // namespace tril
