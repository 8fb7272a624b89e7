// The program from outside: help, versions, mistakes and their exit codes, completion.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/streams.h"
#include "base/version.h"
#include "cli/app/app.h"
#include "cli/app/completion.h"
#include "cli/io/standard_output.h"
#include "cli/options/parse.h"
#include "support/paths.h"
#include "support/run_program.h"

namespace tril::program_test {
namespace {

using cli::App;

TEST(Program, PrintsItsVersion) {
  EXPECT_EQ(run_tril({"--version"}).out, "tril " + std::string(version) + "\n");
  EXPECT_EQ(fmt::format("{}.{}.{}", TRIL_VERSION_MAJOR, TRIL_VERSION_MINOR, TRIL_VERSION_PATCH), version);
}

// "bench train" -> {"bench", "train"}.
std::vector<std::string> words_of(const std::string& name) {
  const auto space = name.find(' ');
  if (space == std::string::npos) return {name};
  return {name.substr(0, space), name.substr(space + 1)};
}

TEST(Program, HelpNamesEveryCommandAndEveryOption) {
  const Ran overview = run_tril({"--help"});
  EXPECT_EQ(overview.code, 0);
  EXPECT_EQ(overview.out, run_tril({"help"}).out);
  const App app = cli::make_app();
  ASSERT_GE(app.commands().size(), 4u);
  for (const cli::Command& command : app.commands()) {
    EXPECT_NE(overview.out.find("\n  " + command.name + " "), std::string::npos) << command.name;
    std::vector<std::string> words = words_of(command.name);
    words.emplace_back("--help");
    const Ran help = run_tril(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    words.pop_back();
    words.insert(words.begin(), "help");
    EXPECT_EQ(help.out, run_tril(words).out);
    for (const Field& field : command.fields) {
      EXPECT_NE(help.out.find(field.name()), std::string::npos) << command.name << " --" << field.name();
      EXPECT_FALSE(field.help().empty() || field.help().ends_with('.')) << command.name << " --" << field.name();
    }
    EXPECT_FALSE(command.examples.empty()) << command.name;
    for (const cli::Example& example : command.examples) EXPECT_NE(help.out.find(example.line), std::string::npos);
  }
}

TEST(Program, WithoutCommandShowsHelpAndFails) {
  const Ran ran = run_tril({});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("usage: tril COMMAND"), std::string::npos);
}

struct Mistake {
  std::vector<std::string> args;
  std::string message;
};

TEST(Program, NamesTheMistakeAndTheRemedy) {
  const std::vector<Mistake> mistakes{
      {{"evl"}, "tril: evl is not a command; did you mean eval?"},
      {{"zzzzzz"}, "tril: zzzzzz is not a command; `tril help` lists them"},
      {{"--versoin"}, "tril: --versoin is not an option here; did you mean --version?"},
      {{"eval", "--refrence", "x"}, "tril eval: --refrence is not an option; did you mean --reference?"},
      {{"eval", "--refrence=x"}, "tril eval: --refrence is not an option; did you mean --reference?"},
      {{"eval", "-z"}, "tril eval: -z is not an option; --help lists the options"},
      {{"eval"},
       "tril eval: --reference: this is required: reference translations; several files are several references for "
       "each "
       "line"},
      {{"eval", "-r"}, "tril eval: --reference: needs a value, FILE"},
      {{"eval", "-r", "a", "-i"}, "tril eval: --input: needs a value, FILE"},
      {{"eval", "-r", "a", "-i", "b", "extra"}, "tril eval: \"extra\": this argument does not belong to an option"},
      {{"eval", "-r", "a", "--tokenize", "13b"},
       "tril eval: --tokenize: expected one of 13a, none, got \"13b\"; did you mean 13a?"},
      {{"eval", "-r", "a", "--chrf-word-order", "two"},
       "tril eval: --chrf-word-order: expected an integer, from 0 to 9, got \"two\""},
      {{"eval", "-r", "a", "--chrf-word-order", "-5"},
       "tril eval: --chrf-word-order: expected an integer, from 0 to 9, got -5"},
      {{"eval", "-r", "a", "--input", "b", "--input", "c"}, "tril eval: --input: expected one value, got 2 (b, c)"},
      {{"eval", "-r", "a", "--lowercase=maybe"}, "tril eval: --lowercase: expected true or false, got \"maybe\""},
      {{"eval", "-r", "a", "--quiet", "--log-level", "debug"},
       "tril eval: --quiet: cannot be combined with --log-level: --quiet means --log-level warning"},
      {{"eval", "-r", "a", "-i", "--json"},
       "tril eval: --input: needs a value (FILE), but --json is an option; write --input=--json if you mean it"},
      {{"generate", "-m", "a", "-p", "-q"},
       "tril generate: --prompt: needs a value (TEXT), but -q is an option; write --prompt=-q if you mean it"},
      {{"train", "--model", "--no-tsv"},
       "tril train: --model: needs a value (DIR), but --no-tsv is an option; write --model=--no-tsv if you mean it"},
      {{"--version", "x"}, "tril: \"x\": --version takes no further arguments; `tril help COMMAND` explains a command"},
      {{"--help", "eval"}, "tril: \"eval\": --help takes no further arguments; `tril help COMMAND` explains a command"},
      {{"generate", "-m", "a", "--models", ""},
       "tril generate: --models: its value is empty, expected DIR; leave the option out if you do not need it"},
      {{"help", "eval", "--markdown"},
       "tril help: --command: cannot be combined with --markdown: the reference covers every command"},
      {{"help", "evall"}, "tril help: evall is not a command; did you mean eval?"},
      {{"completion"}, "tril completion: SHELL: this is required: the shell that will use it"},
      {{"completion", "zhs"},
       "tril completion: --shell: expected one of bash, zsh, fish, got \"zhs\"; did you mean zsh?"},
  };
  for (const Mistake& mistake : mistakes) {
    const Ran ran = run_tril(mistake.args);
    EXPECT_EQ(ran.code, 2) << mistake.message;
    EXPECT_EQ(ran.err, mistake.message + "\n");
    EXPECT_EQ(ran.out, "");
  }
}

// A repeated option is ambiguous, so it is refused, whatever the option.
TEST(Program, NoOptionOfOneValueIsTakenTwice) {
  const App app = cli::make_app();
  int seen = 0;
  for (const cli::Command& command : app.commands())
    for (const Field& field : command.fields) {
      if (field.is_list()) continue;
      ++seen;
      const std::string flag = "--" + field.name(), one = field.is_flag() ? flag : flag + "=1";
      try {
        const auto given = cli::parse_arguments({&command.fields}, {one, one});
        Fields fields = command.fields;
        fields.at(field.name(), flag).set(given.at(0).texts, flag);
        ADD_FAILURE() << command.name << " " << flag;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_EQ(error.where(), flag) << command.name;
      }
    }
  EXPECT_GT(seen, 300);
}

TEST(Program, AFileThatIsNotThereIsAFailureAndNotMisuse) {
  const Ran ran = run_tril({"eval", "-r", "/nowhere/ref"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("tril eval: /nowhere/ref: "), std::string::npos) << ran.err;
}

TEST(Program, FailsWhereItsOutputCannotBeWritten) {
  const Ran ran = run_tril({"help"}, "", "/dev/full");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "tril help: standard output: cannot be written (No space left on device)\n");
}

TEST(Program, EndsQuietlyWhenItsReaderLeaves) {
  // A pipe without a reader, under a parent that ignores SIGPIPE: the program must not inherit that.
  const ScratchFolder folder;
  const std::string script = "trap '' PIPE; { sleep 0.2; '" + test::tril_program() + "' help --markdown; echo $? >'" +
                             folder.at("code") + "'; } 2>'" + folder.at("err") + "' | true";
  EXPECT_EQ(run_words({"/bin/sh", "-c", script}).code, 0);
  EXPECT_EQ(file_text(folder.at("code")), "141\n") << "ended by SIGPIPE";
  EXPECT_EQ(file_text(folder.at("err")), "");
}

// Output that bypasses it might be lost silently.
TEST(Program, OneFunctionWritesResults) {
  namespace fs = std::filesystem;
  const std::regex others("std::cout|fmt::print\\(|std::printf|std::puts|std::putchar|[( ,]stdout[),;]");
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::test_dir()) / "../src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    ++seen;
    const std::string text = file_text(entry.path().string());
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, others)) << entry.path() << ": " << found[0];
  }
  EXPECT_GT(seen, 300);
}

