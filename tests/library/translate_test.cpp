// The public interface translates as the program does.
#include <gtest/gtest.h>
#include <tril/tril.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "support/contains.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

const std::string& marian() {
  static const ScratchFolder folder;
  static const std::string model = write_tiny_marian(folder);
  return model;
}

const std::vector<std::string> texts{"a dog runs in the snow",   "",           "two men play",
                                     "the old dog and the ball", "a red ball", "unknown words: xyz"};

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

std::string error_of(const std::function<void()>& call, ErrorKind kind = ErrorKind::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(LibraryTranslator, GivesTheTextsOfTheProgram) {
  const v0::Model model = v0::Model::open(marian());
  struct Case {
    v0::Options options;
    std::vector<std::string> args;
  };
  for (const auto& [options, args] : std::vector<Case>{
           {{}, {}},
           {{{"beam-size", 1}}, {"-b", "1"}},
           {{{"beam_size", 6}, {"length_penalty", 0.5}, {"threads", 2}}, {"-b", "6", "--length-penalty", "0.5"}},
           {{{"sampling", true}, {"seed", 7}, {"top-k", 5}}, {"--sampling", "--seed", "7", "--top-k", "5"}},
           {{{"split", "sentences"}}, {"--split", "sentences"}},
           {{{"max-length", 4}, {"bad-words", std::vector<std::string>{"a", "the"}}},
            {"--max-length", "4", "--bad-words", "a", "--bad-words", "the"}}}) {
    std::vector<std::string> command{"translate", "-m", marian()};
    command.insert(command.end(), args.begin(), args.end());
    const Ran ran = run_tril(command, joined(texts));
    ASSERT_EQ(ran.code, 0) << ran.err;
    v0::Translator translator(model, options);
    EXPECT_EQ(joined(translator.translate(texts)), ran.out) << args.size();
  }
}

TEST(LibraryTranslator, GivesTheScoresOfTheProgram) {
  const Ran ran = run_tril({"translate", "-m", marian(), "--n-best", "3", "--json"}, joined(texts));
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Translator translator(v0::Model::open(marian()), {{"n-best", 3}});
  const auto lists = translator.translate_n_best(texts);
  const std::vector<std::string> lines = lines_of(ran.out);
  ASSERT_EQ(lists.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto expected = nlohmann::json::parse(lines[i])["translations"];
    ASSERT_EQ(lists[i].size(), expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_EQ(lists[i][n].text, expected[n]["text"].get<std::string>());
      EXPECT_EQ(lists[i][n].score, expected[n]["score"]);
      EXPECT_EQ(lists[i][n].log_prob, expected[n]["log_prob"]);
      EXPECT_EQ(std::ssize(lists[i][n].tokens), expected[n]["tokens"]);
    }
  }
}

// Compares the best translation of each text with the program's JSON.
void expect_same_as_program(const v0::Options& opening, const v0::Options& options, std::vector<std::string> args) {
  args.insert(args.begin(), {"translate", "-m", marian(), "--json"});
  const Ran ran = run_tril(args, joined(texts));
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Translator translator(v0::Model::open(marian(), opening), options);
  const auto lists = translator.translate_n_best(texts);
  const std::vector<std::string> lines = lines_of(ran.out);
  ASSERT_EQ(lists.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const v0::Translation& best = lists[i][0];
    const nlohmann::json expected = nlohmann::json::parse(lines[i])["translations"][0];
    EXPECT_EQ(best.text, expected["text"].get<std::string>());
    EXPECT_EQ(best.recalled, expected.contains("from"));
    if (!best.recalled) {
      EXPECT_EQ(best.score, expected["score"]);
    }
    const auto expect_terms = [&](const std::vector<v0::Term>& list, const char* key) {
      const nlohmann::json all = expected.value(key, nlohmann::json::array());
      ASSERT_EQ(list.size(), all.size()) << key;
      for (std::size_t t = 0; t < list.size(); ++t) {
        EXPECT_EQ(list[t].source, all[t]["source"].get<std::string>());
        EXPECT_EQ(list[t].target, all[t]["target"].get<std::string>());
      }
    };
    expect_terms(best.terms, "terms");
    expect_terms(best.missing_terms, "unsatisfied");
    const nlohmann::json alignment = expected.value("alignment", nlohmann::json::array());
    if (best.attention.empty()) continue;
    ASSERT_EQ(best.attention.size(), best.tokens.size() * best.source_tokens.size());
    if (std::find(args.begin(), args.end(), "soft") != args.end()) {
      EXPECT_TRUE(best.alignment.empty());
      ASSERT_EQ(alignment.size(), best.tokens.size());
      for (std::size_t t = 0; t < best.tokens.size(); ++t)
        for (std::size_t s = 0; s < best.source_tokens.size(); ++s)
          EXPECT_EQ(best.attention[t * best.source_tokens.size() + s], alignment[t][s].get<float>());
    } else {
      ASSERT_EQ(alignment.size(), best.alignment.size());
      for (std::size_t p = 0; p < alignment.size(); ++p) {
        EXPECT_EQ(best.alignment[p].source, alignment[p][0]);
        EXPECT_EQ(best.alignment[p].target, alignment[p][1]);
      }
    }
  }
}

TEST(LibraryTranslator, AlignsAsTheProgram) {
  for (const char* how : {"soft", "hard", "0.1"})
    expect_same_as_program({}, {{"alignment", how}, {"beam-size", 3}, {"n-best", 2}},
                           {"--alignment", how, "-b", "3", "--n-best", "2"});
  v0::Translator translator(v0::Model::open(marian()), {{"alignment", "hard"}, {"alignment-layer", "1"}});
  const v0::Translation best = translator.translate_n_best({texts[0]})[0][0];
  EXPECT_EQ(best.alignment.size(), best.tokens.size());
  const auto refused = [&](const v0::Options& options) {
    return error_of([&] { v0::Translator(v0::Model::open(marian()), options); });
  };
  EXPECT_TRUE(contains(refused({{"alignment", "loose"}}), "alignment", "soft, hard"));
  EXPECT_TRUE(contains(refused({{"alignment-layer", "last"}}), "alignment_layer", "no effect"));
  EXPECT_TRUE(contains(refused({{"alignment", "hard"}, {"split", "lines"}}), "alignment", "split"));
}

TEST(LibraryTranslator, ObeysTermsAsTheProgram) {
  const ScratchFolder folder;
  const std::string terms = folder.write("terms.tsv", "dog\tthe ball\nmen\tred\n"),
                    memory = folder.write("memory.tsv", "a red ball\tBall\n");
  expect_same_as_program({}, {{"beam-size", 4}, {"terminology", terms}}, {"-b", "4", "--terminology", terms});
  expect_same_as_program({}, {{"beam-size", 4}, {"glossary", terms}, {"glossary-match", "exact"}},
                         {"-b", "4", "--glossary", terms, "--glossary-match", "exact"});
  expect_same_as_program({}, {{"memory", memory}, {"scores", true}}, {"--memory", memory});
  v0::Translator split(v0::Model::open(marian()), {{"memory", memory}, {"split", "lines"}});
  EXPECT_TRUE(split.translate_n_best({"a red ball\na red ball"})[0][0].recalled);
  EXPECT_FALSE(split.translate_n_best({"a red ball\ntwo men play"})[0][0].recalled);
  const auto refused = [&](const v0::Options& options) {
    return error_of([&] { v0::Translator(v0::Model::open(marian()), options); });
  };
  EXPECT_TRUE(contains(refused({{"beam-size", 1}, {"terminology", terms}}), "terminology", "beam"));
  EXPECT_TRUE(contains(refused({{"memory", memory}, {"alignment", "soft"}}), "memory", "alignment"));
}

// The languages of a model whose files state none are those of its glossaries and memories.
TEST(LibraryTranslator, TakesTheLanguagesOfAModelAsTheProgram) {
  const ScratchFolder folder;
  const std::string memory = folder.write(
      "memory.tmx",
      "<tmx version=\"1.4\"><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>a red ball</seg></tuv>"
      "<tuv xml:lang=\"de\"><seg>Ball</seg></tuv></tu></body></tmx>");
  expect_same_as_program({}, {{"languages", "en:de"}, {"memory", memory}},
                         {"--languages", "en:de", "--memory", memory});
  const auto refused = [&](const v0::Options& options) {
    return error_of([&] { v0::Translator(v0::Model::open(marian()), options); });
  };
  EXPECT_TRUE(contains(refused({{"languages", "fr:de"}, {"memory", memory}}), "memory.tmx"));
  EXPECT_TRUE(contains(refused({{"languages", "en"}}), "languages", "FROM:TO"));
  EXPECT_TRUE(contains(refused({{"languages", "english:de"}}), "languages", "for English it is en"));
}

TEST(LibraryTranslator, JoinsModelsAsTheProgram) {
  const std::vector<std::string> both{"1", "2.5"};
  const ScratchFolder folder;
  const std::string other = folder.at("int8");
  ASSERT_EQ(run_tril({"quantize", "-m", marian(), "-o", other}).code, 0);
  expect_same_as_program({{"models", std::vector<std::string>{other}}, {"weights", both}}, {{"n-best", 2}},
                         {"--models", other, "--weights", "1", "2.5", "--n-best", "2"});
  // With a fixed number of proposals; a measured one changes the last bits from run to run.
  expect_same_as_program({{"draft-model", other}, {"draft-tokens", 3}}, {{"beam-size", 1}, {"scores", true}},
                         {"--draft-model", other, "-b", "1", "--draft-tokens", "3"});
  const auto refused = [&](const v0::Options& opening, const v0::Options& options) {
    return error_of([&] { v0::Translator(v0::Model::open(marian(), opening), options); });
  };
  EXPECT_TRUE(contains(refused({{"models", other}, {"weights", "x"}}, {}), "weights", "1 for 2 models"));
  EXPECT_TRUE(contains(refused({{"models", other}, {"weights", std::vector<std::string>{"1", "x"}}}, {}), "weights",
                       "not a positive number"));
  EXPECT_TRUE(contains(refused({{"draft-model", other}}, {{"beam-size", 4}}), "draft_model", "needs greedy search"));
}

TEST(LibraryTranslator, CompletesPrefixes) {
  v0::Translator translator(v0::Model::open(marian()));
  const auto lists = translator.translate_n_best({texts[0], texts[2]}, {.prefixes = {"the old ", ""}});
  EXPECT_TRUE(lists[0][0].text.starts_with("the old "));
  EXPECT_EQ(lists[1][0].text, translator.translate(texts[2]));
  EXPECT_TRUE(contains(error_of([&] {
                         translator.translate_n_best({"a", "b"}, {.prefixes = {"c"}});
                       }),
                       "prefixes", "one for each of 2"));
}

TEST(LibraryTranslator, NamesWhatIsWrong) {
  const v0::Model model = v0::Model::open(marian());
  const auto refused = [&](const v0::Options& options) { return error_of([&] { v0::Translator(model, options); }); };
  EXPECT_TRUE(contains(refused({{"beem-size", 3}}), "beem-size is not an option", "beam-size"));
  EXPECT_TRUE(contains(refused({{"beam-size", 0}}), "beam-size", "from 1 to 1000"));
  EXPECT_TRUE(contains(refused({{"beam-size", "many"}}), "beam-size", "an integer"));
  EXPECT_TRUE(contains(refused({{"beam-size", 4}, {"top-k", 3}}), "beam_size", "top_k"));
  EXPECT_TRUE(contains(refused({{"beam-size", 4}, {"beam_size", 6}}), "beam-size", "twice"));
  EXPECT_TRUE(contains(refused({{"bad-words", "a"}, {"bad-words", "b"}}), "bad-words", "twice"));
  EXPECT_TRUE(contains(refused({{"context", 2}}), "context", "language models"));
  EXPECT_TRUE(contains(refused({{"split", "lines"}, {"n-best", 2}}), "n_best"));
  EXPECT_TRUE(contains(refused({{"split-language", "de"}}), "split_language"));
  EXPECT_TRUE(contains(refused({{"source-language", "auto"}}), "source_language"));
  v0::Translator translator(model);
  EXPECT_TRUE(contains(error_of([&] {
                         translator.translate(std::vector<std::string>{"a", "b\xff"});
                       }),
                       "text 2", "UTF-8", "0xFF"));
  EXPECT_TRUE(contains(error_of([] { v0::Model::open("/no/such/model"); }, ErrorKind::failure), "/no/such/model"));
  EXPECT_TRUE(contains(error_of([&] { v0::Generator generator(model); }), "translates"));
}

TEST(LibraryTranslator, ReportsRunningTextsAndStops) {
  v0::Translator translator(v0::Model::open(marian()), {{"threads", 1}});
  std::size_t calls = 0;
  std::stop_source stop;
  const auto stopped = translator.translate_n_best(texts, {.prefixes = {},
                                                           .on_partial =
                                                               [&](std::size_t text, const std::string&) {
                                                                 EXPECT_LT(text, texts.size());
                                                                 if (++calls == 2) stop.request_stop();
                                                               },
                                                           .stop = stop.get_token()});
  EXPECT_GE(calls, 2U);
  EXPECT_EQ(stopped[0][0].stop_reason, v0::StopReason::cancelled);
  EXPECT_EQ(v0::name_of(stopped[0][0].stop_reason), "cancelled");
  struct Mine {};
  EXPECT_THROW(
      translator.translate_n_best(texts, {.prefixes = {}, .on_partial = [](auto, const auto&) { throw Mine(); }}),
      Mine);
  const std::string again = translator.translate(texts[0]);  // it is as good as new
  EXPECT_EQ(again, v0::Translator(v0::Model::open(marian())).translate(texts[0]));
}

TEST(LibraryTranslator, ServesSeveralThreads) {
  const v0::Model model = v0::Model::open(marian());
  v0::Translator shared(model, {{"threads", 1}});
  const std::vector<std::string> expected = v0::Translator(model).translate(texts);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      v0::Translator own(model, {{"threads", 1}});
      for (int round = 0; round < 3; ++round) EXPECT_EQ((i % 2 == 0 ? shared : own).translate(texts), expected);
    });
  for (std::thread& t : threads) t.join();
}

