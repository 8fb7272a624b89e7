// A run that is watched: what its server answers, readers who are slow or leave, and that the weights do not depend on them.
#include "watch/run_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "support/client.h"
#include "support/run_files.h"
#include "support/train_program.h"

namespace tril::watch {
namespace {

using serve::testing::Answer;
using serve::testing::Client;

train::TrainingReport report_of(std::int64_t update, double loss = 2) {
  train::TrainingReport r;
  r.position.updates = update;
  r.position.tokens = update * 100;
  r.loss = loss;
  r.group_norms = {{"encoder", 0.5}, {"decoder", 1.5}};
  return r;
}

std::string get(const std::string& path, const std::string& host = "localhost") {
  return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

Answer ask(std::uint16_t port, const std::string& request) {
  Client client(port);
  client.send(request);
  return client.answer();
}

bool comes(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// A connection to a program that is only starting.
std::unique_ptr<Client> connected(std::uint16_t port, int receive_buffer = 0) {
  for (int tries = 0;; ++tries) try {
      return std::make_unique<Client>(port, receive_buffer);
    } catch (const std::runtime_error&) {
      if (tries == 3000) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

// What comes until `part` is in it.
std::string read_until(Client& client, const std::string& part, std::string text = "") {
  while (!contains(text, part)) {
    const std::string more = client.receive();
    if (more.empty()) throw std::runtime_error("the stream ended before " + part);
    text += more;
  }
  return text;
}

TEST(RunWatch, AnswersOnlyItsAddressesAndOnlyThisMachine) {
  const ScratchFolder folder;
  RunWatch watch(folder.at("none yet"), 0);
  EXPECT_EQ(watch.url(), "http://127.0.0.1:" + std::to_string(watch.port()) + "/");
  const Answer page = ask(watch.port(), get("/"));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_TRUE(contains(page.body, "connect-src 'self'"));
  EXPECT_LT(page.body.size(), 100'000U);
  const nlohmann::json none = nlohmann::json::parse(ask(watch.port(), get("/run")).body);
  EXPECT_EQ(none["runs"].size(), 1U) << "a run without a line as yet";
  EXPECT_EQ(ask(watch.port(), get("/train.jsonl")).status, 404);
  EXPECT_EQ(ask(watch.port(), "POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status, 405);
  // A page of another site, whose name was made to lead here, gets nothing.
  for (const char* path : {"/", "/run", "/events"}) EXPECT_EQ(ask(watch.port(), get(path, "evil.example")).status, 403);
  EXPECT_EQ(ask(watch.port(), "GET /run HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n").status,
            403);
}

TEST(RunWatch, ShowsTheRunSoFarAndThenItsLines) {
  const ScratchFolder folder;
  RunWatch watch(test::write_run(folder, "run"), 0);
  const nlohmann::json run = nlohmann::json::parse(ask(watch.port(), get("/run")).body)["runs"][0];
  EXPECT_EQ(run["train"]["update"], nlohmann::json({10, 20, 30}));
  EXPECT_EQ(run["samples"].size(), 3U);

  Client reader(watch.port());
  reader.send(get("/events"));
  std::string text = read_until(reader, ": the run");
  EXPECT_TRUE(contains(text, "text/event-stream"));
  ASSERT_TRUE(comes([&] { return watch.readers() == 1; }));
  watch.updated(report_of(31, 1.25));
  watch.reported(report_of(40, 1.5));
  watch.changed();
  text = read_until(reader, "event: now");  // after the news of the first update
  text = read_until(reader, "event: train", text.substr(text.find("event: now")));
  text = read_until(reader, "event: changed", text);
  EXPECT_TRUE(contains(text, "\"update\":31", "\"loss\":1.25", "\"gradient_norms\":{\"encoder\":0.5,\"decoder\":1.5}",
                       "\"update\":40"));

  // Of many updates, four a second are told.
  const double start = seconds_now();
  for (int i = 0; i < 1000; ++i) watch.updated(report_of(50 + i));
  const double most = 1 + (seconds_now() - start) / 0.25;
  watch.changed();
  text = read_until(reader, "event: changed");
  int told = 0;
  for (std::size_t at = 0; (at = text.find("event: now", at)) != std::string::npos; ++at) ++told;
  EXPECT_LE(told, most);

  // The files are read again after a change, and not for each question.
  folder.write("run/train.jsonl", file_text(folder.at("run/train.jsonl")) + R"({"type":"train","update":40,"loss":1.5})"
                                                                            "\n");
  const auto updates = [&] {
    return nlohmann::json::parse(ask(watch.port(), get("/run")).body)["runs"][0]["train"]["update"];
  };
  EXPECT_EQ(updates(), nlohmann::json({10, 20, 30, 40}));
  folder.write("run/train.jsonl", R"({"type":"train","update":10,"loss":1.5})"
                                  "\n");
  EXPECT_EQ(updates().size(), 4U);
  watch.changed();
  EXPECT_EQ(updates().size(), 1U);
}

TEST(RunWatch, AReaderWhoLeavesOrTakesNothingIsLetGo) {
  const ScratchFolder folder;
  RunWatch watch(folder.at("run"), 0);
  {
    Client leaves(watch.port());
    leaves.send(get("/events"));
    ASSERT_TRUE(comes([&] { return watch.readers() == 1; }));
  }
  EXPECT_TRUE(comes([&] { return watch.readers() == 0; })) << "who has left";

  Client slow(watch.port(), 4096);
  slow.send(get("/events"));
  ASSERT_TRUE(comes([&] { return watch.readers() == 1; }));
  // Far more than the system and the server keep for one reader, while he reads nothing.
  std::int64_t told = 0;
  EXPECT_TRUE(comes([&] {
    for (int i = 0; i < 100; ++i) watch.reported(report_of(++told));
    return watch.readers() == 0;
  })) << "who takes nothing";
}

TEST(RunWatch, OnlySoManyMayRead) {
  const ScratchFolder folder;
  RunWatch watch(folder.at("run"), 0);
  std::vector<std::unique_ptr<Client>> readers;
  for (std::size_t i = 1; i <= 16; ++i) {
    readers.push_back(std::make_unique<Client>(watch.port()));
    readers.back()->send(get("/events"));
    ASSERT_TRUE(comes([&] { return watch.readers() == i; }));
  }
  EXPECT_EQ(ask(watch.port(), get("/events")).status, 503);
}

TEST(RunWatch, ADamagedRunIsAnErrorOfTheRequestAlone) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.at("run"));
  folder.write("run/train.jsonl", "no\nrun\n");
  RunWatch watch(folder.at("run"), 0);
  const Answer a = ask(watch.port(), get("/run"));
  EXPECT_EQ(a.status, 500);
  EXPECT_TRUE(contains(a.body, "none of its 2 lines"));
  EXPECT_EQ(ask(watch.port(), get("/")).status, 200);
}

// --- the program

TEST(TrainWatch, APortInUseIsToldBeforeAnythingIsWritten) {
  const test::TrainData data;
  const ScratchFolder folder;
  const RunWatch other(folder.at("other"), 0);
  const Ran ran = run_tril(data.train("model", {"--watch", std::to_string(other.port())}));
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(contains(ran.err, "--watch", "127.0.0.1:" + std::to_string(other.port()), "another port")) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/config.json")));
  for (const char* wrong : {"0", "65536", "x"}) EXPECT_EQ(run_tril(data.train("model", {"--watch", wrong})).code, 2);
}

// With readers who take all, who take nothing and who leave.
TEST(TrainWatch, WeightsAreThoseOfARunThatNobodyWatches) {
  const test::TrainData data;
  const std::vector<std::string> length{"--after", "60u"};
  ASSERT_EQ(run_tril(data.train("alone", length)).code, 0);
  const ScratchFolder folder;
  const std::uint16_t port = std::make_unique<RunWatch>(folder.at("none"), 0)->port();  // free again
  std::string seen;
  std::thread watcher;
  std::vector<std::string> options = length;
  options.insert(options.end(), {"--watch", std::to_string(port)});
  const Ran ran =
      run_tril(data.train("watched", options), {.input = {}, .stdout_to = {}, .before = {}, .meanwhile = [&](pid_t) {
                                                  watcher = std::thread([&] {
                                                    try {
                                                      const auto reader = connected(port), slow = connected(port, 4096);
                                                      connected(port)->send(get("/events"));  // and leaves
                                                      slow->send(get("/events"));
                                                      reader->send(get("/events"));
                                                      seen = read_until(*reader, "event: end");
                                                    } catch (const std::exception& problem) {
                                                      seen = problem.what();
                                                    }
                                                  });
                                                }});
  watcher.join();
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "can be watched at http://127.0.0.1:" + std::to_string(port) + "/")) << ran.err;
  EXPECT_TRUE(contains(seen, "event: end", "event: train", "event: changed")) << seen;
  EXPECT_EQ(file_text(data.folder.at("watched/model.safetensors")),
            file_text(data.folder.at("alone/model.safetensors")));
  EXPECT_EQ(test::records(data.folder.at("watched/train.jsonl")), test::records(data.folder.at("alone/train.jsonl")));
  EXPECT_EQ(test::records(data.folder.at("watched/samples.jsonl")),
            test::records(data.folder.at("alone/samples.jsonl")));
}

}  // namespace
}  // namespace tril::watch
