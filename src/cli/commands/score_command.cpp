// tril score: how probable given translations or texts are for a model.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cores.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "cli/options/assumed_language.h"
#include "cli/options/prompt_options.h"
#include "corpus/document.h"
#include "corpus/reader.h"
#include "decode/models/alignment_fields.h"
#include "decode/models/decoding_options.h"
#include "decode/models/model_set.h"
#include "decode/models/pair_text.h"
#include "decode/models/window_fields.h"
#include "decode/texts/text_score.h"
#include "decode/texts/translation_text.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/sentence_frame.h"
#include "unicode/trim.h"

namespace tril::cli {
namespace {

struct ScoreOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  std::string source, target, source_language, target_language, prompt_template;
  bool word_scores = false, json = false, summary = false, skip_invalid = false;
  bool document = false, begin = false;
  search::WindowOptions windows;
  AlignmentOptions alignment;
};

Fields fields_of(ScoreOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.add("batch-size", &o.decoding.batch_size, "number of sentences that a worker scores together").within(batch_sizes);
  add_ensemble_fields(f, o.others);
  f.group("Text");
  f.add("source", &o.source, "source sentences, one per line; for a language model: texts, one per line")
      .letter('s')
      .value_name("FILE")
      .required();
  f.add("target", &o.target,
        "translations of the source sentences, one per line; a language model scores them after its prompt for the "
        "source")
      .letter('t')
      .value_name("FILE");
  add_language_fields(f, o.source_language, o.target_language);
  f.add("skip-invalid", &o.skip_invalid,
        "do not score a pair with a line that is not UTF-8: its score is nan (null in JSON)");
  f.group("Language models");
  add_prompt_template_field(f, o.prompt_template);
  f.add("document", &o.document, "score the whole file as one text, newlines included");
  add_window_fields(f, o.windows, o.begin);
  f.group("Output");
  f.add("summary", &o.summary, "print only the totals: tokens, log-probability, perplexity, bits per character");
  f.add("word-scores", &o.word_scores, "print score ||| a b c: after the score of each line, the scores of its tokens");
  f.add("json", &o.json, "print a JSON object for each line");
  add_alignment_fields(f, o.alignment);
  f.excludes("summary", "alignment", "the totals list no tokens");
  f.excludes("summary", "word-scores", "the totals list no tokens");
  return f;
}

std::int64_t count_characters(std::string_view text) {
  return static_cast<std::int64_t>(characters_in(text));
}

// Totals over all lines.
struct Totals {
  std::int64_t lines = 0, tokens = 0, characters = 0;
  double log_prob = 0;

  void add(const search::Score& score, std::int64_t of_characters) {
    ++lines;
    tokens += std::ssize(score.token_log_probs);
    characters += of_characters;
    log_prob += score.log_prob;
  }
  double cross_entropy() const { return -log_prob / static_cast<double>(tokens); }
  double perplexity() const { return std::exp(cross_entropy()); }
  double bits_per_character() const { return -log_prob / std::log(2.0) / static_cast<double>(characters); }

