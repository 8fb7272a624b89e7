// tril perplexity: how well a language model predicts texts.
//
//   cross-entropy = - sum of log p / tokens              perplexity = exp(cross-entropy)
//
// Tokens depend on the vocabulary, so models of different vocabularies are compared per word, character or byte of the
// text instead.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cores.h"
#include "base/log.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/document.h"
#include "decode/models/decoding_options.h"
#include "decode/models/window_fields.h"
#include "decode/texts/text_score.h"
#include "format/json_text.h"
#include "model_io/source/model_source.h"
#include "unicode/trim.h"

namespace tril::cli {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

struct PerplexityOptions {
  DecodingOptions decoding;
  std::vector<std::string> inputs{"-"};
  bool begin = false, json = false;
  std::int64_t tokens = 0;
  search::WindowOptions windows;
};

Fields fields_of(PerplexityOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.add("batch-size", &o.windows.batch_size, "number of windows that a worker reads together").within(batch_sizes);
  f.group("Text");
  f.add("input", &o.inputs, "text files, plain or gzip, each read as one text with its newlines; - is standard input")
      .letter('i')
      .value_name("FILE");
  add_window_fields(f, o.windows, o.begin);
  f.add("tokens", &o.tokens, "score only this many tokens of each text, from the first; 0: all").at_least(0);
  f.group("Output");
  f.add("json", &o.json, "print a JSON object for each text, and one for all together if there are several");
  return f;
}

/// How much of a text was scored, and how probable it was.
struct Measure {
  std::int64_t tokens = 0, words = 0, characters = 0, bytes = 0;
  double log_prob = 0, squares = 0;  ///< sums over the tokens of log p and of (log p)^2

