// `tril train` as a user sees it: killed and restarted, told to stop, misconfigured.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/rng.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril {
namespace {

void write_pairs(const ScratchFolder& folder, const std::string& prefix, int lines, std::uint64_t seed) {
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

struct Data {
  ScratchFolder folder;
  Data() {
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
Ran run_with_signal(std::vector<std::string> args, int signal, const std::function<void()>& wait) {
  const auto before = [] { std::signal(SIGHUP, SIG_DFL); };  // nohup sets it to be ignored
  return run_tril(std::move(args), {.input = {}, .stdout_to = {}, .before = before, .meanwhile = [&](pid_t child) {
                                      wait(), kill(child, signal);
                                    }});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Waits until a file contains `part`, and not `but`: the program has started its work.
void wait_for(const std::string& file, const std::string& part, const std::string& but = "nothing") {
  const auto start = std::chrono::steady_clock::now();
  for (std::string text; !contains(text, part) || contains(text, but); text = file_text(file)) {
    if (std::chrono::steady_clock::now() - start > std::chrono::minutes(1)) FAIL() << file << " never has " << part;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// The lines of train.jsonl or samples.jsonl without anything that depends on the clock.
std::vector<std::string> records(const std::string& file) {
  std::vector<std::string> list;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json j = nlohmann::json::parse(line);
    for (const char* key : {"seconds", "tokens_per_second", "options"}) j.erase(key);  // options: the directory's name
    list.push_back(j.dump());
  }
  return list;
}

TEST(Train, KilledAtRandomPointsEndsWithTheSameBits) {
  const Data data;
  const auto start = std::chrono::steady_clock::now();
  const Ran whole = run_tril(data.train("whole"));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_EQ(whole.code, 0) << whole.err;

  const char* wanted = std::getenv("TRIL_KILLS");  // a soak asks for more
  const int kills = wanted ? std::atoi(wanted) : 8;
  const auto seed = static_cast<std::uint64_t>(start.time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSequence random(seed, 1);
  int killed = 0, finished = 0;
  Ran last;
  const std::string state = "/checkpoint/state-00000300/weights.safetensors";
  const auto expect_equal = [&] {
    for (const std::string& file : {state, std::string("/model.safetensors"), std::string("/vocab.json")}) {
      const std::string expected = file_text(data.folder.at("whole" + file));
      EXPECT_FALSE(expected.empty()) << file;
      EXPECT_TRUE(file_text(data.folder.at("killed" + file)) == expected) << file << " after " << killed << " kills";
    }
    // No record is lost, doubled or cut.
    for (const std::string& file : {std::string("/train.jsonl"), std::string("/samples.jsonl")}) {
      const std::vector<std::string> expected = records(data.folder.at("whole" + file));
      EXPECT_GE(expected.size(), 15u);
      EXPECT_EQ(records(data.folder.at("killed" + file)), expected) << file << " after " << killed << " kills";
    }
  };
  // A finished run is compared, and another begins.
  while (killed < kills && finished < kills + 10) {
    const double delay = random.uniform() * seconds * 0.4;
    last = run_with_signal(data.train("killed"), SIGKILL,
                           [&] { std::this_thread::sleep_for(std::chrono::duration<double>(delay)); });
    if (last.signal == SIGKILL) {
      ++killed;
      continue;
    }
    ASSERT_EQ(last.code, 0) << last.err;
    ++finished;
    expect_equal();
    std::filesystem::remove_all(data.folder.at("killed"));
  }
  EXPECT_EQ(killed, kills) << finished << " runs came to their end";
  last = run_tril(data.train("killed"));
  ASSERT_EQ(last.code, 0) << last.err;
  expect_equal();
}

TEST(Train, KilledBeforeItsFirstFiguresIsStillToldFromItsBeginning) {
  const Data data;
  const auto args = [&](const std::string& model) {
    return data.train(model, {"--disp-freq", "200u", "--valid-freq", "200u"});
  };
  ASSERT_EQ(run_tril(args("whole")).code, 0);
  run_with_signal(args("killed"), SIGKILL,
                  [&] { wait_for(data.folder.at("killed/checkpoint/last"), "state-", "state-00000000"); });
  ASSERT_EQ(run_tril(args("killed")).code, 0);
  EXPECT_EQ(records(data.folder.at("killed/train.jsonl")), records(data.folder.at("whole/train.jsonl")));
}

TEST(Train, TermIntAndHangUpSaveAndExitWithZero) {
  const Data data;
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string model = "signal" + std::to_string(signal);
    // A first run makes the checkpoint, so that the signal arrives during training and not while the vocabulary is learned.
    ASSERT_EQ(run_tril(data.train(model, {"--after", "1u"})).code, 0);
    const Ran ran = run_with_signal(data.train(model, {"--after", "100000u", "--save-freq", "0"}), signal,
                                    [&] { wait_for(data.folder.at(model + "/train.jsonl"), "\"update\":20,"); });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.err, "stopped and saved")) << ran.err;
    const std::string last = file_text(data.folder.at(model + "/checkpoint/last"));
    EXPECT_GT(last, "state-00000001\n");
    EXPECT_TRUE(std::filesystem::exists(data.folder.at(model + "/config.json")));
  }
}

// An update of very many batches does not delay a stop; it is repeated on resume.
TEST(Train, ASignalBreaksOffALongUpdate) {
  const Data data;
  for (const bool in_order : {false, true}) {
    SCOPED_TRACE(in_order);
    std::vector<std::string> args =
        data.train(in_order ? "ordered" : "any", {"--after", "4u", "--accumulate", "20000"});
    if (in_order) args.emplace_back("--deterministic");
    const Ran ran = run_with_signal(args, SIGTERM, [] { std::this_thread::sleep_for(std::chrono::seconds(4)); });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(contains(ran.err, "stopped and saved")) << ran.err;
    EXPECT_EQ(file_text(data.folder.at(std::string(in_order ? "ordered" : "any") + "/checkpoint/last")),
              "state-00000000\n");
  }
}

// A run that was stopped and resumed reports the figures of an uninterrupted one.
TEST(Train, FiguresAreThoseOfAnUndisturbedRunHoweverOftenItWasStopped) {
  const Data data;
  const auto args = [&](const std::string& model) {
    return data.train(model, {"--disp-freq", "50u", "--after", "420u", "--save-freq", "7u", "--valid-freq", "100u"});
  };
  const Ran whole = run_tril(args("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  int stopped = 0;
  for (const char* until : {"state-000000", "state-000001", "state-000002", "state-000003"}) {
    const std::string last = data.folder.at("stopped/checkpoint/last");
    const Ran ran = run_with_signal(args("stopped"), SIGTERM, [&] { wait_for(last, until, "state-00000000"); });
    ASSERT_EQ(ran.code, 0) << ran.err;
    if (!contains(ran.err, "stopped and saved")) continue;  // it had just finished
    ++stopped;
    EXPECT_TRUE(contains(ran.err, "signal received")) << ran.err;
    EXPECT_TRUE(contains(file_text(data.folder.at("stopped/train.jsonl")), "\"interval\":\"unfinished\""))
        << "or was due";
  }
  EXPECT_GE(stopped, 2);
  ASSERT_EQ(run_tril(args("stopped")).code, 0);
  EXPECT_EQ(records(data.folder.at("stopped/train.jsonl")), records(data.folder.at("whole/train.jsonl")));
  EXPECT_TRUE(file_text(data.folder.at("stopped/model.safetensors")) ==
              file_text(data.folder.at("whole/model.safetensors")));
}

TEST(Train, TellsOnceWhatValidationIsWithout) {
  const Data data;
  std::string source = file_text(data.folder.at("valid.src")), target = file_text(data.folder.at("valid.tgt"));
  for (int i = 0; i < 600; ++i) source += "ab ";
  data.folder.write("long.src", source + "\n\n");
  data.folder.write("long.tgt", target + "a\nb\n");
  const Ran ran = run_tril(data.train("model", {"--valid-sets", data.folder.at("long.src"), data.folder.at("long.tgt"),
                                                "--after", "4u", "--valid-freq", "2u", "--valid-metrics", "bleu"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string remark = "1 of 32 pairs have a side of more than the model's 512 positions, the first one is " +
                             data.folder.at("long.src") + ": line 31";
  EXPECT_TRUE(contains(ran.err, remark)) << ran.err;
  EXPECT_EQ(ran.err.find(remark), ran.err.rfind(remark)) << "once";
  EXPECT_TRUE(contains(
      ran.err, "1 of 32 pairs have an empty side, the first one is " + data.folder.at("long.src") + ": line 32"))
      << ran.err;
}

TEST(Train, ARefusedFirstRunLeavesNothing) {
  const Data data;
  const std::string none = data.folder.at("none"), blank = data.folder.write("blank", "\n\n");
  const std::vector<std::vector<std::string>> mistakes{
      {"--valid-sets", none, none},
      {"--valid-sets", blank, blank},
      {"--vocab-size", "8"},
      {"--num-heads", "3"},
      {"--vocab", test::test_dir() + "/golden/hf/tokenizers/bytelevel_gpt2"},
      {"--max-tokens", "9999999999"},
      {"--guided-alignment", "learn", "learn"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    const Ran ran = run_tril(data.train("never", mistake));
    EXPECT_NE(ran.code, 0) << mistake[0];
    EXPECT_TRUE(contains(ran.err, mistake[0] == "--vocab-size" ? "ask for"
                                  : mistake[1] == none         ? none + ": cannot be read"
                                                               : mistake[0]))
        << ran.err;
    EXPECT_FALSE(std::filesystem::exists(data.folder.at("never"))) << mistake[0];
  }
}

// Errors in the texts are reported before a vocabulary is learned from them.
TEST(Train, TextsThatDoNotGoTogetherAreToldOfFirst) {
  const Data data;
  const std::string source = data.folder.at("train.src"), target = data.folder.at("train.tgt");
  const auto with_line = [&](const std::string& name, const std::string& line) {
    return data.folder.write(name, file_text(target) + line + "\n");
  };
  const std::string longer = with_line("longer", "a"),
                    longer_source = data.folder.write("s", file_text(source) + "a\n");
  std::string weights;
  for (int i = 0; i < 299; ++i) weights += "1\n";
  struct Case {
    std::vector<std::string> options;
    std::string error;
  };
  const std::vector<Case> cases{
      {{"--train-sets", source, longer}, longer + ": has 301 lines, but " + source + " has 300"},
      {{"--valid-sets", source, longer}, longer + ": has 301 lines, but " + source + " has 300"},
      {{"--train-sets", longer_source, with_line("bytes", "a\xff")}, "line 301: is not valid UTF-8"},
      {{"--tsv", "--train-sets", data.folder.write("tsv", "a\tb\na\n"), "--valid-sets",
        data.folder.write("v", "a\tb\n")},
       "line 2: has 1 tab-separated columns"},
      {{"--data-weighting", data.folder.write("299", weights)}, "has 299 weights"},
      {{"--data-weighting", data.folder.write("nan", weights + "x\n")}, "line 300: expected a weight"},
      {{"--guided-alignment", data.folder.write("align", weights + "1-\n")}, "line 1: "}};
  for (const Case& c : cases) {
    const Ran ran = run_tril(data.train("never", c.options));
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_TRUE(contains(ran.err, c.error)) << ran.err;
    EXPECT_FALSE(contains(ran.err, "learning a vocabulary")) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(data.folder.at("never"))) << c.error;
  }
}

TEST(Train, TextsThatCannotBeTrainedWithLeaveNothing) {
  const Data data;
  std::string words, lines;
  for (int i = 0; i < 80; ++i) words += "abcdefgh ";
  for (int i = 0; i < 50; ++i) lines += words + "\n";
  const std::string long_lines = data.folder.write("long", lines);
  const Ran pairs = run_tril(data.train("never", {"--train-sets", long_lines, long_lines, "--max-length", "10"}));
  EXPECT_EQ(pairs.code, 1);
  EXPECT_TRUE(contains(pairs.err, "no usable pair")) << pairs.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("never")));
  const Ran text = run_tril({"train", "--model", data.folder.at("never"), "--arch", "gpt2", "--vocab-type", "char",
                             "--train-sets", data.folder.write("x", "x")});
  EXPECT_EQ(text.code, 1);
  EXPECT_TRUE(contains(text.err, "has nothing to predict")) << text.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("never")));
}

TEST(Train, TheLargestSeedIsGoneOnWith) {
  const Data data;
  const std::string config = data.folder.write("seed.yml", "seed: 18446744073709551615\n");
  ASSERT_EQ(run_tril(data.train("whole", {"--config", config, "--after", "6u"})).code, 0);
  ASSERT_EQ(run_tril(data.train("parts", {"--seed", "18446744073709551615", "--after", "3u"})).code, 0);
  const Ran rest = run_tril(data.train("parts", {"--config", config, "--after", "6u"}));
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(file_text(data.folder.at("parts/model.safetensors")) ==
              file_text(data.folder.at("whole/model.safetensors")));
  const Ran other = run_tril(data.train("parts", {"--seed", "18446744073709551614", "--after", "7u"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "seed was 18446744073709551615, now 18446744073709551614")) << other.err;
  EXPECT_EQ(run_tril(data.train("none", {"--seed", "18446744073709551616"})).code, 2);
}

TEST(Train, WritesAModelDirectoryWithReports) {
  const Data data;
  const Ran ran = run_tril(data.train("model"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm", "target.spm",
                           "vocab.json", "tokenizer_config.json", "train.jsonl", "samples.jsonl", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(data.folder.at(std::string("model/") + name))) << name;
  EXPECT_TRUE(contains(file_text(data.folder.at("model/train.jsonl")), "\"type\":\"valid\""));
  const Ran translated = run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n");
  EXPECT_EQ(translated.code, 0) << translated.err;
}

TEST(Train, OverwriteLooksBeforeItRemoves) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const auto bytes = [&](const std::string& name) { return file_text(data.folder.at("model/" + name)); };
  const std::string last = bytes("checkpoint/last"), weights = bytes("model.safetensors"), vocab = bytes("vocab.json");
  EXPECT_EQ(last, "state-00000002\n");
  const std::string none = data.folder.at("none"), good = data.folder.at("train.tgt");
  const std::vector<std::vector<std::string>> mistakes{
      {"--train-sets", none, good}, {"--valid-sets", none, good}, {"--vocab", none}, {"--vocab", good}};
  for (std::vector<std::string> mistake : mistakes) {
    mistake.emplace_back("--overwrite");
    const Ran ran = run_tril(data.train("model", mistake));
    EXPECT_NE(ran.code, 0) << mistake[0];
    EXPECT_TRUE(contains(ran.err, mistake[1])) << ran.err;
    EXPECT_EQ(bytes("checkpoint/last"), last) << mistake[0];
    EXPECT_TRUE(bytes("model.safetensors") == weights && bytes("vocab.json") == vocab) << mistake[0];
  }
  EXPECT_EQ(run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n").code, 0);
}

// After a later failure, no weights are left beside the new vocabulary.
TEST(Train, OverwriteLeavesNoOldWeightsBesideANewVocabulary) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const std::string blank = data.folder.write("blank", "\n\n");
  const Ran early = run_tril(data.train("model", {"--valid-sets", blank, blank, "--vocab-size", "50", "--overwrite"}));
  EXPECT_NE(early.code, 0);
  EXPECT_TRUE(contains(early.err, "--valid-sets")) << early.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/config.json"))) << "a mistake that is seen in time";
  const std::string longer = data.folder.write("longer", file_text(data.folder.at("train.src")) + "a\n");
  const Ran unequal = run_tril(
      data.train("model", {"--train-sets", longer, data.folder.at("train.tgt"), "--vocab-size", "50", "--overwrite"}));
  EXPECT_NE(unequal.code, 0);
  EXPECT_TRUE(contains(unequal.err, "has 300 lines")) << unequal.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/config.json"))) << "a mistake that is seen in time";
  // The disk has room for a vocabulary, but not for weights.
  const auto little_room = [&] {
    const rlimit limit{std::filesystem::file_size(data.folder.at("model/model.safetensors")) - 1, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  };
  const Ran ran =
      run_tril(data.train("model", {"--vocab-size", "50", "--after", "2u", "--overwrite", "--d-model", "64"}),
               Launch{.input = "", .stdout_to = "", .before = little_room, .meanwhile = {}});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/config.json"))) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/model.safetensors")));
  EXPECT_EQ(run_tril(data.train("model", {"--vocab-size", "50", "--after", "2u", "--overwrite"})).code, 0);
}

// Whatever interrupts a run while it clears the directory, the same command can start again.
TEST(Train, TheModelIsRemovedBeforeTheStatesAre) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const std::string report = data.folder.at("model/report.html"), last = data.folder.at("model/checkpoint/last");
  std::filesystem::remove(report);
  std::filesystem::create_directories(report + "/in the way");
  const Ran stopped = run_tril(data.train("model", {"--after", "2u", "--overwrite"}));
  EXPECT_EQ(stopped.code, 1);
  EXPECT_TRUE(contains(stopped.err, "report.html") && contains(stopped.err, "cannot be removed")) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/config.json")));
  std::filesystem::remove_all(report);
  const Ran ran = run_tril(data.train("model", {"--after", "2u"}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(contains(ran.err, "nothing left to do")) << ran.err;
  EXPECT_EQ(file_text(last), "state-00000002\n");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data.folder.at("model/checkpoint")))
    names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"last", "lock", "state-00000002"}));
  EXPECT_EQ(run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n").code, 0);
}

// A run is read with its own vocabulary, whatever kind its predecessor in the directory had.
TEST(Train, OverwriteLeavesNoOldTokenizer) {
  const Data data;
  const std::string model = data.folder.at("model");
  ASSERT_EQ(run_tril(data.train("model", {"--after", "1u"})).code, 0);
  const auto characters = [&](const std::string& after) {
    return std::vector<std::string>{"train",
                                    "--arch",
                                    "gpt2",
                                    "--model",
                                    model,
                                    "--train-sets",
                                    data.folder.at("train.src"),
                                    "--vocab-type",
                                    "char",
                                    "--d-model",
                                    "16",
                                    "--num-heads",
                                    "2",
                                    "--ffn-dim",
                                    "32",
                                    "--dec-depth",
                                    "1",
                                    "--max-length",
                                    "24",
                                    "--max-tokens",
                                    "200",
                                    "--threads",
                                    "1",
                                    "--after",
                                    after};
  };
  std::vector<std::string> anew = characters("1u");
  anew.emplace_back("--overwrite");
  Ran ran = run_tril(anew);
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* name : {"source.spm", "target.spm"})
    EXPECT_FALSE(std::filesystem::exists(model + "/" + name)) << name;
  ran = run_tril(characters("2u"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  ran = run_tril({"generate", "--model", model, "--max-new-tokens", "2"}, "a");
  EXPECT_EQ(ran.code, 0) << ran.err;

  // The files of --vocab stay, even if another tokenizer is made from them.
  std::filesystem::remove_all(model);
  ASSERT_EQ(run_tril(data.train("first", {"--after", "1u"})).code, 0);
  std::filesystem::create_directory(model);
  const std::string given = model + "/tokenizer.model";
  std::filesystem::copy_file(data.folder.at("first/source.spm"), given);
  ran = run_tril(data.train("model", {"--after", "1u", "--vocab", given}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(given));
}

// After a mistake in the first command, the corrected one begins.
TEST(Train, AMistakeBeforeTheFirstUpdateIsNotARunToGoOnWith) {
  const Data data;
  const std::string blank = data.folder.write("blank", "\n\n");
  const std::vector<std::vector<std::string>> mistakes{{"--valid-sets", blank, blank}, {"--max-length", "1"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    const std::string model = "model" + mistake[0];
    EXPECT_NE(run_tril(data.train(model, mistake)).code, 0) << mistake[0];
    const Ran ran = run_tril(data.train(model, {"--after", "2u", "--d-model", "24", "--vocab-size", "50"}));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(file_text(data.folder.at(model + "/checkpoint/last")), "state-00000002\n");
    const Ran other = run_tril(data.train(model, {"--after", "3u", "--d-model", "16", "--vocab-size", "50"}));
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(contains(other.err, "d-model was 24, now 16")) << other.err;
  }
}

TEST(Train, WhatCannotBeGoneOnWithNamesOverwrite) {
  const Data data;
  const std::vector<std::string> usual = data.train("model", {"--after", "2u"});
  ASSERT_EQ(run_tril(usual).code, 0);
  const std::string state = data.folder.at("model/checkpoint/state-00000002/"), text = file_text(state + "state.json");
  for (const std::string& damaged : {text.substr(0, text.size() / 2), std::string("{}"), std::string()}) {
    std::ofstream(state + "state.json") << damaged;
    const Ran ran = run_tril(usual);
    EXPECT_GT(ran.code, 0);
    EXPECT_TRUE(contains(ran.err, "state.json") && contains(ran.err, "--overwrite")) << ran.err;
  }
  std::ofstream(state + "state.json") << text;
  std::filesystem::resize_file(state + "weights.safetensors", 100);
  const Ran cut = run_tril(usual);
  EXPECT_GT(cut.code, 0);
  EXPECT_TRUE(contains(cut.err, "weights.safetensors") && contains(cut.err, "--overwrite")) << cut.err;

  ASSERT_EQ(run_tril(data.train("other", {"--after", "2u"})).code, 0);
  std::ofstream(data.folder.at("train.src"), std::ios::app) << "a b\n";
  std::ofstream(data.folder.at("train.tgt"), std::ios::app) << "b a\n";
  const Ran changed = run_tril(data.train("other", {"--after", "4u"}));
  EXPECT_EQ(changed.code, 2);
  EXPECT_TRUE(contains(changed.err, "--overwrite")) << changed.err;
  EXPECT_EQ(run_tril(data.train("other", {"--after", "2u", "--overwrite"})).code, 0);
}

TEST(Train, AStudentTakesItsTeachersVocabularyAndASecondCannotHaveAnother) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("teacher", {"--after", "10u"})).code, 0);
  const auto student = [&](const std::string& model, std::vector<std::string> teachers) {
    std::vector<std::string> more{"--after", "6u", "--distillation-mix", "0.7", "--teacher"};
    for (const std::string& t : teachers) more.push_back(data.folder.at(t));
    return run_tril(data.train(model, more));
  };
  const Ran once = student("student", {"teacher"});
  ASSERT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(file_text(data.folder.at("student/source.spm")), file_text(data.folder.at("teacher/source.spm")));

  ASSERT_EQ(run_tril(data.train("stranger", {"--after", "2u", "--vocab-size", "55"})).code, 0);
  const Ran refused = student("student2", {"teacher", "stranger"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "stranger")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "vocabulary")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("student2/config.json")));
}

