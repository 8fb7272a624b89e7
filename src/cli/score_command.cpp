// tril score: how probable a model finds given translations.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "cli/standard_output.h"
#include "model/registry.h"
#include "search/score.h"
#include "text/language_tag.h"
#include "text/reader.h"

namespace tril::cli {
namespace {

struct ScoreOptions {
  DecodingOptions decoding;
  std::string source, target, target_language;
  bool word_scores = false, json = false, skip_invalid = false;
};

Fields fields_of(ScoreOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.add("batch-size", &o.decoding.batch_size, "sentences that a worker scores together").at_least(1).at_most(100'000);
  f.group("Text");
  f.add("source", &o.source, "source sentences, one a line").letter('s').value_name("FILE").required();
  f.add("target", &o.target, "their translations, line by line").letter('t').value_name("FILE").required();
  f.add("target-language", &o.target_language,
        "language of the translations, for a model of several: its tag, >>de<<, is put in front of each source")
      .value_name("NAME");
  f.add("skip-invalid", &o.skip_invalid,
        "do not score a pair with a line that is not UTF-8: its score is nan, in JSON null");
  f.group("Output");
  f.add("word-scores", &o.word_scores, "print score ||| a b c: behind each line's score, that of each of its tokens");
  f.add("json", &o.json, "print a JSON object for each line");
  return f;
}

// Pairs of lines as ids, a window at a time.
class PairIds {
 public:
  PairIds(const ScoreOptions& o, const Tokenizer& tokenizer, std::int64_t positions)
      : tokenizer_(tokenizer),
        positions_(positions),
        prefix_(o.target_language.empty() ? "" : language_prefix(tokenizer, o.target_language, "--target-language")),
        source_(o.source, {.skip_invalid = o.skip_invalid}),
        target_(o.target, {.skip_invalid = o.skip_invalid}) {}

  std::vector<std::vector<std::int32_t>> sources, targets;  ///< ids, EOS included, of the pairs that are valid
  std::vector<bool> valid;                                  ///< of every pair of the window

  /// Reads up to `pairs` pairs in place of those before; false where there are no more.
  bool next(std::size_t pairs) {
    sources.clear(), targets.clear(), valid.clear();
    std::string source, target;
    while (valid.size() < pairs) {
      const Line a = source_.next(source), b = target_.next(target);
      if ((a == Line::end) != (b == Line::end)) fail_unequal(a == Line::end);
      if (a == Line::end) break;
      valid.push_back(a == Line::text && b == Line::text);
      if (!valid.back()) continue;
      sources.push_back(ids_of(source_, source.empty() ? source : prefix_ + source, Side::source));
      targets.push_back(ids_of(target_, target, Side::target));
    }
    return !valid.empty();
  }

 private:
  std::vector<std::int32_t> ids_of(const LineReader& reader, const std::string& text, Side side) const {
    std::vector<std::int32_t> ids = tokenizer_.encode(text, side);
    ids.push_back(tokenizer_.special(side).eos);
    check(positions_ == 0 || static_cast<std::int64_t>(ids.size()) <= positions_,
          fmt::format("{}: line {}", reader.name(), reader.line_number()), "has {} tokens, the model has {} positions",
          ids.size(), positions_);
    return ids;
  }

  [[noreturn]] void fail_unequal(bool source_ended) const {
    const LineReader& shorter = source_ended ? source_ : target_;
    const LineReader& longer = source_ended ? target_ : source_;
    fail(shorter.name(), fmt::format("ends after {} lines, {} goes on", shorter.line_number(), longer.name()),
         "each source line needs its translation");
  }

  const Tokenizer& tokenizer_;
  std::int64_t positions_;
  std::string prefix_;
  LineReader source_, target_;
};

std::string line_of(const ScoreOptions& o, const Tokenizer& tokenizer, std::int64_t number,
                    const std::vector<std::int32_t>& target, const search::Score& score) {
  if (o.json) {
    nlohmann::ordered_json line{{"line", number}, {"log_prob", score.log_prob}, {"tokens", target.size()}};
    if (o.word_scores) {
      nlohmann::ordered_json words = nlohmann::json::array();
      for (std::size_t i = 0; i < target.size(); ++i)
        words.push_back({{"piece", tokenizer.piece(target[i], Side::target)}, {"log_prob", score.token_log_probs[i]}});
      line["word_scores"] = words;
    }
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  std::string line = fmt::format("{:.6f}", score.log_prob);
  if (o.word_scores) line += fmt::format(" ||| {:.6f}", fmt::join(score.token_log_probs, " "));
  return line + "\n";
}

std::string line_without_score(const ScoreOptions& o, std::int64_t number) {
  if (o.json) return nlohmann::ordered_json{{"line", number}, {"log_prob", nullptr}}.dump() + "\n";
  return o.word_scores ? "nan |||\n" : "nan\n";
}

int score_files(const ScoreOptions& o) {
  const std::unique_ptr<model::Model> model = model::load(o.decoding.model);
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(o.decoding.model);
  search::check_tokenizer(*model, *tokenizer);
  const std::int64_t batch = o.decoding.batch_size;
  search::WorkerPool workers(search::thread_count(o.decoding.threads));
  const auto window = static_cast<std::size_t>(std::max<std::int64_t>(1024, 32 * batch * workers.count()));

  PairIds pairs(o, *tokenizer, model->max_positions());
  std::int64_t number = 0, invalid = 0;
  while (pairs.next(window)) {
    const std::vector<search::Score> scores = search::score_all(workers, *model, pairs.sources, pairs.targets, batch);
    std::string out;
    std::size_t i = 0;  // of the pairs that have a score
    for (const bool valid : pairs.valid) {
      ++number;
      out += valid ? line_of(o, *tokenizer, number, pairs.targets[i], scores[i]) : line_without_score(o, number);
      if (valid)
        ++i;
      else
        ++invalid;
    }
    write_stdout(out);
  }
  if (invalid > 0) spdlog::warn("pairs with a line that is not UTF-8, not scored: {}", format_count(invalid));
  return exit_success;
}

}  // namespace

void add_score(App& app) {
  auto o = std::make_shared<ScoreOptions>();
  app.add({.name = "score",
           .summary = "log-probabilities of given translations",
           .description = "Prints log p(target | source) for each pair of lines: the sum over the target's tokens and "
                          "the end of the sentence, not divided by anything.",
           .examples = {{"tril score --model de --source test.en --target test.de", "a score a line"},
                        {"tril score -m de -s test.en -t test.de --word-scores --json", "of every token, as JSON"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation&) { return score_files(*o); }});
}

}  // namespace tril::cli
