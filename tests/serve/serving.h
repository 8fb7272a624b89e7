// A service with two small models over sockets: one that translates, one that continues text.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "model/gpt2.h"
#include "model/marian.h"
#include "search/generator.h"
#include "search/score.h"
#include "search/translator.h"
#include "serve/client.h"
#include "serve/http_server.h"
#include "serve/service.h"
#include "text/gpt2_tokenizer.h"
#include "text/marian_tokenizer.h"
#include "text/vocabulary.h"

namespace tril::serve {

using testing::Answer;
using testing::Client;

inline const std::string letters = "abcdefgh \n\u00e9\u20ac\U0001f600";

// A MarianMT model of random weights, and a language model of letters.
struct Serving : ::testing::Test {
  static void SetUpTestSuite() {
    std::string text;
    for (int i = 0; i < 30; ++i)
      text += "a dog runs in the snow\ntwo men play with a red ball\nthe old dog and the ball, in the house of snow.\n";
    const std::string path =
        (std::filesystem::temp_directory_path() / ("tril_service_" + std::to_string(::getpid()))).string();
    std::ofstream(path) << text;
    VocabularyOptions options;
    options.size = 70;
    MarianParts parts;
    parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{path, -1}}, options);
    std::filesystem::remove(path);
    translator.tokenizer = make_marian_tokenizer(parts);
    const SpecialIds& special = translator.tokenizer->special(Side::target);
    model::MarianConfig mk;
    mk.vocab_size = mk.decoder_vocab_size = translator.tokenizer->size(Side::target);
    mk.d_model = 32;
    mk.encoder_layers = mk.decoder_layers = 2;
    mk.encoder_attention_heads = mk.decoder_attention_heads = 4;
    mk.encoder_ffn_dim = mk.decoder_ffn_dim = 64;
    mk.max_position_embeddings = 128;
    mk.pad_token_id = mk.decoder_start_token_id = special.pad;
    mk.eos_token_id = special.eos;
    mk.init_std = 0.3;
    const auto translates = std::make_shared<model::Marian>(mk);
    translates->parameters().allocate();
    translates->parameters().initialise(5);
    translates->parameters().refresh(kern::best());
    translator.model = translates;
    translator.search.beam_size = 3;
    translator.search.eos_ids = {translator.model->special_ids().eos};
    translator.text.max_length = 24;
    translator.engine.deterministic = true;
    translator.source_language = "en", translator.target_language = "de";

    writer = writer_of(letters);
  }
  // A language model of these characters.
  static Loaded writer_of(const std::string& characters) {
    Loaded w;
    w.tokenizer = make_character_tokenizer(characters, 200);
    model::Gpt2Config k;
    k.vocab_size = w.tokenizer->size(Side::target);
    k.n_positions = 200;
    k.n_embd = 32, k.n_layer = 2, k.n_head = 4;
    k.initializer_range = 0.5;
    k.bos_token_id = k.eos_token_id = w.tokenizer->special(Side::target).eos;
    auto m = std::make_shared<model::Gpt2>(k);
    m->parameters().allocate();
    m->parameters().initialise(3);
    m->parameters().refresh(kern::best());
    w.model = m;
    w.search.eos_ids = {m->special_ids().eos};
    for (std::int32_t id = 0; id < k.vocab_size; ++id)  // letters alone, not the bytes of others
      if (const std::string one = w.tokenizer->decode({&id, 1}, Side::target);
          id != k.eos_token_id && (one.size() != 1 || characters.find(one) == std::string::npos))
        w.search.suppress_ids.push_back(id);
    w.chat = [](const Json& messages, bool answers) {
      std::string text2;
      for (const Json& one : messages) text2 += one["content"].get<std::string>() + "\n";
      return text2 + (answers ? "a" : "");
    };
    return w;
  }
  static void TearDownTestSuite() { translator = {}, writer = {}; }

  void serve(ServiceOptions o = {}, Loaded de = translator, Loaded plays = writer) {
    server.reset(), service.reset(), models.reset();
    models = std::make_unique<Models>(
        std::vector<ModelSource>{{"de", [de] { return de; }}, {"plays", [plays] { return plays; }}});
    o.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      log.push_back(line);
    };
    service = std::make_unique<Service>(o, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
    models->wait();
  }
  void TearDown() override {
    if (!models) return;
    for (const Models::Status& s : models->status())
      if (s.model) {
        const auto begun = Clock::now();
        while (s.model->engine().running() > 0 && Clock::now() - begun < std::chrono::seconds(20))
          std::this_thread::yield();
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

  static inline Loaded translator, writer;
  std::mutex mutex;
  std::vector<std::string> log;
  std::unique_ptr<Models> models;
  std::unique_ptr<Service> service;
  std::unique_ptr<HttpServer> server;
};

}  // namespace tril::serve
