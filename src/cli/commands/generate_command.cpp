// tril generate: continues given texts with a language model.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/io/line_stream.h"
#include "cli/io/standard_output.h"
#include "cli/io/stop_signal.h"
#include "cli/options/model_identity.h"
#include "corpus/document.h"
#include "decode/models/constraint_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/token_bytes.h"
#include "unicode/trim.h"

namespace tril::cli {
namespace {

struct GenerateOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  ConstraintOptions constraint;
  std::optional<std::int64_t> logprobs;
  std::string prompt_cache;
  bool prompt_cache_ro = false;
  std::vector<std::string> prompts;
  std::string prompt_file, input = "-";
  bool json = false, stream = false, no_echo = false, skip_invalid = false, deterministic = false;
};

Fields fields_of(GenerateOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.group("Text");
  f.add("prompt", &o.prompts, "prompts to continue; an empty prompt starts a new text").letter('p').value_name("TEXT");
  f.add("prompt-file", &o.prompt_file,
        "file that is one prompt as a whole, newlines included, instead of --prompt; - is standard input")
      .value_name("FILE");
  f.add("input", &o.input, "file of prompts, one per line, instead of --prompt; plain or gzip; - is standard input")
      .letter('i')
      .value_name("FILE");
  f.add("n", &o.decoding.search.n_best, "number of generations for each prompt: samples, or the best of a beam")
      .at_least(1)
      .at_most(10'000);
  f.add("no-echo", &o.no_echo, "leave the prompt out of the output, in JSON objects too");
  f.add("stream", &o.stream, "print text while it is generated; the default on a terminal");
  f.add("json", &o.json, "print a JSON object for each prompt, with scores and stop reasons");
  f.add("logprobs", &o.logprobs,
        "print, after the text, the log-probability of each token, and of the N likeliest tokens at its position; with "
        "--json as \"logprobs\"")
      .at_least(0)
      .at_most(1000)
      .value_name("N");
  f.add("skip-invalid", &o.skip_invalid, "treat a line that is not UTF-8 as empty");
  f.add("prompt-cache", &o.prompt_cache,
        "file that keeps the prompt's keys and values: the part shared with a saved prompt is not read again, and the "
        "new prompt is saved")
      .value_name("FILE");
  f.add("prompt-cache-ro", &o.prompt_cache_ro, "do not change the file of --prompt-cache");
  f.needs("prompt-cache-ro", "prompt-cache", "it has no effect without a file");
  f.excludes("prompt-cache", "input", "it holds only one prompt");
  f.excludes("prompt", "input", "prompts come either from the command line or from a file");
  f.excludes("prompt", "prompt-file", "prompts come either from the command line or from a file");
  f.excludes("prompt-file", "input", "a file holds either one prompt or one per line");
  for (const char* one : {"prompt", "prompt-file"})
    f.excludes("skip-invalid", one, "it applies only to the lines of a file");
  f.excludes("stream", "json", "an object is printed only when it is complete");
  f.excludes("logprobs", "stream", "they are printed only when the text is complete");
  f.group("Search");
  add_continuation_fields(f, o.decoding);
  add_deterministic_field(f, o.deterministic);
  f.excludes("deterministic", "prompt-cache", "earlier tokens may have been read in different batches");
  add_choice_fields(f, o.decoding);
  add_constraint_fields(f, o.constraint);
  f.group("Several models");
  add_ensemble_fields(f, o.others);
  add_speculative_fields(f, o.others);
  return f;
}

constexpr std::string_view separator = "---\n";  // between generations

// Prints the generations of a window of prompts in order: the current one is streamed, the others are printed when
// their turn comes.
class Printer {
 public:
  Printer(const std::vector<std::string>& prompts, std::size_t samples, bool echo, bool first)
      : prompts_(prompts), samples_(samples), echo_(echo), texts_(prompts.size() * samples), ended_(texts_.size()) {
    begin(first);
  }

  void take(const search::TextPiece& piece) {
    const std::size_t number = piece.prompt * samples_ + static_cast<std::size_t>(piece.sample);
    texts_[number] += piece.text;
    ended_[number] = piece.ended;
    if (number != turn_) return;
    for (;;) {
      std::string out = std::move(texts_[turn_]);
      texts_[turn_].clear();
      if (ended_[turn_]) out += "\n";
      if (!out.empty()) write_stdout(out);
      if (!ended_[turn_] || ++turn_ == texts_.size()) return;
      begin(false);
    }
  }

 private:
  void begin(bool first) {
    std::string out(first ? "" : separator);
    if (echo_) out += prompts_[turn_ / samples_];
    if (!out.empty()) write_stdout(out);
  }

  const std::vector<std::string>& prompts_;
  std::size_t samples_, turn_ = 0;
  bool echo_;
  std::vector<std::string> texts_;
  std::vector<char> ended_;
};

using Json = nlohmann::ordered_json;

/// Prints token probabilities, if --logprobs is given.
class LogProbs {
 public:
  LogProbs(const GenerateOptions& o, const Tokenizer& tokenizer) : on_(o.logprobs.has_value()), tokenizer_(&tokenizer) {
    if (on_) bytes_ = token_bytes(tokenizer);
  }
  bool on() const { return on_; }

  Json json(const search::Generation& g) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < g.token_scores.size(); ++i) {
      Json entry = json({g.token_scores[i].log_prob, g.tokens[i]});
      entry["top"] = Json::array();
      for (const search::Candidate& c : g.token_scores[i].top)
        if (c.token >= 0) entry["top"].push_back(json(c));
      list.push_back(std::move(entry));
    }
    return list;
  }

