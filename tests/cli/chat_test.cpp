// tril chat and --prompt-cache from outside, with a small model of characters: pipes, commands, signals, files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/rng.h"
#include "cli/run_program.h"

namespace tril {
namespace {

class Chat : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    RandomSequence random(1, 1);
    std::string text;
    while (text.size() < 6000) {
      text += std::array{"User: ", "Assistant: ", "how are you?", "well, 1 and 2.", "\n", "{a} "}[random.below(6)];
    }
    const std::string train = folder->write("train", text);
    model = folder->at("model");
    const Ran trained =
        run_tril({"train", "--arch",       "gpt2", "--model",      model,  "--train-sets", train, "--vocab-type",
                  "char",  "--d-model",    "32",   "--num-heads",  "2",    "--ffn-dim",    "64",  "--dec-depth",
                  "2",     "--max-length", "2048", "--max-tokens", "2048", "--warmup",     "2",   "--after",
                  "4u",    "--threads",    "1"});
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  static void TearDownTestSuite() { delete folder; }

  static Ran chat(const std::string& input, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"chat",  "--model",          model, "--format",
                                  "plain", "--max-new-tokens", "12",  "--sampling"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args, input);
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model;
};

nlohmann::json talk(const std::string& path) {
  return nlohmann::json::parse(file_text(path)).at("messages");
}

TEST_F(Chat, AnswersRemembersAndObeysCommands) {
  const std::string saved = folder->at("saved.json");
  const Ran ran =
      chat("how are you?\n/save " + saved + "\nand\\\nyou?\n//well\n/save " + saved + "2\n", {"--system", "1 and 2."});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto first = talk(saved), second = talk(saved + "2");
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0]["role"], "system");
  EXPECT_EQ(first[0]["content"], "1 and 2.");
  EXPECT_EQ(first[1]["content"], "how are you?");
  EXPECT_EQ(first[2]["role"], "assistant");
  ASSERT_EQ(second.size(), 7u);
  EXPECT_EQ(second[3]["content"], "and\nyou?");
  EXPECT_EQ(second[5]["content"], "/well");
  std::string answers;
  for (const std::size_t i : {2, 4, 6}) answers += second[i]["content"].get<std::string>() + "\n";
  EXPECT_EQ(ran.out, answers);
  EXPECT_NE(ran.err.find("3 answers of "), std::string::npos) << ran.err;

  // What was read stays read: of the second turn and the third only what is new.
  const Ran long_talk = chat("how are you, and you, and you, and you?\n1\n2\n");
  const auto number = [&](const char* behind) {
    const std::size_t at = long_talk.err.find(behind);
    EXPECT_NE(at, std::string::npos) << long_talk.err;
    return std::stoi(long_talk.err.substr(long_talk.err.rfind(' ', at - 2) + 1));
  };
  EXPECT_GT(number(" had been"), 2 * 40);

  EXPECT_EQ(chat("how are you?\n").out, ran.out.substr(0, 0) + chat("how are you?\n").out)
      << "the same seed, the same answer";
  const Ran loaded = chat("/load " + saved + "\n/undo\n/save " + saved + "3\n/reset\n/save " + saved +
                          "4\n/system 2\n/save " + saved + "5\n");
  ASSERT_EQ(loaded.code, 0) << loaded.err;
  EXPECT_EQ(loaded.out, "");
  EXPECT_EQ(talk(saved + "3").size(), 1u);
  EXPECT_EQ(talk(saved + "4").size(), 0u);
  EXPECT_EQ(talk(saved + "5").at(0).at("content"), "2");
  const Ran retried = chat("how are you?\n/retry\n/save " + saved + "6\n/exit\nnot read\n");
  EXPECT_EQ(talk(saved + "6").size(), 2u);
  EXPECT_EQ(std::count(retried.out.begin(), retried.out.end(), '\n'), 2);
  EXPECT_EQ(chat("/load " + saved + "\n", {}).code, 0);
  EXPECT_EQ(chat("how are you?\n", {"--load", saved}).code, 0);
}

TEST_F(Chat, SetsWhatMayBeSet) {
  const Ran shown = chat("/set temperature 0.5\n/set max_new_tokens 3\n/set\nhow are you?\n/help\n");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("temperature 0.5\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("max-new-tokens 3\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("/reset "), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("1 answers of 3 tokens"), std::string::npos) << shown.err;
  const auto refused = [&](const std::string& input, const std::string& expected, std::vector<std::string> more = {}) {
    const Ran ran = chat(input, std::move(more));
    EXPECT_NE(ran.code, 0) << input;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  };
  refused("/set temperatur 1\n", "did you mean temperature");
  refused("/set temperature -1\n", "from 0 to 1000");
  refused("/rest\n", "did you mean reset");
  refused("/save\n", "expected a file");
  refused("/retry\n", "nothing has been said yet");
  refused("/load " + model + "/config.json\n", "is no talk");
  EXPECT_NE(run_tril({"chat", "--model", model, "--format", "template"}).err.find("has no chat template"),
            std::string::npos);
  refused("a\n", "look-ahead", {"--regex", "a(?=b)"});
  refused(std::string(3000, 'a') + "\n", "the model has 2048 positions");
}

