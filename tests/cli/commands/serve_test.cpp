// The start of `tril serve`: settings that it refuses, and warnings.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "cli/app/app.h"
#include "cli/options/environment.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/polyglot.h"
#include "support/serve_program.h"
#include "support/tiny_marian.h"

namespace tril::cli {
namespace {

TEST(Serve, ACacheThatHoldsNoRequestIsRefused) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder);
  const auto serve = [&](const std::string& tokens) {
    return serve_until_ready({"-m", "de=" + model, "--port", "0", "--threads", "2", "--beam-size", "4",
                              "--cache-tokens", tokens, "--access-log", "none"});
  };
  const Ran refused = serve("10");
  EXPECT_EQ(refused.code, exit_usage);
  std::smatch least;
  ASSERT_TRUE(std::regex_search(refused.err, least,
                                std::regex("--cache-tokens: 10 cannot hold any request to model de: the shortest may "
                                           "need [0-9]+ for each of 2 workers; ([0-9]+) can hold its longest")))
      << refused.err;
  EXPECT_EQ(least[1], std::to_string(2 * (1 + 4 * 12))) << "a beam of 4, 12 tokens";
  const Ran kept = serve(least[1]);
  EXPECT_EQ(kept.code, exit_success) << kept.err;
  EXPECT_EQ(kept.err.find("--cache-tokens"), std::string::npos) << kept.err;
}

TEST(Serve, ANameStandsOnce) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder);
  const auto refused = [&](const std::vector<std::string>& models, std::vector<std::string> more,
                           const std::string& message) {
    std::vector<std::string> args{"serve", "--port", "0", "-m"};
    args.insert(args.end(), models.begin(), models.end());
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = run_tril(args);
    EXPECT_EQ(ran.code, exit_usage);
    EXPECT_NE(ran.err.find(message), std::string::npos) << ran.err;
  };
  refused({"de=" + model, "fr=" + model, "de=" + folder.at("other")}, {},
          "--model: \"de=" + model + "\" and \"de=" + folder.at("other") + "\" are both called \"de\"");
  refused({model, model}, {}, "are both called \"model\"");
  refused({"de=" + model}, {"--languages", "de=en:de", "de=en:fr"},
          "--languages: \"de=en:de\" and \"de=en:fr\" are both called \"de\"");
}

TEST(Serve, ModelsAndTheirMemoryAreReadOrRefused) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder);
  std::filesystem::create_directory(folder.at("none"));
  std::filesystem::create_directories(folder.at("odd/a=b"));
  const auto refused = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"serve", "--port", "0"});
    const Ran ran = run_tril(args);
    EXPECT_EQ(ran.code, exit_usage);
    return ran.err;
  };
  EXPECT_TRUE(contains(refused({}), "--model: is missing", "--models"));
  EXPECT_TRUE(contains(refused({"--models", folder.at("none")}), "--models: ", "/none contains no model"));
  EXPECT_TRUE(contains(refused({"--models", folder.at("nowhere")}), "--models: ", "No such file"));
  EXPECT_TRUE(contains(refused({"--models", folder.at("odd")}), "--models: \"a=b\" contains ="));
  EXPECT_TRUE(contains(refused({"-m", model, "--model-memory", "2"}), "--model-memory: expected", "2GiB", "got \"2\""));
  EXPECT_TRUE(contains(refused({"-m", model, "--model-memory", "-2GiB"}), "--model-memory", "-2GiB"));
  EXPECT_TRUE(contains(refused({"-m", model, "--max-document", "32MiB", "--document-memory", "64MiB"}),
                       "--document-memory: one file of --max-document counts", "twice"));
  EXPECT_TRUE(contains(refused({"-m", model, "--keep-documents", "0"}), "--keep-documents: expected more than 0"));
  EXPECT_TRUE(contains(refused({"-m", model, "--document-timeout", "0"}), "--document-timeout: expected more than 0"));
  EXPECT_TRUE(contains(refused({"-m", model, "--idle-unload", "10"}), "--idle-unload: expected", "10m", "got \"10\""));
  EXPECT_TRUE(contains(refused({"-m", model, "--pivot", "en", "german"}), "--pivot: ", "german"));
  EXPECT_TRUE(contains(refused({"-m", model, "--max-pivots", "4"}), "--max-pivots", "4"));
  EXPECT_TRUE(contains(refused({"-m", model, "--load", "never"}), "--load", "at-start", "on-demand", "never"));
}

