// tril translate from outside: glossaries and translation memories.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/translate.h"

namespace tril {
namespace {

nlohmann::json line_json(const Ran& ran, std::size_t line) {
  return nlohmann::json::parse(lines_of(ran.out).at(line));
}

TEST_F(Translate, GlossariesAreObeyedAndCounted) {
  const std::string first = folder->write("a.tsv", "# animals\nDOG house\tx\ndog\tthe ball\nmen\t\u6771\n"),
                    second = folder->write("b.csv", "dog,snow\n\"red ball\",snow\n");
  const Ran ran = translate({"-b", "6", "--glossary", first, second, "--json"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto best = [&](std::size_t i) { return line_json(ran, i).at("translations").at(0); };
  EXPECT_EQ(best(0).at("terms").at(0).at("target"), "the ball");
  EXPECT_TRUE(contains(best(0).at("text"), "the ball"));
  EXPECT_TRUE(contains(best(1).at("text"), "snow"));
  EXPECT_EQ(best(3).at("unsatisfied").at(0).at("source"), "men");
  EXPECT_TRUE(contains(ran.err, "terms in the text: 3; in the translations: 2", "terminology phrases missing"));
  const Ran exact = translate({"-b", "6", "--glossary", first, "--glossary-match", "exact", "--json"}, "Dog dog\n");
  EXPECT_EQ(line_json(exact, 0).at("translations").at(0).at("terms").size(), 1u);
  const Ran stem = translate({"-b", "6", "--glossary", first, "--glossary-match", "stem", "--json"}, "the dogs\n");
  EXPECT_EQ(stem.code, 2) << "the language of the lines is not known";
  EXPECT_TRUE(contains(stem.err, "--glossary-match", "language"));
}

TEST_F(Translate, WrongGlossariesAreNamed) {
  const auto error = [&](const std::string& name, const std::string& bytes, int code) {
    const Ran ran = translate({"-b", "4", "--glossary", folder->write(name, bytes)}, text);
    EXPECT_EQ(ran.code, code) << ran.err;
    return ran.err;
  };
  EXPECT_TRUE(contains(error("c.tsv", "dog\tx\ndog ball\n", 1), "c.tsv: line 2", "tab"));
  EXPECT_TRUE(contains(error("c.tsv", "dog\tx\ndog\ty\n", 1), "c.tsv: line 2", "line 1"));
  EXPECT_TRUE(contains(error("c.xls", "", 2), "c.xls", ".csv"));
  const std::string sound = folder->write("d.tsv", "dog\tx\n");
  EXPECT_EQ(translate({"-b", "1", "--glossary", sound}, text).code, 2);
  EXPECT_EQ(translate({"-b", "4", "--glossary-match", "case"}, text).code, 2);
}

TEST_F(Translate, AMemoryTranslatesItsLines) {
  const std::string memory = folder->write("m.tsv", "a dog  runs\tEin Hund rennt\n");
  const Ran plain = translate({}, text), ran = translate({"--memory", memory}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(lines_of(ran.out).at(0), "Ein Hund rennt");
  EXPECT_EQ(lines_of(ran.out).at(1), lines_of(plain.out).at(1));
  EXPECT_TRUE(contains(ran.err, "translated from the memory: 1"));
  EXPECT_EQ(translate({"--memory", memory, "--memory-use", "tell"}, text).out, plain.out);
  const Ran json = translate({"--memory", memory, "--json"}, "a dog runs\na cat runs\nmen\n");
  EXPECT_EQ(line_json(json, 0).at("translations").at(0).at("from"), "memory");
  EXPECT_EQ(line_json(json, 0).at("memory").at(0).at("score"), 100);
  EXPECT_TRUE(line_json(json, 1).at("memory").empty()) << "67%";
  const Ran split = translate({"--memory", memory, "--split", "lines"}, "a dog runs\n");
  EXPECT_EQ(split.out, "Ein Hund rennt\n") << split.err;
  EXPECT_EQ(translate({"--memory", memory, "--alignment"}, text).code, 2);
  EXPECT_EQ(translate({"--memory", folder->at("none.tmx")}, text).code, 2) << "the languages are not known";
}

}  // namespace
}  // namespace tril
