// Documents of DeepL's API: upload, status, result.
#include "support/contains.h"
#include "support/dialects.h"
#include "support/file_form.h"

namespace tril::serve::deepl_documents_test {
namespace {

struct DeeplDocuments : ServingDialects {
  Answer upload(const testing::FileForm& form, const std::string& headers = "") const {
    Client client(server->port());
    client.send(form.request("/v2/document", headers));
    return client.answer();
  }
  // The ticket of a document, once its translation has ended.
  Json translated_document(const testing::FileForm& form, const std::string& status = "done") const {
    const Answer a = upload(form);
    EXPECT_EQ(a.status, 200) << a.body;
    Json ticket = Json::parse(a.body);
    const auto begun = Clock::now();
    Json got;
    do {
      got =
          post("/v2/document/" + ticket["document_id"].get<std::string>(), {{"document_key", ticket["document_key"]}});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } while ((got["status"] == "queued" || got["status"] == "translating") &&
             Clock::now() - begun < std::chrono::seconds(60));
    EXPECT_EQ(got["status"], status) << got;
    ticket["status"] = got;
    return ticket;
  }
};

TEST_F(DeeplDocuments, AreTranslatedAsTextsAre) {
  begin();
  const std::string html = "<p>a dog runs</p>\n<pre>x</pre>";
  Json got = translated_document({"page.html", html, {{"source_lang", "EN"}, {"target_lang", "DE"}}});
  EXPECT_EQ(got["status"]["billed_characters"], 10);
  const std::string at = "/v2/document/" + got["document_id"].get<std::string>();
  const std::string key = Json{{"document_key", got["document_key"]}}.dump();
  const Answer wrong = ask("POST", at + "/result", R"({"document_key": "no"})");
  EXPECT_EQ(wrong.status, 404);
  EXPECT_TRUE(Json::parse(wrong.body).contains("message"));
  const Answer file = ask("POST", at + "/result", key);
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, "<p>" + translated("a dog runs", 1)[0].text + "</p>\n<pre>x</pre>");
  EXPECT_EQ(ask("POST", at + "/result", key).status, 404) << "only once";
  EXPECT_EQ(ask("POST", at, key).status, 404);
  EXPECT_EQ(request("GET", "/v2/usage")["character_count"], 10);
  got =
      translated_document({"x", "a dog", {{"target_lang", "de"}, {"filename", "notes.TXT"}, {"output_format", "txt"}}});
  EXPECT_EQ(request("POST", "/v2/document/" + got["document_id"].get<std::string>(),
                    "document_key=" + got["document_key"].get<std::string>(), form_type)["status"],
            "done");
}

// An upload with an unknown key is refused although its body never arrives, as each API does it, and stands in the log.
TEST_F(DeeplDocuments, KeysAreCheckedBeforeTheBodyIsRead) {
  begin({.keys = {.api = {"first", "second"}, .admin = {}}});
  const auto begin_upload = [&](const std::string& path, const std::string& headers) {
    Client client(server->port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: a\r\n" + headers +
                "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 8000000\r\n\r\n--b\r\n");
    return client.answer();
  };
  const Answer deepl = begin_upload("/v2/document", "Authorization: DeepL-Auth-Key wrong\r\n");
  EXPECT_EQ(deepl.status, 403);
  EXPECT_TRUE(Json::parse(deepl.body).contains("message"));
  EXPECT_EQ(deepl.headers.at("connection"), "close");
  const Answer libretranslate = begin_upload("/translate_file?api_key=wrong", "");
  EXPECT_EQ(libretranslate.status, 403);
  EXPECT_EQ(Json::parse(libretranslate.body)["error"], "Invalid API key");
  EXPECT_EQ(begin_upload("/translate_file", "Authorization: Bearer first\r\nOrigin: https://other.example\r\n").status,
            403);
  {
    const std::lock_guard lock(mutex);
    ASSERT_EQ(log.size(), 3u);
    EXPECT_EQ(Json::parse(log[0])["path"], "/v2/document");
    EXPECT_EQ(Json::parse(log[0])["status"], 403);
  }
  EXPECT_EQ(upload({"a.txt", "a dog", {{"target_lang", "DE"}}}, "Authorization: DeepL-Auth-Key second\r\n").status,
            200);
  EXPECT_EQ(upload({"a.txt", "a dog", {{"target_lang", "DE"}, {"auth_key", "second"}}}).status, 200) << "in the form";
  EXPECT_EQ(upload({"a.txt", "a dog", {{"target_lang", "DE"}, {"auth_key", "wrong"}}}).status, 403);
}

TEST_F(DeeplDocuments, TheLogHasTheirModel) {
  begin();
  (void)translated_document({"a.txt", "a dog", {{"source_lang", "EN"}, {"target_lang", "DE"}}});
  const std::lock_guard lock(mutex);
  std::vector<Json> lines;
  for (const std::string& line : log)
    if (line.find("/v2/document") != std::string::npos) lines.push_back(Json::parse(line));
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.front()["model"], "de") << "the upload";
  EXPECT_EQ(lines.back()["model"], "de") << "the state `done`";
}

