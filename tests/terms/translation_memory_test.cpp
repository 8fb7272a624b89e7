// Translation memories: exact and similar sentences beside a search through all pairs, and the files.
#include "terms/translation_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/rounds.h"
#include "support/temporary.h"
#include "terms/similarity.h"
#include "terms/units.h"

namespace tril::terms::memory_test {
namespace {

std::string hits(const TranslationMemory& memory, std::string_view text) {
  std::string list;
  for (const MemoryHit& hit : memory.find(text)) list += fmt::format("{}>{}:{};", hit.source, hit.target, hit.score);
  return list;
}

TranslationMemory memory_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  TranslationMemory memory;
  for (const auto& [source, target] : pairs) memory.add(source, target);
  memory.finish();
  return memory;
}

TEST(TranslationMemory, ExactHitsAreEqualButForFormAndSpace) {
  const TranslationMemory memory =
      memory_of({{"The dog  runs.", "Der Hund läuft."}, {"\u00e9t\u00e9", "Sommer"}, {"", "x"}});
  EXPECT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory.exact(" The\u00a0dog runs.\n"), "Der Hund läuft.");
  EXPECT_EQ(memory.exact("e\u0301te\u0301"), "Sommer");
  for (const char* const other : {"the dog runs.", "The dog runs", "The dog runs .", "The dog", ""})
    EXPECT_EQ(memory.exact(other), std::nullopt) << other;
}

TEST(TranslationMemory, TheLastTranslationOfASentenceCounts) {
  const TranslationMemory memory = memory_of({{"a b", "1"}, {"c", "2"}, {"a  b", "3"}, {"c", "2"}});
  EXPECT_EQ(memory.exact("a b"), "3");
  EXPECT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory.replaced(), 1u);
}

TEST(TranslationMemory, SimilarSentencesHaveScores) {
  const TranslationMemory memory = memory_of({{"The dog runs fast.", "1"},
                                              {"The dog runs slowly.", "2"},
                                              {"The cat sleeps here now.", "3"},
                                              {"我喜欢狗", "4"}});
  EXPECT_EQ(hits(memory, "The dog runs fast."), "The dog runs fast.>1:100;The dog runs slowly.>2:80;");
  EXPECT_EQ(hits(memory, "The dog walks fast."), "The dog runs fast.>1:80;");
  EXPECT_EQ(hits(memory, "The dog runs fast ."), "The dog runs fast.>1:99;The dog runs slowly.>2:80;")
      << "100 is for exact hits";
  EXPECT_EQ(hits(memory, "A dog walks fast."), "") << "60%";
  EXPECT_EQ(hits(memory, "我喜欢猫"), "我喜欢狗>4:75;");
  EXPECT_EQ(hits(memory, ""), "");
}

// The scores of all pairs, without an index.
std::vector<std::int32_t> all_scores(const std::vector<std::string>& sources, const std::string& text) {
  std::map<std::string, std::int32_t> numbers;
  const auto units = [&](const std::string& s) {
    std::vector<std::int32_t> list;
    for (const Unit& u : units_of(s))
      if (!u.space)
        list.push_back(numbers.emplace(s.substr(u.begin, u.end - u.begin), static_cast<std::int32_t>(numbers.size()))
                           .first->second);
    return list;
  };
  const std::vector<std::int32_t> own = units(text);
  std::vector<std::int32_t> scores;
  for (const std::string& source : sources) {
    const std::vector<std::int32_t> other = units(source);
    std::vector<std::vector<std::int32_t>> d(own.size() + 1, std::vector<std::int32_t>(other.size() + 1));
    for (std::size_t i = 0; i <= own.size(); ++i)
      for (std::size_t j = 0; j <= other.size(); ++j)
        d[i][j] =
            i == 0 ? static_cast<std::int32_t>(j)
            : j == 0
                ? static_cast<std::int32_t>(i)
                : std::min({d[i - 1][j - 1] + (own[i - 1] == other[j - 1] ? 0 : 1), d[i - 1][j] + 1, d[i][j - 1] + 1});
    const auto longest = static_cast<std::int32_t>(std::max(own.size(), other.size()));
    const std::int32_t score = 100 * (longest - d[own.size()][other.size()]) / longest;
    if (score >= 75) scores.push_back(exact_text(source) == exact_text(text) ? 100 : std::min(99, score));
  }
  std::sort(scores.rbegin(), scores.rend());
  scores.resize(std::min<std::size_t>(3, scores.size()));
  return scores;
}