App app_of_two_words() {
  App app;
  for (const std::string name : {"bench train", "bench translate", "train"})
    app.add({.name = name,
             .summary = "",
             .description = "",
             .examples = {},
             .fields = {},
             .apply_preset = {},
             .run = [name](const cli::Invocation&) { return static_cast<int>(name.size()); }});
  return app;
}

TEST(App, RunsCommandsOfTwoWords) {
  App app = app_of_two_words();
  EXPECT_EQ(app.run({"bench", "train"}), 11);
  EXPECT_EQ(app.run({"bench", "translate"}), 15);
  EXPECT_EQ(app.run({"train"}), 5);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(app.run({"bench"}), 2);
  EXPECT_EQ(app.run({"bench", "trian"}), 2);
  const std::string message = "tril: expected one of bench train, bench translate, got bench alone\n";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), message + message);
}

TEST(Completion, KnowsCommandsOfTwoWords) {
  const ScratchFolder folder;
  const std::string script = folder.write("tril.bash", cli::bash_completion(app_of_two_words()));
  const auto completes = [&](const std::string& words, int at) {
    return run_words({"/bin/bash", "-c",
                      "source '" + script + "'; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                          "; _tril; echo \"${COMPREPLY[@]}\""})
        .out;
  };
  EXPECT_EQ(completes("tril be", 1), "bench\n");
  EXPECT_EQ(completes("tril bench tra", 2), "train translate\n");
  EXPECT_EQ(completes("tril bench train --qu", 3), "--quiet\n");
}

