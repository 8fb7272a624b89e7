// `tril serve` as a process, queried over its port: the effect of its options, and how it ends without a model.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/client.h"
#include "support/contains.h"
#include "support/language_model.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using serve::testing::Answer;
using serve::testing::Client;

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// Runs `tril serve`, calls `ask` with its port once `ready` is among its messages, and stops it. Gives up after a
// minute. `server` receives its process; may be null.
Ran serve(std::vector<std::string> args, const std::string& ready, const std::function<void(std::uint16_t)>& ask,
          pid_t* server = nullptr) {
  using namespace std::chrono_literals;
  const ScratchFolder folder;
  const std::string err = folder.at("err");
  // The client calls it "test".
  args.insert(args.begin(), {"serve", "--port", "0", "--access-log", "none", "--cors-origins", "http://test"});
  Launch launch;
  launch.before = [&] { dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO); };
  launch.meanwhile = [&](pid_t child) {
    if (server) *server = child;
    const auto until = std::chrono::steady_clock::now() + 60s;
    const auto is_said = [&](const std::string& text) { return file_text(err).find(text) != std::string::npos; };
    while (!has_ended(child) && !(is_said("listening on") && is_said(ready)) &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(10ms);
    const std::string said = file_text(err), before = "127.0.0.1:";
    if (const auto at = said.find(before); at != std::string::npos && !has_ended(child)) {
      try {
        ask(static_cast<std::uint16_t>(std::stoi(said.substr(at + before.size()))));
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
    kill(child, SIGTERM);
  };
  Ran ran = run_tril(std::move(args), launch);
  ran.err = file_text(err);
  return ran;
}

// Waits until the server has ended by itself.
Ran serve_in_vain(const std::vector<std::string>& args) {
  return serve(args, "never said", [](std::uint16_t) { ADD_FAILURE() << "it goes on"; });
}

std::string broken_model(const ScratchFolder& folder, const std::string& name) {
  fs::create_directory(folder.at(name));
  folder.write(name + "/config.json", "{\"model_type\": \"marian\"");
  return folder.at(name);
}

TEST(ServeRun, UnknownFieldsAreRefusedToldOfOrIgnored) {
  const ScratchFolder folder;
  const std::string model = "de=" + write_tiny_marian(folder);
  const std::string body = R"({"q": "a dog", "target": "de", "bem_size": 2})";
  const auto answer = [&](std::vector<std::string> args) {
    Answer a;
    args.insert(args.begin(), {"-m", model, "--threads", "1"});
    const Ran ran = serve(args, "model de is ready", [&](std::uint16_t port) {
      Client client(port);
      a = client.ask("POST", "/translate", body);
    });
    EXPECT_EQ(ran.code, 0) << ran.err;
    return a;
  };
  const std::string told = "bem_size: there is no such field (did you mean beam_size?)";
  const Answer refused = answer({"--unknown-fields", "refuse"});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(json::parse(refused.body)["error"], told);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"--unknown-fields", "warn"}, {}}) {
    const Answer warned = answer(args);
    ASSERT_EQ(warned.status, 200) << warned.body;
    EXPECT_EQ(json::parse(warned.body)["warnings"], json({told + "; it was ignored"}));
  }
  const Answer ignored = answer({"--unknown-fields", "ignore"});
  ASSERT_EQ(ignored.status, 200) << ignored.body;
  EXPECT_FALSE(json::parse(ignored.body).contains("warnings"));
  const Ran misspelt = run_tril({"serve", "-m", model, "--unknown-fields", "refuze"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_NE(misspelt.err.find("--unknown-fields"), std::string::npos) << misspelt.err;
}

// For a class there is the page and what it asks; nothing else, of this API or another's.
TEST(ServeRun, AClassroomHasOnlyThePage) {
  const ScratchFolder folder;
  const Ran ran = serve({"-m", "de=" + write_tiny_marian(folder), "--classroom", "--threads", "2"}, "model de is ready",
                        [](std::uint16_t port) {
                          Client client(port);
                          const Answer page = client.ask("GET", "/");
                          EXPECT_EQ(page.status, 200);
                          EXPECT_TRUE(contains(page.body, "search-view"));
                          EXPECT_EQ(client.ask("POST", "/trace", R"({"text": "a dog"})").status, 200);
                          EXPECT_EQ(client.ask("POST", "/search", R"({"text": "a dog"})").status, 200);
                          EXPECT_EQ(client.ask("POST", "/translate", R"({"q": "a dog"})").status, 404);
                          EXPECT_EQ(client.ask("POST", "/v2/translate", R"({"text": ["a dog"]})").status, 404);
                          EXPECT_EQ(client.ask("POST", "/admin/models/unload", R"({"model": "de"})").status, 404);
                        });
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST(ServeRun, RequestsAreLimitedPerTimeAndKey) {
  const ScratchFolder folder;
  const std::string model = "de=" + write_tiny_marian(folder);
  const std::string keys = folder.write(
      "keys",
      "one-long key requests=2 characters=100 requests-per-day=50\nplain-key\nhourly-key requests-per-hour=3\n");
  const Ran ran =
      serve({"-m", model, "--threads", "1", "--api-key-file", keys, "--requests-per-minute", "1"}, "model de is ready",
            [](std::uint16_t port) {
              Client client(port);
              const auto served = [&](const std::string& key) {
                int n = 0;
                while (n < 5 && client.ask("GET", "/v1/models", "", "X-API-Key: " + key + "\r\n").status == 200) ++n;
                return n;
              };
              EXPECT_EQ(served("one-long key"), 2);
              EXPECT_EQ(served("plain-key"), 1);
              EXPECT_EQ(served("hourly-key"), 3);
            });
  EXPECT_EQ(ran.code, 0) << ran.err;
}

// Models that appear in --models are found by SIGHUP, while others answer.
TEST(ServeRun, NewModelsAreServedWithoutARestart) {
  const ScratchFolder folder;
  const std::string models = folder.at("models");
  fs::create_directory(models);
  const std::string model = write_tiny_marian(folder);
  fs::copy(model, models + "/first", fs::copy_options::recursive);
  const auto names = [](Client& client) {
    std::vector<std::string> list;
    const json answer = json::parse(client.ask("GET", "/v1/models").body);
    for (const json& one : answer["data"]) list.push_back(one["id"]);
    return list;
  };
  const auto translate = [](Client& client, const std::string& name) {
    return client.ask("POST", "/translate", json{{"q", "a dog"}, {"target", "de"}, {"model", name}}.dump()).status;
  };
  for (const bool on_demand : {false, true}) {
    fs::remove_all(models + "/second"), fs::remove_all(models + "/broken");
    std::vector<std::string> args{"--models", models, "--threads", "1"};
    if (on_demand) args.insert(args.end(), {"--load", "on-demand"});
    pid_t server = 0;
    const auto asking = [&](std::uint16_t port) {
      Client client(port);
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
      while (client.ask("GET", "/health").status != 200 && std::chrono::steady_clock::now() < until) pause();
      EXPECT_EQ(translate(client, "first"), 200);
      EXPECT_EQ(translate(client, "second"), 404);
      fs::create_directory(models + "/broken");
      fs::copy(model, models + "/.second", fs::copy_options::recursive);
      fs::rename(models + "/.second", models + "/second");
      kill(server, SIGHUP);
      std::atomic<bool> stop = false;
      std::atomic<int> refused = 0, answered = 0;
      std::thread other([&] {
        for (Client one(port); !stop;) translate(one, "first") == 200 ? ++answered : ++refused;
      });
      int status = 0;
      while ((status = translate(client, "second")) != 200 && std::chrono::steady_clock::now() < until) pause();
      EXPECT_EQ(status, 200);
      EXPECT_EQ(client.ask("GET", "/health").status, 200);
      stop = true;
      other.join();
      EXPECT_EQ(refused, 0);
      EXPECT_GT(answered, 0);
      EXPECT_EQ(names(client), (std::vector<std::string>{"first", "second"}));
    };
    const Ran ran = serve(args, on_demand ? "listening on" : "model first is ready", asking, &server);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.err.find("broken"), std::string::npos) << ran.err;
  }
}

// A seed gives the same texts in both, for each prompt and sample.
TEST_F(LanguageModel, AServerDrawsWhatGenerateDraws) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran generated = generate({"-p", "the dog ", "one ", "--temperature", "1.2", "--top-k", "6", "--seed", "5",
                                  "--n", "3", "--max-new-tokens", "12", "--json"});
  ASSERT_EQ(generated.code, 0) << generated.err;
  std::vector<std::string> expected;
  for (const std::string& line : lines_of(generated.out)) {
    if (line.empty()) continue;
    const json object = json::parse(line);
    for (const json& one : object["generations"]) expected.push_back(one["text"]);
  }
  ASSERT_EQ(expected.size(), 6u);
  const json body{
      {"prompt", {"the dog ", "one "}}, {"temperature", 1.2}, {"top_k", 6}, {"seed", 5}, {"n", 3}, {"max_tokens", 12}};
  std::vector<std::string> drawn;
  const Ran served = serve({"-m", "lm=" + model, "--threads", "2"}, "model lm is ready", [&](std::uint16_t port) {
    Client client(port);
    const Answer a = client.ask("POST", "/v1/completions", body.dump());
    ASSERT_EQ(a.status, 200) << a.body;
    const json got = json::parse(a.body);
    for (const json& one : got["choices"]) drawn.push_back(one["text"]);
  });
  EXPECT_EQ(served.code, 0) << served.err;
  EXPECT_EQ(drawn, expected);
}