TEST_F(DeeplDocuments, AKeyMayHaveALimitOfCharacters) {
  begin({.keys = {.api = {"first", "second"}, .admin = {}, .most_characters = {{"first", 12}}}});
  const std::string first = "Authorization: DeepL-Auth-Key first\r\n", second = "X-API-Key: second\r\n";
  const auto translate = [&](const std::string& text, const std::string& key, int status = 200) {
    return request("POST", "/v2/translate", Json{{"text", {text}}, {"target_lang", "DE"}}.dump(), key, status);
  };
  translate("a dog", first);
  EXPECT_EQ(request("GET", "/v2/usage", "", first), (Json{{"character_count", 5}, {"character_limit", 12}}));
  EXPECT_EQ(request("GET", "/v2/usage", "", second)["character_limit"], 1'000'000'000'000);
  EXPECT_TRUE(contains(translate("a dog runs", first, 456)["message"].get<std::string>(), "12", "5", "10"));
  EXPECT_EQ(ask("POST", "/translate", R"({"q": "a dog runs", "target": "de"})", "X-API-Key: first\r\n").status, 429);
  // A document is counted when it has been read.
  Answer a = upload({"a.txt", "a dog runs", {{"target_lang", "DE"}}}, first);
  ASSERT_EQ(a.status, 200) << a.body;
  const Json ticket = Json::parse(a.body);
  const std::string at = "/v2/document/" + ticket["document_id"].get<std::string>();
  const std::string key = Json{{"document_key", ticket["document_key"]}}.dump();
  Json status;
  const auto begun = Clock::now();
  do status = request("POST", at, key, first);
  while (status["status"] != "error" && Clock::now() - begun < std::chrono::seconds(60));
  EXPECT_TRUE(contains(status["error_message"].get<std::string>(), "12 characters"));
  translate("a dog!!", first);
  EXPECT_EQ(upload({"a.txt", "a", {{"target_lang", "DE"}}}, first).status, 456) << "nothing is left";
  translate("a dog runs", second);
}

TEST_F(DeeplDocuments, CountsBelongToKeysAndNotToLinesOfTheirFile) {
  begin({.keys = {.api = {"first", "second"}, .admin = {}}});
  const std::string first = "X-API-Key: first\r\n", second = "X-API-Key: second\r\n";
  request("POST", "/v2/translate", Json{{"text", {"a dog"}}, {"target_lang", "DE"}}.dump(), first);
  service->set_keys({.api = {"second", "first"}, .admin = {}});
  EXPECT_EQ(request("GET", "/v2/usage", "", first)["character_count"], 5);
  EXPECT_EQ(request("GET", "/v2/usage", "", second)["character_count"], 0);
}