  /// A line for each token: its text, then the most probable tokens, separated by tabs.
  std::string lines(const search::Generation& g) const {
    std::string out;
    for (std::size_t i = 0; i < g.token_scores.size(); ++i) {
      out += line({g.token_scores[i].log_prob, g.tokens[i]});
      for (const search::Candidate& c : g.token_scores[i].top)
        if (c.token >= 0) out += "\t" + line(c);
      out += "\n";
    }
    return out;
  }

 private:
  Json json(const search::Candidate& c) const {
    return {{"id", c.token}, {"text", text_of(c.token)}, {"logprob", c.log_prob}};
  }
  std::string line(const search::Candidate& c) const {
    return fmt::format("{:.4f} {}", c.log_prob, json_text(Json(text_of(c.token))));
  }
  // A special token, or part of a character, by its name in the vocabulary.
  std::string text_of(std::int32_t token) const {
    if (token >= static_cast<std::int32_t>(bytes_.size())) return "";
    const std::string& bytes = bytes_[static_cast<std::size_t>(token)];
    return bytes.empty() || !is_utf8(bytes) ? tokenizer_->piece(token, Side::target) : bytes;
  }

  bool on_;
  const Tokenizer* tokenizer_;
  std::vector<std::string> bytes_;  ///< by token
};

/// @param prompt  null: omitted
std::string json_line(std::int64_t number, const std::string* prompt, const std::vector<search::Generation>& list,
                      const LogProbs& log_probs) {
  Json generations = Json::array();
  for (const search::Generation& g : list) {
    generations.push_back({{"text", g.text},
                           {"finish_reason", search::name_of(g.stop_reason)},
                           {"tokens", g.tokens.size()},
                           {"log_prob", g.log_prob},
                           {"score", g.score}});
    if (log_probs.on()) generations.back()["logprobs"] = log_probs.json(g);
  }
  Json line{{"line", number}};
  if (prompt) line["prompt"] = *prompt;
  line["generations"] = std::move(generations);
  return json_text(line) + "\n";
}

// The final report: how much was generated, and why generations ended.
void report(const search::Generator& generator, const std::map<search::StopReason, std::int64_t>& finishes,
            const model::Model& m) {
  const std::map<search::StopReason, std::string> reasons{
      {search::StopReason::end_token, "at an end token"},
      {search::StopReason::stop, "at a stop string"},
      {search::StopReason::length, "at the maximum length"},
      {search::StopReason::positions, "at the model's last position"},
      {search::StopReason::dead_end, "because no token was allowed"},
      {search::StopReason::time_limit, "at the time limit"},
      {search::StopReason::cancelled, "because they were cancelled"},
      {search::StopReason::refused, "before they started"}};
  std::vector<std::string> parts;
  for (const auto& [finish, count] : finishes) parts.push_back(fmt::format("{} {}", count, reasons.at(finish)));
  if (!parts.empty())
    spdlog::info("{} generated; ended: {}", counted(format_count(generator.new_tokens()), "token"),
                 fmt::join(parts, ", "));
  if (const auto full = finishes.find(search::StopReason::positions); full != finishes.end())
    spdlog::warn("generations that ended because the model's {} positions were full: {}", m.max_positions(),
                 format_count(full->second));
  if (const auto stuck = finishes.find(search::StopReason::dead_end); stuck != finishes.end())
    spdlog::warn("generations that ended because every next token was forbidden: {}", format_count(stuck->second));
  warn_of_unknown(generator.unknown());
  if (generator.refused() > 0)
    spdlog::warn("prompts that cannot be continued: {}; the first is {}", format_count(generator.refused()),
                 generator.first_refusal());
}

