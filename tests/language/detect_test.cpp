// The language of a text, among those that are possible.
#include "language/detect.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/rounds.h"

namespace tril {
namespace {

LanguageDetector detector(const std::vector<std::string>& codes) {
  std::vector<Language> languages;
  for (const std::string& code : codes) languages.push_back(find_language(code).value());
  return LanguageDetector(languages);
}

std::string best(const LanguageDetector& detector, std::string_view text) {
  const Detection found = detector.detect(text);
  return found.sure() ? code_of(detector.languages()[found.sure()->language]) : "unsure";
}

TEST(DetectLanguage, OfSentencesAmongMany) {
  const LanguageDetector all =
      detector({"en", "de", "fr", "es", "it", "pt",      "nl",      "sv", "da", "pl", "cs", "hu", "ro",
                "ru", "uk", "el", "tr", "ja", "zh-Hans", "zh-Hant", "ko", "ar", "he", "hi", "th"});
  const std::vector<std::pair<std::string, std::string>> table{
      {"en", "The weather was fine, and we went for a walk along the river."},
      {"de", "Das Wetter war schön, und wir gingen am Fluss spazieren."},
      {"fr", "Il faisait beau et nous nous sommes promenés le long de la rivière."},
      {"es", "Hacía buen tiempo y dimos un paseo por la orilla del río."},
      {"it", "Il tempo era bello e siamo andati a passeggiare lungo il fiume."},
      {"pt", "O tempo estava bom e fomos passear ao longo do rio."},
      {"nl", "Het weer was mooi en we gingen wandelen langs de rivier."},
      {"sv", "Vädret var fint och vi gick en promenad längs floden."},
      {"da", "Vejret var fint, og vi gik en tur langs floden."},
      {"pl", "Pogoda była ładna i poszliśmy na spacer wzdłuż rzeki."},
      {"cs", "Počasí bylo pěkné a šli jsme se projít podél řeky."},
      {"hu", "Szép idő volt, és sétáltunk egyet a folyó mentén."},
      {"ro", "Vremea era frumoasă și ne-am plimbat de-a lungul râului."},
      {"ru", "Погода была хорошая, и мы пошли гулять вдоль реки."},
      {"uk", "Погода була гарна, і ми пішли гуляти вздовж річки."},
      {"el", "Ο καιρός ήταν καλός και κάναμε μια βόλτα κατά μήκος του ποταμού."},
      {"tr", "Hava güzeldi ve nehir boyunca yürüyüşe çıktık."},
      {"ja", "天気がよかったので、川沿いを散歩しました。"},
      {"zh-Hans", "天气很好，我们沿着河边散步。"},
      {"zh-Hant", "天氣很好，我們沿著河邊散步。"},
      {"ko", "날씨가 좋아서 우리는 강을 따라 산책했다."},
      {"ar", "كان الطقس جميلا وذهبنا في نزهة على طول النهر."},
      {"he", "מזג האוויר היה נאה והלכנו לטייל לאורך הנהר."},
      {"hi", "मौसम अच्छा था और हम नदी के किनारे टहलने गए।"},
      {"th", "อากาศดีและเราไปเดินเล่นริมแม่น้ำ"}};
  for (const auto& [code, text] : table) EXPECT_EQ(best(all, text), code) << text;
}

TEST(DetectLanguage, OfShortTextsAmongFew) {
  const LanguageDetector three = detector({"de", "fr", "en"});
  EXPECT_EQ(best(three, "Bonjour"), "fr");
  EXPECT_EQ(best(three, "Hallo Welt"), "de");
  EXPECT_EQ(best(three, "OK"), "unsure");
  EXPECT_EQ(best(three, "Straße"), "de");
  EXPECT_EQ(best(detector({"ja", "zh", "ko"}), "こんにちは世界"), "ja");
  EXPECT_EQ(best(detector({"ja", "zh", "ko"}), "안녕하세요"), "ko");
  EXPECT_EQ(best(detector({"ja", "en"}), "Linux カーネルを再起動します"), "ja") << "letters of two scripts";
  EXPECT_EQ(best(detector({"en"}), "a dog"), "en") << "nothing speaks against the only one";
}

TEST(DetectLanguage, OfALanguageThatIsNotPossibleIsNotSure) {
  const LanguageDetector two = detector({"de", "en"});
  const Detection french = two.detect("Il faisait beau et nous nous sommes promenés le long de la rivière.");
  EXPECT_EQ(french.sure(), nullptr);
  ASSERT_TRUE(french.other);
  EXPECT_EQ(french.other->language, "fr");
  EXPECT_GT(french.other_confidence, 90);
  const Detection russian = two.detect("Погода была хорошая, и мы пошли гулять вдоль реки.");
  EXPECT_EQ(russian.sure(), nullptr);
  EXPECT_EQ(russian.other.value().language, "ru");
}

TEST(DetectLanguage, WithoutLettersIsNone) {
  for (const char* text : {"", " \n", "12:30", "3.14 %", "!?", "\xff\xfe", "😀"}) {
    const Detection none = detector({"de", "en"}).detect(text);
    EXPECT_FALSE(none.has_letters) << text;
    EXPECT_TRUE(none.guesses.empty() && !none.other) << text;
  }
}

TEST(DetectLanguage, KnowsVariantsByScript) {
  EXPECT_EQ(best(detector({"zh"}), "天氣很好，我們沿著河邊散步。"), "zh") << "a model that does not say its script";
  EXPECT_EQ(best(detector({"zh-Hans", "en"}), "天氣很好，我們沿著河邊散步，然後回家吃晚飯。"), "unsure");
  EXPECT_EQ(best(detector({"sr", "hr"}), "Време је било лепо и шетали смо дуж реке."), "sr");
  EXPECT_EQ(best(detector({"nb", "sv"}), "Været var fint, og vi gikk en tur langs elven."), "nb");
}

TEST(DetectLanguage, OfAnyBytesIsFoundInBoundedTime) {
  const LanguageDetector all({});
  EXPECT_GT(all.languages().size(), 150u);
  const std::vector<std::string> parts{
      "the ", "der",   "\xff",         "\xc3",         "й",    "か", "漢", "한",        "\xe2\x80\x8f",     "\0",
      "<b>",  "&amp;", "\xed\xa0\x80", "\xef\xbf\xbf", "\x01", "\n", "ا",  "e\xcc\x81", "\xf0\x90\x80\x80", "_"};
  test::rounds(60, [&](RandomSequence& random) {
    std::string text;
    for (auto n = random.below(200); n > 0; --n) {
      const std::string& part = parts[random.below(parts.size())];
      for (auto times = random.below(random.below(10) == 0 ? 300 : 3); times > 0; --times) text += part;
      if (random.below(4) == 0) text += static_cast<char>(random.below(256));
    }
    double sum = 0;
    const Detection found = all.detect(text);
    for (const LanguageGuess& guess : found.guesses) {
      EXPECT_TRUE(guess.confidence >= 1 && guess.confidence <= 100.001);
      sum += guess.confidence;
    }
    EXPECT_LE(sum, 100.001);
  });
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string& part : {std::string("word "), std::string("漢字"), std::string("a"), std::string("é")}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    (void)all.detect(text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

}  // namespace
}  // namespace tril