// The model may go first, and a translator may move.
TEST(LibraryTranslator, KeepsItsModel) {
  std::optional<v0::Model> model = v0::Model::open(marian(), {{"precision", "int8"}});
  EXPECT_EQ(model->family(), "marian");
  EXPECT_TRUE(model->has_encoder());
  EXPECT_EQ(model->path(), marian());
  EXPECT_GT(model->parameters(), 0);
  v0::Translator first(*model);
  model.reset();
  const std::string text = first.translate(texts[0]);
  v0::Translator second(std::move(first));
  EXPECT_EQ(second.translate(texts[0]), text);
}

// Each option of the library is one of the program, except those that only the library has.
TEST(LibraryOptions, AreThoseOfTheProgram) {
  const auto compare = [](const std::vector<v0::OptionInfo>& list, const char* command,
                          const std::vector<std::string>& own) {
    const std::string help = run_tril({"help", command}).out;
    EXPECT_GT(list.size(), 1U);
    for (const v0::OptionInfo& option : list) {
      EXPECT_FALSE(option.help.empty());
      if (std::find(own.begin(), own.end(), option.name) == own.end()) {
        EXPECT_TRUE(help.find("--" + option.name) != std::string::npos) << command << " " << option.name;
      }
    }
  };
  compare(v0::Translator::option_list(), "translate", {"scores"});
  compare(v0::Generator::option_list(), "generate", {"scores"});
  compare(v0::Scorer::option_list(), "score", {});
  compare(v0::Model::option_list(), "translate", {});
}

