// What the answer to a translated file says about its terms and its translation memory.
#include "serve/api/document_terms.h"

#include "support/contains.h"
#include "support/file_form.h"
#include "support/serving.h"

namespace tril::serve::document_terms_test {
namespace {

using testing::FileForm;

struct ServingTermsOfFiles : Serving {
  void begin() {
    ServiceOptions o;
    o.glossaries = std::make_shared<terms::GlossaryLibrary>();
    o.glossaries->add("pets",
                      terms::read_term_table("en,de\ndog,red ball\ncat,\u6771\n", terms::TableFormat::csv, "p.csv"));
    auto memory = std::make_shared<terms::TranslationMemory>();
    memory->add("A dog runs.", "Der Hund rennt.");
    memory->finish();
    o.memories = std::make_shared<const ServedMemories>(ServedMemories{{"mine", {{"en", "de"}, memory}}});
    serve(o);
  }
  Json send(const std::string& text, std::vector<std::pair<std::string, std::string>> more,
            const std::string& headers = "") {
    std::vector<std::pair<std::string, std::string>> fields{{"source", "en"}, {"target", "de"}};
    fields.insert(fields.end(), more.begin(), more.end());
    Client client(server->port());
    client.send(FileForm{"notes.txt", text, fields}.request("/translate_file", headers));
    const Answer a = client.answer();
    EXPECT_EQ(a.status, 200) << a.body;
    return headers.empty() ? Json::parse(a.body) : Json(a.body);
  }
};

TEST_F(ServingTermsOfFiles, AreToldAsForTexts) {
  begin();
  std::string text;
  for (int i = 0; i < 150; ++i) text += "a dog runs " + std::to_string(i) + "\n\n";  // several windows
  text += "two cats and a cat\n\na dog\n";
  const Json told = send(text, {{"glossary", "pets"}});
  EXPECT_EQ(told["terms"], Json::parse(R"([{"source": "dog", "target": "red ball", "applied": true, "count": 151},
                                           {"source": "cat", "target": "東", "applied": false, "count": 1}])"));
  EXPECT_FALSE(told.contains("memory"));
  const Json none = send("a dog", {});
  EXPECT_FALSE(none.contains("terms") || none.contains("memory"));
}

TEST_F(ServingTermsOfFiles, SentencesOfTheMemoryAreTold) {
  begin();
  const std::string text = "A dog runs.\n\nA dog walks.\n\nsnow\n";
  const Json hits = Json::parse(
      R"([{"text": "A dog runs.", "source": "A dog runs.", "target": "Der Hund rennt.", "score": 100, "applied": true},
          {"text": "A dog walks.", "source": "A dog runs.", "target": "Der Hund rennt.", "score": 75, "applied": false}])");
  Json told = send(text, {{"memory", "mine"}});
  EXPECT_EQ(told["memory"], hits);
  EXPECT_FALSE(told.contains("terms"));
  told = send(text, {{"memory", "mine"}, {"memory_use", "tell"}});
  EXPECT_EQ(told["memory"][0]["applied"], false);
  EXPECT_EQ(told["memory"][0]["score"], 100);
  EXPECT_TRUE(contains(send(text, {{"memory", "mine"}, {"stream", "true"}}, "X-Any: 1\r\n").get<std::string>(),
                       R"("applied":true)", "translatedFileUrl"));
  // The same by texts.
  const Json body{{"q", text}, {"source", "en"}, {"target", "de"}, {"memory", "mine"}};
  EXPECT_EQ(post("/translate", body)["memory"], hits);
}

TEST(DocumentTerms, OfManySentencesOnlySomeHitsAreListed) {
  DocumentTerms terms(false, true);
  for (std::size_t k = 0; k < DocumentTerms::most_sentences + 7; ++k)
    terms.add_hits(k, std::to_string(k), {{.source = "x", .target = "y", .score = 80}});
  Json body;
  Warnings warnings;
  terms.put_into(body, warnings);
  EXPECT_EQ(body["memory"].size(), DocumentTerms::most_sentences);
  warnings.put_into(body);
  EXPECT_TRUE(contains(body["warnings"][0].get<std::string>(), "memory", " 7 "));
}

}  // namespace
}  // namespace tril::serve::document_terms_test
