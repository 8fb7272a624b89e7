// Readers of the program's output that leave, and full disks, with real processes and pipes: filters end, a server and
// training continue, and no result is lost silently.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "support/language_model.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

// In the process that becomes the program: replaces this stream by a pipe without a reader.
void lose_reader(int stream) {
  int ends[2];
  if (pipe(ends) != 0) _exit(126);
  dup2(ends[1], stream);
  close(ends[0]), close(ends[1]);
}

class Readers : public LanguageModel {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    train_text = folder->write("train", some_text(1, 300));
    valid_text = folder->write("valid", some_text(2, 30));
    model = folder->at("lm");
    ASSERT_EQ(run_tril(training(model, "2u")).code, 0);
    translator = write_tiny_marian(*folder);
    std::string many;
    for (int i = 0; i < 3000; ++i) many += "a dog runs\nthe red ball\n";
    lines = folder->write("lines", many);
  }

  /// Quick commands that print results.
  static std::vector<std::vector<std::string>> printing() {
    return {{"--version"},
            {"--help"},
            {"eval", "--help"},
            {"help", "--markdown"},
            {"completion", "bash"},
            {"train", "--dump-config"},
            {"eval", "-r", valid_text, "-i", valid_text},
            {"eval", "-r", valid_text, "-i", valid_text, "--json"},
            {"inspect", translator, "--tensors"},
            {"inspect", translator, "--json"},
            {"translate", "-m", translator, "-b", "1", "--max-length", "3", "-i", valid_text},
            {"translate", "-m", translator, "-b", "1", "--max-length", "3", "-i", valid_text, "-o", "/dev/stdout"},
            {"score", "-m", translator, "-s", valid_text, "-t", valid_text},
            {"score", "-m", model, "-s", valid_text, "--summary"},
            {"generate", "-m", model, "-p", "the ", "--max-new-tokens", "3"},
            {"generate", "-m", model, "-p", "the ", "--max-new-tokens", "3", "--json"},
            {"generate", "-m", model, "-p", "the ", "--max-new-tokens", "3", "--stream"},
            {"perplexity", "-m", model, "-i", valid_text},
            {"chat", "-m", model, "--format", "plain", "--max-new-tokens", "3"},
            {"attend", "-m", model, "-s", "the dog", "-o", "-"},
            {"vocab", "--train-sets", valid_text, "--size", "40", "-o", "-"},
            {"bench", "generate", "-m", model, "--prompt-length", "4", "--new-tokens", "2", "--repeat", "1"},
            {"signature"}};
  }

  static inline std::string translator, lines;
};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST_F(Readers, FiltersEndQuietlyAsASignalWouldEndThem) {
  for (const auto& args : printing()) {
    Launch launch;
    launch.input = "a\n";
    launch.before = [] { lose_reader(STDOUT_FILENO); };
    const Ran ran = run_tril(args, launch);
    EXPECT_EQ(ran.signal, SIGPIPE) << joined(args) << ": " << ran.code << "\n" << ran.err;
    EXPECT_EQ(ran.err.find("standard output"), std::string::npos) << joined(args) << ": " << ran.err;
  }
}

TEST_F(Readers, AFullDiskIsToldByEveryCommandThatPrints) {
  for (const auto& args : printing()) {
    const Ran ran = run_tril(args, "a\n", "/dev/full");
    EXPECT_EQ(ran.code, 1) << joined(args) << "\n" << ran.err;
    EXPECT_NE(ran.err.find("No space left on device"), std::string::npos) << joined(args) << ": " << ran.err;
  }
}

TEST_F(Readers, OneLeavesInTheMiddle) {
  const std::string code = folder->at("code");
  const auto behind = [&](const std::string& command, const std::string& reader) {
    return run_words({"/bin/sh", "-c", "{ " + command + "; echo $? >'" + code + "'; } | " + reader});
  };
  const std::string tril = "'" + test::tril_program() + "' ";
  const Ran first =
      behind(tril + "translate -m '" + translator + "' -b 1 --max-length 3 -q -i '" + lines + "'", "head -1");
  EXPECT_EQ(lines_of(first.out).size(), 1u);
  EXPECT_EQ(file_text(code), "141\n");
  EXPECT_EQ(first.err, "");
  const Ran some = behind(tril + "help --markdown", "head -c 5000");
  EXPECT_EQ(some.out.size(), 5000u);
  EXPECT_EQ(file_text(code), "141\n");
  // A reader that reads everything.
  const Ran all = behind(tril + "help --markdown", "cat");
  EXPECT_EQ(all.out, run_tril({"help", "--markdown"}).out);
  EXPECT_EQ(file_text(code), "0\n");
}

