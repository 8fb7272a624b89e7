// Options from the command line and from YAML: the resulting values, and which source wins.
#include <gtest/gtest.h>

#include <functional>

#include "base/rng.h"
#include "cli/app/app.h"
#include "cli/options/parse.h"
#include "cli/options/yaml_options.h"
#include "support/run_program.h"

namespace tril::cli {
namespace {

struct Options {
  std::string preset = "tiny";
  std::int64_t d_model = 256, max_tokens = 4096;
  std::vector<std::string> sets;
  std::string dir;
  std::optional<std::string> vocab;
  std::int64_t vocab_size = 8000;
  bool tie = true, fast = false;
};

Fields fields_of(Options& o) {
  Fields f;
  f.add("preset", &o.preset, "sizes").choices({"tiny", "base"});
  f.add("d-model", &o.d_model, "width").at_least(1);
  f.add("max-tokens", &o.max_tokens, "tokens in a batch").at_least(1).letter('b');
  f.add("sets", &o.sets, "files").value_name("FILE");
  f.add("dir", &o.dir, "folder").positional();
  f.add("vocab", &o.vocab, "a vocabulary");
  f.add("vocab-size", &o.vocab_size, "its size");
  f.add("tie", &o.tie, "tie");
  f.add("fast", &o.fast, "fast");
  f.excludes("vocab", "vocab-size", "read or trained");
  return f;
}

// The options after parsing `args` by the program's App; messages in `err`.
Options after(const std::vector<std::string>& args, std::string* err = nullptr, std::string* out = nullptr) {
  auto o = std::make_shared<Options>();
  App app;
  app.add({.name = "work",
           .summary = "",
           .description = "",
           .examples = {},
           .fields = fields_of(*o),
           .reads_config = true,
           .apply_preset =
               [o] {
                 if (o->preset == "base") o->d_model = 512;
               },
           .run = [](const Invocation&) { return 0; }});
  std::vector<std::string> all{"work"};
  all.insert(all.end(), args.begin(), args.end());
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const int code = app.run(all);
  const std::string messages = ::testing::internal::GetCapturedStderr(),
                    output = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code == 0, messages.empty()) << messages;
  if (err)
    *err = messages;
  else
    EXPECT_EQ(messages, "");
  if (out) *out = output;
  return *o;
}

TEST(CommandLine, FillsTheStruct) {
  const Options o = after({"-b", "12", "--sets", "a", "b", "--no-tie", "--fast", "--d-model=3", "there"});
  EXPECT_EQ(o.max_tokens, 12);
  EXPECT_EQ(o.sets, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(o.tie);
  EXPECT_TRUE(o.fast);
  EXPECT_EQ(o.d_model, 3);
  EXPECT_EQ(o.dir, "there");
}

TEST(CommandLine, TakesOddTexts) {
  EXPECT_EQ(after({"--sets", "[a,b]", "x y", "ünï"}).sets, (std::vector<std::string>{"[a,b]", "x y", "ünï"}));
  EXPECT_EQ(after({"--sets", "a", "--sets", "b", "c"}).sets, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(after({"--dir=", "--fast"}).dir, "");
  EXPECT_TRUE(after({"--dir=", "--fast"}).fast);
  EXPECT_EQ(after({"--dir=a=b"}).dir, "a=b");
  EXPECT_EQ(after({"--dir=[a]"}).dir, "[a]");
  EXPECT_EQ(after({"--dir=-x"}).dir, "-x");
  EXPECT_FALSE(after({"--fast", "--tie=false"}).tie);
}

TEST(Config, ReadsTheSameNamesAndFlagsWin) {
  const ScratchFolder folder;
  const std::string file =
      folder.write("run.yml", "# a run\nmax-tokens: 100\nsets: [a, \"b c\"]\ntie: false\nvocab: null\ndir: 'x'\n");
  const Options o = after({"--config", file, "--max-tokens", "200"});
  EXPECT_EQ(o.max_tokens, 200);
  EXPECT_EQ(o.sets, (std::vector<std::string>{"a", "b c"}));
  EXPECT_FALSE(o.tie);
  EXPECT_EQ(o.dir, "x");
  EXPECT_EQ(after({"--config", folder.write("empty.yml", "")}).max_tokens, 4096);
}

TEST(Config, PresetStandsBelowFileAndFlags) {
  const ScratchFolder folder;
  EXPECT_EQ(after({"--preset", "base"}).d_model, 512);
  EXPECT_EQ(after({"--d-model", "7", "--preset", "base"}).d_model, 7);
  const std::string file = folder.write("run.yml", "d-model: 9\npreset: base\n");
  EXPECT_EQ(after({"--config", file}).d_model, 9);
  EXPECT_EQ(after({"--config", file, "--preset", "tiny"}).preset, "tiny");
  EXPECT_EQ(after({"--config", folder.write("b.yml", "preset: base\n")}).d_model, 512);
}

TEST(Config, NamesFileLineAndKey) {
  const ScratchFolder folder;
  const std::string path = folder.at("run.yml");
  const auto error = [&](const std::string& text) {
    folder.write("run.yml", text);
    std::string err;
    after({"--config", path}, &err);
    return err.substr(err.find(path) == std::string::npos ? 0 : err.find(path) + path.size());
  };
  EXPECT_EQ(error("preset: tiny\nmax-tokns: 5\n"), ": line 2: max-tokns is not an option; did you mean max-tokens?\n");
  EXPECT_EQ(error("max-tokens: four\n"), ": line 1: max-tokens: expected an integer, at least 1, got \"four\"\n");
  EXPECT_EQ(error("max-tokens: 0\n"), ": line 1: max-tokens: expected an integer, at least 1, got 0\n");
  EXPECT_EQ(error("\n\nmax-tokens: [1, 2]\n"), ": line 3: max-tokens: expected one value, got 2 (1, 2)\n");
  EXPECT_EQ(error("max-tokens: {a: 1}\n"), ": line 1: max-tokens: expected a value or a list of values, got a map\n");
  EXPECT_EQ(error("sets: [a, '']\n"), ": line 1: sets: one of its values is empty, expected FILE\n");
  EXPECT_EQ(error("max-tokens: 5\n---\npreset: tiny\n"),
            ": line 2: a second document begins, expected only one; put all options into the first\n");
  EXPECT_EQ(error("---\nmax-tokens: 5\n...\n--- x\n"),
            ": line 4: a second document begins, expected only one; put all options into the first\n");
  EXPECT_TRUE(error("max-tokens: 5\n---\n[1,\n").find("this is not YAML") != std::string::npos);
  for (const char* one :
       {"max-tokens: 5\n...\n", "%YAML 1.2\n---\nmax-tokens: 5\n...\n# end\n", "# nothing\n", "---\n"})
    EXPECT_EQ(after({"--config", folder.write("one.yml", one)}).dir, "") << one;
  EXPECT_EQ(error("sets: [[a]]\n"), ": line 1: sets: expected a list of plain values\n");
  EXPECT_EQ(error("fast: true\nfast: false\n"), ": line 2: fast: this option occurs twice in the file\n");
  EXPECT_EQ(error("- a\n- b\n"), ": expected one `option: value` per line\n");
  EXPECT_EQ(error("just words\n"), ": expected one `option: value` per line\n");
  EXPECT_TRUE(error("a: [1,\n").starts_with(": line 2: this is not YAML: ")) << error("a: [1,\n");
  EXPECT_TRUE(error("dir: *x\n").find("this is not YAML") != std::string::npos);

  std::string err;
  after({"--config", folder.at("missing.yml")}, &err);
  EXPECT_NE(err.find("missing.yml: cannot open it: No such file or directory"), std::string::npos) << err;
  after({"--config", folder.at("")}, &err);
  EXPECT_NE(err.find("expected a regular file, got a directory"), std::string::npos) << err;
}

// Bytes that are no options only cause an Error: mutations of a valid file, and nesting too deep for a
// stack.
TEST(Config, SurvivesHostileFiles) {
  const ScratchFolder folder;
  const std::string path = folder.at("run.yml");
  const auto survives = [&](const std::string& text) {
    folder.write("run.yml", text);
    Options o;
    try {
      read_yaml(path, fields_of(o));
    } catch (const Error&) {
    }
  };
  for (const std::string nest : {"[", "{", "- ", "? ", "a: {", "[[{", "!a "}) {
    std::string text = "sets: ";
    while (text.size() < 200'000) text += nest;
    survives(text);
    survives(text.substr(6));
  }
  survives(std::string(2 << 20, 'a'));

  const std::string good =
      "# a run\nmax-tokens: 100\nsets: [a, \"b c\"]\ntie: &x false\nfast: *x\nvocab: |\n  text\ndir: 'x'\n";
  RandomSequence random(7, 0);
  for (int i = 0; i < 1000; ++i) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(random.below(text.size()));
      const std::uint64_t kind = random.below(3);
      if (kind == 0) text[at] = static_cast<char>(random.bits());
      if (kind == 1) text.erase(at, random.below(5));
      if (kind == 2) text.insert(at, 1, "[]{}:,\n\"'&*!|>%@-?# \t"[random.below(21)]);
      if (text.empty()) text = " ";
    }
    survives(text);
  }
}

TEST(Config, ContradictionsNameBothPlaces) {
  const ScratchFolder folder;
  const std::string file = folder.write("run.yml", "vocab-size: 500\n");
  std::string err;
  after({"--config", file, "--vocab", "v"}, &err);
  EXPECT_EQ(err, "tril work: --vocab: cannot be combined with " + file + ": line 1: vocab-size: read or trained\n");
}

TEST(Config, DumpReadsBackAsTheSame) {
  const ScratchFolder folder;
  const std::vector<std::string> texts{"plain", "a b",  "",      "null", "~",           "true",     "1e5", "- x",
                                       "#c",    "a: b", "\"q\"", "it's", "\\n\t",       "ü😀",       "[x]", "{",
                                       "*a",    "&b",   "%",     "@",    "line\nbreak", "trailing "};
  for (const std::string& text : texts) {
    std::string yaml, again;
    std::vector<std::string> args{"--preset", "base", "--no-tie", "--vocab=" + text, "--dump-config"};
    args.insert(args.end(), {"--dir=" + text, "--sets", "s"});  // these must not be empty, unlike a text
    if (!text.empty()) args.push_back(text.starts_with("-") ? "t" : text);
    const Options o = after(args, nullptr, &yaml);
    const Options read = after({"--config", folder.write("dump.yml", yaml)});
    EXPECT_EQ(read.dir, text) << yaml;
    EXPECT_EQ(read.sets, o.sets) << yaml;
    EXPECT_EQ(read.vocab.value_or(""), text) << yaml;
    EXPECT_EQ(read.d_model, 512) << yaml;
    EXPECT_FALSE(read.tie);
    after({"--config", folder.at("dump.yml"), "--dump-config"}, nullptr, &again);
    EXPECT_EQ(yaml, again);
  }
}

TEST(Config, NamesOfFilesMayBeAnyBytes) {
  struct Names {
    std::string model;
    std::vector<std::string> sets;
  };
  const auto fields = [](Names& n) {
    Fields f;
    f.add("model", &n.model, "a model").value_name("DIR");
    f.add("sets", &n.sets, "files").value_name("FILE");
    return f;
  };
  Names names{"m\xff", {"a", "\xfe b"}}, read;
  const ScratchFolder folder;
  const std::string yaml = to_yaml(fields(names)), path = folder.write("dump.yml", yaml);
  Fields f = fields(read);
  for (const GivenValue& value : read_yaml(path, f)) f.at(value.name, value.where).set(value.texts, value.where);
  EXPECT_EQ(read.model, names.model) << yaml;
  EXPECT_EQ(read.sets, names.sets) << yaml;
  folder.write("dump.yml", "model: !!binary \"?\"\n");
  EXPECT_THROW(read_yaml(path, f), Error);
}

}  // namespace
}  // namespace tril::cli
