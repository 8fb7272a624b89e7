// tril translate from outside: search options, and constraints on translations.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/raw_shortlist.h"
#include "support/translate.h"

namespace tril {
namespace {

TEST_F(Translate, NBestAreSortedByScore) {
  const Ran ran = translate({"-b", "4", "--n-best", "3"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  double last = 0;
  int of_line[4] = {};
  for (const std::string& line : lines_of(ran.out)) {
    const std::size_t first = line.find(" ||| "), second = line.rfind(" ||| ");
    ASSERT_TRUE(first != std::string::npos && second > first) << line;
    const int number = std::stoi(line.substr(0, first));
    const double score = std::stod(line.substr(second + 5));
    ASSERT_LT(number, 4);
    if (of_line[number]++ > 0) {
      EXPECT_LE(score, last) << line;
    }
    last = score;
  }
  EXPECT_EQ(of_line[0], 3);
  EXPECT_EQ(of_line[2], 1) << "an empty line has one translation";
}

TEST_F(Translate, GroupsOfABeamFindDifferentTexts) {
  const auto texts_of = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"-b", "4", "--n-best", "4"});
    const Ran ran = translate(args, "a dog runs\n");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return lines_of(ran.out);
  };
  const auto plain = texts_of({}), diverse = texts_of({"--beam-groups", "4", "--diversity-penalty", "50"});
  EXPECT_EQ(diverse.size(), 4u);
  EXPECT_NE(diverse, plain);
  EXPECT_EQ(texts_of({"--beam-groups", "1"}), plain);

  const Ran odd = translate({"-b", "4", "--beam-groups", "3"}, text);
  EXPECT_EQ(odd.code, 2);
  EXPECT_NE(odd.err.find("pass --beam-size 6"), std::string::npos) << odd.err;
  const Ran none = translate({"-b", "4", "--diversity-penalty", "1"}, text);
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("--beam-groups"), std::string::npos) << none.err;
}

TEST_F(Translate, ATranslationBeginsWithItsPrefix) {
  const std::string prefixes = folder->write("prefixes", "the old dog\n\nthe ball\ntwo \n");
  const Ran ran = translate({"-b", "3", "--target-prefix", prefixes}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out), plain = lines_of(translate({"-b", "3"}, text).out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("the old dog")) << lines[0];
  EXPECT_EQ(lines[1], plain[1]) << "an empty prefix is none";
  EXPECT_EQ(lines[2], "the ball") << "nothing to translate: nothing but the prefix";
  EXPECT_TRUE(lines[3].starts_with("two ") && !lines[3].starts_with("two  ")) << lines[3];
  EXPECT_GT(lines[3].size(), 4u);

  // With the beginning of the greedy result as a prefix, the rest follows again.
  const std::string best = lines_of(translate({"-b", "1"}, "a dog runs\n").out)[0];
  const std::string beginning = best.substr(0, best.find(' ', best.size() / 2));
  const Ran again =
      translate({"-b", "1", "--target-prefix", folder->write("beginning", beginning + "\n")}, "a dog runs\n");
  EXPECT_EQ(lines_of(again.out)[0].substr(0, beginning.size()), beginning);

  for (const auto& [bad, words] : {std::pair{"one\n", "has 1 line, but the text has more"},
                                   {"1\n2\n3\n4\n5\n", "has more lines than the text, which has 4"}}) {
    const Ran wrong = translate({"--target-prefix", folder->write("wrong", bad)}, text);
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.err.find(words), std::string::npos) << wrong.err;
  }
  EXPECT_EQ(translate({"--target-prefix", "-"}, text).code, 2);
  std::string long_prefix;
  for (int i = 0; i < 200; ++i) long_prefix += "the old dog ";
  const Ran full = translate({"--target-prefix", folder->write("long", long_prefix + "\n")}, "a dog\n");
  EXPECT_EQ(full.code, 2) << full.err;
  EXPECT_NE(full.err.find("fill all of the model"), std::string::npos) << full.err;
}

TEST_F(Translate, AlternativesDifferInTheFirstTokenBehindThePrefix) {
  const std::string prefix = folder->write("prefix", "the \n");
  const Ran ran =
      translate({"-b", "2", "--alternatives", "--n-best", "6", "--target-prefix", prefix, "--json"}, "a dog\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto list = nlohmann::json::parse(lines_of(ran.out)[0]).at("translations");
  ASSERT_EQ(list.size(), 6u);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto t = list[i].at("text").get<std::string>();
    EXPECT_TRUE(t.starts_with("the ")) << t;
  }
  const Ran few =
      translate({"--alternatives", "--n-best", "6", "--min-alternative-prob", "0.999", "--json"}, "a dog\n");
  EXPECT_EQ(nlohmann::json::parse(lines_of(few.out)[0]).at("translations").size(), 1u) << few.err;
  EXPECT_EQ(translate({"--min-alternative-prob", "0.5"}, text).code, 2);
  EXPECT_EQ(translate({"--alternatives", "--sampling"}, text).code, 2);
}