TEST(LibraryScorer, GivesTheScoresOfTheProgram) {
  const ScratchFolder folder;
  const std::vector<std::string> sources{texts[0], texts[2]}, targets{"the dog", "a red ball"};
  const Ran ran = run_tril({"score", "-m", marian(), "-s", folder.write("s", joined(sources)), "-t",
                            folder.write("t", joined(targets)), "--word-scores", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  v0::Scorer scorer(v0::Model::open(marian()));
  const std::vector<v0::Score> scores = scorer.score(sources, targets);
  const std::vector<std::string> lines = lines_of(ran.out);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto expected = nlohmann::json::parse(lines[i]);
    EXPECT_EQ(scores[i].log_prob, expected["log_prob"]);
    ASSERT_EQ(scores[i].token_log_probs.size(), expected["word_scores"].size());
  }
  const Ran aligned = run_tril({"score", "-m", marian(), "-s", folder.at("s"), "-t", folder.at("t"), "--json",
                                "--models", marian(), "--alignment", "hard"});
  ASSERT_EQ(aligned.code, 0) << aligned.err;
  v0::Scorer joined_scorer(v0::Model::open(marian(), {{"models", marian()}}), {{"alignment", "hard"}});
  const std::vector<v0::Score> with_attention = joined_scorer.score(sources, targets);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto expected = nlohmann::json::parse(lines_of(aligned.out).at(i));
    const v0::Score& score = with_attention[i];
    EXPECT_EQ(score.log_prob, expected["log_prob"]);
    EXPECT_EQ(score.tokens.size(), expected["pieces"].size());
    EXPECT_EQ(score.source_tokens.size(), expected["source_pieces"].size());
    EXPECT_EQ(score.attention.size(), score.tokens.size() * score.source_tokens.size());
    ASSERT_EQ(score.alignment.size(), expected["alignment"].size());
    for (std::size_t p = 0; p < score.alignment.size(); ++p) {
      EXPECT_EQ(score.alignment[p].source, expected["alignment"][p][0]);
      EXPECT_EQ(score.alignment[p].target, expected["alignment"][p][1]);
    }
  }
  EXPECT_TRUE(contains(error_of([&] { scorer.score({"a"}, {}); }), "targets"));
  EXPECT_TRUE(contains(error_of([&] { scorer.score_texts({"a"}); }), "translates"));
}

