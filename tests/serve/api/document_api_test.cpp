// Files that are translated over sockets, and the documents of the server.
#include <filesystem>

#include "support/contains.h"
#include "support/file_form.h"
#include "support/serving.h"

namespace tril::serve::document_api_test {

using testing::FileForm;

struct TranslatedFiles : Serving {
  Answer send(const FileForm& form, const std::string& headers = "") const {
    Client client(server->port());
    client.send(form.request("/translate_file", headers));
    return client.answer();
  }
  static FileForm file(const std::string& name, const std::string& bytes, const std::string& target = "de") {
    return {name, bytes, {{"source", "en"}, {"target", target}}};
  }
  /// The path of the translation.
  static std::string path_of(const Answer& a) {
    EXPECT_EQ(a.status, 200) << a.body;
    const std::string url = Json::parse(a.body)["translatedFileUrl"], before = "http://test:8080";
    EXPECT_TRUE(url.starts_with(before)) << url;
    return url.substr(before.size());
  }
  std::string translation_of(const FileForm& form) const {
    const Answer a = ask("GET", path_of(send(form)));
    EXPECT_EQ(a.status, 200) << a.body;
    return a.body;
  }
  std::string error_of(const FileForm& form, int status) const {
    const Answer a = send(form);
    EXPECT_EQ(a.status, status) << a.body;
    return Json::parse(a.body)["error"];
  }
  std::string text(const std::string& q, const std::string& format = "text") const {
    return post("/translate", {{"q", q}, {"source", "en"}, {"target", "de"}, {"format", format}})["translatedText"];
  }
  void await_documents(std::size_t n) const {
    const auto begun = Clock::now();
    while (service->documents().size() != n && Clock::now() - begun < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(service->documents().size(), n);
  }
};

std::string many_lines(std::size_t n) {
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) lines += "a dog runs " + std::to_string(i) + "\n\n";
  return lines;
}

std::string lines_of_one_letter(std::size_t n) {
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) lines += "a\n\n";
  return lines;
}

TEST_F(TranslatedFiles, AreThoseOfTexts) {
  Loaded l = translator;
  l.source_language = "en", l.target_language = "de";
  serve({}, l);
  const std::string html = "<p>a <b>dog</b> runs\nin the <i>snow</i></p>\n<pre>x</pre><!-- stays -->\r\n";
  EXPECT_EQ(translation_of(file("page.html", html)), text(html, "html"));
  const std::string lines = "a dog runs.  The old dog.\n\n  two men play\n";
  EXPECT_EQ(translation_of(file("notes.TXT", lines)), text(lines));
  const std::string many = many_lines(300);  // several windows
  EXPECT_EQ(translation_of(file("many.txt", many)), text(many));
  EXPECT_EQ(translation_of(file("empty.txt", "\n\n")), "\n\n") << "nothing to translate";
  FileForm odd = file("notes.txt", "a dog");
  odd.fields.emplace_back("beam_size", "1");
  odd.fields.emplace_back("terminology", R"({"dog": "the ball"})");
  EXPECT_EQ(translation_of(odd),
            std::string(post("/translate", {{"q", "a dog"},
                                            {"source", "en"},
                                            {"target", "de"},
                                            {"beam_size", 1},
                                            {"terminology", {{"dog", "the ball"}}}})["translatedText"]))
      << "the fields of /translate";
  EXPECT_EQ(service->documents().size(), 0u) << "a downloaded file is forgotten";
  const std::int64_t before = service->usage().characters_of("");
  (void)translation_of(file("notes.txt", "a d\u00f6g"));
  EXPECT_EQ(service->usage().characters_of(""), before + 5);
  (void)error_of(file("notes.json", "{"), 400);
  EXPECT_EQ(service->usage().characters_of(""), before + 5) << "what is not translated is not counted";
}