  Measure& operator+=(const Measure& other) {
    tokens += other.tokens, words += other.words, characters += other.characters, bytes += other.bytes;
    log_prob += other.log_prob, squares += other.squares;
    return *this;
  }
  double cross_entropy() const { return -log_prob / static_cast<double>(tokens); }
  /// Of the mean, as if tokens were independent: correlations within a text make the true error larger.
  double standard_error() const {
    const auto n = static_cast<double>(tokens);
    return n < 2 ? 0 : std::sqrt(std::max(0.0, squares / n - cross_entropy() * cross_entropy()) / (n - 1));
  }
  double per(std::int64_t units) const { return -log_prob / static_cast<double>(units); }
};

// Maximal runs without white space.
std::int64_t count_words(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r\f\v";
  std::int64_t words = 0;
  for (std::size_t at = text.find_first_not_of(spaces); at != std::string_view::npos;
       at = text.find_first_not_of(spaces, std::min(text.find_first_of(spaces, at), text.size())))
    ++words;
  return words;
}

/// A text as ids, and the part of the text that is scored.
struct Encoded {
  std::vector<std::int32_t> ids;
  std::string_view scored;
  std::int64_t unknown = 0;  ///< tokens for unknown characters
};

Encoded encode(const PerplexityOptions& o, const model::Model& model, const Tokenizer& tokenizer,
               const std::string& text) {
  Encoded e{tokenizer.frame(Side::target).prefix, text};
  const bool framed = !e.ids.empty();  // with the tokens that models expect before a text; these are given, not scored
  if (o.begin && !framed) e.ids.push_back(begin_token(model, tokenizer));
  const std::size_t given = e.ids.size();
  tokenizer.encode(text, Side::target, e.ids);
  e.unknown = count_unknown(tokenizer, text, std::span<const std::int32_t>(e.ids).subspan(given), Side::target);
  const std::size_t most = static_cast<std::size_t>(o.tokens) + 1;
  if (o.tokens > 0 && e.ids.size() > most) {
    e.ids.resize(most);
    const std::span<const std::int32_t> read = std::span<const std::int32_t>(e.ids).subspan(given);
    e.scored = e.scored.substr(0, tokenizer.decode(read).size());
  }
  if (given == 0 && !e.ids.empty())
    e.scored.remove_prefix(
        std::min(e.scored.size(), tokenizer.decode(std::span<const std::int32_t>(e.ids).first(1)).size()));
  return e;
}

std::string json_of(const std::string& name, const Measure& m, const search::WindowOptions& w) {
  const double bits = std::log(2.0);
  const auto number = [&](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  return json_text(nlohmann::ordered_json{{"input", name},
                                          {"tokens", m.tokens},
                                          {"words", m.words},
                                          {"characters", m.characters},
                                          {"bytes", m.bytes},
                                          {"log_prob", m.log_prob},
                                          {"cross_entropy", number(m.cross_entropy())},
                                          {"standard_error", number(m.standard_error())},
                                          {"perplexity", number(std::exp(m.cross_entropy()))},
                                          {"word_perplexity", number(std::exp(m.per(m.words)))},
                                          {"bits_per_character", number(m.per(m.characters) / bits)},
                                          {"bits_per_byte", number(m.per(m.bytes) / bits)},
                                          {"byte_perplexity", number(std::exp(m.per(m.bytes)))},
                                          {"context", w.context},
                                          {"stride", w.stride}}) +
         "\n";
}

std::string text_of(const std::string& name, const Measure& m, const search::WindowOptions& w) {
  if (m.tokens == 0) return fmt::format("{}: nothing to score\n", name);
  const double bits = std::log(2.0), h = m.cross_entropy(), error = m.standard_error();
  return fmt::format(
      "{}\n"
      "  tokens {}  words {}  characters {}  bytes {}  (context {}, stride {})\n"
      "  cross-entropy       {:.6f} +- {:.6f} nats a token\n"
      "  perplexity          {:.4f} +- {:.4f}\n"
      "  word perplexity     {:.4f}\n"
      "  bits per character  {:.6f}\n"
      "  bits per byte       {:.6f}\n",
      name, format_count(m.tokens), format_count(m.words), format_count(m.characters), format_count(m.bytes), w.context,
      w.stride, h, error, std::exp(h), std::exp(h) * error, std::exp(m.per(m.words)), m.per(m.characters) / bits,
      m.per(m.bytes) / bits);
}

int measure(const PerplexityOptions& o, bool quiet) {
  const auto source = model::ModelSource::open(o.decoding.model);
  const std::unique_ptr<model::Model> model = load_model(source, o.decoding);
  const std::shared_ptr<const Tokenizer> tokenizer = source.tokenizer();
  if (model->has_encoder())
    fail_usage("--model", fmt::format("a {} model translates and does not score texts", model->family()),
               "use `tril score` with --source and --target");
  search::check_language_model(*model, *tokenizer);
  const search::WindowOptions windows = search::settled(o.windows, *model);
  search::WorkerPool workers = workers_of(o.decoding);
  Measure all;
  std::int64_t unknown = 0;
  for (const std::string& path : o.inputs) {
    const std::string text = read_document(path, most_bytes), name = path == "-" ? "standard input" : path;
    const Encoded encoded = encode(o, *model, *tokenizer, text);
    Measure m{.words = count_words(encoded.scored),
              .characters = static_cast<std::int64_t>(characters_in(encoded.scored)),
              .bytes = std::ssize(encoded.scored)};
    unknown += encoded.unknown;
    const std::int64_t total = std::ssize(encoded.ids) - 1;
    Progress progress({.label = "token",
                       .rate_unit = "tokens",
                       .total = std::max<std::int64_t>(total, 0),
                       .enabled = !quiet && stderr_is_terminal(),
                       .seconds = {},
                       .write = {}});
    std::int64_t done = 0;
    const search::Score score = search::score_texts(workers, *model, {&encoded.ids, 1}, windows,
                                                    [&](std::int64_t n) { progress.update(done += n); })[0];
    progress.finish();
    for (const float p : score.token_log_probs) m.squares += static_cast<double>(p) * static_cast<double>(p);
    m.tokens = std::ssize(score.token_log_probs);
    m.log_prob = score.log_prob;
    write_stdout(o.json ? json_of(name, m, windows) : text_of(name, m, windows));
    all += m;
  }
  warn_of_unknown(unknown);
  if (o.inputs.size() > 1) write_stdout(o.json ? json_of("all", all, windows) : text_of("all together", all, windows));
  return exit_success;
}

}  // namespace

void add_perplexity(App& app) {
  auto o = std::make_shared<PerplexityOptions>();
  app.add({.name = "perplexity",
           .summary = "measure how well a language model predicts texts",
           .description = "Reads each text in windows as long as the model's positions, with a stride of half a "
                          "window, and prints the cross-entropy of its tokens, the perplexity, and values per word, "
                          "character and byte, which are comparable between vocabularies. The value after +- is the "
                          "standard error of the mean over tokens. `tril score` scores single lines.",
           .examples = {{"tril perplexity --model plays -i valid.txt", "for one text"},
                        {"tril perplexity -m plays -i valid.txt --stride 64 --json", "with more context, as JSON"},
                        {"tril perplexity -m plays -i valid.txt --precision int4", "the cost of quantised weights"}},
           .fields = fields_of(*o),
           .models = {"model", "adapter"},
           .apply_preset = {},
           .run = [o](const Invocation& i) { return measure(*o, i.quiet); }});
}

}  // namespace tril::cli