TEST(LibraryTokenizer, GivesTheTokensOfTheProgram) {
  const v0::Tokenizer tokenizer = v0::Tokenizer::open(marian());
  const std::string text = "the old dog";
  const Ran ran = run_tril({"tokenize", "-m", marian(), "--special-tokens", "--json", text});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto expected = nlohmann::json::parse(ran.out);
  const v0::TokenizeOptions special{.special_tokens = true};
  EXPECT_EQ(tokenizer.encode(text, special), expected["ids"].get<std::vector<std::int32_t>>());
  const std::vector<v0::Token> tokens = tokenizer.tokens(text, special);
  ASSERT_EQ(tokens.size(), expected["pieces"].size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].piece, expected["pieces"][i].get<std::string>());
    EXPECT_EQ(tokenizer.piece(tokens[i].id), tokens[i].piece);
    EXPECT_EQ(tokenizer.find(tokens[i].piece), tokens[i].id);
  }
  EXPECT_EQ(tokens[0].begin, 0);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, {.side = v0::Side::target})), text);
  EXPECT_TRUE(contains(error_of([&] { tokenizer.decode(std::vector<std::int32_t>{1'000'000}); }), "1000000"));
  EXPECT_TRUE(contains(error_of([&] { tokenizer.encode("\xff"); }), "UTF-8"));
  EXPECT_FALSE(tokenizer.find("no such piece"));
  EXPECT_GT(tokenizer.size(), 0);
}

}  // namespace
}  // namespace tril
