// Microsoft's Translator API, version 3: requests of its clients, and their answers.
#include <cstdio>
#include <sstream>

#include "serve/dialects/microsoft_dictionary.h"
#include "serve/dialects/microsoft_places.h"
#include "support/contains.h"
#include "support/dialects.h"
#include "support/polyglot.h"

namespace tril::serve::microsoft_test {
namespace {

using MicrosoftApi = ServingDialects;

Json list_of(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back({{"Text", text}});
  return list;
}

TEST_F(MicrosoftApi, TranslatesBesideLibreTranslate) {
  begin();
  const std::string one = "a dog runs", best = translated(one, 1)[0].text;
  Json got = post("/translate?api-version=3.0&from=en&to=de", list_of({one, "the old dog"}));
  EXPECT_EQ(got[0], Json({{"translations", Json::array({Json{{"text", best}, {"to", "de"}}})}}));
  EXPECT_EQ(got[1]["translations"][0]["text"], translated("the old dog", 1)[0].text);
  EXPECT_EQ(post("/translate", {{"q", one}, {"target", "de"}})["translatedText"], best);
  got = post("/translator/text/v3.0/translate?to=de", list_of({one}));
  EXPECT_EQ(got[0]["detectedLanguage"]["language"], "en");
  EXPECT_EQ(got[0]["translations"][0]["text"], best);
  got = post("/translate?api-version=3.0&to=de&textType=html&category=general", list_of({"<p>a dog runs</p>"}));
  EXPECT_EQ(got[0]["translations"][0]["text"], "<p>" + best + "</p>");
}

TEST_F(MicrosoftApi, SeveralTargetsAndSources) {
  begin({}, testing::small_polyglot(), writer);
  const std::vector<std::string> texts{"Il faisait beau et nous sommes rentr\u00e9s t\u00f4t.",
                                       "We went home early because of the rain.", "12:30"};
  const auto one_by_one = [&](const std::string& text, const std::string& source, const std::string& target) {
    return post("/translate", {{"q", text}, {"source", source}, {"target", target}})["translatedText"];
  };
  const Json got = post("/translate?api-version=3.0&to=de&to=es", list_of(texts));
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0]["detectedLanguage"]["language"], "fr");
  EXPECT_EQ(got[1]["detectedLanguage"]["language"], "en");
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t t = 0; t < 2; ++t) {
      const std::string to = t == 0 ? "de" : "es";
      EXPECT_EQ(got[i]["translations"][t]["to"], to);
      EXPECT_EQ(got[i]["translations"][t]["text"], one_by_one(texts[i], i == 0 ? "fr" : "en", to));
    }
  const Json error = post("/translate?api-version=3.0&to=de&to=german", list_of(texts), 400)["error"];
  EXPECT_EQ(error["code"], 400'036);
  EXPECT_TRUE(contains(error["message"], "to: ", "german"));
}

TEST_F(MicrosoftApi, WordsMayHaveTheirTranslationInTheText) {
  begin();
  const auto translation = [&](const std::string& html) -> std::string {
    return post("/translate?api-version=3.0&from=en&to=de&textType=html",
                list_of({html}))[0]["translations"][0]["text"];
  };
  const std::string got = translation(
      "a <mstrans:dictionary translation=\"R&amp;D dog\">dog</mstrans:dictionary> <b>runs</b> "
      "<mstrans:dictionary translation='Q-7'>men</mstrans:dictionary>");
  for (const std::string words : {"R&amp;D dog", "Q-7", "<b>", "</b>"}) {
    EXPECT_NE(got.find(words), got.npos) << got;
    EXPECT_EQ(got.find(words), got.rfind(words)) << got;
  }
  EXPECT_EQ(got.find("mstrans"), got.npos) << got;
  EXPECT_EQ(got.find("span"), got.npos) << got;
  EXPECT_EQ(without_dictionary_marks(with_dictionary_words(
                "<mstrans:dictionary\n data-translation='no' translation=\"a > b\">c</mstrans:dictionary>")),
            "a > b");
  for (const std::string other : {"<mstrans:dictionary translation=\"a\">",
                                  "<mstrans:dictionary >a</mstrans:dictionary>", "<mstrans:dictionary "})
    EXPECT_EQ(with_dictionary_words(other), other);
  EXPECT_EQ(without_dictionary_marks(
                with_dictionary_words("x <mstrans:dictionary translation=\"y\">z</mstrans:dictionary>.")),
            "x y.");
}

