// tril translate FILE: a document is translated beside its source, and a stopped run is continued.
#include <csignal>
#include <filesystem>
#include <thread>

#include "decode/models/decoding_options.h"
#include "support/contains.h"
#include "support/translate.h"

namespace tril::translate_document_test {
namespace {

class TranslateDocument : public Translate {};

std::string first_line(const std::string& text) {
  return lines_of(text).at(0);
}

TEST_F(TranslateDocument, IsWrittenBesideItsSource) {
  const std::string page =
      folder->write("page.en.html", "<p>a dog <b>runs</b></p>\n<pre>the red\n ball</pre><p>two men</p>\n");
  const Ran ran = translate({page, "--to", "de", "-b", "2"}, "");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string out = file_text(folder->at("page.en.de.html"));
  const std::string men = first_line(translate({"-b", "2"}, "two men\n").out);
  EXPECT_TRUE(contains(out, "<p>", "<b>", "</b>", "</p>\n<pre>the red\n ball</pre><p>" + men + "</p>\n")) << out;
  EXPECT_FALSE(std::filesystem::exists(folder->at("page.en.de.html.part")));
  // The sentence is the same as of a line: tags do not cut it.
  std::string sentence = out.substr(3, out.find("</p>") - 3);
  for (const std::string tag : {"<b>", "</b>"}) sentence.erase(sentence.find(tag), tag.size());
  EXPECT_EQ(sentence, first_line(translate({"-b", "2"}, "a dog runs\n").out));
}

TEST_F(TranslateDocument, EveryFormatKeepsItsForm) {
  const std::string dog = first_line(translate({"-b", "1"}, "a dog runs\n").out);
  const std::vector<std::pair<std::string, std::string>> files{
      {"x.txt", "  a dog runs\n"},
      {"x.md", "# a dog runs\n"},
      {"x.srt", "1\n00:00:01,000 --> 00:00:02,000\na dog runs\n"},
      {"x.po", "msgid \"a dog runs\"\nmsgstr \"\"\n"},
      {"x.json", "{\"a\": \"a dog runs\"}"},
      {"x.properties", "a = a dog runs\n"}};
  for (const auto& [name, source] : files) {
    const std::string path = folder->write(name, source), out = folder->at("out-" + name);
    const Ran ran = translate({path, "-o", out, "-b", "1"}, "");
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::string expected = source;
    if (name == "x.po")
      expected.insert(expected.size() - 2, dog);
    else
      expected.replace(expected.find("a dog runs"), 10, dog);
    EXPECT_EQ(file_text(out), expected);
  }
}

// A model whose files and name do not state its languages.
TEST_F(TranslateDocument, LanguagesAreStated) {
  const std::string path = folder->write("x.xlf",
                                         "<xliff version='1.2'><file source-language='en'><body><trans-unit><source>a "
                                         "dog runs</source></trans-unit></body>"
                                         "</file></xliff>");
  const auto run = [&](const std::string& languages, const std::string& to, int code) {
    const Ran ran = translate({path, "--to", to, "--languages", languages, "-b", "1"}, "");
    EXPECT_EQ(ran.code, code) << ran.err;
    return ran.err;
  };
  run("en:de", "de", 0);
  EXPECT_TRUE(contains(file_text(folder->at("x.de.xlf")), "target-language=", "de", "<target"));
  EXPECT_TRUE(contains(run("fr:de", "de", 1), "x.xlf", "\"en\"", "\"fr\""));
  EXPECT_TRUE(contains(run("en:de", "fr", 2), "--to", "\"de\"", "\"fr\""));
  EXPECT_TRUE(contains(run("en", "de", 2), "--languages", "FROM:TO", "\"en\""));
  EXPECT_TRUE(contains(run("en:de:fr", "de", 2), "--languages", "FROM:TO"));
  EXPECT_TRUE(contains(run("english:de", "de", 2), "--languages", "for English it is en"));
  EXPECT_TRUE(contains(run("en:-", "de", 2), "--languages", "\"-\""));
}

TEST_F(TranslateDocument, ALongSentenceIsCutAtClauses) {
  std::string long_sentence = "the dog";  // about three times the model's 64 positions
  for (int i = 0; i < 100; ++i) long_sentence += i % 10 == 9 ? ", the ball" : " and a dog";
  const std::string path = folder->write("clauses.txt", long_sentence + "\n"), out = folder->at("clauses.de.txt");
  const Ran ran = translate({path, "--to", "de", "-b", "1"}, "");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("truncated"), std::string::npos) << ran.err;
  EXPECT_EQ(file_text(out), translate({"--split", "sentences", "-b", "1"}, long_sentence + "\n").out);
}

TEST_F(TranslateDocument, AStoppedRunIsContinued) {
  std::string many;
  for (int i = 0; i < 4000; ++i) many += text;
  const std::string path = folder->write("long.txt", many), part = folder->at("long.de.txt.part");
  Launch launch;
  launch.meanwhile = [&](pid_t child) {
    for (int i = 0; i < 6000; ++i) {
      std::error_code error;
      if (std::filesystem::file_size(part, error) > 20'000 && !error) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(child, SIGKILL);
  };
  const std::vector<std::string> args{"translate", "--model", model, path, "--to", "de", "-b", "1"};
  run_tril(args, launch);
  ASSERT_TRUE(std::filesystem::exists(part));
  EXPECT_FALSE(std::filesystem::exists(folder->at("long.de.txt")));
  {
    std::ofstream cut(part, std::ios::app);
    cut << "{\"text\": \"half of a li";
  }
  const Ran again = run_tril(args, "");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "continued after sentence")) << again.err;
  const auto lines = lines_of(file_text(folder->at("long.de.txt"))), four = lines_of(translate({"-b", "1"}, text).out);
  ASSERT_EQ(lines.size(), 16'000u);
  for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], four[i % 4]) << i;
}