  std::string text() const {
    if (tokens == 0) return "nothing was scored";
    return fmt::format("{} of {}, cross-entropy {:.6f}, perplexity {:.4f}, {:.6f} bits per character",
                       counted(format_count(tokens), "token"), counted(format_count(lines), "line"), cross_entropy(),
                       perplexity(), bits_per_character());
  }
  std::string json() const {
    const auto number = [&](double value) {
      return tokens > 0 && characters > 0 ? nlohmann::ordered_json(value) : nullptr;
    };
    return nlohmann::ordered_json{{"lines", lines},
                                  {"tokens", tokens},
                                  {"characters", characters},
                                  {"log_prob", log_prob},
                                  {"cross_entropy", number(cross_entropy())},
                                  {"perplexity", number(perplexity())},
                                  {"bits_per_character", number(bits_per_character())}}
        .dump();
  }
};

// The final line: the result if nothing else is printed, otherwise a message.
void report(const ScoreOptions& o, const Totals& totals) {
  if (o.summary)
    write_stdout((o.json ? totals.json() : totals.text()) + "\n");
  else
    spdlog::info("{}", totals.text());
}

PairEncoder pair_text(const ScoreOptions& o, const model::ModelSource& opened, const model::Model& model,
                      const Tokenizer& tokenizer) {
  if (!model.has_encoder())
    return {model,
            opened,
            {.prefix = "", .source = o.source_language, .target = o.target_language},
            o.target_language,
            load_prompt(opened, model, o.prompt_template)};
  published_generation(opened);  // warns of what is not obeyed
  const Languages languages =
      choose_languages(tokenizer, o.source_language, o.target_language, "--source-language", "--target-language");
  PairEncoder pairs(model, opened, languages, o.target_language, nullptr);
  warn_of_assumed_language(o.decoding.model, tokenizer, languages);
  return pairs;
}

// Reads pairs of lines as ids, a window at a time.
class PairIds {
 public:
  PairIds(const ScoreOptions& o, PairEncoder text)
      : text_(std::move(text)),
        source_(o.source, {.skip_invalid = o.skip_invalid}),
        target_(o.target, {.skip_invalid = o.skip_invalid}) {}

  std::vector<std::vector<std::int32_t>> sources, targets;  ///< ids, including EOS, of the valid pairs
  std::vector<std::int64_t> target_characters;              ///< of the same pairs
  std::vector<bool> valid;                                  ///< of every pair of the window
  std::int64_t unknown = 0;                                 ///< unknown tokens so far

  /// The decoder's start token.
  std::int32_t start() const { return text_.start(); }
  /// Replaces the pairs by up to `pairs` new ones; false at the end.
  bool next(std::size_t pairs) {
    sources.clear(), targets.clear(), target_characters.clear(), valid.clear();
    std::string source, target;
    while (valid.size() < pairs) {
      const Line a = source_.next(source), b = target_.next(target);
      if ((a == Line::end) != (b == Line::end)) fail_unequal(a == Line::end);
      if (a == Line::end) break;
      valid.push_back(a == Line::text && b == Line::text);
      if (!valid.back()) continue;
      PairEncoder::Ids ids = text_.ids_of({source, target, line_of(source_), line_of(target_)});
      sources.push_back(std::move(ids.source)), targets.push_back(std::move(ids.target));
      unknown += ids.unknown;
      target_characters.push_back(count_characters(target));
    }
    return !valid.empty();
  }

 private:
  static std::string line_of(const LineReader& reader) {
    return fmt::format("{}: line {}", reader.name(), reader.line_number());
  }

  [[noreturn]] void fail_unequal(bool source_ended) const {
    const LineReader& shorter = source_ended ? source_ : target_;
    const LineReader& longer = source_ended ? target_ : source_;
    fail(shorter.name(),
         fmt::format("ends after {}, but {} continues", counted(shorter.line_number(), "line"), longer.name()),
         "each source line needs a translation");
  }