TEST(Train, LearnsAlignmentsAndGoesOnWithThem) {
  const Data data;
  const std::vector<std::string> learn{"--guided-alignment", "learn", "--deterministic"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), learn.begin(), learn.end());
    return more;
  };
  const Ran whole = run_tril(data.train("whole", with({"--after", "8u"})));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::string file = data.folder.at("whole/guided-1.align");
  const std::string out = data.folder.at("by-hand.align");
  ASSERT_EQ(run_tril({"align", "-t", data.folder.at("train.src"), data.folder.at("train.tgt"), "-o", out}).code, 0);
  EXPECT_EQ(file_text(file), file_text(out));
  const std::string source = file_text(data.folder.at("train.src"));
  for (const std::string& wrong : {data.folder.at("train.src"), std::string("-")})
    EXPECT_EQ(run_tril({"align", "-t", data.folder.at("train.src"), data.folder.at("train.tgt"), "-o", wrong}).code, 2);
  EXPECT_EQ(file_text(data.folder.at("train.src")), source);
  ASSERT_EQ(run_tril(data.train("parts", with({"--after", "4u"}))).code, 0);
  ASSERT_EQ(run_tril(data.train("parts", with({"--after", "8u"}))).code, 0);
  const Ran given = run_tril(data.train("given", {"--after", "8u", "--guided-alignment", out, "--deterministic"}));
  ASSERT_EQ(given.code, 0) << given.err;
  const std::string weights = file_text(data.folder.at("whole/model.safetensors"));
  EXPECT_EQ(file_text(data.folder.at("parts/model.safetensors")), weights);
  EXPECT_EQ(file_text(data.folder.at("given/model.safetensors")), weights);
  const Ran tokens = run_tril(data.train("tokens", with({"--after", "2u", "--guided-alignment-units", "tokens"})));
  EXPECT_EQ(tokens.code, 2);
  EXPECT_NE(tokens.err.find("alignments of words"), std::string::npos) << tokens.err;
}