// The sentences before are those of the document, whichever run has translated them.
TEST_F(TranslateDocument, AContinuedRunHasTheContextOfTheFirst) {
  const std::string prompted = test::test_dir() + "/golden/lm_translation/some-chat-model";
  std::string many;
  for (int i = 0; i < 1500; ++i) many += "The dog sees " + std::to_string(i) + " men.\n";
  const std::string path = folder->write("context.txt", many), out = folder->at("context.de.txt"), part = out + ".part";
  const std::vector<std::string> args{"translate",         "--model", prompted,    path, "--to",         "de",
                                      "--source-language", "en",      "--context", "2",  "--max-length", "4",
                                      "--temperature",     "0",       "-b",        "1",  "--batch-size", "8"};
  Launch launch;
  launch.meanwhile = [&](pid_t child) {
    std::error_code error;
    for (int i = 0; i < 12'000 && (std::filesystem::file_size(part, error) < 1000 || error); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGKILL);
  };
  run_tril(args, launch);
  ASSERT_TRUE(std::filesystem::exists(part));
  const std::string kept = file_text(part);
  std::size_t end = 0;
  for (int line = 0; line < 101; ++line) end = kept.find('\n', end) + 1;
  ASSERT_GT(end, 0u);
  folder->write("context.de.txt.part", kept.substr(0, end));
  const Ran again = run_tril(args, "");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "continued after sentence 100")) << again.err;
  const std::string continued = file_text(out);
  EXPECT_EQ(run_tril(args, "").code, 0);
  EXPECT_EQ(continued, file_text(out));
}

TEST(SentencesAtATime, AreFewerForALargeModel) {
  EXPECT_EQ(sentences_at_a_time(3'000'000, 32, 2), lines_at_a_time(32, 2));
  EXPECT_EQ(sentences_at_a_time(60'000'000, 32, 2), 1000u);
  EXPECT_EQ(sentences_at_a_time(7'000'000'000, 32, 2), 128u) << "two batches for each worker";
  EXPECT_EQ(sentences_at_a_time(7'000'000'000, 1, 1), 8u);
  EXPECT_EQ(sentences_at_a_time(70'000'000'000, 1, 1), 2u);
}

TEST_F(TranslateDocument, MistakesAreNamed) {
  const std::string page = folder->write("a.html", "<p>a dog</p>"), other = folder->write("a.exe", "x");
  const auto fails = [&](const std::vector<std::string>& args, int code) {
    const Ran ran = translate(args, "");
    EXPECT_EQ(ran.code, code) << ran.err;
    return ran.err;
  };
  EXPECT_TRUE(contains(fails({page}, 2), "--to"));
  EXPECT_TRUE(contains(fails({other, "--to", "de"}, 2), "a.exe", "html"));
  EXPECT_TRUE(contains(fails({page, "-o", page}, 2), "is also --document"));
  EXPECT_TRUE(contains(fails({page, "--to", "de", "--json"}, 2), "--json"));
  EXPECT_TRUE(contains(fails({page, "--to", "de", "--columns", "1"}, 2), "--columns", "CSV"));
  EXPECT_TRUE(contains(fails({"--to", "de"}, 2), "--to"));
  EXPECT_TRUE(contains(fails({folder->write("bad.srt", "x"), "--to", "de"}, 1), "bad.srt", "-->"));
}

}  // namespace
}  // namespace tril::translate_document_test