// Checked before anything is loaded, for any model, and from the environment too.
TEST(Serve, ALanguagePairIsTwoCodesWithAColonBetweenThem) {
  const ScratchFolder folder;
  const std::string model = write_tiny_marian(folder);
  const auto refused = [&](const std::vector<std::string>& values, const std::string& quoted) {
    std::vector<std::string> args{"serve", "--port", "0", "-m", "de=" + model, "fr=" + model, "--languages"};
    args.insert(args.end(), values.begin(), values.end());
    const Ran ran = run_tril(args);
    EXPECT_EQ(ran.code, exit_usage) << quoted;
    EXPECT_NE(ran.err.find("--languages: expected NAME=FROM:TO, got \"" + quoted + "\""), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find("listening"), std::string::npos) << ran.err;
  };
  for (const char* value :
       {"de=en-de", "de=en:de:fr", "de=:de", "de=en:", "de=:", "de=", "de=en: de", "en:de", "=en:de"})
    refused({value}, value);
  refused({"de=en:de", "fr=en-fr"}, "fr=en-fr");
  refused({"fr=en-fr", "de=en-de"}, "fr=en-fr");
  const Ran ran = run_tril(
      {"serve", "--port", "0", "-m", "de=" + model},
      Launch{.input = {}, .stdout_to = {}, .before = [] { setenv("TRIL_LANGUAGES", "de=en-de", 1); }, .meanwhile = {}});
  EXPECT_EQ(ran.code, exit_usage);
  EXPECT_NE(ran.err.find("expected NAME=FROM:TO, got \"de=en-de\""), std::string::npos) << ran.err;
}

// The directory determines what a model does: a pair without effect is refused.
TEST(Serve, ALanguagePairHasAnEffectOrIsRefused) {
  namespace testing = serve::testing;
  const ScratchFolder folder;
  const auto written = [&](const serve::Loaded& l, const std::string& name) {
    model::save(*l.model, folder.at(name));
    save_tokenizer(*l.tokenizer, folder.at(name));
    return folder.at(name);
  };
  const auto serve = [&](const std::string& model, const std::string& pair) {
    return serve_until_ready(
        {"-m", "m=" + model, "--languages", pair, "--port", "0", "--threads", "1", "--access-log", "none"});
  };
  const auto refused = [&](const std::string& model, const std::string& pair, const std::string& message) {
    const Ran ran = serve(model, pair);
    EXPECT_EQ(ran.code, exit_usage) << ran.err;
    EXPECT_NE(ran.err.find("--languages: " + message), std::string::npos) << ran.err;
  };
  refused(written(testing::small_polyglot(""), "many"), "m=eng_Latn:deu_Latn",
          "the vocabulary of model m lists its languages, and it translates between all of them; leave it out");
  refused(written(testing::small_writer(testing::letters), "plays"), "m=en:de",
          "model m continues text and does not translate; leave it out");
  serve::Loaded tags = testing::small_translator();
  const std::string spm = file_text(test::test_dir() + "/golden/hf/tokenizers/spm_unigram/spm.model");
  tags.tokenizer = make_marian_tokenizer({.source_spm = spm, .target_spm = spm, .tags = {">>de<<", ">>fr<<"}});
  tags.model = testing::small_marian(*tags.tokenizer, tags.tokenizer->special(Side::target).pad, 64, 5);
  const std::string model = written(tags, "tags");
  refused(model, "m=en:it", "model m has no tag >>it<<; it has de, fr; m=en:de sets the default target of requests");
  for (const char* pair : {"m=en:fr", "m=en:-"}) EXPECT_EQ(serve(model, pair).code, exit_success) << pair;
}

