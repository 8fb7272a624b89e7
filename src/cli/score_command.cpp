// tril score: how probable a model finds given translations.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "model/registry.h"
#include "search/score.h"
#include "text/reader.h"

namespace tril::cli {
namespace {

struct ScoreOptions {
  DecodingOptions decoding;
  std::string source, target;
  bool word_scores = false, json = false;
};

Fields fields_of(ScoreOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.add("batch-size", &o.decoding.batch_size, "sentences that a worker scores together").at_least(1).at_most(100'000);
  f.group("Text");
  f.add("source", &o.source, "source sentences, one a line").letter('s').value_name("FILE").required();
  f.add("target", &o.target, "their translations, line by line").letter('t').value_name("FILE").required();
  f.group("Output");
  f.add("word-scores", &o.word_scores, "behind each line's score, that of each of its tokens: score ||| a b c ...");
  f.add("json", &o.json, "print a JSON object for each line");
  return f;
}

struct Pairs {
  std::vector<std::vector<std::int32_t>> sources, targets;  // ids, EOS included
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

int score_files(const ScoreOptions& o) {
  const std::unique_ptr<model::Model> model = model::load(o.decoding.model);
  const std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(o.decoding.model);
  search::check_tokenizer(*model, *tokenizer);
  const std::int64_t positions = model->max_positions();
  const auto batch = static_cast<std::size_t>(o.decoding.batch_size);
  search::Workers workers(thread_count(o.decoding.threads));
  const std::size_t window = std::max<std::size_t>(1024, 32 * batch * static_cast<std::size_t>(workers.count()));

  LineReader source_reader(o.source), target_reader(o.target);
  const auto ids_of = [&](const LineReader& reader, const std::string& text, Side side) {
    std::vector<std::int32_t> ids = tokenizer->encode(text, side);
    ids.push_back(tokenizer->special(side).eos);
    check(positions == 0 || static_cast<std::int64_t>(ids.size()) <= positions,
          fmt::format("{}: line {}", reader.name(), reader.line_number()), "has {} tokens, the model has {} positions",
          ids.size(), positions);
    return ids;
  };

  std::int64_t number = 0;
  for (bool more = true; more;) {
    Pairs pairs;
    std::vector<std::size_t> lengths;
    std::string source, target;
    while (pairs.sources.size() < window) {
      const Line a = source_reader.next(source), b = target_reader.next(target);
      if ((a == Line::end) != (b == Line::end)) {
        const LineReader& shorter = a == Line::end ? source_reader : target_reader;
        const LineReader& longer = a == Line::end ? target_reader : source_reader;
        fail_usage(shorter.name(), fmt::format("ends after {} lines, {} goes on", shorter.line_number(), longer.name()),
                   "each source line needs its translation");
      }
      if (a == Line::end) {
        more = false;
        break;
      }
      pairs.sources.push_back(ids_of(source_reader, source, Side::source));
      pairs.targets.push_back(ids_of(target_reader, target, Side::target));
      lengths.push_back(pairs.targets.back().size());
    }

    const auto jobs = search::jobs_by_length(lengths, batch);
    std::vector<search::Score> scores(lengths.size());
    workers.run(jobs.size(), [&](Context& c, int, std::size_t job) {
      Pairs part;
      for (std::size_t i : jobs[job])
        part.sources.push_back(pairs.sources[i]), part.targets.push_back(pairs.targets[i]);
      auto found = search::score(c, *model, part.sources, part.targets, model->special_ids().decoder_start);
      for (std::size_t i = 0; i < found.size(); ++i) scores[jobs[job][i]] = std::move(found[i]);
    });
    for (std::size_t i = 0; i < scores.size(); ++i)
      std::cout << line_of(o, *tokenizer, ++number, pairs.targets[i], scores[i]);
    std::cout.flush();
  }
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