  PairEncoder text_;
  LineReader source_, target_;
};

struct ScoredLine {
  std::int64_t number;
  std::span<const std::int32_t> tokens;  ///< the scored ones
  const search::Score& score;
  std::span<const std::int32_t> source = {};  ///< the text that they translate
};

std::string line_of(const ScoreOptions& o, const Tokenizer& tokenizer, const ScoredLine& scored) {
  const auto& [number, tokens, score, source] = scored;
  if (o.json) {
    nlohmann::ordered_json line{{"line", number}, {"log_prob", score.log_prob}, {"tokens", tokens.size()}};
    if (o.word_scores) {
      nlohmann::ordered_json words = nlohmann::json::array();
      for (std::size_t i = 0; i < tokens.size(); ++i)
        words.push_back({{"piece", tokenizer.piece(tokens[i], Side::target)}, {"log_prob", score.token_log_probs[i]}});
      line["word_scores"] = words;
    }
    if (!o.alignment.alignment.empty()) {
      line["alignment"] = nlohmann::json::parse(alignment_json(o.alignment, score.attention, tokens.size()));
      line["source_pieces"] = pieces_of(source, tokenizer, Side::source);
      line["pieces"] = pieces_of(tokens, tokenizer, Side::target);
    }
    return json_text(line) + "\n";
  }
  std::string line = fmt::format("{:.6f}", score.log_prob);
  if (o.word_scores) line += fmt::format(" ||| {:.6f}", fmt::join(score.token_log_probs, " "));
  if (!o.alignment.alignment.empty()) line += " ||| " + alignment_text(o.alignment, score.attention, tokens.size());
  return line + "\n";
}

std::string line_without_score(const ScoreOptions& o, std::int64_t number) {
  if (o.json) return nlohmann::ordered_json{{"line", number}, {"log_prob", nullptr}}.dump() + "\n";
  return std::string("nan") + (o.word_scores ? " |||" : "") + (o.alignment.alignment.empty() ? "" : " |||") + "\n";
}

// Refuses a language that would have no effect on the model.
void check_language(std::string_view target, const model::Model& model, const Tokenizer& tokenizer) {
  const std::vector<std::string> known = tokenizer.languages();
  if (target.empty() || known.empty() || search::starts_with_language(model, tokenizer)) return;
  const auto around = [&](const std::string& code) {
    const TextFrame f = sentence_frame(tokenizer, Side::target, code);
    return std::pair(f.prefix, f.suffix);
  };
  if (around(known.front()) == around(known.back()) && known.size() > 1)
    fail_usage("--target-language", "this model's translations carry no language token", "leave it out");
}

int score_pairs(const ScoreOptions& o, const model::ModelSource& opened, const model::Model& model,
                const Tokenizer& tokenizer) {
  if (model.has_encoder()) search::check_tokenizer(model, tokenizer);
  const std::int64_t batch = o.decoding.batch_size;
  search::WorkerPool workers = workers_of(o.decoding);
  const std::size_t window = lines_at_a_time(batch, workers.count());

  const ModelSet others(o.others, o.decoding, model, &tokenizer);
  check_language(o.target_language, model, tokenizer);
  const std::optional<nn::AttentionHeads> attention = attention_heads(o.alignment, model, false);
  PairIds pairs(o, pair_text(o, opened, model, tokenizer));
  std::int64_t number = 0, invalid = 0;
  Totals totals;
  while (pairs.next(window)) {
    const std::vector<search::Score> scores = search::score_all(workers, model, {pairs.sources, pairs.targets}, batch,
                                                                {others.ensemble(), attention, pairs.start()});
    std::string out;
    std::size_t i = 0;  // of the scored pairs
    for (const bool valid : pairs.valid) {
      ++number;
      out += valid ? line_of(o, tokenizer, {number, pairs.targets[i], scores[i], pairs.sources[i]})
                   : line_without_score(o, number);
      if (valid) {
        totals.add(scores[i], pairs.target_characters[i]);
        ++i;
      } else {
        ++invalid;
      }
    }
    if (!o.summary) write_stdout(out);
  }
  report(o, totals);
  warn_of_unknown(pairs.unknown);
  if (invalid > 0) spdlog::warn("pairs with a line that is not UTF-8, not scored: {}", format_count(invalid));
  return exit_success;
}

// The scored part of a text, as ids with the given prefix, and its number of characters.
struct TextIds {
  std::vector<std::int32_t> ids;
  std::int64_t characters = 0, unknown = 0;
};

TextIds text_ids(const ScoreOptions& o, const model::Model& model, const Tokenizer& tokenizer,
                 const std::string& text) {
  TextIds t{{}, count_characters(text)};
  if (o.begin) t.ids.push_back(begin_token(model, tokenizer));
  const std::size_t given = t.ids.size();
  tokenizer.encode(text, Side::target, t.ids);
  t.unknown = count_unknown(tokenizer, text, std::span(t.ids).subspan(given), Side::target);
  if (!o.begin && !t.ids.empty()) t.characters -= count_characters(tokenizer.decode({t.ids.data(), 1}, Side::target));
  return t;
}

int score_texts(const ScoreOptions& o, const model::Model& model, const Tokenizer& tokenizer) {
  search::check_language_model(model, tokenizer);
  search::WindowOptions windows = o.windows;
  windows.batch_size = o.decoding.batch_size;
  search::settled(windows, model);  // reports mistakes before anything is read
  search::WorkerPool workers = workers_of(o.decoding);
  Totals totals;
  std::int64_t number = 0, invalid = 0, unknown = 0;

  const auto score = [&](const std::vector<std::string>& texts, const std::vector<bool>& valid) {
    std::vector<std::vector<std::int32_t>> ids;
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      TextIds t = valid[i] ? text_ids(o, model, tokenizer, texts[i]) : TextIds{};
      unknown += t.unknown;
      ids.push_back(std::move(t.ids)), counts.push_back(t.characters);
    }
    const std::vector<search::Score> scores = search::score_texts(workers, model, ids, windows);
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      ++number;
      const std::span<const std::int32_t> all = ids[i];
      out += valid[i] ? line_of(o, tokenizer, {number, all.empty() ? all : all.subspan(1), scores[i]})
                      : line_without_score(o, number);
      if (valid[i])
        totals.add(scores[i], counts[i]);
      else
        ++invalid;
    }
    if (!o.summary) write_stdout(out);
  };

  if (o.document) {
    score({read_document(o.source, std::int64_t{1} << 30)}, {true});
  } else {
    LineReader reader(o.source, {.skip_invalid = o.skip_invalid});
    const std::size_t window = lines_at_a_time(windows.batch_size, workers.count());
    std::vector<std::string> texts;
    std::vector<bool> valid;
    std::string text;
    for (Line line = reader.next(text);; line = reader.next(text)) {
      if (line != Line::end) texts.push_back(text), valid.push_back(line == Line::text);
      if (texts.size() == window || (line == Line::end && !texts.empty())) {
        score(texts, valid);
        texts.clear(), valid.clear();
      }
      if (line == Line::end) break;
    }
  }
  report(o, totals);
  warn_of_unknown(unknown);
  if (invalid > 0) spdlog::warn("lines that are not UTF-8, not scored: {}", format_count(invalid));
  return exit_success;
}

