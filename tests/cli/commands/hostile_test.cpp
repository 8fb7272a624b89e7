// The real program on hostile input: a clear message and an exit code (2 for misuse, 1 for bad files or a bad
// environment), never a signal, and no partial file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "corpus/vocabulary.h"
#include "support/paths.h"
#include "support/run_program.h"
#include "tokenizer/files/marian_tokenizer.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

class Hostile : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    std::string text;
    for (int i = 0; i < 60; ++i) text += "a dog runs in the snow\ntwo men play with a red ball\n";
    corpus = folder->write("corpus", text);
    model = folder->at("model");
    fs::create_directory(model);
    for (const char* file : {"config.json", "generation_config.json", "model.safetensors"}) {
      fs::copy(fs::path(test::test_dir()) / "golden/hf/marian" / file, model);
      fs::permissions(fs::path(model) / file, fs::perms::owner_all);
    }
    VocabularyOptions options;
    options.size = 50;
    MarianParts parts;
    parts.source_spm = parts.target_spm = train_sentencepiece(std::vector<TextSource>{{corpus, -1}}, options);
    save_tokenizer(*make_marian_tokenizer(parts), model);
  }
  static void TearDownTestSuite() { delete folder; }

  /// A copy of the model to damage.
  static std::string copy_of_model() {
    const std::string copy = folder->at("copy");
    fs::remove_all(copy);
    fs::copy(model, copy);
    return copy;
  }
  static Ran translate(const std::string& directory, std::vector<std::string> more = {}) {
    std::vector<std::string> args{"translate", "-m", directory, "-b", "1", "--max-length", "3", "--threads", "1"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args, "a dog\n");
  }
  static Ran shell(const std::string& script) {
    return run_words({"/bin/sh", "-c", script, "sh", test::tril_program(), model, corpus, folder->at("new")});
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model, corpus;
};

void expect_refusal(const Ran& ran, int code, const std::string& message) {
  EXPECT_EQ(ran.signal, 0) << message;
  EXPECT_EQ(ran.code, code) << message << "\n" << ran.err;
  EXPECT_NE(ran.err.find(message), std::string::npos) << "expected: " << message << "\ngot: " << ran.err;
  EXPECT_LT(ran.err.size(), 3000u) << message;
  EXPECT_EQ(ran.err.find("internal error"), std::string::npos) << ran.err;
}

struct Case {
  std::vector<std::string> args;
  int code;
  std::string message;
};

TEST_F(Hostile, Arguments) {
  const std::string wide(300, 'x');
  const std::vector<Case> cases{
      {{""}, 2, "tril: \"\" is not a command"},
      {{"\x01"}, 2, "tril: \\x01 is not a command"},
      {{"translate", "-m", model, "--n-best", "99999999999"}, 2, "--n-best: expected an integer, from 1 to 1000"},
      {{"translate", "-m", model, "--length-penalty", "nan"}, 2, "--length-penalty: expected a number"},
      {{"translate", "-m", model, "--length-penalty", "1e999"}, 2, "--length-penalty: expected a number"},
      {{"translate", "-m", model, "--threads", "-1"}, 2, "--threads: expected an integer"},
      {{"translate", "-m", model, "--batch-size", "0"}, 2, "--batch-size: expected an integer"},
      {{"translate", "-m", model, "-b", "10000"}, 2, "--beam-size: expected an integer, from 1 to 1000"},
      {{"translate", "-m", model, "-b", wide}, 2, "..."},
      {{"train", "-m", "m", "--train-sets", "a", "b", "--d-model", "130", "--num-heads", "4"},
       2,
       "--num-heads: 4 heads do not divide --d-model 130"},
      {{"train", "-m", "m", "--train-sets", "a", "b", "--max-positions", "99999999999"},
       2,
       "--max-positions: expected"},
      {{"train", "-m", "m", "--train-sets", "a", "b", "--learn-rate", "1e300"}, 2, "--learn-rate: expected a number"},
      {{"train", "-m", "m", "--train-sets", "a", "b", "--seed", "18446744073709551616"}, 2, "--seed: expected"},
  };
  for (const Case& c : cases) expect_refusal(run_tril(c.args), c.code, c.message);
}

