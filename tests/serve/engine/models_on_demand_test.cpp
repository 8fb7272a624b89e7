// Models that are loaded when requests need them, in bounded memory: with loaders that count, wait and fail, and a clock
// that stands still. Requests go over sockets.
#include <atomic>

#include "support/contains.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

constexpr std::int64_t mib = 1 << 20;

// The names begin like Serving, so that these tests run under the thread sanitizer.
struct ServingOnDemand : Serving {
  // A model's loader and what it does.
  struct Fake {
    Loaded loaded = translator;
    std::atomic<int> described = 0, loads = 0;
    std::atomic<bool> held = false, fails = false, wrong = false;  ///< wrong: it cannot be described
  };

  // Adds a model from `source` into `target` that takes this memory.
  Fake& add(const std::string& name, const std::string& source, const std::string& target,
            std::int64_t bytes = 100 * mib) {
    fakes.push_back(std::make_unique<Fake>());
    Fake* const fake = fakes.back().get();
    fake->loaded.source_language = source, fake->loaded.target_language = target;
    fake->loaded.bytes = bytes;
    loaders.push_back({.name = name,
                       .load =
                           [fake] {
                             while (fake->held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                             if (fake->fails) fail("model.safetensors", "is truncated");
                             ++fake->loads;
                             return fake->loaded;
                           },
                       .describe =
                           [fake] {
                             ++fake->described;
                             if (fake->wrong) fail("config.json", "is missing");
                             return profile_of(fake->loaded);
                           }});
    return *fake;
  }
  void begin(ModelsOptions o = {}, ServiceOptions s = {.request_seconds = 1e6}) {
    server.reset(), service.reset(), models.reset();
    o.at_start = false, o.on_demand = true;
    o.now = [this] { return Clock::time_point(Clock::duration(1'000'000'000'000 + now)); };
    models = std::make_unique<Models>(loaders, o);
    service = std::make_unique<Service>(s, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0, .most_connections = 4096},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
    models->wait();
  }
  void pass(std::chrono::seconds time) {
    now += std::chrono::duration_cast<Clock::duration>(time).count();
    models->look();
  }
  Models::Status status(std::size_t i) const { return models->status()[i]; }
  template <class Condition>
  static bool soon(const Condition& condition) {
    const auto begun = Clock::now();
    while (!condition() && Clock::now() - begun < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return condition();
  }
  bool becomes(std::size_t i, Models::State state) const {
    return soon([&] { return status(i).state == state; });
  }
  // Lets time pass until the requests of a model have ended, which may be a little after their answers.
  bool rests(std::size_t i) {
    return soon([&] {
      pass(std::chrono::seconds(1));
      return status(i).idle_seconds.value_or(0) > 0;
    });
  }
  Json translate(const std::string& model, int expected = 200) const {
    return post("/translate", {{"q", "a dog"}, {"model", model}, {"beam_size", 1}}, expected);
  }
  std::string states() const {
    std::string all;
    for (const Models::Status& s : models->status()) all += s.state == Models::State::ready ? '1' : '0';
    return all;
  }

  std::atomic<Clock::rep> now = 0;
  std::vector<std::unique_ptr<Fake>> fakes;
  std::vector<ModelLoader> loaders;
};

TEST_F(ServingOnDemand, AModelIsLoadedByItsFirstRequest) {
  Fake &de = add("de", "en", "de"), &fr = add("fr", "en", "fr");
  loaders.push_back({.name = "plays",
                     .load = [plays = writer] { return plays; },
                     .describe = [plays = writer] { return profile_of(plays); }});
  begin();
  EXPECT_EQ(de.described, 1);
  EXPECT_EQ(states(), "000");
  // What is asked about all models needs none of them.
  EXPECT_EQ(Json::parse(ask("GET", "/languages").body)[1]["targets"], Json({"de", "fr"}));
  Json list = Json::parse(ask("GET", "/v1/models").body)["data"];
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["state"], "unloaded");
  EXPECT_EQ(list[0]["memory_bytes"], 0);
  EXPECT_TRUE(list[0]["idle_seconds"].is_null());
  EXPECT_EQ(list[0]["targets"], Json({"de"}));
  EXPECT_EQ(ask("GET", "/ready").status, 200);
  EXPECT_EQ(ask("GET", "/health").status, 200);
  EXPECT_EQ(states(), "000");
  // The languages choose the model.
  const Json got = post("/translate", {{"q", "a dog runs"}, {"source", "en"}, {"target", "fr"}});
  EXPECT_EQ(got["translatedText"], translated("a dog runs", 1)[0].text);
  EXPECT_EQ(states(), "010");
  EXPECT_EQ(de.loads, 0);
  EXPECT_EQ(fr.loads, 1);
  // So does every other route.
  post("/score", {{"source", "a dog"}, {"target", "a dog"}});
  EXPECT_EQ(de.loads, 1) << "the first that translates";
  post("/v1/completions", {{"prompt", "ab"}, {"max_tokens", 3}});
  EXPECT_EQ(states(), "111");
  EXPECT_EQ(metric("tril_model_loads_total{model=\"fr\"}"), 1);
  EXPECT_EQ(metric("tril_model_state{model=\"fr\",state=\"ready\"}"), 1);
  EXPECT_EQ(metric("tril_model_state{model=\"fr\",state=\"unloaded\"}"), 0);
  EXPECT_GE(metric("tril_model_memory_bytes{model=\"fr\"}"), 100 * mib);
  list = Json::parse(ask("GET", "/v1/models").body)["data"];
  EXPECT_EQ(list[1]["state"], "ready");
  EXPECT_EQ(list[1]["loads"], 1);
  post("/tokenize", {{"text", "a"}, {"model", "nobody"}}, 404);
}

TEST_F(ServingOnDemand, RequestsWaitForTheirModelAndOthersDoNot) {
  Fake &slow = add("slow", "en", "de"), &fast = add("fast", "en", "fr");
  begin();
  translate("fast");
  slow.held = true;
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      translate("slow");
      ++answered;
    });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 8; }));
  EXPECT_EQ(status(0).state, Models::State::loading);
  translate("fast");
  EXPECT_EQ(answered, 0);
  EXPECT_EQ(metric("tril_model_waiting{model=\"slow\"}"), 8);
  slow.held = false;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(slow.loads, 1) << "one load for all";
  EXPECT_EQ(fast.loads, 1);
}