// Answers with proposed tokens are those without, greedy ones and samples, alone and at the same time; /metrics counts the tokens.
TEST_F(LanguageModel, AServerTakesProposals) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::vector<json> bodies{{{"prompt", "the dog "}, {"temperature", 0}, {"max_tokens", 40}},
                                 {{"prompt", "one "}, {"temperature", 1.1}, {"seed", 4}, {"max_tokens", 40}},
                                 {{"prompt", {"the ", "a "}}, {"temperature", 0.5}, {"seed", 5}, {"max_tokens", 30}},
                                 {{"prompt", "two "}, {"beam_size", 3}, {"max_tokens", 12}}};
  const auto answers = [&](std::vector<std::string> more, const std::function<void(const std::string&)>& look) {
    std::vector<std::string> texts;
    std::vector<std::string> args{"-m", "lm=" + model, "--threads", "1"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran served = serve(args, "model lm is ready", [&](std::uint16_t port) {
      for (int round = 0; round < 2; ++round) {
        std::vector<std::thread> clients;
        std::vector<std::string> got(bodies.size());
        for (std::size_t i = 0; i < bodies.size(); ++i) {
          const auto ask = [&got, &bodies, i, port] {
            Client client(port);
            const json answer = json::parse(client.ask("POST", "/v1/completions", bodies[i].dump()).body);
            for (const json& choice : answer.at("choices")) got[i] += choice.at("text").get<std::string>() + "\n";
          };
          if (round == 0)
            ask();
          else
            clients.emplace_back(ask);
        }
        for (std::thread& client : clients) client.join();
        texts.insert(texts.end(), got.begin(), got.end());
      }
      look(Client(port).ask("GET", "/metrics", "").body);
    });
    EXPECT_EQ(served.code, 0) << served.err;
    return texts;
  };
  const auto count_of = [](const std::string& metrics, const std::string& name) {
    const std::string line = "\ntril_" + name + "_tokens_total{model=\"lm\"} ";
    const std::size_t at = metrics.find(line);
    EXPECT_NE(at, std::string::npos) << metrics;
    return at == std::string::npos ? -1 : std::stoi(metrics.substr(at + line.size()));
  };
  const std::vector<std::string> plain =
      answers({}, [&](const std::string& m) { EXPECT_EQ(count_of(m, "proposed"), 0); });
  ASSERT_EQ(plain.size(), 8u);
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--draft-model", model, "--draft-tokens", "4"},
        {"--draft-model", "lm=" + model, "--draft-precision", "int8"},
        {"--prompt-lookup", "3", "--draft-tokens", "5", "--prefix-tokens", "0"}}) {
    const std::vector<std::string> drafted = answers(way, [&](const std::string& m) {
      EXPECT_GT(count_of(m, "proposed"), 0);
      EXPECT_GT(count_of(m, "accepted"), 0);
      EXPECT_LE(count_of(m, "accepted"), count_of(m, "proposed"));
    });
    EXPECT_EQ(drafted, plain) << way[0] << " " << way[1];
  }
}