TEST_F(Translate, TerminologyIsObeyedAndWhatCannotBeIsNamed) {
  const std::string terms = folder->write("terms", "dog\tthe ball\n\nred ball\tsnow\nmen\t\u6771\n");
  const Ran ran = translate({"-b", "6", "--terminology", terms, "--json", "--max-length", "40"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 4u);
  const auto best = [&](std::size_t i) { return nlohmann::json::parse(lines[i]).at("translations").at(0); };
  EXPECT_NE(best(0).at("text").get<std::string>().find("the ball"), std::string::npos) << lines[0];
  EXPECT_TRUE(best(0).at("unsatisfied").empty());
  EXPECT_NE(best(1).at("text").get<std::string>().find("snow"), std::string::npos) << lines[1];
  EXPECT_EQ(best(3).at("unsatisfied").at(0).at("source"), "men");
  EXPECT_NE(ran.err.find("terminology phrases missing"), std::string::npos) << ran.err;

  EXPECT_EQ(translate({"-b", "1", "--terminology", terms}, text).code, 2);
  const Ran no_tab = translate({"-b", "4", "--terminology", folder->write("no_tab", "dog\tx\ndog ball\n")}, text);
  EXPECT_EQ(no_tab.code, 1) << "what a file says wrong";
  EXPECT_NE(no_tab.err.find("no_tab:2"), std::string::npos) << no_tab.err;
  const Ran twice = translate({"-b", "4", "--terminology", folder->write("twice", "dog\tx\ndog\ty\n")}, text);
  EXPECT_EQ(twice.code, 1);
  EXPECT_NE(twice.err.find("two translations"), std::string::npos) << twice.err;
}

TEST_F(Translate, ATimeLimitIsMarked) {
  const Ran ran = translate({"-b", "4", "--time-limit", "1e-9", "--json"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto t = nlohmann::json::parse(lines_of(ran.out)[0]).at("translations").at(0);
  EXPECT_EQ(t.at("cut"), "time_limit");
  EXPECT_LE(t.at("tokens").get<int>(), 1);
  EXPECT_NE(ran.err.find("time limit: 3"), std::string::npos) << ran.err;
  EXPECT_EQ(translate({"-b", "4", "--time-limit", "1000"}, text).out, translate({"-b", "4"}, text).out);
}

TEST_F(Translate, PatienceLooksFurther) {
  EXPECT_EQ(translate({"-b", "4", "--patience", "1"}, text).out, translate({"-b", "4"}, text).out);
  const Ran more = translate({"-b", "2", "--patience", "8", "--early-stopping", "true", "--json"}, text);
  EXPECT_EQ(more.code, 0) << more.err;
  const auto score = [](const Ran& ran) {
    return nlohmann::json::parse(lines_of(ran.out)[0]).at("translations").at(0).at("score").get<double>();
  };
  EXPECT_GE(score(more), score(translate({"-b", "2", "--early-stopping", "true", "--json"}, text)));
  const Ran wrong = translate({"-b", "4", "--patience", "0.5", "--n-best", "4"}, text);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("patience"), std::string::npos) << wrong.err;
}

TEST_F(Translate, ProposedTokensAndDeterminismLeaveTheTextAsItIs) {
  std::string many;
  for (int i = 0; i < 12; ++i) many += text;
  const Ran plain = translate({"-b", "1"}, many);
  EXPECT_EQ(plain.code, 0) << plain.err;
  const Ran drafted = translate({"-b", "1", "--draft-model", model, "--draft-tokens", "3"}, many);
  EXPECT_EQ(drafted.out, plain.out);
  EXPECT_NE(drafted.err.find("proposed tokens"), std::string::npos) << drafted.err;
  EXPECT_EQ(translate({"-b", "1", "--prompt-lookup", "3"}, many).out, plain.out);
  EXPECT_EQ(translate({"-b", "1", "--deterministic", "--batch-size", "3"}, many).out, plain.out);
  EXPECT_NE(translate({"-b", "4", "--prompt-lookup", "3"}, text).err.find("greedy"), std::string::npos);
  EXPECT_EQ(translate({"-b", "1", "--prompt-lookup", "3", "--draft-model", model}, text).code, 2);
}

TEST_F(Translate, AnEnsembleOfOneModelIsThatModel) {
  const Ran alone = translate({"-b", "3", "--json"}, text);
  for (const char* mean : {"log-probabilities", "probabilities"}) {
    const Ran ran =
        translate({"-b", "3", "--json", "--models", model, "--weights", "1", "2.5", "--ensemble-mean", mean}, text);
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto lines = lines_of(ran.out), expected = lines_of(alone.out);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(nlohmann::json::parse(lines[i])["translations"][0]["text"],
                nlohmann::json::parse(expected[i])["translations"][0]["text"]);
  }
  EXPECT_NE(translate({"--models", model, "--weights", "1"}, text).err.find("1 for 2 models"), std::string::npos);
  EXPECT_NE(translate({"--models", model, "--weights", "1", "x"}, text).err.find("not a positive number"),
            std::string::npos);
}

TEST_F(Translate, TheLeastRiskyOfManySamples) {
  const Ran ran = translate({"--mbr", "8", "--n-best", "2", "--seed", "3"}, text);
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, std::vector<double>> scores;
  for (const std::string& line : lines_of(ran.out)) {
    const std::size_t first = line.find(" ||| "), last = line.rfind(" ||| ");
    scores[line.substr(0, first)].push_back(std::stod(line.substr(last + 5)));
  }
  EXPECT_EQ(scores.size(), 4u);
  for (const auto& [line, list] : scores) {
    EXPECT_TRUE(std::is_sorted(list.rbegin(), list.rend()));
    EXPECT_GE(list.back(), 0.0);
    EXPECT_LE(list.front(), 100.0 + 1e-9);
  }
  EXPECT_EQ(translate({"--mbr", "8", "--n-best", "2", "--seed", "3", "--batch-size", "1"}, text).out, ran.out);
  EXPECT_EQ(translate({"--mbr", "4", "-b", "2"}, text).code, 2);
  EXPECT_EQ(translate({"--mbr", "2", "--n-best", "3"}, text).code, 2);
}

// A table learned from text, and the search over its lists.
TEST_F(Translate, AShortlistIsLearnedAndUsed) {
  const std::string source = folder->write("learn.en", "a dog runs\nthe red ball\ntwo men\n"),
                    target = folder->write("learn.de", "the dog\na red ball\nmen play\n"), table = folder->at("lex");
  const auto learn = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"shortlist", "-m", model, "-t", source, target, "-o", table};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args);
  };
  Ran ran = learn({});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(lines_of(file_text(table)).empty());
  const Ran all = translate({"-b", "2", "--shortlist", table, "1000"}, text), plain = translate({"-b", "2"}, text);
  EXPECT_EQ(all.out, plain.out) << all.err;
  const Ran few = translate({"-b", "2", "--shortlist", table, "0", "2", "0.1"}, text);
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_NE(few.out, plain.out);
  for (const auto& wrong : std::vector<std::vector<std::string>>{{"--shortlist", table, "x"},
                                                                 {"--shortlist", table, "-1"},
                                                                 {"--shortlist", table, "1", "2", "0.1", "3"},
                                                                 {"--shortlist", table, "1", "2", "1.5"}}) {
    std::vector<std::string> args{"-b", "2"};
    args.insert(args.end(), wrong.begin(), wrong.end());
    const Ran refused = translate(args, text);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--shortlist"), std::string::npos) << refused.err;
  }
  // Counted from alignments instead; an error in these names the file.
  const std::string alignment = folder->write("align", "0-0 1-1\n1-1\n0-0 9-1\n");
  ran = learn({"--alignments", alignment});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find(alignment + ": pair 3"), std::string::npos) << ran.err;
  folder->write("align", "0-0 1-1\n1-1\n0-0 1-1\n");
  EXPECT_EQ(learn({"--alignments", alignment}).code, 0);
  EXPECT_EQ(translate({"-b", "1", "--shortlist", alignment}, text).code, 1) << "no table";
}