// Results go to a file; messages may have no reader.
TEST_F(Readers, MessagesMayHaveNone) {
  for (const bool closed : {false, true}) {
    const std::string out = folder->at("out"), directory = folder->at(closed ? "closed" : "lost");
    Launch launch;
    launch.before = [closed] { closed ? void(close(STDERR_FILENO)) : lose_reader(STDERR_FILENO); };
    const Ran ran = run_tril({"translate", "-m", translator, "-b", "1", "--max-length", "3", "-i", valid_text, "-o",
                              out, "--log-level", "debug"},
                             launch);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(lines_of(file_text(out)).size(), lines_of(file_text(valid_text)).size());
    fs::remove(out);
    EXPECT_EQ(run_tril(training(directory, "3u"), launch).code, 0);
    EXPECT_TRUE(fs::exists(directory + "/model.safetensors"));
    EXPECT_EQ(run_tril({"eval", "--nothing"}, launch).code, 2);
  }
}

// The status line of the answer to GET /health at this local port; "" if nothing answers.
std::string health(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) == std::ssize(request)) {
      char bytes[4096];
      for (ssize_t n; (n = recv(fd, bytes, sizeof bytes, 0)) > 0;) answer.append(bytes, static_cast<std::size_t>(n));
    }
  }
  close(fd);
  return answer.substr(0, answer.find('\r'));
}

// A port that is free now.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port");
  close(fd);
  return ntohs(address.sin_port);
}

TEST_F(Readers, AServerOutlivesTheReadersOfItsLogAndOfItsMessages) {
  using namespace std::chrono_literals;
  const std::string err = folder->at("serve.err");
  for (const bool messages_too : {false, true}) {
    fs::remove(err);
    int asked = 0;
    Launch launch;
    launch.before = [&] {
      lose_reader(STDOUT_FILENO);
      if (messages_too) return lose_reader(STDERR_FILENO);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    };
    const int port = messages_too ? free_port() : 0;
    launch.meanwhile = [&](pid_t child) {
      int at = port;
      for (int i = 0; i < 500 && at == 0; ++i, std::this_thread::sleep_for(20ms)) {
        const std::string said = file_text(err), before = "127.0.0.1:";
        if (const auto where = said.find(before); where != said.npos && said.find('\n', where) != said.npos)
          at = std::stoi(said.substr(where + before.size()));
      }
      for (int i = 0; i < 500 && health(at).empty(); ++i) std::this_thread::sleep_for(20ms);
      for (int i = 0; i < 4; ++i, std::this_thread::sleep_for(120ms))  // longer than the log's writing interval
        asked += health(at).find("HTTP/1.1 ") == 0;
      kill(child, SIGTERM);
    };
    const Ran ran = run_tril({"serve", "-m", "lm=" + model, "--port", std::to_string(port), "--threads", "1"}, launch);
    EXPECT_EQ(asked, 4);
    EXPECT_EQ(ran.signal, 0);
    EXPECT_EQ(ran.code, 0);
    if (messages_too) continue;
    const std::string said = file_text(err), end = "the access log has stopped";
    EXPECT_NE(said.find(end), std::string::npos) << said;
    EXPECT_EQ(said.find(end), said.rfind(end)) << "told once: " << said;
  }
}

// Input and output paths may be pipes: process substitution, FIFOs.
TEST_F(Readers, PipesAreReadAndWrittenByName) {
  const auto bash = [&](const std::string& script) {
    return run_words(
        {"/bin/bash", "-c", script, "bash", test::tril_program(), translator, valid_text, model, folder->at("")});
  };
  const std::string translate = "\"$1\" translate -m \"$2\" -b 1 --max-length 3 -q ";
  const std::string expected = bash(translate + "-i \"$3\"").out;
  ASSERT_EQ(lines_of(expected).size(), lines_of(file_text(valid_text)).size());
  EXPECT_EQ(bash(translate + "-i <(cat \"$3\") -o >(cat) | cat").out, expected);
  EXPECT_EQ(bash(translate + "-i \"$3\" -o /dev/stdout").out, expected);
  EXPECT_EQ(bash("cd \"$5\" && mkfifo p && { cat \"$3\" > p & } && " + translate + "-i p -o /dev/fd/1; rm p").out,
            expected);
  EXPECT_EQ(bash("cd \"$5\" && mkfifo q && { " + translate + "-i \"$3\" -o q & } && cat q; rm q").out, expected);
  EXPECT_EQ(
      bash("{ echo begin; " + translate + "-i \"$3\" -o /dev/stdout; echo end; } > \"$5/all\"; cat \"$5/all\"").out,
      "begin\n" + expected + "end\n");
  EXPECT_EQ(bash("\"$1\" translate -m \"$2\" -q -i \"$3\" --config <(printf 'beam-size: 1\\nmax-length: 3\\n')").out,
            expected);
  const std::string generate = "\"$1\" generate -m \"$4\" -q -p 'the ' --no-echo --max-new-tokens 4 ";
  EXPECT_EQ(bash(generate + "--json-schema <(echo '{\"const\": 10}')").out, "10\n");
  const Ran page = bash("\"$1\" attend -m \"$4\" -s 'the dog' -q -o - --svg >(cat >&2)");
  EXPECT_NE(page.out.find("</html>"), std::string::npos);
}