int score_files(const ScoreOptions& o, const Fields& fields) {
  const auto opened = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(opened, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = opened.tokenizer();
  const bool pairs = model->has_encoder() || fields.given("target");
  const auto refuse = [&](std::initializer_list<const char*> names, const std::string& why) {
    for (const char* name : names)
      if (fields.given(name)) fail_usage(fmt::format("--{}", name), why);
  };
  if (model->has_encoder())
    refuse({"prompt-template", "document", "begin", "context", "stride"},
           fmt::format("is for language models, but a {} model translates", model->family()));
  else if (pairs)
    refuse({"document", "begin", "context", "stride"}, "is for texts, but --target gives translations to score");
  else
    refuse({"source-language", "target-language", "prompt-template", "models", "weights"},
           "is for translations, but without --target texts are scored");
  if (!model->has_encoder())
    refuse({"alignment", "alignment-layer"},
           fmt::format("is for encoder-decoder models, but a {} model is a language model", model->family()));
  if (pairs && o.target.empty()) fail_usage("--target", "is required: the translations to score");
  return pairs ? score_pairs(o, opened, *model, *tokenizer) : score_texts(o, *model, *tokenizer);
}

}  // namespace

void add_score(App& app) {
  auto o = std::make_shared<ScoreOptions>();
  app.add(
      {.name = "score",
       .summary = "score given translations or texts by their log-probabilities",
       .description =
           "Prints log p(target | source) for each pair of lines: the sum over the target's tokens and the end token, "
           "not normalised. A language model scores the target after its prompt for the source; without targets, it "
           "prints "
           "log p(text) for each line, and the perplexity of the whole.",
       .examples = {{"tril score --model de --source test.en --target test.de", "one score per line"},
                    {"tril score -m de -s test.en -t test.de --word-scores --json", "scores of every token, as JSON"},
                    {"tril score -m plays -s valid.txt --document --summary", "perplexity of a text"}},
       .fields = fields_of(*o),
       .models = {"model", "adapter", "models"},
       .apply_preset = {},
       .run = [o](const Invocation& i) { return score_files(*o, i.fields); }});
}

}  // namespace tril::cli