TEST_F(Translate, AMarianModelComesWithItsShortlist) {
  const std::string trained = folder->at("trained"), directory = folder->at("student"), before = model;
  const std::string source = folder->write("pairs.en", "a dog runs\nthe red ball\ntwo men\n"),
                    target = folder->write("pairs.de", "the dog\na red ball\nmen play\n");
  const Ran made =
      run_tril({"train", "-m",        trained,        "--arch",      "marian_nmt", "--d-model",   "16", "--num-heads",
                "2",     "--ffn-dim", "16",           "--enc-depth", "1",          "--dec-depth", "1",  "-t",
                source,  target,      "--vocab-size", "40",          "-a",         "1u"});
  ASSERT_EQ(made.code, 0) << made.err;
  std::filesystem::create_directory(directory);
  const Ran exported = run_tril({"export", "-m", trained, "-o", directory + "/model.npz"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  model = directory;
  const Ran plain = translate({"-b", "1"}, text);
  ASSERT_EQ(plain.code, 0) << plain.err;
  const std::size_t words = nlohmann::json::parse(file_text(trained + "/config.json")).at("vocab_size");
  const std::string list =
      test::raw_shortlist({.first = 3, .best = 0, .offsets = std::vector<std::uint64_t>(words + 1)});
  std::ofstream(directory + "/lex.50.50.ende.s2t.bin", std::ios::binary) << list;
  const Ran few = translate({"-b", "1"}, text);
  EXPECT_EQ(few.code, 0) << few.err;
  EXPECT_NE(few.err.find("lex.50.50.ende.s2t.bin"), std::string::npos) << few.err;
  EXPECT_NE(few.out, plain.out);
  EXPECT_EQ(translate({"-b", "1", "--shortlist", "none"}, text).out, plain.out);
  EXPECT_EQ(translate({"-b", "1", "--deterministic"}, text).out,
            translate({"-b", "1", "--deterministic", "--shortlist", "none"}, text).out);
  std::ofstream(directory + "/lex.other.bin", std::ios::binary) << list;
  EXPECT_EQ(translate({"-b", "1"}, text).out, plain.out) << "one of two would be a guess";
  model = before;
}

TEST_F(Translate, UnknownTokensAreReplacedAndCoverageCounts) {
  const std::string line = "two men play with a red ball in the snow and the old dog runs\n";
  const auto best = [&](const std::vector<std::string>& args) {
    const Ran ran = translate(args, line);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out).at("translations")[0];
  };
  // Swaps the unknown token with one that the model generates: now it generates the unknown token.
  const auto plain = best({"-b", "1", "--json", "--alignment", "hard"});
  const auto source_pieces = plain.at("source_pieces").get<std::vector<std::string>>();
  std::string said;
  for (const auto& piece : plain.at("pieces").get<std::vector<std::string>>())
    if (said.empty() && piece != "</s>" &&
        std::find(source_pieces.begin(), source_pieces.end(), piece) == source_pieces.end())
      said = piece;
  ASSERT_FALSE(said.empty());
  auto vocabulary = nlohmann::json::parse(file_text(model + "/vocab.json"));
  std::swap(vocabulary.at(said), vocabulary.at("<unk>"));
  const std::string whole = model, other = folder->at("unknowing");
  std::filesystem::copy(whole, other);
  std::ofstream(other + "/vocab.json") << vocabulary;
  model = other;
  const auto unknown = best({"-b", "1", "--json", "--alignment", "hard"}),
             replaced = best({"-b", "1", "--json", "--alignment", "hard", "--replace-unknowns"});
  model = whole;
  ASSERT_EQ(unknown.at("pieces"), replaced.at("pieces"));
  const auto pieces = replaced.at("pieces").get<std::vector<std::string>>();
  ASSERT_NE(std::find(pieces.begin(), pieces.end(), "<unk>"), pieces.end());
  const auto words_in = [&](const nlohmann::json& t) {
    int n = 0;
    std::istringstream said_words(t.at("text").get<std::string>()), words(line);
    const std::vector<std::string> known{std::istream_iterator<std::string>(words), {}};
    for (std::string word; said_words >> word;) n += std::find(known.begin(), known.end(), word) != known.end() ? 1 : 0;
    return n;
  };
  EXPECT_GT(words_in(replaced), words_in(unknown)) << replaced << unknown;

  // More source tokens than generated ones: not all can be covered.
  EXPECT_LT(best({"-b", "4", "--json", "--coverage-penalty", "3"}).at("score"),
            best({"-b", "4", "--json"}).at("score"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--alignment", "some"},
                                                {"--alignment", "1.5"},
                                                {"--alignment", "hard", "--alignment-layer", "99"},
                                                {"--alignment", "hard", "--alignment-layer", "x"},
                                                {"--alignment-layer", "1"},
                                                {"--coverage-penalty", "-1"}})
    EXPECT_EQ(translate(wrong, "a\n").code, 2) << wrong[1];
}

}  // namespace
}  // namespace tril