TEST_F(ServingOnDemand, ModelsAreAddedLater) {
  add("de", "en", "de");
  begin();
  EXPECT_EQ(translate("fr", 404)["error"].get<std::string>().empty(), false);
  loaders.clear();
  const Fake& fr = add("fr", "en", "fr");
  models->add(loaders);
  EXPECT_FALSE(models->loading());
  EXPECT_TRUE(soon([&] { return models->offers().size() == 2; }));
  EXPECT_EQ(fr.loads, 0);
  translate("fr");
  EXPECT_EQ(fr.loads, 1);
  EXPECT_THROW(models->add(loaders), Error);
}

// A client that sends no more waits for its answer, also while its model is loaded.
TEST_F(ServingOnDemand, ClientsThatSendNoMoreGetTheirAnswers) {
  Fake& slow = add("slow", "en", "de");
  begin();
  slow.held = true;
  const std::string body = Json{{"q", "a dog"}, {"model", "slow"}, {"beam_size", 1}}.dump();
  Client waits(server->port());
  waits.send(Client::request("POST", "/translate", body));
  waits.end_sending();
  EXPECT_TRUE(soon([&] { return status(0).waiting == 1; }));
  slow.held = false;
  const Answer a = waits.answer();
  EXPECT_EQ(a.status, 200);
  EXPECT_EQ(Json::parse(a.body)["translatedText"], translated("a dog", 1, 1)[0].text);
  EXPECT_TRUE(waits.is_closed());
}

TEST_F(ServingOnDemand, TheLeastRecentlyUsedModelMakesRoom) {
  for (const char* name : {"a", "b", "c", "d"}) add(name, "en", name);
  begin({.memory = 350 * mib});
  for (std::size_t i = 0; i < 3; ++i) {
    translate(std::string(1, "abc"[i]));
    EXPECT_TRUE(rests(i));
  }
  EXPECT_EQ(states(), "1110");
  translate("a");
  translate("d");
  EXPECT_EQ(states(), "1011") << "b was used least recently";
  translate("b");
  EXPECT_EQ(states(), "1101");
  EXPECT_EQ(status(1).loads, 2u);
  EXPECT_EQ(status(1).unloads, 1u);
  EXPECT_EQ(metric("tril_model_unloads_total{model=\"c\"}"), 1);
}

TEST_F(ServingOnDemand, AnUnloadWaitsForRunningRequests) {
  add("a", "en", "a"), add("b", "en", "b");
  Fake& c = add("c", "en", "c", 250 * mib);
  begin({.memory = 260 * mib});
  translate("a");
  translate("b");
  pass(std::chrono::seconds(5));
  ModelPtr running = models->find("a");
  std::thread client([&] { translate("c"); });
  EXPECT_TRUE(becomes(0, Models::State::unloaded));
  EXPECT_TRUE(becomes(1, Models::State::unloaded));
  EXPECT_EQ(c.loads, 0) << "the memory is not free yet";
  // A request for a model on its way out waits until it is loaded again.
  std::thread back([&] { translate("a"); });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 1; }));
  EXPECT_TRUE(soon([&] { return running->engine().running() == 0; })) << "it exists still";
  running.reset();
  client.join();
  back.join();
  EXPECT_EQ(c.loads, 1);
  EXPECT_EQ(status(0).loads, 2u);
}