TEST(TranslationMemory, TheIndexFindsWhatASearchThroughAllPairsFinds) {
  test::rounds(400, [](RandomSequence& random) {
    static constexpr std::array words{"the", "the", "a", "dog", "cat", "runs", "sleeps", ".", ",", "犬", "red", "big"};
    const auto sentence = [&] {
      std::string text = "x";
      for (std::uint64_t n = random.below(9); n > 0; --n) text += std::string(" ") + words[random.below(words.size())];
      return text;
    };
    TranslationMemory memory;
    std::vector<std::string> sources;
    for (int i = 0; i < 60; ++i) {
      const std::string source = sentence();
      if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
      memory.add(source, "t");
    }
    memory.finish();
    for (int i = 0; i < 10; ++i) {
      const std::string text = i % 2 == 0 ? sentence() : sources[random.below(sources.size())] + " dog";
      std::vector<std::int32_t> scores;
      for (const MemoryHit& hit : memory.find(text)) scores.push_back(hit.score);
      EXPECT_EQ(scores, all_scores(sources, text)) << text;
    }
  });
}

TEST(TranslationMemory, DistancesAreThoseOfTheFullTable) {
  test::rounds(2000, [](RandomSequence& random) {
    const auto sequence = [&] {
      std::vector<std::int32_t> list(random.below(10));
      for (std::int32_t& x : list) x = static_cast<std::int32_t>(random.below(3));
      return list;
    };
    const std::vector<std::int32_t> a = sequence(), b = sequence();
    std::vector<std::vector<std::int32_t>> d(a.size() + 1, std::vector<std::int32_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
      for (std::size_t j = 0; j <= b.size(); ++j)
        d[i][j] = i == 0 ? static_cast<std::int32_t>(j)
                  : j == 0
                      ? static_cast<std::int32_t>(i)
                      : std::min({d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), d[i - 1][j] + 1, d[i][j - 1] + 1});
    const std::int32_t whole = d[a.size()][b.size()];
    for (std::int32_t most = 0; most < 11; ++most)
      EXPECT_EQ(edit_distance(a, b, most), std::min(whole, most + 1)) << most;
  });
}

constexpr const char* tmx = R"(<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en" datatype="plaintext" segtype="sentence" adminlang="en" o-tmf="x" creationtool="x" creationtoolversion="1"/>
<body>
<tu><tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>dog<ept i="1">&lt;/b&gt;</ept> &amp; <hi>cat</hi><ph/>.</seg></tuv>
    <tuv xml:lang="de"><seg>Hund &amp; Katze.</seg></tuv><tuv xml:lang="fr"><seg>Chien.</seg></tuv></tu>
<tu><tuv lang="EN"><seg>Yes</seg></tuv><tuv xml:lang="fr"><seg>Oui</seg></tuv></tu>
</body></tmx>)";

TEST(TranslationMemory, TmxIsReadForAPair) {
  const TemporaryDirectory folder;
  const std::string path = folder.write("m.tmx", tmx);
  std::vector<std::string> notes;
  EXPECT_EQ(read_memory(path, {"en", "de"}, notes).exact("The dog & cat."), "Hund & Katze.");
  EXPECT_EQ(read_memory(path, {"fr", "en"}, notes).exact("Oui"), "Yes");
  const auto error = [&](const LanguagePair& pair) { return error_of([&] { read_memory(path, pair, notes); }); };
  EXPECT_TRUE(contains(error({"en", "ja"}), "m.tmx", "ja", "languages"));
  EXPECT_TRUE(contains(error({"", "de"}), "source language"));
}

TEST(TranslationMemory, TsvIsRead) {
  const TemporaryDirectory folder;
  std::vector<std::string> notes;
  EXPECT_EQ(read_memory(folder.write("m.tsv", "\xef\xbb\xbf# 1\tNr. 1\r\na\tb\tc\n"), {}, notes).exact("a"), "b");
  read_memory(folder.write("t.tsv", "a\tb\na\tc\n"), {}, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(contains(notes[0], "several translations", "1"));
  EXPECT_TRUE(contains(error_of([&] { read_memory(folder.write("n.tsv", "a\tb\nc\n"), {}, notes); }), "line 2", "tab"));
  EXPECT_TRUE(
      contains(error_of([&] { read_memory(folder.write("n.tsv", "a\t\xff\n"), {}, notes); }), "line 1", "UTF-8"));
  const std::string wide{"a\tb\na\0\tb\0\n", 10};
  EXPECT_TRUE(contains(error_of([&] { read_memory(folder.write("w.tsv", wide), {}, notes); }), "line 2", "NUL"));
  EXPECT_TRUE(contains(error_of([&] { read_memory(folder.write("n.po", ""), {}, notes); }), ".tmx"));
  EXPECT_TRUE(contains(error_of([&] { read_memory(folder.write("n.tmx", "<tbx/>"), {"en", "de"}, notes); }), "TMX"));
}

}  // namespace
}  // namespace tril::terms::memory_test