TEST_F(Hostile, TextFiles) {
  const std::string binary = folder->write("binary", std::string(100, '\0')), empty = folder->write("empty", ""),
                    latin = folder->write("latin", "a dog\nthe \xff cat\n"),
                    short_file = folder->write("short", "a\nb\n"), cut = folder->write("cut.gz", "\x1f\x8b\x08"),
                    directory = folder->at(""), new_file = folder->at("made");
  const std::vector<Case> cases{
      {{"eval", "-r", corpus, "-i", ""}, 2, "--input: its value is empty, expected FILE"},
      {{"eval", "-r", "", "-i", corpus}, 2, "--reference: its value is empty, expected FILE"},
      {{"vocab", "--train-sets", ""}, 2, "--train-sets: its value is empty, expected FILE"},
      {{"translate", "-m", model, "--shortlist", ""}, 2, "--shortlist: its value is empty, expected FILE"},
      {{"train", "-m", new_file, "--train-sets", corpus, corpus, "--data-weighting", ""},
       2,
       "--data-weighting: its value is empty, expected FILE"},
      {{"train", "-m", new_file, "--train-sets", corpus, corpus, "--guided-alignment", ""},
       2,
       "--guided-alignment: its value is empty, expected"},
      {{"eval", "-r", corpus + "/x", "-i", corpus}, 1, "a component of the path is a file"},
      {{"eval", "-r", std::string(6000, 'a'), "-i", corpus}, 1, "...: cannot be read"},
      {{"eval", "-r", binary, "-i", corpus}, 1, "is a binary file"},
      {{"eval", "-r", directory, "-i", corpus}, 1, "expected a text file, got a directory"},
      {{"eval", "-r", cut, "-i", corpus}, 1, "its gzip data is truncated"},
      {{"eval", "-r", short_file, "-i", corpus}, 1, "short: has 2 lines, "},
      {{"eval", "-r", empty, "-i", empty}, 1, "empty: is empty"},
      {{"eval", "-r", latin, "-i", latin}, 1, "latin: line 2: is not valid UTF-8 (byte 0xFF at column 5); fix it\n"},
      {{"vocab", "--train-sets", latin, "-o", new_file}, 1, "fix it, or pass --skip-invalid"},
      {{"vocab", "--train-sets", corpus, "-o", "/proc/x"}, 1, "/proc does not accept new files: write elsewhere"},
      {{"vocab", "--train-sets", corpus, "-o", folder->at("no/x")}, 1, "no does not exist"},
      {{"vocab", "--train-sets", corpus, "-o", directory}, 1, "expected a regular file, got a directory"},
      {{"train", "--train-sets", corpus, corpus, "-m", "/proc/x"},
       1,
       "/proc does not accept new files: write elsewhere"},
      {{"train", "--train-sets", corpus, corpus, "-m", corpus}, 1, "expected a directory, got a file"},
      {{"train", "--train-sets", corpus, short_file, "-m", folder->at("unequal"), "--vocab-size", "40"}, 1, "lines"},
      {{"inspect", folder->at("nowhere")}, 1, "nowhere: no such file or directory"},
      {{"inspect", corpus}, 1, "is neither a directory nor a GGUF file"},
  };
  for (const Case& c : cases) expect_refusal(run_tril(c.args), c.code, c.message);
  EXPECT_FALSE(fs::exists(new_file));
}