TEST_F(ServingOnDemand, IdleModelsAreUnloaded) {
  add("a", "en", "a"), add("b", "en", "b");
  begin({.idle_seconds = 600});
  translate("a");
  EXPECT_TRUE(rests(0));
  const double rested = *status(0).idle_seconds;
  pass(std::chrono::seconds(300));
  translate("b");
  ModelPtr running = models->find("b");
  for (int i = 0; i < 20; ++i) (void)ask("GET", "/metrics"), (void)ask("GET", "/v1/models");
  pass(std::chrono::seconds(290));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(states(), "11");
  EXPECT_EQ(*status(0).idle_seconds, rested + 590);
  EXPECT_EQ(*status(1).idle_seconds, 0);
  pass(std::chrono::seconds(10));
  EXPECT_TRUE(becomes(0, Models::State::unloaded)) << "looking at its state is no use of it";
  pass(std::chrono::seconds(10'000));
  EXPECT_EQ(states(), "01") << "it is in use";
  running.reset();
  pass(std::chrono::seconds(599));
  EXPECT_EQ(states(), "01");
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(becomes(1, Models::State::unloaded));
  translate("a");
  EXPECT_EQ(status(0).loads, 2u);
}

TEST_F(ServingOnDemand, AFailedLoadIsToldAndTriedAgainLater) {
  Fake& de = add("de", "en", "de");
  add("fr", "en", "fr");
  begin();
  de.fails = de.held = true;
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&] {
      const std::string error = translate("de", 503)["error"];
      EXPECT_TRUE(contains(error, "model de cannot be loaded", "model.safetensors", "is truncated"));
    });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 3; }));
  de.held = false;
  for (std::thread& client : clients) client.join();
  de.fails = false;
  Answer a = ask("POST", "/translate", R"({"q": "a dog", "model": "de"})");
  EXPECT_EQ(a.status, 503) << "for a second, nothing is tried";
  EXPECT_EQ(a.headers.at("retry-after"), "1");
  EXPECT_EQ(status(0).state, Models::State::failed);
  EXPECT_EQ(status(0).failures, 1u);
  EXPECT_EQ(ask("GET", "/ready").status, 503);
  translate("fr");
  pass(std::chrono::seconds(2));
  translate("de");
  EXPECT_EQ(ask("GET", "/ready").status, 200);
  EXPECT_EQ(de.loads, 1);
}

TEST_F(ServingOnDemand, AModelThatCannotBeDescribedIsLookedAtAgain) {
  Fake& de = add("de", "en", "de");
  de.wrong = true;
  begin();
  EXPECT_EQ(status(0).state, Models::State::failed);
  translate("de", 503);
  de.wrong = false;
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(becomes(0, Models::State::unloaded));
  translate("de");
}

TEST_F(ServingOnDemand, AModelLargerThanTheBoundIsRefused) {
  add("large", "en", "de", 3 << 29), add("small", "en", "fr");
  begin({.memory = 1 << 30});
  EXPECT_TRUE(contains(status(0).error, "model large takes 1.50 GiB", "1.00 GiB"));
  EXPECT_TRUE(status(0).refused);
  translate("small");
  // It may have grown since it was described.
  Fake& grown = *fakes[1];
  grown.loaded.bytes = 3 << 29;
  models->unload("small");
  models->reload("small");
  EXPECT_TRUE(becomes(1, Models::State::failed));
  EXPECT_TRUE(contains(status(1).error, "model small takes 1.50 GiB"));
}

TEST_F(ServingOnDemand, OnlyAFullQueueRefusesThoseThatWait) {
  Fake& de = add("de", "en", "de");
  begin({.most_waiting = 4});
  de.held = true;
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) clients.emplace_back([&] { translate("de"); });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 2; }));
  const Answer a = ask("POST", "/translate", R"({"q": "a dog", "model": "de"})");
  EXPECT_EQ(a.status, 503) << "one client may have half of the places";
  EXPECT_EQ(a.headers.at("retry-after"), "1");
  EXPECT_TRUE(contains(a.body, "too many requests are waiting for models to be loaded"));
  de.held = false;
  for (std::thread& client : clients) client.join();
}

TEST_F(ServingOnDemand, AWaitEndsAtTheDeadline) {
  Fake& de = add("de", "en", "de");
  begin({}, {.request_seconds = 3600});
  de.held = true;
  std::thread client([&] { EXPECT_TRUE(contains(translate("de", 503)["error"], "still being loaded")); });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 1; }));
  // The deadline is by the real clock, far ahead of the test's.
  now = std::chrono::duration_cast<Clock::duration>(Clock::now().time_since_epoch() + std::chrono::hours(2)).count();
  models->look();
  client.join();
  de.held = false;
}

