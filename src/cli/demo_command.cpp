// tril demo: the main job from start to end on text that is made on the spot. It runs the commands that it shows, so
// that whoever has seen it knows how to do the same with text of his own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "cli/stop_signal.h"
#include "model/registry.h"
#include "search/translator.h"
#include "train/demo_corpus.h"

namespace tril::cli {
namespace {

using train::DemoCorpus;
using train::DemoKind;
using train::DemoPair;

struct DemoOptions {
  std::string out = "tril-demo", only = "all";
  std::int64_t lines = 80'000, updates = 6'000, threads = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

Fields fields_of(DemoOptions& o) {
  Fields f;
  f.group("Demo");
  f.add("out", &o.out, "directory for the text, the vocabulary and the model").letter('o').value_name("DIR");
  f.add("only", &o.only, "one kind of text instead of all").choices({"all", "dates", "times", "numbers"});
  f.add("lines", &o.lines, "lines to train on").at_least(100).at_most(10'000'000);
  f.add("updates", &o.updates, "updates to train for").at_least(41).at_most(1'000'000);
  f.add("seed", &o.seed, "of the text and of the training");
  f.add("threads", &o.threads, "cores to use; 0: all").at_least(0).at_most(1024);
  f.add("json", &o.json, "print one JSON object and nothing else");
  return f;
}

std::vector<DemoKind> kinds_of(const std::string& only) {
  if (only == "dates") return {DemoKind::dates};
  if (only == "times") return {DemoKind::times};
  if (only == "numbers") return {DemoKind::numbers};
  return {DemoKind::dates, DemoKind::times, DemoKind::numbers};
}

/// Where things lie under --out.
struct Places {
  explicit Places(const std::string& folder) : out(folder) {}
  std::string out;
  std::string text(const std::string& part, const char* side) const { return out + "/" + part + "." + side; }
  std::string spm() const { return out + "/spm.model"; }
  std::string model() const { return out + "/model"; }
};

void write_part(const Places& places, const std::string& part, const std::vector<DemoPair>& pairs) {
  std::string sources, targets;
  for (const DemoPair& pair : pairs) sources += pair.source + "\n", targets += pair.target + "\n";
  write_file_atomic(places.text(part, "src"), std::string_view(sources));
  write_file_atomic(places.text(part, "tgt"), std::string_view(targets));
}

// A directory that holds something else is not written into.
void prepare_folder(const Places& places) {
  namespace fs = std::filesystem;
  const bool foreign =
      fs::is_directory(places.out) && !fs::is_empty(places.out) && !fs::exists(places.text("train", "src"));
  if (foreign) fail_usage(places.out, "is there already and holds no demo", "choose another place with --out");
  create_directories(places.out);
}

std::vector<std::string> vocab_arguments(const Places& at) {
  return {"vocab", "--train-sets", at.text("train", "src"), at.text("train", "tgt"), "--size", "250", "--split-digits",
          "--out", at.spm()};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// A small model without dropout: the text is clean, and there is enough of it for what is to be learned. Small batches:
// what decides here is the number of updates.
std::vector<std::string> train_arguments(const DemoOptions& o, const Places& at) {
  std::vector<std::string> args{"train", "--model", at.model(), "--vocab", at.spm()};
  args.insert(args.end(), {"--train-sets", at.text("train", "src"), at.text("train", "tgt")});
  args.insert(args.end(), {"--valid-sets", at.text("valid", "src"), at.text("valid", "tgt")});
  for (std::string& word : words(fmt::format(
           "--enc-depth 2 --dec-depth 2 --d-model 96 --ffn-dim 192 --dropout 0 --label-smoothing 0 --max-tokens 800 "
           "--learn-rate 0.003 --warmup {} --lr-schedule linear --after {}u --valid-freq {}u --save-freq {}u --seed {} "
           "--threads {} --overwrite",
           std::min<std::int64_t>(200, o.updates / 4), o.updates, o.updates / 8, o.updates / 8, o.seed, o.threads)))
    args.push_back(std::move(word));
  return args;
}

// Says what it does, does it, and returns its exit code.
int run_shown(const App& app, const DemoOptions& o, std::vector<std::string> args, bool quiet) {
  if (!o.json) {
    fmt::print("$ tril {}\n", fmt::join(args, " "));
    std::fflush(stdout);
  }
  if (quiet || o.json) args.emplace_back("--quiet");
  return App(app).run(args);
}

std::vector<std::string> translations(const DemoOptions& o, const Places& places, const std::vector<DemoPair>& pairs) {
  const std::unique_ptr<model::Model> m = model::load(places.model());
  DecodingOptions decoding;
  decoding.model = places.model();
  decoding.threads = o.threads;
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(places.model());
  search::Translator translator(
      *m, tokenizer, translator_options(decoding, model::load_generation_config(places.model()), *m, *tokenizer));
  std::vector<std::string> sources, found;
  for (const DemoPair& pair : pairs) sources.push_back(pair.source);
  for (const auto& list : translator.translate(sources)) found.push_back(list.front().text);
  return found;
}

/// How this program was reached: "build/tril" from within the project.
std::string program_path() {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return "tril";
  const fs::path near = self.lexically_relative(fs::current_path(failed));
  if (near.empty() || near.native().starts_with("..")) return self.string();
  return near.has_parent_path() ? near.string() : "./" + near.string();
}

void show_result(const Places& places, const std::vector<DemoPair>& test, const std::vector<std::string>& found,
                 double exact) {
  constexpr std::size_t shown = 9;
  fmt::print("\nlines that it has never seen\n");
  for (std::size_t i = 0; i < std::min(shown, test.size()); ++i)
    fmt::print("  {:<44} -> {:<12} {}\n", test[i].source, found[i],
               found[i] == test[i].target ? "right" : "should be " + test[i].target);
  fmt::print("\nexact match  {:.1f}% of {} unseen lines\n", exact,
             format_count(static_cast<std::int64_t>(test.size())));
  fmt::print("model        {}\n", places.model());
  fmt::print("report       {}/report.html\n", places.model());
  fmt::print("your own     echo \"the third of May 2021\" | {} translate --model {}\n", program_path(), places.model());
}

int demo(const DemoOptions& o, const Invocation& invocation) {
  const StopSignal stop;
  const Places places(o.out);
  prepare_folder(places);
  const std::int64_t held_out = std::clamp<std::int64_t>(o.lines / 20, 50, 1'000);
  const DemoCorpus corpus = train::make_demo_corpus(
      {.kinds = kinds_of(o.only), .train = o.lines, .valid = held_out, .test = held_out, .seed = o.seed});
  write_part(places, "train", corpus.train);
  write_part(places, "valid", corpus.valid);
  write_part(places, "test", corpus.test);
  if (!o.json)
    fmt::print("{} lines of dates, times and numbers in English, German and French, and their normal forms, in {}\n",
               format_count(o.lines), o.out);

  for (const auto& args : {vocab_arguments(places), train_arguments(o, places)}) {
    if (const int code = run_shown(invocation.app, o, args, invocation.quiet); code != exit_success) return code;
    if (stop.came()) {
      fmt::print(stderr, "tril demo: stopped before its end; the same command begins anew\n");
      return exit_failure;
    }
  }

  const std::vector<std::string> found = translations(o, places, corpus.test);
  std::size_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == corpus.test[i].target;
  const double exact = 100.0 * static_cast<double>(right) / static_cast<double>(found.size());
  if (o.json)
    fmt::print(
        "{}\n",
        nlohmann::ordered_json{{"exact_match", exact}, {"lines", found.size()}, {"model", places.model()}}.dump());
  else
    show_result(places, corpus.test, found, exact);
  return exit_success;
}

}  // namespace

void add_demo(App& app) {
  auto o = std::make_shared<DemoOptions>();
  app.add({.name = "demo",
           .summary = "train a small model on text made on the spot, and translate with it",
           .description =
               "Makes a corpus of dates, times and numbers, written in many ways in three languages, with their "
               "normal forms; learns a vocabulary, trains a model in a minute or two, and translates lines that "
               "it has never seen. It needs nothing from outside and shows the commands that it runs.",
           .examples = {{"tril demo", "the whole of it, in the folder tril-demo"},
                        {"tril demo --only dates --lines 20000 --updates 800 --out dates", "a smaller one"}},
           .fields = fields_of(*o),
           .reads_config = false,
           .apply_preset = {},
           .run = [o](const Invocation& i) { return demo(*o, i); }});
}

}  // namespace tril::cli