TEST_F(MicrosoftApi, AKeyIsExchangedForAToken) {
  begin();
  EXPECT_EQ(ask("POST", "/sts/v1.0/issueToken?Subscription-Key=anything").body, "none") << "a server without keys";
  ServiceOptions o;
  o.keys.api = {"secret-key"};
  begin(o);
  const Answer token = ask("POST", "/sts/v1.0/issueToken?Subscription-Key=secret-key");
  EXPECT_EQ(token.status, 200);
  EXPECT_EQ(token.headers.at("content-type"), "application/jwt; charset=us-ascii");
  EXPECT_EQ(ask("POST", "/sts/v1.0/issueToken", "", "Ocp-Apim-Subscription-Key: secret-key\r\n").body, token.body);
  const std::string texts = list_of({"a dog"}).dump();
  EXPECT_EQ(
      ask("POST", "/translate?api-version=3.0&to=de", texts, "Authorization: Bearer " + token.body + "\r\n").status,
      200);
  EXPECT_EQ(ask("POST", "/sts/v1.0/issueToken?Subscription-Key=wrong").status, 401);
  EXPECT_EQ(ask("POST", "/sts/v1.0/issueToken").status, 401);
}

TEST_F(MicrosoftApi, SentenceLengthsAndAlignment) {
  Loaded l = small_translator();
  begin({}, l);
  const std::string text = "A dog runs. \U0001f600 The old dog!";
  const auto ask_for = [&](const std::string& more) {
    return post("/translate?api-version=3.0&from=en&to=de" + more, list_of({text, "a dog", ""}));
  };
  EXPECT_FALSE(ask_for("&includeSentenceLength=false")[0]["translations"][0].contains("sentLen"));
  Json got = ask_for("&includeSentenceLength=true");
  const auto units = [](const Json& list) {
    std::size_t sum = 0;
    for (const Json& one : list) sum += one.get<std::size_t>();
    return sum;
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& one = got[i]["translations"][0];
    EXPECT_EQ(units(one["sentLen"]["srcSentLen"]), utf16_units(i == 0 ? text : i == 1 ? "a dog" : "")) << one;
    EXPECT_EQ(units(one["sentLen"]["transSentLen"]), utf16_units(one["text"].get<std::string>())) << one;
    EXPECT_EQ(one["sentLen"]["srcSentLen"].size(), one["sentLen"]["transSentLen"].size());
  }
  EXPECT_EQ(got[0]["translations"][0]["sentLen"]["srcSentLen"].size(), 2u);
  EXPECT_TRUE(contains(
      post("/translate?api-version=3.0&to=de&includeAlignment=true", list_of({"a dog"}), 400)["error"]["message"],
      "includeAlignment", "alignment heads"));
  EXPECT_TRUE(contains(post("/translate?api-version=3.0&to=de&textType=html&includeSentenceLength=true",
                            list_of({"a dog"}), 400)["error"]["message"],
                       "includeSentenceLength", "plain"));

  std::const_pointer_cast<model::Model>(l.model)->set_alignment_heads(nn::AttentionHeads{});
  begin({}, l);
  got = ask_for("&includeAlignment=true");
  EXPECT_EQ(got[2]["translations"][0]["alignment"]["proj"], "");
  const std::string proj = got[0]["translations"][0]["alignment"]["proj"];
  EXPECT_EQ(got[0]["translations"][0]["text"], ask_for("")[0]["translations"][0]["text"]);
  std::size_t pairs = 0;
  std::istringstream list(proj);
  for (std::string pair; list >> pair; ++pairs) {
    std::size_t s = 0, s_last = 0, t = 0, t_last = 0;
    ASSERT_EQ(std::sscanf(pair.c_str(), "%zu:%zu-%zu:%zu", &s, &s_last, &t, &t_last), 4) << pair;
    EXPECT_TRUE(s <= s_last && s_last < utf16_units(text) && t <= t_last) << pair;
    EXPECT_LT(t_last, utf16_units(got[0]["translations"][0]["text"].get<std::string>())) << pair;
  }
  EXPECT_GT(pairs, 0u);
}

TEST_F(MicrosoftApi, AllTargetsCountForTheLimitOfAKey) {
  begin({.keys = {.api = {"first"}, .admin = {}, .most_characters = {{"first", 12}}}}, testing::small_polyglot(),
        writer);
  const auto status = [&](const std::string& targets) {
    return ask("POST", "/translate?api-version=3.0&from=en" + targets, R"([{"Text": "a dog"}])", "X-API-Key: first\r\n")
        .status;
  };
  const auto used = [&] {
    return Json::parse(ask("GET", "/v2/usage", "", "X-API-Key: first\r\n").body)["character_count"];
  };
  EXPECT_EQ(status("&to=de&to=es&to=de"), 429) << "15 characters";
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(status("&to=de&to=es"), 200);
  EXPECT_EQ(used(), 10);
  EXPECT_EQ(status("&to=de"), 429);
}