// The first signal ends a command that waits for the other end of a pipe.
TEST_F(Readers, APipeWithoutAnotherEndCanBeStopped) {
  for (const std::string pipes : {"translate -m \"$2\" -b 1 -i p -o out", "translate -m \"$2\" -b 1 -i \"$3\" -o p",
                                  "align --train-sets \"$3\" \"$3\" -o p"}) {
    SCOPED_TRACE(pipes);
    const Ran ran = run_words(
        {"/bin/bash", "-c",
         "cd \"$4\" && mkfifo p && { \"$1\" " + pipes + " & } && sleep 3; kill -TERM $!; wait $!; echo $?; rm p; ls",
         "bash", test::tril_program(), translator, valid_text, folder->at("")});
    EXPECT_TRUE(ran.out.starts_with("1\n")) << ran.out << ran.err;
    EXPECT_EQ(ran.out.find("tmp-"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("stopped"), std::string::npos) << ran.err;
  }
}

// The others end by the signal.
TEST_F(Readers, ASignalEndsThePipesOfOtherCommands) {
  for (const std::string command :
       {"vocab --size 60 --train-sets \"$3\" -o p", "shortlist -m \"$2\" --train-sets \"$3\" \"$3\" -o p",
        "attend -m \"$2\" -s dog -o p", "attend -m \"$2\" -s dog -o page --svg p"}) {
    SCOPED_TRACE(command);
    const Ran ran = run_words({"/bin/bash", "-c",
                               "cd \"$4\" && mkfifo p && { \"$1\" " + command +
                                   " & } && sleep 1; kill -TERM $!; wait $!; echo $?; test -p p && rm p; ls",
                               "bash", test::tril_program(), translator, valid_text, folder->at("")});
    EXPECT_TRUE(ran.out.starts_with("143\n")) << ran.out << ran.err;
    EXPECT_EQ(ran.out.find("tmp-"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("page"), std::string::npos) << ran.out;
  }
}

TEST_F(Readers, CommandsThatLearnWriteIntoPipes) {
  const auto bash = [&](const std::string& script) {
    return run_words({"/bin/bash", "-c", script, "bash", test::tril_program(), translator, valid_text, folder->at("")});
  };
  for (const std::string command :
       {"vocab --size 60 --train-sets \"$3\"", "shortlist -m \"$2\" --train-sets \"$3\" \"$3\"",
        "align --train-sets \"$3\" \"$3\""}) {
    SCOPED_TRACE(command);
    const std::string program = "cd \"$4\" && \"$1\" " + command + " -q -o ";
    EXPECT_EQ(bash(program + "plain").code, 0);
    const std::string expected = file_text(folder->at("plain"));
    EXPECT_FALSE(expected.empty());
    EXPECT_TRUE(bash("cd \"$4\" && mkfifo q && { " + program + "q & } && cat q; rm q").out == expected);
  }
}

// Several processes may write one file: each output is complete, and the last remains.
TEST_F(Readers, OneOutputOfTwoProcessesIsThatOfOne) {
  const Ran ran =
      run_words({"/bin/bash", "-c",
                 "cd \"$4\" && T=\"$1 translate -m $2 -b 1 --max-length 3 -q -i $3 -o both\"; for n in 1 2 3; do $T "
                 "& a=$!; $T & b=$!; wait $a && wait $b && cat both; done; ls",
                 "bash", test::tril_program(), translator, valid_text, folder->at("")});
  const std::string one = run_words({test::tril_program(), "translate", "-m", translator, "-b", "1", "--max-length",
                                     "3", "-q", "-i", valid_text})
                              .out;
  EXPECT_TRUE(ran.out.starts_with(one + one + one)) << ran.err;
  EXPECT_EQ(ran.out.find("both."), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace tril