TEST_F(Chat, KeepsToAFormAndToTemplates) {
  const Ran formed = chat("how are you?\nand you?\n", {"--regex", "(well|1), (you|2)"});
  ASSERT_EQ(formed.code, 0) << formed.err;
  for (const std::string& line : lines_of(formed.out))
    EXPECT_TRUE(line == "well, you" || line == "well, 2" || line == "1, you" || line == "1, 2") << line;
  const std::string jinja = folder->write(
      "chat.jinja",
      "{% for m in messages %}{{ m.role }}{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}a{% endif %}");
  const Ran templated = run_tril({"chat", "--model", model, "--template", jinja, "--max-new-tokens", "5"}, "you?\n");
  EXPECT_EQ(templated.code, 0) << templated.err;
  EXPECT_NE(templated.err.find("1 answers of 5 tokens"), std::string::npos) << templated.err;
  const Ran broken = run_tril({"chat", "--model", model, "--template", folder->write("broken", "{% for %}")}, "you?\n");
  EXPECT_NE(broken.code, 0);
}

// Old turns make room for new ones.
TEST_F(Chat, GoesOnWhenThePositionsAreFull) {
  std::string input;
  for (int i = 0; i < 12; ++i) input += std::string(300, 'a') + "\n";
  const Ran ran = chat(input);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("2048 positions are full"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("12 answers of "), std::string::npos) << ran.err;
}

// Ctrl-C ends an answer, and the talk goes on; at the prompt it ends the program.
TEST_F(Chat, ASignalEndsTheAnswerAndAtThePromptTheProgram) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string out = folder->write("signalled", "");
  const auto size = [&] {
    struct stat s {};
    return stat(out.c_str(), &s) == 0 ? s.st_size : 0;
  };
  const auto wait_for = [&](const std::function<bool()>& what) {
    for (int i = 0; i < 6000 && !what(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(what());
  };
  const auto lines = [&] {
    const std::string text = file_text(out);
    return std::count(text.begin(), text.end(), '\n');
  };
  Launch launch;
  launch.stdout_to = out;
  launch.before = [&] {
    dup2(ends[0], 0);
    close(ends[1]);
  };
  launch.meanwhile = [&](pid_t child) {
    for (int turn = 1; turn <= 2; ++turn) {
      const auto before = size();
      ASSERT_EQ(write(ends[1], "you?\n", 5), 5);
      wait_for([&] { return size() > before; });
      kill(child, SIGINT);
      wait_for([&] { return lines() >= turn; });
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // what follows at once would be the same wish
    }
    kill(child, SIGINT);
  };
  // Letters alone, and as many as there are positions.
  const Ran ran = run_tril(
      {"chat", "--model", model, "--format", "plain", "--max-new-tokens", "1900", "--regex", "[a-z]{1800,1850}"},
      launch);
  EXPECT_EQ(ran.code, 0) << ran.signal << ran.err;
  EXPECT_NE(ran.err.find("2 answers of "), std::string::npos) << ran.err;
  close(ends[0]), close(ends[1]);
}

TEST_F(Chat, PromptsAreKeptInFiles) {
  const std::string file = folder->at("kept");
  const auto generate = [&](const std::string& prompt, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"generate", "--model", model, "--prompt", prompt, "--max-new-tokens", "20"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args);
  };
  const std::string prompt = "User: how are you? Assistant: well, 1 and 2.";
  const Ran plain = generate(prompt), first = generate(prompt, {"--prompt-cache", file}),
            again = generate(prompt, {"--prompt-cache", file});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, plain.out);
  EXPECT_EQ(again.out, plain.out);
  EXPECT_NE(first.err.find("0 tokens of the prompt from"), std::string::npos) << first.err;
  EXPECT_NE(again.err.find("44 tokens of the prompt from " + file + ", 0 read"), std::string::npos) << again.err;

  const std::string longer = prompt + "\nUser: and you?", bytes = file_text(file);
  const Ran on = generate(longer, {"--prompt-cache", file, "--prompt-cache-ro"});
  EXPECT_EQ(on.out, generate(longer).out);
  EXPECT_NE(on.err.find("44 tokens of the prompt from " + file + ", 15 read"), std::string::npos) << on.err;
  EXPECT_EQ(file_text(file), bytes);
  EXPECT_EQ(generate("well", {"--prompt-cache", file}).code, 0);
  EXPECT_NE(file_text(file), bytes);

  const auto refused = [](const Ran& ran, const std::string& expected) {
    EXPECT_NE(ran.code, 0);
    EXPECT_NE(ran.err.find(expected), std::string::npos) << ran.err;
  };
  refused(generate(prompt, {"--prompt-cache", file, "--precision", "bf16"}),
          "another model, or weights of another precision");
  refused(generate(prompt, {"--prompt-cache", file, "--no-cache"}), "no cache");
  refused(generate(prompt, {"--prompt-cache-ro"}), "--prompt-cache");
  refused(generate(prompt, {"--prompt-cache", folder->write("wrong", "x")}), "wrong");
}

}  // namespace
}  // namespace tril