TEST(MicrosoftPlaces, WordsAreWhole) {
  const std::string source = "\U0001f600 red dogs", target = "rote Hunde";
  const std::size_t red = source.find("red");
  const Json links = Json::array({Json::array({red, red + 2, 1, 3}), Json::array({red + 5, red + 7, 5, 6}),
                                  Json::array({red + 1, red + 3, 0, 2}), Json::array({0, 0, 0, 0})});
  const Json places =
      Json::array({Json{{"source", {0, source.size()}}, {"target", {0, target.size()}}, {"links", links}}});
  EXPECT_EQ(word_alignment(places, source, target), (Json{{"proj", "3:5-0:3 7:10-5:9"}}));
  EXPECT_EQ(sentence_lengths(places, source, target), (Json{{"srcSentLen", {11}}, {"transSentLen", {10}}}));
}

TEST_F(MicrosoftApi, LanguagesDetectionsAndSentences) {
  begin({}, testing::small_polyglot(), writer);
  const Json languages = request("GET", "/languages?api-version=3.0&scope=translation", "", "Accept-Language: de\r\n");
  EXPECT_EQ(languages["translation"]["en"], Json({{"name", "Englisch"}, {"nativeName", "English"}, {"dir", "ltr"}}));
  EXPECT_EQ(languages.size(), 1u);
  EXPECT_EQ(request("GET", "/languages?api-version=3.0").size(), 3u);
  EXPECT_TRUE(request("GET", "/languages").is_array()) << "LibreTranslate's";
  const Json detected = post("/detect?api-version=3.0", list_of({"We went home early because of the rain.", "12:30"}));
  EXPECT_EQ(detected[0]["language"], "en");
  EXPECT_EQ(detected[0]["isTranslationSupported"], true);
  EXPECT_EQ(detected[1]["language"], "und");
  const Json broken = post("/breaksentence?api-version=3.0&language=en",
                           list_of({"How are you? I am fine. What did you do today?", " \U0001f600 a.  B. ", ""}));
  EXPECT_EQ(broken[0], Json({{"sentLen", {13, 11, 22}}}));
  EXPECT_EQ(broken[2]["sentLen"], Json::array());
  std::size_t sum = 0;
  for (const Json& one : broken[1]["sentLen"]) sum += one.get<std::size_t>();
  EXPECT_EQ(sum, 11u) << "an emoji is two units";
  EXPECT_EQ(post("/breaksentence?api-version=3.0",
                 list_of({"It was late. We went home early because of the rain."}))[0]["detectedLanguage"]["language"],
            "en");
}

TEST_F(MicrosoftApi, ErrorsHaveItsForm) {
  ServiceOptions o;
  o.keys.api = {"secret"};
  begin(o);
  const std::string key = "Ocp-Apim-Subscription-Key: secret\r\n", body = list_of({"a dog"}).dump();
  for (const char* name :
       {"translate?api-version=3.0&to=de", "detect?api-version=3.0", "breaksentence?api-version=3.0"})
    EXPECT_EQ(request("POST", std::string("/") + name, body, "", 401)["error"]["code"], 401'000);
  EXPECT_EQ(request("GET", "/languages?api-version=3.0", "", "", 401)["error"]["code"], 401'000);
  request("POST", "/translate?api-version=3.0&to=de", body, key);
  request("POST", "/translate?api-version=3.0&to=de&Subscription-Key=secret", body);
  const std::string large = list_of({std::string(150'000, 'a')}).dump();
  EXPECT_EQ(request("POST", "/translate?api-version=3.0&to=de&to=de", large, key, 413)["error"]["code"], 413'000)
      << "each target counts";
  const auto message = [&](const std::string& query, const std::string& wrong, int code = 400'000) {
    const Json error = request("POST", "/translate?api-version=3.0" + query, wrong, key, 400)["error"];
    EXPECT_EQ(error["code"], code) << error;
    return error["message"].get<std::string>();
  };
  EXPECT_TRUE(contains(message("", body, 400'036), "to", "missing"));
  EXPECT_TRUE(contains(message("&to=de&from=xx", body, 400'035), "xx"));
  EXPECT_TRUE(contains(message("&to=de&textType=pdf", body), "textType", "pdf"));
  EXPECT_TRUE(contains(message("&to=de&includeAlignment=true", body), "includeAlignment"));
  EXPECT_TRUE(contains(message("&to=de&profanityAction=Deleted", body), "profanityAction"));
  for (const char* wrong : {"{}", "[]", "[1]", "[{}]", R"([{"Text": 1}])", "", "[", "Text=a"})
    (void)message("&to=de", wrong);
  EXPECT_TRUE(contains(request("POST", "/translate?api-version=2.0&to=de", body, key, 400)["error"]["message"], "3.0"));
}

}  // namespace
}  // namespace tril::serve::microsoft_test