// Every server of a language model takes predictions, but for a deterministic one.
TEST_F(LanguageModel, AServerTakesPredictions) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  json body{{"prompt", "the dog "}, {"temperature", 0}, {"max_tokens", 40}};
  for (const bool deterministic : {false, true}) {
    std::vector<std::string> args{"-m", "lm=" + model, "--threads", "1"};
    if (deterministic) args.push_back("--deterministic");
    const Ran served = serve(args, "model lm is ready", [&](std::uint16_t port) {
      const auto answer = [&](const json& asked) {
        return json::parse(Client(port).ask("POST", "/v1/completions", asked.dump()).body);
      };
      const std::string text = answer(body).at("choices")[0].at("text");
      json asked = body;
      asked["prediction"] = {{"type", "content"}, {"content", text}};
      const json got = answer(asked);
      EXPECT_EQ(got.at("choices")[0].at("text"), text);
      const json& tokens = got.at("usage").at("completion_tokens_details");
      EXPECT_EQ(tokens.at("accepted_prediction_tokens") > 0, !deterministic) << got;
      EXPECT_EQ(got.contains("warnings"), deterministic) << got;
    });
    EXPECT_EQ(served.code, 0) << served.err;
  }
}

TEST_F(LanguageModel, ProposalsThatHaveNoEffectAreRefused) {
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    std::vector<std::string> args{"-m", "lm=" + model, "--threads", "1"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = serve_in_vain(args);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
  };
  refused({"--draft-model", "other=" + model}, "names no served model; pass NAME=DIR with one of these names: lm");
  refused({"--draft-model", model, "lm=" + model}, "--draft-model: is given twice for model lm");
  refused({"--draft-model", model, "--prompt-lookup", "2"}, "choose one of them");
  refused({"--draft-tokens", "4"}, "has no effect without proposed tokens");
  refused({"--draft-model", model, "--deterministic"}, "cannot be combined with --deterministic");
  refused({"--prompt-lookup", "2", "--deterministic"}, "--prompt-lookup: cannot be combined with --deterministic");
  refused({"--draft-min-prob", "0.5"}, "it has no effect without a draft model");
  refused({"--draft-model", folder->at("none")}, "none");
}