TEST(Train, SaysWhereNothingIsLeftToDo) {
  const Data data;
  const Ran first = run_tril(data.train("model", {"--after", "6u", "--valid-freq", "1u"}));
  ASSERT_EQ(first.code, 0);
  EXPECT_TRUE(contains(first.err, "done: 6 updates") && contains(first.err, "best loss") &&
              contains(first.err, "tril translate --model " + data.folder.at("model")))
      << first.err;
  const std::string log = file_text(data.folder.at("model/train.jsonl"));
  for (const char* after : {"6u", "3u"}) {
    const Ran again = run_tril(data.train("model", {"--after", after, "--valid-freq", "1u"}));
    EXPECT_EQ(again.code, 0);
    EXPECT_TRUE(contains(again.err, std::string("nothing left to do at update 6 (epoch 1): --after ") + after))
        << again.err;
  }
  EXPECT_EQ(file_text(data.folder.at("model/train.jsonl")), log);

  const std::vector<std::string> stalls{"--valid-freq", "1u", "--early-stopping", "2",       "--learn-rate", "1e-30",
                                        "--ema",        "0",  "--lr-schedule",    "constant"};
  ASSERT_TRUE(contains(run_tril(data.train("stalled", stalls)).err, "stopped early"));
  const Ran again = run_tril(data.train("stalled", stalls));
  EXPECT_EQ(again.code, 0);
  EXPECT_TRUE(contains(again.err, "nothing left to do at update 3") && contains(again.err, "--early-stopping"))
      << again.err;
}

