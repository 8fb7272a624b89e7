// tril chat and --prompt-cache from outside, with a small model of characters: pipes, commands, signals, files.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/processors.h"
#include "base/rng.h"
#include "support/run_program.h"
#include "support/serve_program.h"

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
    model = train_model("model", train, "2048");
  }
  static std::string train_model(const std::string& name, const std::string& text, const std::string& positions) {
    const Ran trained = run_tril({"train",
                                  "--arch",
                                  "gpt2",
                                  "--model",
                                  folder->at(name),
                                  "--train-sets",
                                  text,
                                  "--vocab-type",
                                  "char",
                                  "--d-model",
                                  "32",
                                  "--num-heads",
                                  "2",
                                  "--ffn-dim",
                                  "64",
                                  "--dec-depth",
                                  "2",
                                  "--max-length",
                                  positions,
                                  "--max-tokens",
                                  positions,
                                  "--warmup",
                                  "2",
                                  "--after",
                                  "4u",
                                  "--threads",
                                  "1"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    return folder->at(name);
  }
  /// A model whose answers are long enough for a signal to arrive in time, however busy the machine is.
  static const std::string& long_winded() {
    static const std::string directory = train_model("long", folder->at("train"), "16384");
    return directory;
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

  // The cache keeps what was read: the second and third turn read only new tokens.
  const Ran long_talk = chat("how are you, and you, and you, and you?\n1\n2\n");
  const auto number = [&](const char* behind) {
    const std::size_t at = long_talk.err.find(behind);
    EXPECT_NE(at, std::string::npos) << long_talk.err;
    return std::stoi(long_talk.err.substr(long_talk.err.rfind(' ', at - 2) + 1));
  };
  EXPECT_GT(number(" reused from the cache"), 2 * 40);

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

// Proposed tokens change no answer, and the settings of the conversation apply to them.
TEST_F(Chat, AnswersAsFastAsADraftAllows) {
  const std::string turns = "how are you?\nand you?\n/set temperature 0.3\nand 1 and 2?\n/set top-k 1\nhow?\n";
  const Ran plain = chat(turns);
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.err.find("proposed"), std::string::npos) << plain.err;
  for (const std::vector<std::string>& draft : {std::vector<std::string>{"--draft-model", model, "--draft-tokens", "3"},
                                                {"--prompt-lookup", "2", "--draft-tokens", "4"}}) {
    const Ran drafted = chat(turns, draft);
    ASSERT_EQ(drafted.code, 0) << drafted.err;
    EXPECT_EQ(drafted.out, plain.out);
    EXPECT_NE(drafted.err.find("proposed token"), std::string::npos) << drafted.err;
  }
  const Ran refused = chat("how?\n", {"--draft-tokens", "3"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("has no effect without proposed tokens"), std::string::npos) << refused.err;
}

// Placement is settled before the thread that answers is bound to its core, and warnings come once.
TEST_F(Chat, AnswersEachTimeWhereItIsPinned) {
  const std::string questions = "how are you?\n/set temperature 0.5\nand you?\n";
  const Ran free = chat(questions, {"--threads", "1"});
  ASSERT_EQ(free.code, 0) << free.err;
  const bool several = processors_of_thread().size() > 1;
  const Ran pinned = chat(questions, {"--threads", several ? "2" : "1", "--pin", "compact"});
  ASSERT_EQ(pinned.code, 0) << pinned.err;
  EXPECT_EQ(pinned.out, free.out);
  if (!memory_policy()) return;
  const Ran placed = chat(questions, {"--threads", several ? "2" : "1", "--pin", "compact", "--numa", "local"});
  ASSERT_EQ(placed.code, 0) << placed.err;
  EXPECT_EQ(placed.out, free.out);
  const std::string warning = "memory on one node only";
  const std::size_t first = placed.err.find(warning);
  EXPECT_EQ(first != std::string::npos, memory_nodes() == 1) << placed.err;
  if (first != std::string::npos) {
    EXPECT_EQ(placed.err.find(warning, first + 1), std::string::npos) << placed.err;
  }
}

// An invalid chat template is reported when the model is loaded, not at the first conversation.
TEST_F(Chat, ATemplateThatCannotBeReadIsToldOfAtOnce) {
  const std::string directory = folder->at("include"), words = "chat template: line 2: {% include %} is not supported";
  std::filesystem::copy(model, directory, std::filesystem::copy_options::recursive);
  std::ofstream(directory + "/chat_template.jinja") << "{{ bos_token }}\n{% include 'x' %}";
  const Ran refused = run_tril({"chat", "--model", directory}, "how are you?\n");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find(words), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("or pass --template FILE, or --format plain"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
  const Ran plain = run_tril({"chat", "--model", directory, "--format", "plain", "--max-new-tokens", "3"}, "how?\n");
  EXPECT_EQ(plain.code, 0) << plain.err;

  // A server has other uses for the model, so it only warns.
  const Ran served = serve_until_ready({"-m", "m=" + directory, "--port", "0", "--access-log", "none"});
  EXPECT_EQ(served.code, 0) << served.err;
  EXPECT_NE(served.err.find(words + "; "), std::string::npos) << served.err;
}

TEST_F(Chat, SetsWhatMayBeSet) {
  const Ran shown = chat("/set temperature 0.5\n/set max_new_tokens 3\n/set\nhow are you?\n/help\n");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("temperature 0.5\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("max-new-tokens 3\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("/reset "), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("1 answer of 3 tokens"), std::string::npos) << shown.err;
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
  refused("/load " + model + "/config.json\n", "is not a chat");
  EXPECT_NE(run_tril({"chat", "--model", model, "--format", "template"}).err.find("has no chat template"),
            std::string::npos);
  refused("a\n", "look-ahead", {"--regex", "a(?=b)"});
  const Ran no_text = chat("how are\\\nyou?\nwell\xff\n");
  EXPECT_EQ(no_text.code, 1);
  EXPECT_NE(no_text.err.find("standard input: line 3: is not valid UTF-8 (byte 0xFF at column 5)"), std::string::npos)
      << no_text.err;
  const Ran system = chat("well\n", {"--system", "\xff"});
  EXPECT_EQ(system.code, 2);
  EXPECT_NE(system.err.find("--system: expected UTF-8"), std::string::npos) << system.err;
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
  EXPECT_NE(templated.err.find("1 answer of 5 tokens"), std::string::npos) << templated.err;
  const Ran broken = run_tril({"chat", "--model", model, "--template", folder->write("broken", "{% for %}")}, "you?\n");
  EXPECT_EQ(broken.code, 1) << "what a file says wrong";
  const Ran schema =
      run_tril({"chat", "--model", model, "--json-schema", folder->write("schema", "{\"type\":\"x\"}")}, "1\n");
  EXPECT_EQ(schema.code, 1);
  EXPECT_NE(schema.err.find("schema: JSON schema: #/type: there is no type"), std::string::npos) << schema.err;
  EXPECT_EQ(run_tril({"chat", "--model", model, "--regex", "("}, "1\n").code, 2) << "what an argument says wrong";
}

// As templates of models that also see pictures do: a text would be left out silently.
TEST_F(Chat, ATemplateMayWantListsOfParts) {
  const std::string parts = folder->write(
      "parts.jinja", "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}");
  const std::string text = folder->write("text.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  const auto answer = [&](const std::string& jinja) {
    return run_tril({"chat", "--model", model, "--template", jinja, "--max-new-tokens", "5"}, "how are you?\nwell\n");
  };
  const Ran expected = answer(text), got = answer(parts);
  ASSERT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(got.out, expected.out);
}

TEST_F(Chat, ATalkThatCannotBeAnsweredIsToldOfByOneName) {
  const std::string nothing = folder->write("nothing.jinja", "{# #}");
  const Ran none = run_tril({"chat", "-m", model, "--template", nothing}, "hello\n");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("nothing.jinja: it does not write the user's message"), std::string::npos) << none.err;
  const Ran longer = run_tril({"chat", "-m", model, "--format", "plain"}, std::string(3000, 'a') + "\n");
  EXPECT_EQ(longer.code, 2);
  EXPECT_NE(longer.err.find("tril chat: the message has "), std::string::npos) << longer.err;
  const Ran other = run_tril({"score", "-m", model, "-s", nothing, "-t", nothing});
  EXPECT_EQ(other.err.find("score: score"), std::string::npos) << other.err;
  EXPECT_NE(other.code, 0);
}

TEST_F(Chat, GoesOnWhenThePositionsAreFull) {
  std::string input;
  for (int i = 0; i < 12; ++i) input += std::string(300, 'a') + "\n";
  const Ran ran = chat(input);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("2048 positions are full"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("12 answers of "), std::string::npos) << ran.err;
}

// Ctrl-C ends an answer, and the conversation continues; at the prompt it ends the program.
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
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // sooner it would count as the same request
    }
    kill(child, SIGINT);
  };
  // Letters alone, and as many as there are positions.
  const Ran ran = run_tril(
      {"chat", "--model", long_winded(), "--format", "plain", "--max-new-tokens", "16000", "--regex", "[a-z]{15800}"},
      launch);
  EXPECT_EQ(ran.code, 0) << ran.signal << ran.err;
  EXPECT_NE(ran.err.find("2 answers of "), std::string::npos) << ran.err;
  close(ends[0]), close(ends[1]);
}