TEST_F(ServingOnDemand, AnAdministratorUnloadsAModelForGood) {
  add("de", "en", "de"), add("fr", "en", "fr");
  begin({}, {.keys = {.api = {}, .admin = {"an administrator's"}}, .request_seconds = 1e6});
  translate("de");
  const auto admin = [&](const std::string& what) {
    return ask("POST", "/admin/models/" + what, R"({"model": "de"})", "X-API-Key: an administrator's\r\n").status;
  };
  EXPECT_EQ(admin("unload"), 202);
  EXPECT_TRUE(contains(translate("de", 503)["error"], "model de is not loaded"));
  EXPECT_EQ(post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "de"}}, 400)["error"],
            "no model here translates from en into de; available: fr from en into fr");
  EXPECT_EQ(Json::parse(ask("GET", "/v1/models").body)["data"].size(), 1u);
  EXPECT_EQ(admin("unload"), 404);
  EXPECT_EQ(admin("load"), 202);
  EXPECT_TRUE(becomes(0, Models::State::ready));
  translate("de");
}

TEST_F(ServingOnDemand, AtTheStartAsManyAreLoadedAsFit) {
  for (const char* name : {"a", "b", "c"}) add(name, "en", name);
  Models some(loaders, {.at_start = true, .on_demand = true, .memory = 250 * mib});
  some.wait();
  ASSERT_EQ(some.ready().size(), 2u);
  EXPECT_EQ(some.status()[2].state, Models::State::unloaded);
  some.reload();
  EXPECT_TRUE(soon([&] { return some.status()[0].loads + some.status()[1].loads == 4; }));
  EXPECT_EQ(some.status()[2].loads, 0u) << "it is only described again";
  EXPECT_TRUE(soon([&] { return fakes[2]->described == 2; }));
}

TEST_F(ServingOnDemand, WhatWaitsIsAnsweredBeforeTheServerStops) {
  Fake& de = add("de", "en", "de");
  begin();
  de.held = true;
  std::thread client([&] { translate("de"); });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 1; }));
  service->stop_taking();
  std::thread stop([&] { service->drain(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  de.held = false;
  client.join();
  stop.join();
}

TEST_F(ServingOnDemand, AServerThatEndsAtOnceAnswersThoseThatWait) {
  Fake& de = add("de", "en", "de");
  begin();
  de.held = true;
  std::thread client([&] {
    try {
      translate("de", 503);
    } catch (const std::exception&) {  // or the connection is closed
    }
  });
  EXPECT_TRUE(soon([&] { return status(0).waiting == 1; }));
  service.reset();
  server.reset();
  client.join();
  de.held = false;
}

// Six clients and eight models, of which three fit: requests for all of them, loads that fail now and then, an
// administrator who unloads and loads. Each request gets its answer.
TEST_F(ServingOnDemand, SoakLosesNoRequest) {
  constexpr std::size_t many = 8;
  for (std::size_t i = 0; i < many; ++i) add("m" + std::to_string(i), "en", "x" + std::to_string(i));
  begin({.memory = 350 * mib, .idle_seconds = 5, .retry_seconds = 0});
  const char* const text = std::getenv("TRIL_SOAK_SECONDS");
  const auto until = Clock::now() + std::chrono::seconds(text ? std::stoi(text) : 2);
  const std::string expected = translate("m0")["translatedText"];
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (std::uint64_t t = 0; t < 6; ++t)
    clients.emplace_back([&, t] {
      RandomSequence random(t, 7);
      Client client(server->port());
      while (Clock::now() < until) {
        const std::string name = "m" + std::to_string(random.below(many));
        const Answer a =
            client.ask("POST", "/translate", Json{{"q", "a dog"}, {"model", name}, {"beam_size", 1}}.dump());
        ASSERT_EQ(a.status, 200) << a.body;
        EXPECT_EQ(Json::parse(a.body)["translatedText"], expected);
        ++answered;
      }
    });
  RandomSequence random(9, 9);
  while (Clock::now() < until) {
    pass(std::chrono::seconds(random.below(3)));
    if (random.below(20) == 0) models->reload("m" + std::to_string(random.below(many)));
    std::int64_t bytes = 0;
    for (const Models::Status& s : models->status()) bytes += s.bytes;
    EXPECT_LE(bytes, 350 * mib);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread& client : clients) client.join();
  std::uint64_t loads = 0;
  for (const Models::Status& s : models->status()) {
    loads += s.loads;
    EXPECT_EQ(s.failures, 0u);
    EXPECT_EQ(s.waiting, 0u);
  }
  EXPECT_GT(answered, 20);
  EXPECT_GT(loads, many);
  std::printf("%d requests, %llu loads\n", answered.load(), static_cast<unsigned long long>(loads));
}

}  // namespace
}  // namespace tril::serve