// The directory of a finished run from which someone has removed or emptied a file.
TEST(Train, GoingOnWritesAnewWhatTheModelHasLost) {
  const Data data;
  const std::vector<std::vector<std::string>> kinds{
      {"--after", "20u", "--learn-rate", "0.003"},  // the last validation is the best
      {"--after", "9u", "--valid-sets", "--ema", "0", "--average-checkpoints", "2", "--save-freq", "4u"}};
  for (const std::vector<std::string>& kind : kinds) {
    const std::string model = kind[1] + "model";
    const auto run = [&] {
      std::vector<std::string> args = data.train(model, kind);
      if (kind[2] == "--valid-sets") {  // none
        args.erase(std::find(args.begin(), args.end(), "--valid-sets"));
        const auto freq = std::find(args.begin(), args.end(), "--valid-freq");
        args.erase(freq, freq + 2);
      }
      return run_tril(args);
    };
    const auto file = [&](const std::string& name) { return data.folder.at(model + "/" + name); };
    const Ran first = run();
    ASSERT_EQ(first.code, 0) << first.err;
    for (const char* name : {"model.safetensors", "config.json", "generation_config.json"})
      for (const bool empties : {false, true}) {
        const std::string text = file_text(file(name));
        if (empties)
          data.folder.write(model + "/" + name, "");
        else
          std::filesystem::remove(file(name));
        const Ran again = run();
        EXPECT_EQ(again.code, 0) << again.err;
        EXPECT_TRUE(contains(again.err, file(name) + ": is missing or empty; writing it again")) << again.err;
        EXPECT_TRUE(file_text(file(name)) == text) << name;
      }
    EXPECT_FALSE(contains(run().err, "gone"));
    std::filesystem::remove(file("config.json"));
    std::filesystem::remove(file("model.safetensors"));
    EXPECT_EQ(run().code, 0);
    EXPECT_TRUE(std::filesystem::exists(file("config.json")) && std::filesystem::exists(file("model.safetensors")));
  }
}

