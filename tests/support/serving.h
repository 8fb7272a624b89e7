// A service with two small models over sockets: one that translates, one that continues text.
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "decode/batches/score.h"
#include "decode/texts/generator.h"
#include "decode/texts/translator.h"
#include "serve/api/service.h"
#include "serve/http/http_server.h"
#include "support/client.h"
#include "support/small_models.h"

namespace tril::serve {

using testing::Answer;
using testing::Client;

using testing::letters;
using testing::small_translator;
using testing::small_writer;

// With a MarianMT model of random weights, and a language model of letters.
struct Serving : ::testing::Test {
  static void SetUpTestSuite() { translator = small_translator(), writer = small_writer(letters); }
  static void TearDownTestSuite() { translator = {}, writer = {}; }

  void serve(ServiceOptions o = {}, Loaded de = translator, Loaded plays = writer) {
    server.reset(), service.reset(), models.reset();
    models = std::make_unique<Models>(
        std::vector<ModelLoader>{{"de", [de] { return de; }}, {"plays", [plays] { return plays; }}});
    o.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      if (log.size() < 10'000) log.push_back(line);  // a soak has a million, whose memory is not the server's
    };
    service = std::make_unique<Service>(o, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0,
                          .trusted_proxies = trusted_proxies,
                          .takes_uploads = [this](std::string_view path) { return service->takes_files(path); },
                          .upload_bytes = service->most_upload_bytes(),
                          .judge_upload = [this](const HttpRequest& arrived) { return service->judge_upload(arrived); },
                          .refusal = [this](std::string_view path, int status,
                                            const std::string& why) { return service->refusal(path, status, why); }},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
    service->set_connections([this] { return server ? server->connections() : 0; });
    models->wait();
  }
  void TearDown() override {
    if (!models) return;
    for (const Models::Status& s : models->status())
      if (s.model) {
        const auto begun = Clock::now();
        while (s.model->engine().running() + s.model->engine().waiting() > 0 &&
               Clock::now() - begun < std::chrono::seconds(60))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(s.model->statistics().cache().used_slots, 0) << s.name;
      }
    server.reset(), service.reset(), models.reset();
  }
  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             const std::string& headers = "") const {
    Client client(server->port());
    return client.ask(method, path, body, headers);
  }
  Json post(const std::string& path, const Json& body, int status = 200) const {
    const Answer a = ask("POST", path, body.dump());
    EXPECT_EQ(a.status, status) << path << " " << body.dump() << " " << a.body;
    return Json::parse(a.body);
  }

  /// The value of a metric in /metrics ("tril_waiting{model=\"de\"}"), or -1.
  double metric(const std::string& name) const {
    const std::string text = "\n" + ask("GET", "/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

  static std::vector<search::Translation> translated(const std::string& text, std::int32_t n, std::int32_t beam = 3) {
    search::TranslatorOptions o;
    o.decoding.search = translator.search;
    o.decoding.search.beam_size = beam;
    o.decoding.search.n_best = n;
    o.decoding.search.scores = true;
    o.max_length = 24;
    return search::Translator(*translator.model, translator.tokenizer, o).translate({&text, 1})[0];
  }
  static search::Generation generated(const std::string& prompt, std::int32_t tokens,
                                      std::vector<std::string> stops = {}) {
    search::GeneratorOptions o;
    o.decoding.search = writer.search;
    o.decoding.search.scores = true;
    o.max_new_tokens = tokens;
    o.stops = std::move(stops);
    return search::Generator(*writer.model, writer.tokenizer, o).generate({&prompt, 1})[0][0];
  }

  TrustedProxies trusted_proxies;  ///< of servers that serve() starts from now on
  static inline Loaded translator, writer;
  std::mutex mutex;
  std::vector<std::string> log;
  std::unique_ptr<Models> models;
  std::unique_ptr<Service> service;
  std::unique_ptr<HttpServer> server;
};

}  // namespace tril::serve