TEST_F(Hostile, ModelDirectoriesWithAFileMissingOrDamaged) {
  for (const std::string name : {"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"}) {
    std::string copy = copy_of_model();
    fs::remove(copy + "/" + name);
    expect_refusal(translate(copy), 1, name);
    fs::create_directory(copy + "/" + name);
    expect_refusal(translate(copy), 1, name);
    copy = copy_of_model();
    fs::remove(copy + "/" + name);
    ASSERT_EQ(mkfifo((copy + "/" + name).c_str(), 0600), 0);
    expect_refusal(translate(copy), 1, name);
    copy = copy_of_model();
    fs::resize_file(copy + "/" + name, fs::file_size(copy + "/" + name) / 2);
    expect_refusal(translate(copy), 1, name);
    fs::resize_file(copy + "/" + name, 0);
    expect_refusal(translate(copy), 1, name);
    std::ofstream(copy + "/" + name) << std::string(100'000, '[');
    expect_refusal(translate(copy), 1, name);
  }
}

struct ConfigCase {
  const char* key;
  nlohmann::json value;
};

// A config.json of a few bytes can ask for anything: it is refused at once, with numbers, and without using the memory.
TEST_F(Hostile, ConfigurationsThatCannotBe) {
  const std::vector<ConfigCase> cases{{"d_model", 1'000'000},
                                      {"d_model", 47},
                                      {"d_model", -8},
                                      {"d_model", 1e300},
                                      {"d_model", "48"},
                                      {"encoder_layers", 1'000'000'000},
                                      {"decoder_layers", 10'000'000},
                                      {"vocab_size", 1ll << 40},
                                      {"encoder_attention_heads", 5},
                                      {"encoder_ffn_dim", 2'000'000'000},
                                      {"pad_token_id", 131},
                                      {"eos_token_id", -5},
                                      {"decoder_start_token_id", 1ll << 32},
                                      {"model_type", "martian"},
                                      {"activation_function", "none"},
                                      {"dropout", 1.5}};
  for (const ConfigCase& c : cases) {
    const std::string copy = copy_of_model();
    nlohmann::json config = nlohmann::json::parse(file_text(model + "/config.json"));
    config[c.key] = c.value;
    std::ofstream(copy + "/config.json") << config;
    for (const Ran& ran : {translate(copy), run_tril({"inspect", copy})}) {
      EXPECT_EQ(ran.signal, 0) << c.key;
      EXPECT_EQ(ran.code, 1) << c.key << c.value << ": what a file says is no misuse";
      EXPECT_NE(ran.err.find(c.key), std::string::npos) << c.key << c.value << ": " << ran.err;
    }
  }
}

TEST_F(Hostile, StandardStreamsThatAreClosedOrFull) {
  expect_refusal(shell("exec \"$1\" translate -m \"$2\" -b 1 <&-"), 1, "standard input: cannot be read");
  expect_refusal(shell("echo a dog | \"$1\" translate -m \"$2\" -b 1 --max-length 3 >&-"), 1,
                 "standard output: cannot");
  expect_refusal(shell("echo a dog | \"$1\" translate -m \"$2\" -b 1 --max-length 3 >/dev/full"), 1,
                 "standard output: cannot be written (No space left on device)");
  expect_refusal(shell("exec \"$1\" score -m \"$2\" -s \"$3\" -t \"$3\" --word-scores >/dev/full"), 1,
                 "standard output: cannot be written (No space left on device)");
  expect_refusal(shell("exec \"$1\" inspect \"$2\" >&-"), 1, "standard output: cannot be written");
  expect_refusal(shell("exec \"$1\" help </dev/null >/dev/full"), 1, "No space left on device");
  // With every stream closed, the vocabulary's file gets none of their descriptors, and no message ends up in it.
  EXPECT_EQ(shell("exec \"$1\" vocab --train-sets \"$3\" --size 50 -o \"$4\" <&- >&- 2>&-").code, 0);
  EXPECT_EQ(file_text(folder->at("new")), file_text(model + "/source.spm"));
  fs::remove(folder->at("new"));
}

// A mistake must not destroy the user's files.
TEST_F(Hostile, NothingIsWrittenOverWhatIsRead) {
  const std::string text = folder->write("text", file_text(corpus)), run = folder->at("run"),
                    log = run + "/train.jsonl";
  expect_refusal(run_tril({"vocab", "--train-sets", text, "--size", "40", "--out", text}), 2,
                 text + " is also --train-sets");
  EXPECT_EQ(file_text(text), file_text(corpus));
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> args{
        "train",        "--model", run,         "--train-sets", corpus,        corpus, "--d-model",   "16",
        "--num-heads",  "2",       "--ffn-dim", "16",           "--enc-depth", "1",    "--dec-depth", "1",
        "--max-tokens", "200",     "--after",   "3u",           "--threads",   "1"};
    args.insert(args.end(), more.begin(), more.end());
    return run_tril(args);
  };
  const Ran begun = train({"--vocab-size", "40"});
  ASSERT_EQ(begun.code, 0) << begun.err;
  const std::string lines = file_text(log), weights = file_text(run + "/model.safetensors");
  expect_refusal(run_tril({"report", run, "-o", log}), 2, "is a file of the run");
  EXPECT_EQ(file_text(log), lines);
  EXPECT_EQ(run_tril({"report", run, "-o", run + "/page.html"}).code, 0);
  expect_refusal(train({"--teacher", run + "/.", "--overwrite"}), 2, "is also --model");
  EXPECT_EQ(file_text(run + "/model.safetensors"), weights);
}

TEST_F(Hostile, StatesThatCannotBe) {
  const std::string run = folder->at("stated");
  const std::vector<std::string> args{"train",
                                      "--model",
                                      run,
                                      "--train-sets",
                                      corpus,
                                      corpus,
                                      "--d-model",
                                      "16",
                                      "--ffn-dim",
                                      "16",
                                      "--num-heads",
                                      "2",
                                      "--enc-depth",
                                      "1",
                                      "--dec-depth",
                                      "1",
                                      "--vocab-size",
                                      "40",
                                      "--max-tokens",
                                      "200",
                                      "--after",
                                      "3u",
                                      "--threads",
                                      "1"};
  ASSERT_EQ(run_tril(args).code, 0);
  const std::string state = run + "/checkpoint/" + file_text(run + "/checkpoint/last").substr(0, 14) + "/state.json";
  const nlohmann::json whole = nlohmann::json::parse(file_text(state));
  nlohmann::json good = whole;
  good.erase("checksum");  // as in older versions: each value is checked by its range
  const auto refused = [&](const nlohmann::json& bad, const std::string& message) {
    std::ofstream(state) << bad.dump();
    expect_refusal(run_tril(args), 1, message);
  };
  nlohmann::json bad = good;
  bad["updates"] = -7;
  refused(bad, "updates: expected 0 or more, got -7");
  bad = good, bad["corpus"]["batch_in_epoch"] = -1;
  refused(bad, "\"batch_in_epoch\" is -1, expected a count");
  bad = good, bad.erase("skipped");
  refused(bad, "pass --overwrite to start over");
  bad = whole, bad["updates"] = -7;
  refused(bad, "is damaged: its checksum does not match");
}

TEST_F(Hostile, OptionsThatAreNotUtf8) {
  for (const char* option : {"--train-only", "--language-tags", "--freeze"})
    expect_refusal(run_tril({"train", "--model", folder->at("never"), "--train-sets", corpus, corpus, "--init-from",
                             model, option, "x\xff"}),
                   2, "expected UTF-8, got \"x\\xFF\"");
  expect_refusal(run_tril({"train", "--model", folder->at("never"), "--train-sets", corpus, corpus, corpus, corpus,
                           "--vocab-size", "40", "--corpus-weights", "1e308", "1e308"}),
                 2, "their sum is too large");
}

// An error in a file is no misuse, and the file is named.
TEST_F(Hostile, SmallFilesThatAreWrong) {
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"translate", "-m", model, "-b", "2", "--max-length", "3", "-i", corpus});
    return run_tril(more);
  };
  expect_refusal(with({"--terminology", folder->write("terms", "dog\tHund\ndog\tKatze\n")}), 1,
                 "terms: \"dog\" has two translations");
  expect_refusal(with({"--terminology", folder->write("terms", "a\tb\ndog\n")}), 1, "terms:2: expected");
  expect_refusal(run_tril({"serve", "-m", model, "--api-key-file", folder->write("keys", "# none\n")}), 1,
                 "keys: has no key");
  expect_refusal(run_tril({"serve", "-m", model, "--admin-key-file", folder->write("keys", "123\n")}), 1,
                 "keys: a key of 3 characters is easy to guess");
  for (const auto& [line, part] :
       std::vector<std::pair<std::string, std::string>>{{"first-key requests=0", "requests=0"},
                                                        {"first-key requests=many", "requests=many"},
                                                        {"first-key characters=1 requests=", "requests="},
                                                        {"first-key requests=1 requests=2", "twice"},
                                                        {"first-key requests-per-hour=0", "requests-per-hour=0"},
                                                        {"first-key requests-per-day=x", "requests-per-day=500"},
                                                        {"requests=5", "without a key"}})
    expect_refusal(run_tril({"serve", "-m", model, "--api-key-file", folder->write("keys", line + "\n")}), 1, part);
  for (const std::string proxy : {"localhost", "10.0.0.0/33", "fd00::/129", "10.0.0.1/", "10.0.0.1/-1", "", "*"})
    expect_refusal(run_tril({"serve", "-m", model, "--trusted-proxies", proxy}), 2,
                   "--trusted-proxies: expected an address");
  expect_refusal(run_tril({"serve", "-m", model, "--access-log", folder->at("no/log"), "--port", "0"}), 1,
                 "log: the access log cannot be written (No such file or directory)");
  // These are reported before models are loaded.
  const std::string no_key = folder->write("key.pem", "none\n");
  for (const auto& [options, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--tls-certificate", no_key, "--tls-key", no_key}, "key.pem: is not a PEM certificate chain"},
           {{"--suggestions", folder->at("no/file")}, "no/file: "}}) {
    std::vector<std::string> words{"serve", "-m", model, "--port", "0"};
    words.insert(words.end(), options.begin(), options.end());
    const Ran ran = run_tril(words);
    expect_refusal(ran, 1, part);
    EXPECT_EQ(ran.err.find("loaded"), std::string::npos) << ran.err;
  }
  const std::vector<std::string> shared{"--work-dir", folder->at("work"), "-o", folder->at("shared")};
  ASSERT_EQ(with(shared).code, 0);
  folder->write("work/manifest.json", "{");
  const Ran damaged = with(shared);
  expect_refusal(damaged, 1, "manifest.json: is not a manifest of `tril translate --work-dir`: parse error at line 1");
}