/// The prompt's keys and values in the file of --prompt-cache.
class PromptCache {
 public:
  PromptCache(const GenerateOptions& o, const model::Model& model, const search::GeneratorOptions& options)
      : path_(o.prompt_cache), leave_(o.prompt_cache_ro), context_(arena_) {
    if (path_.empty()) return;
    if (o.prompts.size() != 1)
      fail_usage("--prompt-cache", fmt::format("is for one prompt, but there are {}", o.prompts.size()),
                 "pass one --prompt");
    if (options.decoding.session.cache.kept.window > 0)
      fail_usage("--prompt-cache", "keeps a whole text, but a window was requested", "leave one of them out");
    if (model.cache_form() != model::CacheForm::tokens)
      fail_usage(
          "--prompt-cache",
          fmt::format("is not supported for {}, whose recurrent state cannot be shared by other texts", model.family()),
          "leave it out");
    if (!options.decoding.session.ensemble.others.empty() || options.decoding.session.speculative.on())
      fail_usage("--prompt-cache", "is for one model, but several are used", "leave one of them out");
    if (!leave_) const AtomicFile possible(path_);  // reports an unwritable path before the prompt is read
    team_ = search::team_of_one(model, options.decoding.threads, options.decoding.placement);
    pinned_.emplace(options.decoding.placement, 0);
    memory_.emplace(options.decoding.placement.numa, MemoryOf::all_threads);
    context_.set_team(team_.get());
    kept_.emplace(context_, model, options.decoding.session.cache, model_identity(o.decoding));
  }
  /// Reads the prompt, taking from the file what it has; null if there is no file.
  search::PromptSession* read(const std::vector<std::int32_t>& prompt, const std::stop_token& stop) {
    if (!kept_) return nullptr;
    if (std::filesystem::exists(path_))
      kept_->load(path_);
    else if (leave_)
      fail("--prompt-cache-ro", fmt::format("{} does not exist", path_), "create it first, without this option");
    kept_->read(prompt, stop);
    spdlog::info("{} of the prompt from {}, {} read", counted(format_count(kept_->reused()), "token"), path_,
                 format_count(kept_->newly_read()));
    if (kept_->newly_read() > 0 && !leave_ && !stop.stop_requested()) kept_->save(path_);
    return &*kept_;
  }

 private:
  std::string path_;
  bool leave_;
  Arena arena_;
  std::unique_ptr<Team> team_;
  std::optional<PinnedThread> pinned_;
  std::optional<MemoryPlaced> memory_;
  Context context_;
  std::optional<search::PromptSession> kept_;
};