// A terminal: the test types into it and reads what a user would see.
class Terminal {
 public:
  Terminal() : end_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (end_ < 0 || grantpt(end_) != 0 || unlockpt(end_) != 0) throw std::runtime_error("no terminal");
    name_ = ptsname(end_);
  }
  ~Terminal() { close(end_); }
  /// In the new process: makes this its controlling terminal, so that Ctrl-C reaches it.
  void become_ours() const {
    setsid();
    const int other = open(name_.c_str(), O_RDWR);
    ioctl(other, TIOCSCTTY, 0);
    termios mode{};
    tcgetattr(other, &mode);
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);  // no echo, so that everything seen is the program's output
    tcsetattr(other, TCSANOW, &mode);
    dup2(other, 0), dup2(other, 1);
  }
  void type(const std::string& text) const { EXPECT_EQ(write(end_, text.data(), text.size()), std::ssize(text)); }
  /// Reads up to `text`; the rest is left for the next call.
  void see(const std::string& text) {
    const auto begun = std::chrono::steady_clock::now();
    for (;;) {
      if (const std::size_t at = unread_.find(text); at != std::string::npos) {
        unread_.erase(0, at + text.size());
        return;
      }
      ASSERT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60))
          << "no " << text << " in " << unread_;
      pollfd wait{end_, POLLIN, 0};
      if (poll(&wait, 1, 100) <= 0) continue;
      char bytes[1024];
      const ssize_t n = read(end_, bytes, sizeof bytes);
      ASSERT_GT(n, 0) << "the end, and no " << text << " in " << unread_;
      unread_.append(bytes, static_cast<std::size_t>(n));
    }
  }

 private:
  int end_;
  std::string name_, unread_;
};