TEST(Train, ALostBestModelThatNoStateHasIsToldOf) {
  const Data data;
  const std::vector<std::string> stalls{"--valid-freq", "1u", "--early-stopping", "2",       "--learn-rate", "1e-30",
                                        "--ema",        "0",  "--lr-schedule",    "constant"};
  ASSERT_EQ(run_tril(data.train("model", stalls)).code, 0);
  const std::string weights = data.folder.at("model/model.safetensors");
  const std::string text = file_text(weights);
  std::filesystem::remove(weights);
  const Ran again = run_tril(data.train("model", stalls));
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(contains(again.err, weights + ": is missing or empty; it held the best weights, of update 1,"))
      << again.err;
  EXPECT_FALSE(contains(again.err, "the model is in")) << again.err;
  data.folder.write("model/model.safetensors", text);
  EXPECT_EQ(run_tril(data.train("model", stalls)).code, 0);
}

// A missing model of a run without validation is written when the next one is due, even if the run is stopped before.
TEST(Train, ALostModelThatIsToComeAgainIsNoFailure) {
  const Data data;
  std::vector<std::string> args = data.train("model", {"--after", "7u"});
  const auto valid = std::find(args.begin(), args.end(), "--valid-sets");
  args.erase(valid, valid + 3);
  const auto freq = std::find(args.begin(), args.end(), "--valid-freq");
  args.erase(freq, freq + 2);
  ASSERT_EQ(run_tril(args).code, 0);
  std::filesystem::remove(data.folder.at("model/model.safetensors"));
  *(std::find(args.begin(), args.end(), "--after") + 1) = "9u";
  const Ran longer = run_tril(args);
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/model.safetensors")));
}