TEST(ServeRun, WithoutAnyModelItEnds) {
  const ScratchFolder folder;
  const std::string sound = write_tiny_marian(folder), broken = broken_model(folder, "broken"),
                    other = broken_model(folder, "other");
  const Ran one = serve_in_vain({"-m", "de=" + broken});
  EXPECT_EQ(one.code, 1) << one.err;
  EXPECT_NE(one.err.find("tril serve: --model: de cannot be loaded: " + broken), std::string::npos) << one.err;
  const Ran two = serve_in_vain({"-m", "de=" + broken, "fr=" + other});
  EXPECT_EQ(two.code, 1) << two.err;
  EXPECT_NE(two.err.find("tril serve: --model: none of the 2 can be loaded; de: " + broken), std::string::npos)
      << two.err;
  // If one model can be loaded, it is served.
  const Ran some =
      serve({"-m", "de=" + broken, "fr=" + sound, "--threads", "1"}, "model fr is ready", [](std::uint16_t port) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it looks every 100
        Client client(port);
        EXPECT_EQ(client.ask("GET", "/health").status, 200);
        EXPECT_EQ(client.ask("GET", "/ready").status, 503);
        EXPECT_EQ(client.ask("POST", "/translate", R"({"q": "a dog"})").status, 200);
      });
  EXPECT_EQ(some.code, 0) << some.err;
}

// A directory of models, of which a request loads the one it needs.
TEST(ServeRun, ModelsOfADirectoryAreLoadedOnDemand) {
  const ScratchFolder folder;
  const std::string sound = write_tiny_marian(folder), models = folder.at("models");
  fs::create_directory(models);
  for (const char* name : {"en-de", "en-fr", ".hidden"}) fs::copy(sound, models + "/" + name);
  folder.write("models/README.md", "two models");
  const Ran ran = serve({"--models", models, "--languages", "en-de=en:de", "en-fr=en:fr", "--model-memory", "1GiB",
                         "--idle-unload", "10m", "--threads", "1"},
                        "README.md", [&](std::uint16_t port) {
                          Client client(port);
                          const auto states = [&] {
                            std::string all;
                            const json list = json::parse(client.ask("GET", "/v1/models").body);
                            for (const json& m : list["data"])
                              all += m["id"].get<std::string>() + " " + m["state"].get<std::string>() + "\n";
                            return all;
                          };
                          for (int i = 0; i < 600 && client.ask("GET", "/ready").status != 200; ++i)
                            std::this_thread::sleep_for(std::chrono::milliseconds(100));
                          EXPECT_EQ(states(), "en-de unloaded\nen-fr unloaded\n");
                          const Answer a = client.ask("POST", "/translate", R"({"q": "a dog", "target": "fr"})");
                          EXPECT_EQ(a.status, 200) << a.body;
                          EXPECT_EQ(states(), "en-de unloaded\nen-fr ready\n");
                        });
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("hidden"), std::string::npos) << ran.err;
}

TEST(ServeRun, AModelLargerThanTheMemoryEndsIt) {
  const ScratchFolder folder;
  const Ran ran = serve_in_vain({"-m", "de=" + write_tiny_marian(folder), "--model-memory", "10KiB"});
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_TRUE(contains(ran.err, "--model-memory: model de takes ", "MiB, more than the 10.0 KiB for all models"));
}

// Each thread has its own address space, for thousands of them; a machine with fewer threads reports how many.
TEST(ServeRun, ThousandsOfThreadsAreStartedOrRefusedByName) {
  const ScratchFolder folder;
  bool answered = false;
  const Ran ran = serve({"-m", "de=" + write_tiny_marian(folder), "--threads", "2000", "--http-threads", "1"},
                        "model de is ready", [&](std::uint16_t port) {
                          Client client(port);
                          const Answer a = client.ask("POST", "/translate", R"({"q": "a dog"})");
                          EXPECT_EQ(a.status, 200) << a.body;
                          answered = true;
                        });
  if (answered) {
    EXPECT_EQ(ran.code, 0) << ran.err;
  } else {
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_NE(ran.err.find("of 2000 can be started"), std::string::npos) << ran.err;
  }
}

}  // namespace
}  // namespace tril