TEST_F(TranslatedFiles, AreDownloadedOnce) {
  serve();
  const std::string path = path_of(send({"../../etc/Öl \\\"x\\\".md", "a dog", {}}));
  EXPECT_TRUE(contains(path, "/download_file/", ".%C3%96l%20%22x%22.translated.md")) << path;
  {
    Client client(server->port());
    client.send("HEAD " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(contains(client.receive(), "200 OK", fmt::format("Content-Length: {}\r\n", text("a dog").size())));
  }
  EXPECT_EQ(ask("GET", path.substr(0, path.size() - 3) + ".txt").status, 404);
  const Answer a = ask("GET", path);
  EXPECT_EQ(a.status, 200);
  EXPECT_EQ(a.body, text("a dog"));
  EXPECT_EQ(a.headers.at("content-disposition"),
            "attachment; filename=\"__l _x_.translated.md\"; "
            "filename*=UTF-8''%C3%96l%20%22x%22.translated.md");
  EXPECT_EQ(a.headers.at("x-content-type-options"), "nosniff");
  const Answer again = ask("GET", path);
  EXPECT_EQ(again.status, 404);
  EXPECT_TRUE(contains(again.body, "downloaded"));
  for (const char* name : {"x", "../../etc/passwd", "0123456789abcdef0123456789abcdef"})
    EXPECT_EQ(ask("GET", std::string("/download_file/") + name).status, 404) << name;
  EXPECT_NE(path_of(send(file("a.txt", "a dog"))), path_of(send(file("a.txt", "a dog"))));
}

TEST_F(TranslatedFiles, SayWhatIsWrong) {
  Loaded l = translator;
  l.source_language = "en", l.target_language = "de";
  serve({.documents = {.most_bytes = 1000}}, l);
  EXPECT_TRUE(
      contains(error_of(file("notes.exe", "a dog"), 400), "Invalid request: file format not supported", "html"));
  EXPECT_EQ(error_of(file("notes.txt", ""), 400), "Invalid request: empty file");
  EXPECT_EQ(error_of(file("", "a dog"), 400), "Invalid request: empty file");
  EXPECT_TRUE(contains(error_of(file("notes.txt", "a \xff dog"), 400), "notes.txt", "UTF-8"));
  EXPECT_TRUE(contains(error_of(file("notes.txt", std::string(1001, 'a')), 413), "1001", "1000"));
  EXPECT_TRUE(contains(error_of(file("notes.txt", "a dog", "cs"), 400), "cs"));
  EXPECT_TRUE(contains(error_of(file("notes.txt", "a dog", "auto"), 400), "target"));
  EXPECT_TRUE(contains(error_of(file("notes.json", "{"), 400), "notes.json"));
  FileForm odd = file("notes.txt", "a dog");
  odd.fields.emplace_back("beam_size", "many");
  EXPECT_TRUE(contains(error_of(odd, 400), "beam_size", "integer"));
  const std::string head = "--x\r\nContent-Disposition: form-data; name=\"";
  Client client(server->port());
  const auto form = [&](const std::string& body) {
    client.send(
        "POST /translate_file HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; "
        "boundary=x\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer();
  };
  EXPECT_EQ(Json::parse(form(head + "source\"\r\n\r\nen\r\n--x--").body)["error"],
            "Invalid request: missing file parameter");
  EXPECT_EQ(form(head + "other\"; filename=\"a.txt\"\r\n\r\nen\r\n--x--").status, 400);
  EXPECT_EQ(ask("POST", "/translate_file", R"({"source": "en"})").status, 415);
  EXPECT_EQ(ask("GET", "/translate_file").status, 405);
  serve({.documents = {.most_bytes = 0}}, l);
  EXPECT_TRUE(contains(error_of(file("notes.txt", "a dog"), 403), "disabled"));
  EXPECT_FALSE(Json::parse(ask("GET", "/frontend/settings").body)["filesTranslation"].get<bool>());
}

TEST_F(TranslatedFiles, BelongToTheirKeys) {
  serve({.keys = {.api = {"one", "two"}}});
  FileForm form = file("notes.txt", "a dog");
  EXPECT_EQ(send(form).status, 401);
  form.fields.emplace_back("api_key", "one");
  const std::string path = path_of(send(form));
  EXPECT_EQ(ask("GET", path).status, 401);
  EXPECT_EQ(ask("GET", path + "?api_key=two").status, 404);
  EXPECT_EQ(ask("GET", path, "", "Authorization: Bearer one\r\n").status, 200);
  form.fields.pop_back();
  EXPECT_EQ(send(form, "Authorization: Bearer two\r\n").status, 200);
}

TEST_F(TranslatedFiles, TellTheirProgress) {
  serve();
  const std::string many = many_lines(200);
  for (const bool by_header : {false, true}) {
    FileForm form = file("many.txt", many);
    if (!by_header) form.fields.emplace_back("stream", "true");
    const Answer a = send(form, by_header ? "Accept: text/event-stream\r\n" : "");
    EXPECT_EQ(a.headers.at("content-type"), "text/event-stream");
    std::vector<Json> events;
    for (std::size_t at = 0; at < a.body.size();) {
      const std::size_t end = a.body.find("\n\n", at);
      const std::string data = a.body.substr(at + 6, end - at - 6);
      if (data != "[DONE]") events.push_back(Json::parse(data));
      at = end + 2;
    }
    ASSERT_GE(events.size(), 3u);
    EXPECT_EQ(events[0]["progress"], (Json{{"sentences", 0}, {"of", 200}}));
    const Json last = events[events.size() - 2]["progress"];
    EXPECT_FALSE(contains(a.body, ".0")) << "seconds are whole numbers";
    EXPECT_EQ(last, (Json{{"sentences", 200}, {"of", 200}, {"secondsLeft", 0}}));
    const std::string url = events.back()["translatedFileUrl"];
    EXPECT_EQ(ask("GET", url.substr(url.find("/download"))).body, text(many));
  }
  FileForm bad = file("bad.json", "{");
  EXPECT_EQ(send(bad, "Accept: text/event-stream\r\n").status, 400) << "before the stream begins";
}

TEST_F(TranslatedFiles, AreCancelledWithTheirRequests) {
  serve();
  {
    Client client(server->port());
    client.send(file("many.txt", many_lines(3000)).request("/translate_file", "Accept: text/event-stream\r\n"));
    client.head();
    EXPECT_EQ(service->documents().size(), 1u);
  }
  await_documents(0);
  EXPECT_EQ(text("a dog"), translated("a dog", 1)[0].text);
  // A server that stops cancels it too, since it would refuse the download.
  Client client(server->port());
  client.send(file("many.txt", many_lines(3000)).request("/translate_file", "Accept: text/event-stream\r\n"));
  client.head();
  Client waits(server->port());
  waits.send(file("many.txt", many_lines(3000)).request("/translate_file"));
  await_documents(2);
  service->stop_taking();
  service->drain();
  std::string events;
  for (std::string chunk = client.next_chunk(); !chunk.empty(); chunk = client.next_chunk()) events += chunk;
  EXPECT_TRUE(contains(events, R"("error":"the server is shutting down")")) << events;
  EXPECT_FALSE(contains(events, "translatedFileUrl"));
  const Answer a = waits.answer();
  EXPECT_EQ(a.status, 503) << a.body;
  EXPECT_EQ(a.headers.at("retry-after"), "5");
  EXPECT_EQ(service->documents().size(), 0u);
}

TEST_F(TranslatedFiles, AreLimited) {
  serve({.documents = {.most_bytes = 100'000, .memory = 50'000, .keep_seconds = 0.2}});
  EXPECT_EQ(send(file("notes.txt", std::string(30'000, '\n'))).status, 429) << "above the memory";
  const std::string first = path_of(send(file("notes.txt", std::string(20'000, '\n'))));
  EXPECT_EQ(send(file("notes.txt", std::string(10'000, '\n'))).status, 429) << "more than half of it for one client";
  await_documents(0);
  EXPECT_EQ(ask("GET", first).status, 404) << "it has expired";
  FileForm wide = file("notes.txt", "a dog");
  wide.fields.emplace_back("x", std::string(64 << 10, 'x'));
  EXPECT_EQ(send(wide).status, 413) << "the other fields are limited too";
  serve({.documents = {.memory = 50'000}});
  wide.fields.back().second.resize(60'000);
  EXPECT_EQ(send(wide).status, 429) << "and they count";
  serve();
  EXPECT_TRUE(contains(error_of(file("notes.txt", lines_of_one_letter(200'001)), 413), "200001", "200000"));
  EXPECT_TRUE(contains(error_of(file("notes.txt", std::string(1'000'001, '\n')), 413), "1000001 lines"));
  serve({.documents = {.timeout_seconds = 0.01}});
  EXPECT_TRUE(contains(error_of(file("notes.txt", many_lines(500)), 503), "too long"));
}

TEST_F(TranslatedFiles, MayBeLargerThanOtherBodies) {
  serve({.most_body_bytes = 5'000, .documents = {.most_bytes = 400'000}});
  server = std::make_unique<HttpServer>(
      HttpServerOptions{.port = 0,
                        .most_body_bytes = 5'000,
                        .takes_uploads = [this](std::string_view path) { return service->takes_files(path); },
                        .upload_bytes = service->most_upload_bytes(),
                        .refusal = [this](std::string_view path, int status,
                                          const std::string& why) { return service->refusal(path, status, why); },
                        .most_upload_bytes = 500'000},
      [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
  EXPECT_EQ(send(file("notes.txt", std::string(300'000, '\n'))).status, 200);
  EXPECT_EQ(ask("POST", "/translate", std::string(6'000, ' ')).status, 413);
  Answer large = send(file("notes.txt", std::string(600'000, '\n')));
  EXPECT_EQ(large.status, 413);
  EXPECT_TRUE(
      contains(Json::parse(large.body)["error"].get<std::string>(), std::to_string(service->most_upload_bytes())))
      << "in LibreTranslate's form";
  // In chunks, whose number is not known.
  const FileForm form = file("notes.txt", std::string(300'000, '\n'));
  const std::string body = form.body(), head =
                                            "POST /translate_file HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                                            "Content-Type: multipart/form-data; boundary=" +
                                            std::string(FileForm::boundary) + "\r\n\r\n";
  const auto chunks = [](const std::string& all) {
    std::string text;
    for (std::size_t at = 0; at < all.size(); at += 10'000) {
      const std::string chunk = all.substr(at, 10'000);
      text += fmt::format("{:x}\r\n", chunk.size()) + chunk + "\r\n";
    }
    return text + "0\r\n\r\n";
  };
  {
    Client client(server->port());
    client.send(head + chunks(body));
    EXPECT_EQ(client.answer().status, 200);
  }
  {
    Client client(server->port());
    client.send(head + chunks(std::string(600'000, 'a')));
    EXPECT_EQ(client.answer().status, 413);
  }
  // All uploads together are limited, until they have ended. One address may have half of the room, or one upload.
  Client slow(server->port());
  slow.send("POST /translate_file HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 300000\r\n\r\n");
  EXPECT_TRUE(contains(slow.receive(), "100 Continue"));
  EXPECT_EQ(send(form).status, 503);
  EXPECT_EQ(send(file("notes.txt", std::string(100'000, '\n'))).status, 503)
      << "there is room, but not for this address";
  slow.close();
  const auto begun = Clock::now();
  int status = 503;
  while (status == 503 && Clock::now() - begun < std::chrono::seconds(60)) status = send(form).status;
  EXPECT_EQ(status, 200);
}

TEST_F(TranslatedFiles, GoOnWithoutTheirRequests) {
  serve();
  const auto call = std::make_shared<Call>();
  call->caller->client = "key-1", call->key = "one";
  DocumentTask task{.name = "notes.html", .bytes = "<p>A dog. Two men</p>", .request = {}, .body = Json::object()};
  const Documents::Ticket ticket = service->documents().begin(call, task, Documents::Lifetime::document);
  EXPECT_EQ(ticket.id.size(), 32u);
  EXPECT_TRUE(service->documents().has_key(ticket.id, ticket.key));
  EXPECT_FALSE(service->documents().has_key(ticket.id, ticket.id));
  const auto begun = Clock::now();
  while (ticket.document->state() != DocumentTranslation::State::done &&
         Clock::now() - begun < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(ticket.document->state(), DocumentTranslation::State::done);
  EXPECT_EQ(ticket.document->progress().done, 2u);
  EXPECT_EQ(ticket.document->progress().total, 2u);
  EXPECT_EQ(ticket.document->path().characters, std::string("A dog.Two men").size());
  EXPECT_EQ(service->documents().find(*call, ticket.id), ticket.document);
  Call other = *call;
  other.key = "two";
  EXPECT_EQ(service->documents().find(other, ticket.id), nullptr);
  const DocumentResult result = service->documents().take(ticket.id);
  EXPECT_EQ(result.name, "notes.translated.html");
  EXPECT_EQ(result.bytes, text("<p>A dog. Two men</p>", "html"));
  EXPECT_EQ(service->documents().find(*call, ticket.id), nullptr);
  EXPECT_THROW(service->documents().take(ticket.id), HttpError);
  // A running one can be cancelled, and ends when the server does.
  task.name = "notes.txt", task.bytes = many_lines(3000);
  const Documents::Ticket cancelled = service->documents().begin(call, task, Documents::Lifetime::document);
  cancelled.document->cancel();
  EXPECT_EQ(cancelled.document->failure().status, 499);
  const Documents::Ticket stopped = service->documents().begin(call, task, Documents::Lifetime::document);
  service->drain();
  EXPECT_EQ(stopped.document->failure().status, 503);
}

// Those that have failed stay until their clients have asked for them, so they are limited too.
TEST_F(TranslatedFiles, ThatHaveFailedCount) {
  serve();
  const auto begin = [this](const std::string& client) {
    const auto call = std::make_shared<Call>();
    call->caller->client = client;
    const Documents::Ticket ticket =
        service->documents().begin(call, {.name = "a.txt", .bytes = "a dog", .request = {}, .body = Json::object()},
                                   Documents::Lifetime::document);
    ticket.document->cancel();
  };
  for (int i = 0; i < 256; ++i) begin("one");
  EXPECT_THROW(begin("one"), HttpError);
  begin("two");
}

// Three of one client and four of all at a time; the others wait for their turn.
TEST_F(TranslatedFiles, WaitForEachOther) {
  serve();
  const auto of = [](const std::string& client) {
    const auto call = std::make_shared<Call>();
    call->caller->client = client;
    return call;
  };
  const auto one = of("one"), two = of("two"), three = of("three");
  const DocumentTask task{.name = "notes.txt", .bytes = many_lines(2000), .request = {}, .body = Json::object()};
  std::vector<Documents::Ticket> tickets;
  for (int i = 0; i < 7; ++i) tickets.push_back(service->documents().begin(one, task, Documents::Lifetime::document));
  DocumentTask small = task;
  small.bytes = "a dog";
  const auto await_end = [](const Documents::Ticket& ticket) {
    const auto begun = Clock::now();
    while (ticket.document->state() != DocumentTranslation::State::done &&
           Clock::now() - begun < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(ticket.document->state(), DocumentTranslation::State::done);
  };
  await_end(service->documents().begin(two, small, Documents::Lifetime::document));  // there is a place for others
  for (const std::size_t i : {3, 6}) EXPECT_EQ(tickets[i].document->state(), DocumentTranslation::State::waiting) << i;
  const Documents::Ticket large = service->documents().begin(two, task, Documents::Lifetime::document);
  const Documents::Ticket third = service->documents().begin(three, small, Documents::Lifetime::document);
  EXPECT_EQ(third.document->state(), DocumentTranslation::State::waiting) << "four are in translation";
  tickets[5].document->cancel();  // it was not begun
  large.document->cancel();
  await_end(third);
  EXPECT_EQ(tickets[6].document->state(), DocumentTranslation::State::waiting);
  for (const Documents::Ticket& ticket : tickets) ticket.document->cancel();
}

struct FilesOverPivots : TranslatedFiles {
  /// With models a from fr into en, and b from en into de, of so many positions (0: as many as the translator).
  void begin(std::int64_t positions = 0) {
    server.reset(), service.reset(), models.reset();
    std::vector<ModelLoader> loaders;
    for (const auto& [name, source, target] :
         std::vector<std::array<std::string, 3>>{{"a", "fr", "en"}, {"b", "en", "de"}}) {
      Loaded l = translator;
      l.source_language = source, l.target_language = target;
      if (name == "b" && positions > 0)
        l.model = testing::small_marian(*l.tokenizer, l.tokenizer->special(Side::target).pad, positions, 5);
      loaders.push_back({.name = name, .load = [l] { return l; }, .describe = [l] { return profile_of(l); }});
    }
    models = std::make_unique<Models>(loaders, ModelsOptions{.at_start = false, .on_demand = true});
    service = std::make_unique<Service>(ServiceOptions{}, *models);
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.port = 0},
        [this](HttpRequest r, std::shared_ptr<Responder> out) { service->handle(std::move(r), std::move(out)); });
    models->wait();
  }
};

TEST_F(FilesOverPivots, TellWhatTheNextModelCannotRead) {
  begin(4);
  const Answer a = send({"a.txt", "Il faisait beau et nous sommes rentrés tôt.", {{"source", "fr"}, {"target", "de"}}});
  EXPECT_EQ(Json::parse(a.body)["warnings"],
            Json{"model b has 4 positions, and a sentence that it reads is longer; its end was not translated"});
}

TEST_F(FilesOverPivots, FindTheirLanguagesAndPivots) {
  begin();
  const std::string html = "<p>Il faisait <b>beau</b> et nous sommes rentrés tôt.</p><p>Un chien court.</p>";
  const Answer a = send({"page.html", html, {{"source", "auto"}, {"target", "de"}}});
  const Json got = Json::parse(a.body);
  EXPECT_EQ(got["pivot"], Json({"en"})) << a.body;
  EXPECT_FALSE(got.contains("warnings")) << a.body;
  EXPECT_EQ(got["detectedLanguage"]["language"], "fr");
  EXPECT_EQ(ask("GET", path_of(a)).body,
            post("/translate", {{"q", html}, {"source", "fr"}, {"target", "de"}, {"format", "html"}})["translatedText"]
                .get<std::string>());
  FileForm odd{"page.html", html, {{"source", "fr"}, {"target", "de"}, {"context", "1"}}};
  EXPECT_TRUE(contains(error_of(odd, 400), "context"));
}

}  // namespace tril::serve::document_api_test