TEST(Train, LostLinesOfTheReportAreToldOf) {
  const Data data;
  const std::vector<std::string> more{"--after", "25u", "--disp-freq", "10u", "--valid-freq", "10u"};
  ASSERT_EQ(run_tril(data.train("model", more)).code, 0);
  ASSERT_FALSE(contains(run_tril(data.train("model", more)).err, "gone"));
  const auto after = [&](const std::string& name, const std::string& text) {
    const std::string whole = file_text(data.folder.at("model/" + name));
    data.folder.write("model/" + name, text);
    const Ran again = run_tril(data.train("model", more));
    EXPECT_EQ(again.code, 0) << again.err;
    data.folder.write("model/" + name, whole);
    return again.err;
  };
  for (const char* name : {"train.jsonl", "samples.jsonl"}) {
    const std::string file = data.folder.at(std::string("model/") + name), whole = file_text(file);
    EXPECT_TRUE(contains(after(name, ""), file + ": ")) << name;
    EXPECT_TRUE(contains(after(name, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1)), file + ": ")) << name;
  }
  const std::string file = data.folder.at("model/train.jsonl"), whole = file_text(file);
  EXPECT_TRUE(contains(after("train.jsonl", whole.substr(whole.find('\n') + 1)), "its first lines are missing"));
  EXPECT_TRUE(contains(after("train.jsonl", whole.substr(0, whole.find("\"update\":10"))), "its line of update 20"));
}