int generate(GenerateOptions o, const Fields& fields, bool quiet) {
  if (!o.prompt_file.empty()) {
    o.prompts = {read_document(o.prompt_file, std::int64_t{1} << 30)};
    for (const char c : {'\n', '\r'})  // the line end that editors add
      if (o.prompts[0].ends_with(c)) o.prompts[0].pop_back();
  }
  const StopSignal stop;
  const auto source = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(source, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  search::check_language_model(*model, *tokenizer);
  const model::GenerationConfig published = published_generation(source);
  search::GeneratorOptions options = generator_options(o.decoding, published, *model, *tokenizer);
  const search::SearchPlan& s = options.decoding.search;
  if (o.stream && s.has_beam())
    fail_usage("--stream", "is not supported with a beam or alternatives, whose text is known only at the end",
               "pass -b 1, and no --alternatives");
  if (o.logprobs && s.has_beam())
    fail_usage("--logprobs", "is not supported with a beam or alternatives, which score texts and not tokens",
               "pass -b 1, and no --alternatives");
  options.decoding.search.scores = o.json || o.logprobs;
  if (o.logprobs) options.decoding.search.top_log_probs = static_cast<std::int32_t>(*o.logprobs);
  const LogProbs log_probs(o, *tokenizer);
  options.decoding.deterministic = o.deterministic;
  options.decoding.search.constraint = make_constraint(o.constraint, *tokenizer);
  const ModelSet others(o.others, o.decoding, *model, tokenizer.get());
  others.give_to(options.decoding);
  const bool from_file = !fields.given("prompt") && o.prompt_file.empty();
  options.pass_over_refused = from_file;  // one bad line does not end the others
  search::Generator generator(*model, tokenizer, options);
  PromptCache cache(o, *model, options);
  search::PromptSession* const kept =
      o.prompt_cache.empty() ? nullptr
                             : cache.read(generator.text().prompt_ids(o.prompts[0], "prompt 1"), stop.token());

  const bool live = !s.has_beam() && !o.json && !o.logprobs && (o.stream || isatty(STDOUT_FILENO) == 1);
  const auto samples = static_cast<std::size_t>(s.n_best);
  const auto window =
      static_cast<std::size_t>(std::int64_t{options.decoding.batch_size} * options.decoding.threads * (live ? 1 : 8));
  std::unique_ptr<LineStream> lines;
  if (from_file) lines = std::make_unique<LineStream>(o.input, 2 * window, ReadOptions{.skip_invalid = o.skip_invalid});
  std::size_t taken = 0;
  const auto next = [&] {
    if (lines) return lines->next(window, stop.token());
    const std::size_t begin = taken;
    taken = std::min(o.prompts.size(), taken + window);
    return std::vector<std::string>(o.prompts.begin() + static_cast<std::ptrdiff_t>(begin),
                                    o.prompts.begin() + static_cast<std::ptrdiff_t>(taken));
  };

  Progress progress({.label = "generation",
                     .rate_unit = "tokens",
                     .total = from_file ? 0 : std::ssize(o.prompts) * s.n_best,
                     .enabled = !quiet && !live && stderr_is_terminal(),
                     .seconds = {},
                     .write = {}});
  std::map<search::StopReason, std::int64_t> finishes;
  std::int64_t number = 0, done = 0, pieces = 0;
  for (std::vector<std::string> prompts = next(); !prompts.empty() && !stop.came(); prompts = next()) {
    std::unique_ptr<Printer> printer;
    if (live) printer = std::make_unique<Printer>(prompts, samples, !o.no_echo, number == 0);
    search::OnText on_text;
    if (!s.has_beam())
      on_text = [&](const search::TextPiece& piece) {
        if (printer) printer->take(piece);
        done += piece.ended ? 1 : 0;
        progress.update(done, {.before = {}, .after = {}, .amount = ++pieces});
      };
    std::vector<std::vector<search::Generation>> found;
    if (kept)
      found.push_back(generator.generate(*kept, prompts[0], on_text, stop.token()));
    else
      found = generator.generate(prompts, on_text, stop.token());
    std::string out;
    for (std::size_t i = 0; i < prompts.size(); ++i, ++number) {
      for (const search::Generation& g : found[i]) ++finishes[g.stop_reason];
      if (o.json) out += json_line(number + 1, o.no_echo ? nullptr : &prompts[i], found[i], log_probs);
      if (o.json || live) continue;
      for (std::size_t n = 0; n < found[i].size(); ++n)
        out += fmt::format("{}{}{}\n{}", number > 0 || n > 0 ? separator : "", o.no_echo ? "" : prompts[i],
                           found[i][n].text, log_probs.lines(found[i][n]));
    }
    if (!out.empty()) write_stdout(out);
  }
  progress.finish();
  report(generator, finishes, *model);
  report_speculation(generator.speculation());
  if (lines && lines->invalid() > 0)
    spdlog::warn("lines that are not UTF-8, treated as empty: {}", format_count(lines->invalid()));
  if (stop.came()) {
    spdlog::warn("stopped; the text generated so far is printed");
    return exit_failure;
  }
  return generator.refused() > 0 ? exit_failure : exit_success;
}

}  // namespace

void add_generate(App& app) {
  auto o = std::make_shared<GenerateOptions>();
  app.add({.name = "generate",
           .summary = "continue text with a language model",
           .description = "Takes any language model that `tril families` lists. Options override the model's "
                          "generation_config.json; without either, the likeliest token is taken each time. Prints "
                          "prompt and text; several generations are separated by a line of ---. The same seed gives "
                          "the same text, whatever else is in the batch.",
           .examples = {{"tril generate --model plays --prompt \"ROMEO:\" --temperature 0.8", "one sample"},
                        {"tril generate -m plays -p \"ROMEO:\" \"JULIET:\" --top-p 0.9 --n 5 --seed 7",
                         "five for each prompt, from the most probable tokens"},
                        {"tril generate -m plays -p \"First Citizen:\" --stop \"First Citizen:\" --max-new-tokens 200",
                         "greedy, up to a stop string"},
                        {"tril generate -m plays -i prompts.txt --sampling --json", "a file of prompts, as JSON lines"},
                        {"tril generate -m llama.Q4_K_M.gguf -p \"Once\" --logprobs 3", "how probable each token was"},
                        {"tril generate -m plays -p \"Who? \" --json-schema person.json --no-echo",
                         "JSON that matches a schema"}},
           .fields = fields_of(*o),
           .reads_config = true,
           .models = {"model", "adapter", "models", "draft-model", "draft-heads"},
           .apply_preset = {},
           .run = [o](const Invocation& i) { return generate(*o, i.fields, i.quiet); }});
}

}  // namespace tril::cli