// An App of one command that does `work`.
int run_work(const std::function<int()>& work, std::string& messages) {
  App app;
  app.add({.name = "work",
           .summary = "",
           .description = "",
           .examples = {},
           .fields = {},
           .apply_preset = {},
           .run = [&](const cli::Invocation&) { return work(); }});
  ::testing::internal::CaptureStderr();
  const int code = app.run({"work"});
  messages = ::testing::internal::GetCapturedStderr();
  return code;
}

TEST(App, TurnsEveryExceptionIntoAMessageAndACode) {
  std::string text;
  EXPECT_EQ(run_work([] { return 0; }, text), 0);
  EXPECT_EQ(text, "");
  EXPECT_EQ(run_work([]() -> int { fail_usage("--x", "no", "try y"); }, text), 2);
  EXPECT_EQ(text, "tril work: --x: no; try y\n");
  EXPECT_EQ(run_work([]() -> int { fail("disk", "full"); }, text), 1);
  EXPECT_EQ(text, "tril work: disk: full\n");
  EXPECT_EQ(run_work([]() -> int { throw ReaderGone("standard output"); }, text), cli::exit_reader_gone);
  EXPECT_EQ(text, "") << "nobody is there to be told";
  EXPECT_EQ(run_work([]() -> int { throw std::bad_alloc(); }, text), 1);
  EXPECT_NE(text.find("out of memory"), std::string::npos);
  EXPECT_EQ(run_work([]() -> int { throw std::logic_error("oops"); }, text), 1);
  EXPECT_EQ(text, "tril work: internal error: oops\n");
}

std::string bash_completes(const std::string& words) {
  const ScratchFolder folder;
  const std::string script = folder.write("tril.bash", run_tril({"completion", "bash"}).out);
  const std::string ask = "source '" + script + "'; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _tril; echo \"${COMPREPLY[@]}\"";
  const Ran ran = run_words({"/bin/bash", "-c", ask});
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

TEST(Completion, WorksInBash) {
  EXPECT_EQ(bash_completes("tril eva"), "eval\n");
  EXPECT_EQ(bash_completes("tril eval --tok"), "--tokenize\n");
  EXPECT_EQ(bash_completes("tril eval --tokenize ''"), "13a none\n");
  EXPECT_EQ(bash_completes("tril completion z"), "zsh\n");
  EXPECT_EQ(bash_completes("tril learn ch"), "check\n");
  EXPECT_EQ(bash_completes("tril learn 3 --la"), "--language\n");  // a command that others make longer
  EXPECT_EQ(bash_completes("tril learn draw 3 --cu"), "--curves\n");
  EXPECT_EQ(bash_completes("tril help comp"), "completion\n");
  const ScratchFolder folder;
  EXPECT_EQ(bash_completes("tril eval --reference " + folder.at("te")), "\n");
  folder.write("test.de", "");
  EXPECT_EQ(bash_completes("tril eval --reference " + folder.at("te")), folder.at("test.de") + "\n");
}

TEST(Completion, NamesEveryOptionInEveryShell) {
  const App app = cli::make_app();
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ran ran = run_tril({"completion", shell});
    EXPECT_EQ(ran.code, 0);
    for (const cli::Command& command : app.commands())
      for (const Field& field : command.fields)
        EXPECT_NE(ran.out.find((shell == "fish" ? "-l " : "--") + field.name()), std::string::npos)
            << shell << " " << command.name << " " << field.name();
  }
}

TEST(Completion, ParsesInEveryShell) {
  const ScratchFolder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (std::system((shell + " -c true >/dev/null 2>&1").c_str()) != 0) continue;  // it is not installed
    const Ran ran = run_words({"/usr/bin/env", shell, "-n", folder.write(shell, run_tril({"completion", shell}).out)});
    EXPECT_EQ(ran.code, 0) << shell << ": " << ran.err;
  }
}

TEST(Program, PagesSayWhatLoads) {
  for (const auto& [table, page] : {std::pair("families", "families.md"), std::pair("formats", "model-directory.md")}) {
    const Ran ran = run_tril({"families", "--markdown", table});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(file_text(test::test_dir() + "/../docs/" + page).find("begins -->\n" + ran.out + "<!-- the " + table),
              std::string::npos)
        << "run: make docs";
  }
  const nlohmann::json all = nlohmann::json::parse(run_tril({"families", "--json"}).out);
  EXPECT_GT(all.at("families").size(), 60u);
  EXPECT_GE(all.at("formats").size(), 3u);
}

TEST(Reference, InDocsIsTheProgramsOwn) {
  EXPECT_EQ(file_text(test::test_dir() + "/../docs/options.md"), run_tril({"help", "--markdown"}).out)
      << "run: tril help --markdown > docs/options.md";
}

}  // namespace
}  // namespace tril::program_test