TEST_F(Chat, TalksInATerminal) {
  Terminal terminal;
  Launch launch;
  launch.before = [&] { terminal.become_ours(); };
  launch.meanwhile = [&](pid_t) {
    terminal.see("> ");
    terminal.type("/rest\n");  // an error does not end the program
    terminal.see("> ");
    terminal.type("/set max-new-tokens 4\n/set\n");
    terminal.see("max-new-tokens 4");
    terminal.see("> ");
    terminal.type("/set max-new-tokens 16000\nyou?\n");
    terminal.see("a");  // the answer is streamed
    terminal.type("\x03");
    terminal.see("> ");
    terminal.type("/save " + folder->at("terminal.json") + "\n");
    terminal.see("> ");
    terminal.type("\x04");
  };
  const Ran ran = run_tril({"chat", "--model", long_winded(), "--format", "plain", "--regex", "a{15800}"}, launch);
  EXPECT_EQ(ran.code, 0) << ran.signal << ran.err;
  EXPECT_NE(ran.err.find("/help lists the commands"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("did you mean reset"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("(ended)"), std::string::npos) << ran.err;
  const auto said = talk(folder->at("terminal.json"));
  ASSERT_EQ(said.size(), 2u);
  const std::string answer = said[1]["content"];
  EXPECT_GT(answer.size(), 0u);
  EXPECT_LT(answer.size(), 15800u) << "as far as it came";
}

// Ctrl-C ends a generation, keeping the text so far.
TEST_F(Chat, ASignalEndsAGeneration) {
  const std::string out = folder->write("generated", "");
  Launch launch;
  launch.stdout_to = out;
  launch.meanwhile = [&](pid_t child) {
    for (int i = 0; i < 6000 && file_text(out).size() < 40; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGINT);
  };
  const Ran ran = run_tril({"generate", "--model", long_winded(), "--prompt", "how", "--stream", "--max-new-tokens",
                            "16000", "--regex", "[a-z]{15800}"},
                           launch);
  EXPECT_EQ(ran.code, 1) << ran.signal;
  EXPECT_NE(ran.err.find("ended: 1 because they were cancelled"), std::string::npos) << ran.err;
  const std::string text = file_text(out);
  EXPECT_TRUE(text.starts_with("how") && text.ends_with("\n")) << text;
  EXPECT_LT(text.size(), 15800u);

  // So does one while it waits for prompts.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  launch.stdout_to = folder->write("waiting", "");
  launch.before = [&] { dup2(ends[0], 0); };
  launch.meanwhile = [&](pid_t child) {
    ASSERT_EQ(write(ends[1], "how\n", 4), 4);
    for (int i = 0; i < 6000 && file_text(launch.stdout_to).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGTERM);
  };
  const Ran waited = run_tril({"generate", "--model", model, "--json", "--max-new-tokens", "3"}, launch);
  EXPECT_EQ(waited.code, 1) << waited.signal << waited.err;
  EXPECT_EQ(lines_of(file_text(launch.stdout_to)).size(), 1u);
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
          "another model, or with weights of another precision");
  refused(generate(prompt, {"--prompt-cache", file, "--no-cache"}), "no cache");
  refused(generate(prompt, {"--prompt-cache-ro"}), "--prompt-cache");
  refused(generate(prompt, {"--prompt-cache", folder->write("wrong", "x")}), "wrong");
}

}  // namespace
}  // namespace tril