TEST(Serve, AMistypedVariableIsToldOf) {
  const Ran ran = run_tril({"serve", "-m", "/nowhere"}, Launch{.input = {},
                                                               .stdout_to = {},
                                                               .before =
                                                                   [] {
                                                                     setenv("TRIL_PROT", "80", 1);
                                                                     setenv("TRIL_THREADS", "1", 1);
                                                                   },
                                                               .meanwhile = {}});
  EXPECT_NE(ran.err.find("TRIL_PROT is not an option; did you mean TRIL_PORT?"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("TRIL_THREADS"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.code, exit_usage) << "for the model that is not there";
}

TEST(Serve, OnlyNamesThatNobodyReadsAreToldOf) {
  const App app = make_app();
  const Fields& fields = app.at("serve").fields;
  const auto said = [&](const std::vector<std::string>& settings) { return unknown_settings(fields, settings); };
  EXPECT_EQ(said({"TRIL_QUEU_SIZE=3", "PATH=/bin", "TRIL_QUEUE_SIZE=3", "MY_TRIL_X=1"}),
            std::vector<std::string>{"TRIL_QUEU_SIZE is not an option; did you mean TRIL_QUEUE_SIZE?"});
  EXPECT_EQ(said({"TRIL_APIKEY=secret"}),
            std::vector<std::string>{"TRIL_APIKEY is not an option; did you mean TRIL_API_KEY?"})
      << "without what may be a secret";
  EXPECT_EQ(said({"TRIL_SOMETHING_ELSE=secret"}), std::vector<std::string>{"TRIL_SOMETHING_ELSE is not an option"});
  // Every variable that the sources read is known.
  namespace fs = std::filesystem;
  const std::regex literal("\"(TRIL_[A-Z_]+)\"");
  int seen = 0;
  for (const char* folder : {"../src", "."})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      if (name == "serve_test.cpp" || name == "doctor_test.cpp") continue;  // they misspell names
      const std::string text = file_text(entry.path().string());
      for (std::sregex_iterator at(text.begin(), text.end(), literal), end; at != end; ++at, ++seen)
        EXPECT_EQ(said({(*at)[1].str() + "=1"}).size(), 0u) << (*at)[1] << " of " << entry.path();
    }
  EXPECT_GE(seen, 10);
}

TEST(Serve, TheNameOfAModelGivesItsLanguagesIfNothingElseDoes) {
  const ScratchFolder folder;
  const std::string model = folder.at("opus-mt-tc-big-en-de");
  std::filesystem::rename(write_tiny_marian(folder), model);
  const auto log = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"-m", "m=" + model, "--port", "0", "--threads", "1", "--access-log", "none"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = serve_until_ready(args);
    EXPECT_EQ(ran.code, exit_success) << ran.err;
    EXPECT_FALSE(contains(ran.err, "source language is unknown")) << ran.err;
    return ran.err;
  };
  EXPECT_TRUE(contains(log({}), model + ": languages en -> de taken from the name"));
  EXPECT_FALSE(contains(log({"--languages", "m=en:fr"}), "taken from the name"));
  // The command line knows them too.
  const std::string text = folder.write("a.txt", "A dog runs.\n");
  EXPECT_EQ(run_tril({"translate", "-m", model, text, "--to", "de"}).code, exit_success);
  const Ran other = run_tril({"translate", "-m", model, text, "--to", "fr"});
  EXPECT_EQ(other.code, exit_usage);
  EXPECT_TRUE(contains(other.err, "--to: the model translates into \"de\", not into \"fr\"")) << other.err;
}

}  // namespace
}  // namespace tril::cli
