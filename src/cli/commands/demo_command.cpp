// tril demo: the main task from start to end on synthetic text. It prints the commands that it runs, so that users can
// repeat them with their own text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/cores.h"
#include "base/file.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "cli/io/stop_signal.h"
#include "decode/batches/parallel.h"
#include "decode/models/decoding_options.h"
#include "decode/texts/text_score.h"
#include "decode/texts/translator.h"
#include "demo/demo_corpus.h"
#include "demo/demo_tasks.h"
#include "format/json_text.h"
#include "metrics/bleu.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"

namespace tril::cli {
namespace {

using train::DemoCorpus;
using train::DemoKind;
using train::DemoPair;
using train::DemoTask;

struct DemoOptions {
  std::string task = "dates", out = "tril-demo", only = "all";
  std::optional<std::int64_t> lines, updates;
  std::int64_t threads = 0;
  PlacementOptions placement;
  std::uint64_t seed = 1;
  bool json = false;
};

Fields fields_of(DemoOptions& o) {
  Fields f;
  f.group("Demo");
  std::vector<std::string> tasks{"dates"};
  for (const DemoTask& task : train::demo_tasks()) tasks.push_back(task.name);
  f.add("task", &o.task, "task that the model learns").choices(tasks).positional();
  f.add("out", &o.out, "directory for the text, the vocabulary and the model").letter('o').value_name("DIR");
  f.add("only", &o.only, "for the task dates: use only one kind of text").choices({"all", "dates", "times", "numbers"});
  f.add("lines", &o.lines, "number of lines to train on; unset: 20,000 to 80,000, depending on the task")
      .at_least(100)
      .at_most(10'000'000);
  f.add("updates", &o.updates,
        "number of updates to train for; unset: 6,000 for dates, else as the task's configuration says")
      .at_least(41)
      .at_most(1'000'000);
  f.add("seed", &o.seed, "seed of the text and of training");
  add_threads_field(f, o.threads);
  add_placement_fields(f, o.placement);
  f.add("json", &o.json, "print one JSON object and nothing else");
  return f;
}

std::vector<DemoKind> kinds_of(const std::string& only) {
  if (only == "dates") return {DemoKind::dates};
  if (only == "times") return {DemoKind::times};
  if (only == "numbers") return {DemoKind::numbers};
  return {DemoKind::dates, DemoKind::times, DemoKind::numbers};
}

/// The paths under --out.
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

// Refuses a directory that holds something else.
void prepare_folder(const Places& places) {
  namespace fs = std::filesystem;
  const bool foreign =
      fs::is_directory(places.out) && !fs::is_empty(places.out) && !fs::exists(places.text("train", "src"));
  if (foreign) fail_usage(places.out, "already exists and holds no demo", "choose another place with --out");
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

std::string placement_arguments(const DemoOptions& o) {
  std::string words;
  Fields f;
  PlacementOptions given = o.placement;
  add_placement_fields(f, given);
  for (const Field& field : f)
    if (field.text() != field.default_text()) words += fmt::format(" --{} {}", field.name(), field.text());
  return words;
}

// A small model without dropout: the text is clean, and there is enough of it. Small batches: what matters here is the
// number of updates.
std::vector<std::string> train_arguments(const DemoOptions& o, const Places& at) {
  const std::int64_t updates = o.updates.value_or(6'000);
  std::vector<std::string> args{"train", "--model", at.model(), "--vocab", at.spm()};
  args.insert(args.end(), {"--train-sets", at.text("train", "src"), at.text("train", "tgt")});
  args.insert(args.end(), {"--valid-sets", at.text("valid", "src"), at.text("valid", "tgt")});
  for (std::string& word : words(fmt::format(
           "--enc-depth 2 --dec-depth 2 --d-model 96 --ffn-dim 192 --dropout 0 --label-smoothing 0 --max-tokens 800 "
           "--learn-rate 0.003 --warmup {} --lr-schedule linear --after {}u --valid-freq {}u --save-freq {}u --seed {} "
           "--threads {}{} --overwrite",
           std::min<std::int64_t>(200, updates / 4), updates, updates / 8, updates / 8, o.seed, o.threads,
           placement_arguments(o))))
    args.push_back(std::move(word));
  return args;
}

// Prints a command, runs it, and returns its exit code.
int run_shown(const App& app, const DemoOptions& o, std::vector<std::string> args, bool quiet) {
  if (!o.json) print_stdout("$ tril {}\n", fmt::join(args, " "));
  if (quiet || o.json) args.emplace_back("--quiet");
  return App(app).run(args);
}

DecodingOptions decoding_of(const DemoOptions& o, const Places& places) {
  DecodingOptions decoding;
  decoding.model = places.model();
  decoding.threads = o.threads, decoding.placement = o.placement;
  settle_placement(decoding);
  return decoding;
}

std::vector<std::string> translations(const DemoOptions& o, const Places& places, const std::vector<DemoPair>& pairs) {
  const auto source = model::ModelSource::open(places.model());
  const DecodingOptions decoding = decoding_of(o, places);
  const std::unique_ptr<model::Model> m = load_model(source, decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  search::Translator translator(*m, tokenizer, translator_options(decoding, source.generation(), *m, *tokenizer));
  std::vector<std::string> sources, found;
  for (const DemoPair& pair : pairs) sources.push_back(pair.source);
  for (const auto& list : translator.translate(sources)) found.push_back(list.front().text);
  return found;
}

/// The path by which this program was called: "build/tril" from within the project.
std::string program_path() {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  // The portable archive starts the program by a loader of its own (scripts/packages/launcher.sh).
  if (failed || self.filename().native().starts_with("ld-")) return "tril";
  const fs::path near = self.lexically_relative(fs::current_path(failed));
  if (near.empty() || near.native().starts_with("..")) return self.string();
  return near.has_parent_path() ? near.string() : "./" + near.string();
}

void show_result(const Places& places, const std::vector<DemoPair>& test, const std::vector<std::string>& found,
                 double exact) {
  constexpr std::size_t shown = 9;
  print_stdout("\nlines that the model has never seen\n");
  for (std::size_t i = 0; i < std::min(shown, test.size()); ++i)
    print_stdout("  {:<44} -> {:<12} {}\n", test[i].source, found[i],
                 found[i] == test[i].target ? "right" : "should be " + test[i].target);
  print_stdout("\nexact match  {:.1f}% of {} unseen lines\n", exact, format_count(std::ssize(test)));
  print_stdout("model        {}\n", places.model());
  print_stdout("report       {}/report.html\n", places.model());
  print_stdout("your own     echo \"the third of May 2021\" | {} translate --model {}\n", program_path(),
               places.model());
}

std::int64_t held_out(std::int64_t lines) {
  return std::clamp<std::int64_t>(lines / 20, 50, 1'000);
}

int stopped() {
  std::cerr << "tril demo: stopped early; the same command starts over\n";
  return exit_failure;
}

int demo_of_dates(const DemoOptions& o, const Invocation& invocation) {
  const StopSignal stop;
  const Places places(o.out);
  prepare_folder(places);
  const std::int64_t lines = o.lines.value_or(o.only == "times" ? 20'000 : 80'000);  // there are 34,000 times
  const DemoCorpus corpus = train::make_demo_corpus(
      {.kinds = kinds_of(o.only), .train = lines, .valid = held_out(lines), .test = held_out(lines), .seed = o.seed});
  write_part(places, "train", corpus.train);
  write_part(places, "valid", corpus.valid);
  write_part(places, "test", corpus.test);
  if (!o.json)
    print_stdout("{} of dates, times and numbers in English, German and French, with their normal forms, in {}\n",
                 counted(format_count(lines), "line"), o.out);

  for (const auto& args : {vocab_arguments(places), train_arguments(o, places)}) {
    if (const int code = run_shown(invocation.app, o, args, invocation.quiet); code != exit_success) return code;
    if (stop.came()) return stopped();
  }

  const std::vector<std::string> found = translations(o, places, corpus.test);
  std::size_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == corpus.test[i].target;
  const double exact = 100.0 * static_cast<double>(right) / static_cast<double>(found.size());
  if (o.json)
    write_stdout(
        json_text(nlohmann::ordered_json{{"exact_match", exact}, {"lines", found.size()}, {"model", places.model()}}) +
        "\n");
  else
    show_result(places, corpus.test, found, exact);
  return exit_success;
}

// --- the other tasks: text, the configuration and one command ---

// A language model's lines continue from their beginnings, so they form one text.
void write_text(const Places& places, const std::string& part, const std::vector<DemoPair>& pairs) {
  std::string text, beginnings;
  for (const DemoPair& pair : pairs) text += pair.source + pair.target + "\n", beginnings += pair.source + "\n";
  write_file_atomic(places.text(part, "txt"), std::string_view(text));
  write_file_atomic(places.text(part, "src"), std::string_view(beginnings));
}

std::vector<std::string> task_arguments(const DemoOptions& o, const DemoTask& task, const Places& at) {
  const std::vector<const char*> sides = task.is_text ? std::vector{"txt"} : std::vector{"src", "tgt"};
  std::vector<std::string> args{"train", "--config", at.text(task.name, "yml"), "--model", at.model()};
  for (const std::string part : {"train", "valid"}) {
    args.push_back("--" + part + "-sets");
    for (const char* side : sides) args.push_back(at.text(part, side));
  }
  for (std::string& word :
       words(fmt::format("--seed {} --threads {}{} --overwrite", o.seed, o.threads, placement_arguments(o))))
    args.push_back(std::move(word));
  if (o.updates)
    for (std::string& word : words(fmt::format("--after {0}u --warmup {1} --valid-freq {2}u --save-freq {2}u",
                                               *o.updates, *o.updates / 10, *o.updates / 4)))
      args.push_back(std::move(word));
  return args;
}

/// The result of a task: its figures by name, and the output for each line.
struct TaskResult {
  std::vector<std::pair<std::string, double>> figures;
  std::vector<std::string> found;
};

TaskResult measure_pairs(const DemoOptions& o, const Places& places, const std::vector<DemoPair>& test) {
  TaskResult r{{}, translations(o, places, test)};
  std::vector<std::string> targets;
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    targets.push_back(test[i].target);
    right += r.found[i] == test[i].target;
  }
  r.figures.emplace_back("exact_match", 100.0 * static_cast<double>(right) / static_cast<double>(test.size()));
  r.figures.emplace_back("bleu", bleu(r.found, {&targets, 1}).score);
  return r;
}

// Continues each beginning by sampling, up to the end of the line.
TaskResult measure_stories(const DemoOptions& o, const Places& places, const std::vector<DemoPair>& test) {
  const auto source = model::ModelSource::open(places.model());
  DecodingOptions decoding = decoding_of(o, places);
  const std::unique_ptr<model::Model> m = load_model(source, decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  decoding.search.sampling = true, decoding.search.top_k = 0;
  decoding.search.stops = {"\n"};
  search::Generator generator(*m, tokenizer, generator_options(decoding, source.generation(), *m, *tokenizer));
  std::vector<std::string> beginnings;
  for (const DemoPair& pair : test) beginnings.push_back(pair.source);
  TaskResult r;
  train::StoryCheck all;
  std::size_t consistent = 0;
  for (const auto& list : generator.generate(beginnings)) {
    const train::StoryCheck one = train::check_story(beginnings[r.found.size()] + list[0].text);
    all.statements += one.statements, all.right += one.right;
    consistent += one.statements > 0 && one.right == one.statements;
    r.found.push_back(list[0].text);
  }
  search::WorkerPool workers = workers_of(decoding);
  std::string text;
  for (const DemoPair& pair : test) text += pair.source + pair.target + "\n";
  const std::vector<std::int32_t> ids = tokenizer->encode(text, Side::target);
  const search::Score score = search::score_texts(workers, *m, {&ids, 1}, {})[0];
  r.figures.emplace_back("right_statements",
                         all.statements == 0 ? 0 : 100.0 * all.right / static_cast<double>(all.statements));
  r.figures.emplace_back("consistent_stories",
                         100.0 * static_cast<double>(consistent) / static_cast<double>(test.size()));
  r.figures.emplace_back("bits_per_character", -score.log_prob / std::log(2.0) / static_cast<double>(text.size()));
  return r;
}

void show_task(const DemoTask& task, const Places& places, const std::vector<DemoPair>& test, const TaskResult& r) {
  constexpr std::size_t shown = 5;
  print_stdout("\nlines that the model has never seen\n");
  for (std::size_t i = 0; i < std::min(shown, test.size()); ++i) {
    print_stdout("\n  {}\n  -> {}\n", test[i].source, r.found[i]);
    if (!task.is_text && r.found[i] != test[i].target) print_stdout("     should be {}\n", test[i].target);
    if (const train::StoryCheck c = train::check_story(test[i].source + r.found[i]); task.is_text)
      print_stdout("     {} of {} statements are true\n", c.right, c.statements);
  }
  print_stdout("\n");
  for (const auto& [name, value] : r.figures) print_stdout("{:<20} {:.4g}\n", name, value);
  print_stdout("{:<20} {}\n", "unseen lines", format_count(std::ssize(test)));
  print_stdout("{:<20} {}\n{:<20} {}/report.html\n", "model", places.model(), "report", places.model());
  print_stdout(
      "{:<20} {} {} --model {} {}\n", "your own", program_path(), task.is_text ? "generate" : "translate",
      places.model(),
      task.is_text ? "--prompt \"Anna has 3 pens. Ben has 1 pen.\" --sampling" : "-i " + places.text("test", "src"));
}

int demo_of_task(const DemoOptions& o, const DemoTask& task, const Invocation& invocation) {
  const StopSignal stop;
  const Places places(o.out);
  prepare_folder(places);
  const std::int64_t lines = o.lines.value_or(task.lines);
  const DemoCorpus corpus = train::make_demo_corpus({lines, held_out(lines), held_out(lines), o.seed}, task.pair);
  const auto write = task.is_text ? write_text : write_part;
  write(places, "train", corpus.train), write(places, "valid", corpus.valid), write(places, "test", corpus.test);
  write_file_atomic(places.text(task.name, "yml"), train::demo_config(task.name + ".yml"));
  if (!o.json) print_stdout("{} of {}, in {}\n", counted(format_count(lines), "line"), task.does, o.out);
  if (const int code = run_shown(invocation.app, o, task_arguments(o, task, places), invocation.quiet);
      code != exit_success)
    return code;
  if (stop.came()) return stopped();
  const TaskResult r = task.is_text ? measure_stories(o, places, corpus.test) : measure_pairs(o, places, corpus.test);
  if (!o.json) {
    show_task(task, places, corpus.test, r);
    return exit_success;
  }
  nlohmann::ordered_json object{{"task", task.name}};
  for (const auto& [name, value] : r.figures) object[name] = value;
  object["lines"] = corpus.test.size(), object["model"] = places.model();
  write_stdout(json_text(object) + "\n");
  return exit_success;
}

int demo(const DemoOptions& o, const Invocation& invocation) {
  if (invocation.fields.given("only") && o.task != "dates")
    fail_usage("--only", fmt::format("is for dates, but the task is {}", o.task), "leave it out");
  for (const DemoTask& task : train::demo_tasks())
    if (task.name == o.task) return demo_of_task(o, task, invocation);
  return demo_of_dates(o, invocation);
}

}  // namespace

void add_demo(App& app) {
  auto o = std::make_shared<DemoOptions>();
  app.add({.name = "demo",
           .summary = "train a small model on generated text, and evaluate it",
           .description = "Makes a corpus of dates, times and numbers, written in many ways in three languages, with "
                          "their normal forms; learns a vocabulary, trains a model in a minute or two, and translates "
                          "lines that it has never seen. Other tasks are translation, reading comprehension, dialogue, "
                          "summaries of records, Chinese numbers and dates, and language modelling; the configuration "
                          "of each is written next to "
                          "the text. The demo needs no other data and shows the commands that it runs.",
           .examples = {{"tril demo", "dates, in the folder tril-demo"},
                        {"tril demo reading --out reading", "passages and questions"},
                        {"tril demo --only dates --lines 20000 --updates 800 --out dates", "a smaller one"}},
           .fields = fields_of(*o),
           .reads_config = false,
           .apply_preset = {},
           .run = [o](const Invocation& i) { return demo(*o, i); }});
}

}  // namespace tril::cli