// Reported before long work starts.
TEST_F(Hostile, PlacesThatCannotBeWrittenAreKnownFirst) {
  const std::string nowhere = folder->at("no/x"), none = folder->at("none");
  const std::vector<std::vector<std::string>> commands{
      {"translate", "-m", none, "-i", corpus, "-o", nowhere},
      {"attend", "-m", none, "-s", "a dog", "-o", nowhere},
      {"attend", "-m", none, "-s", "a dog", "-o", folder->at("page"), "--svg", nowhere},
      {"shortlist", "-m", none, "-t", corpus, corpus, "-o", nowhere},
      {"vocab", "--train-sets", none, "-o", nowhere},
      {"align", "-t", corpus, none, "-o", nowhere}};
  for (const auto& args : commands) expect_refusal(run_tril(args), 1, nowhere + ": cannot create");
  expect_refusal(run_tril({"shortlist", "-m", model, "-t", corpus, corpus, "-o", corpus}), 2, "--out: ");
  expect_refusal(run_tril({"attend", "-m", model, "-s", "a", "-o", folder->at("p"), "--svg", folder->at("./p")}), 2,
                 "--svg: is the same file as --out");
}

TEST_F(Hostile, AFullDiskLeavesNoHalfFile) {
  // A file-size limit acts like a full disk, on any machine.
  expect_refusal(shell("ulimit -f 1; exec \"$1\" vocab --train-sets \"$3\" --size 50 -o \"$4\""), 1, "File too large");
  for (const auto& entry : fs::directory_iterator(folder->at("")))
    EXPECT_FALSE(entry.path().filename().string().starts_with("new")) << entry.path();
}

}  // namespace
}  // namespace tril