TEST(Train, ConfigFilesAndTheirMistakes) {
  const Data data;
  const Ran dumped = run_tril(data.train("model", {"--seed", "7", "--dump-config"}));
  ASSERT_EQ(dumped.code, 0) << dumped.err;
  EXPECT_TRUE(contains(dumped.out, "seed: 7")) << dumped.out;
  const std::string config = data.folder.write("run.yml", dumped.out);
  const Ran again = run_tril({"train", "--config", config, "--dump-config"});
  EXPECT_EQ(again.out, dumped.out) << again.err;

  const Ran unknown = run_tril({"train", "--config", data.folder.write("bad.yml", "model: m\nmax-tokns: 4\n")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "max-tokns") && contains(unknown.err, "max-tokens")) << unknown.err;
  const Ran unit = run_tril(data.train("model", {"--after", "30x"}));
  EXPECT_EQ(unit.code, 2);
  EXPECT_TRUE(contains(unit.err, "--after") && contains(unit.err, "30x")) << unit.err;
  const Ran precision = run_tril(data.train("model", {"--precision", "bf17"}));
  EXPECT_EQ(precision.code, 2);
  EXPECT_TRUE(contains(precision.err, "--precision") && contains(precision.err, "bf16")) << precision.err;
  const Ran missing =
      run_tril(data.train("model", {"--train-sets", data.folder.at("none.src"), data.folder.at("train.tgt")}));
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(contains(missing.err, "none.src")) << missing.err;
}

TEST(Train, ASignatureIsTheSameEachTime) {
  const Ran first = run_tril({"signature"}), second = run_tril({"signature"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out.size(), 17u);
  EXPECT_EQ(first.out, second.out);
}

}  // namespace
}  // namespace tril