TEST_F(DeeplDocuments, GlossariesAreApplied) {
  begin();
  const Json made = post("/v2/glossaries",
                         {{"name", "x"},
                          {"source_lang", "en"},
                          {"target_lang", "de"},
                          {"entries", "dog\tsnow"},
                          {"entries_format", "tsv"}},
                         201);
  const std::string id = made["glossary_id"];
  for (const char* name : {"glossary_id", "glossary_ids"}) {
    const Json got =
        translated_document({"a.txt", "a dog", {{"source_lang", "EN"}, {"target_lang", "DE"}, {name, id}}});
    const Answer file = ask("POST", "/v2/document/" + got["document_id"].get<std::string>() + "/result",
                            Json{{"document_key", got["document_key"]}}.dump());
    EXPECT_TRUE(contains(file.body, "snow"));
  }
  EXPECT_EQ(upload({"a.txt", "a dog", {{"target_lang", "DE"}, {"glossary_id", id}}}).status, 400);
  EXPECT_EQ(upload({"a.txt", "a dog", {{"source_lang", "EN"}, {"target_lang", "DE"}, {"glossary_id", "no"}}}).status,
            404);
}

TEST_F(DeeplDocuments, ErrorsAreTold) {
  begin();
  const auto message = [&](const testing::FileForm& form, int status = 400) {
    const Answer a = upload(form);
    EXPECT_EQ(a.status, status) << a.body;
    return Json::parse(a.body)["message"].get<std::string>();
  };
  EXPECT_TRUE(contains(message({"a.txt", "a dog"}), "target_lang", "missing"));
  EXPECT_TRUE(contains(message({"a.exe", "a dog", {{"target_lang", "DE"}}}), "format not supported", "docx"));
  EXPECT_TRUE(contains(message({"a.txt", "", {{"target_lang", "DE"}}}), "empty file"));
  EXPECT_TRUE(contains(message({"a.txt", "a", {{"target_lang", "DE"}, {"output_format", "docx"}}}), "output_format"));
  EXPECT_TRUE(contains(message({"a.txt", "a", {{"target_lang", "DE"}, {"formality", "very"}}}), "formality"));
  EXPECT_TRUE(contains(message({"a.txt", "a", {{"target_lang", "XX"}}}), "Value for 'target_lang' not supported"));
  EXPECT_TRUE(contains(message({"a.txt", "a", {{"target_lang", "DE"}, {"source_lang", "XX"}}}),
                       "Value for 'source_lang' not supported"));
  EXPECT_TRUE(contains(message({"a.txt", "a", {{"target_lang", "DE"}, {"formality", "more"}}}),
                       "Target language does not support formality"));
  // These are found only when the document is read.
  const Json failed = translated_document({"a.json", "{", {{"target_lang", "DE"}}}, "error");
  EXPECT_FALSE(failed["status"]["error_message"].get<std::string>().empty());
  EXPECT_EQ(post("/v2/document/" + std::string(32, '0'), {{"document_key", "x"}}, 404).size(), 1u);
  EXPECT_TRUE(contains(post("/v2/document/x/result", Json::object(), 400)["message"], "document_key"));
  EXPECT_EQ(request("POST", "/v2/document", "a=b", form_type, 415).size(), 1u);
}

TEST_F(DeeplDocuments, BelongToAKey) {
  ServiceOptions o;
  o.keys.api = {"one", "two"};
  begin(o);
  const testing::FileForm form{"a.txt", "a dog", {{"target_lang", "DE"}}};
  EXPECT_EQ(upload(form).status, 403);
  const Answer a = upload(form, "Authorization: DeepL-Auth-Key one\r\n");
  ASSERT_EQ(a.status, 200) << a.body;
  const Json ticket = Json::parse(a.body);
  const std::string at = "/v2/document/" + ticket["document_id"].get<std::string>();
  const std::string body = Json{{"document_key", ticket["document_key"]}}.dump();
  EXPECT_EQ(ask("POST", at, body, "Authorization: DeepL-Auth-Key two\r\n").status, 404);
  EXPECT_EQ(ask("POST", at, body, "Authorization: DeepL-Auth-Key one\r\n").status, 200);
}

}  // namespace
}  // namespace tril::serve::deepl_documents_test
