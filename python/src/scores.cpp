#include "scores.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arrays.h"
#include "background.h"
#include "base/cores.h"
#include "cancel.h"
#include "cli/options/assumed_language.h"
#include "decode/batches/score.h"
#include "decode/models/alignment_fields.h"
#include "decode/models/target_language.h"
#include "decode/models/window_fields.h"
#include "decode/steps/sources.h"
#include "decode/texts/prompted_text.h"
#include "decode/texts/search_setup.h"
#include "decode/texts/text_score.h"
#include "errors.h"
#include "model_io/source/registry.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/sentence_frame.h"

namespace tril::python {
namespace {

struct PairOptions {
  DecodingOptions decoding;
  std::string source_language, target_language, prompt_template;
  AlignmentOptions alignment;
};

Fields fields_of(PairOptions& o) {
  Fields f;
  f.group("Text");
  add_language_fields(f, o.source_language, o.target_language);
  add_prompt_template_field(f, o.prompt_template);
  add_alignment_fields(f, o.alignment);
  Fields batches;
  add_batch_fields(batches, o.decoding);
  f.include(batches, {"batch-size"});
  return f;
}

struct TextOptions {
  DecodingOptions decoding;
  search::WindowOptions windows;
  bool begin = false;
};

Fields fields_of(TextOptions& o) {
  Fields f;
  f.group("Text");
  add_window_fields(f, o.windows, o.begin);
  Fields batches;
  add_batch_fields(batches, o.decoding);
  f.include(batches, {"batch-size"});
  return f;
}

struct Score {
  double log_prob = 0;
  std::vector<std::int32_t> ids, source_ids;  ///< the scored ones, and the source
  std::vector<float> token_log_probs, attention;
  std::shared_ptr<const Tokenizer> tokenizer;
};

// Pairs as ids, as `tril score` makes them.
struct Pairs {
  std::vector<std::vector<std::int32_t>> sources, targets;
  std::int32_t start = -1;
};

std::vector<std::int32_t> framed(const SharedModel& m, const std::string& text, Side side, const std::string& language,
                                 const std::string& where) {
  std::vector<std::int32_t> ids = sentence_ids(m.tokenizer(), text, side, language);
  const std::int64_t positions = m.model().max_positions();
  check(positions == 0 || std::ssize(ids) <= positions, where, "has {} tokens, but the model has {} positions",
        ids.size(), positions);
  return ids;
}

Pairs encoded(const SharedModel& m, const PairOptions& o, const std::vector<std::string>& sources,
              const std::vector<std::string>& targets) {
  const Tokenizer& tokenizer = m.tokenizer();
  search::check_tokenizer(m.model(), tokenizer);
  const Languages languages =
      choose_languages(tokenizer, o.source_language, o.target_language, "source_language", "target_language");
  cli::warn_of_assumed_language(m.opened().source.name(), tokenizer, languages);
  const TargetLanguage target(m.model(), tokenizer, o.target_language,
                              m.opened().published.forced_bos_token_id.has_value());
  Pairs pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string where = fmt::format("source {}", i + 1);
    target.check_tag(sources[i], where);
    pairs.sources.push_back(
        framed(m, prepend_language_tag(languages.prefix, sources[i]), Side::source, languages.source, where));
    pairs.targets.push_back(framed(m, targets[i], Side::target, languages.target, fmt::format("target {}", i + 1)));
  }
  pairs.start = search::decoder_start(m.model(), tokenizer, languages.target);
  return pairs;
}

Pairs prompted(const SharedModel& m, const PairOptions& o, const std::vector<std::string>& sources,
               const std::vector<std::string>& targets) {
  if (!o.alignment.alignment.empty())
    fail_usage("alignment",
               fmt::format("is for encoder-decoder models, but a {} model is a language model", m.model().family()));
  const search::TranslatorOptions options =
      search::translator_options({}, m.opened().published, m.model(), m.tokenizer());
  search::TextOptions said;
  said.source_language = o.source_language, said.target_language = o.target_language;
  const search::PromptedText text(m.model(), m.opened().tokenizer,
                                  cli::load_prompt(m.opened().source, m.model(), o.prompt_template));
  text.check(said, options.decoding.search);
  const std::int64_t positions = m.model().max_positions();
  Pairs pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto [ids, prompt] = text.given_translation(sources[i], targets[i], said, options.decoding.search.eos_ids);
    check(positions == 0 || std::ssize(ids) <= positions, fmt::format("source {}", i + 1),
          "has {} tokens with its prompt and its translation, but the model has {} positions", ids.size(), positions);
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(prompt);
    pairs.sources.emplace_back(ids.begin(), end);
    pairs.targets.emplace_back(end, ids.end());
  }
  return pairs;
}

std::shared_ptr<Score> made(search::Score s, std::span<const std::int32_t> ids, const SharedModel& m) {
  auto score = std::make_shared<Score>();
  score->log_prob = s.log_prob;
  score->ids.assign(ids.begin(), ids.end());
  score->token_log_probs = std::move(s.token_log_probs), score->attention = std::move(s.attention);
  score->tokenizer = m.opened().tokenizer;
  return score;
}

std::vector<std::shared_ptr<Score>> score_pairs(const SharedModel& m, const std::vector<std::string>& sources,
                                                const std::vector<std::string>& targets, const nb::dict& options) {
  PairOptions o;
  Fields fields = fields_of(o);
  set(fields, arguments_of(options));
  check(sources.size() == targets.size(), "targets", "{} for {} sources", targets.size(), sources.size());
  std::vector<std::shared_ptr<Score>> results;
  Background background;
  with_python_words(fields, [&] {
    background.run([&](const std::stop_token& stop) {
      Pairs pairs = m.model().has_encoder() ? encoded(m, o, sources, targets) : prompted(m, o, sources, targets);
      const auto attention = attention_heads(o.alignment, m.model(), false);
      search::WorkerPool workers = m.loaded->workers();
      // As `tril score`: window by window, so that its results are these to the last bit.
      const std::size_t window = lines_at_a_time(o.decoding.batch_size, workers.count());
      for (std::size_t begin = 0; begin < sources.size() && !stop.stop_requested(); begin += window) {
        const std::size_t n = std::min(window, sources.size() - begin);
        const search::SentencePairs some{std::span(pairs.sources).subspan(begin, n),
                                         std::span(pairs.targets).subspan(begin, n)};
        auto scores = search::score_all(workers, m.model(), some, o.decoding.batch_size,
                                        {m.loaded->others.ensemble(), attention, pairs.start});
        for (std::size_t i = 0; i < n; ++i) {
          results.push_back(made(std::move(scores[i]), some.targets[i], m));
          results.back()->source_ids = std::move(pairs.sources[begin + i]);
        }
      }
    });
    return 0;
  });
  return results;
}

std::vector<std::shared_ptr<Score>> score_texts(const SharedModel& m, const std::vector<std::string>& texts,
                                                const nb::dict& options) {
  TextOptions o;
  Fields fields = fields_of(o);
  set(fields, arguments_of(options));
  std::vector<std::shared_ptr<Score>> results;
  Background background;
  with_python_words(fields, [&] {
    background.run([&](const std::stop_token& stop) {
      search::check_language_model(m.model(), m.tokenizer());
      search::WindowOptions windows = o.windows;
      windows.batch_size = o.decoding.batch_size;
      search::settled(windows, m.model());
      search::WorkerPool workers = m.loaded->workers();
      const std::size_t window = lines_at_a_time(windows.batch_size, workers.count());
      for (std::size_t begin = 0; begin < texts.size() && !stop.stop_requested(); begin += window) {
        const std::size_t n = std::min(window, texts.size() - begin);
        std::vector<std::vector<std::int32_t>> ids(n);
        for (std::size_t i = 0; i < n; ++i) {
          if (o.begin) ids[i].push_back(begin_token(m.model(), m.tokenizer()));
          m.tokenizer().encode(texts[begin + i], Side::target, ids[i]);
        }
        std::vector<search::Score> scores = search::score_texts(workers, m.model(), ids, windows);
        for (std::size_t i = 0; i < n; ++i) {
          const std::span<const std::int32_t> all = ids[i];
          results.push_back(made(std::move(scores[i]), all.empty() ? all : all.subspan(1), m));
        }
      }
    });
    return 0;
  });
  return results;
}

// The logits of every position of one text, or of a target after its source.
nb::object logits(const SharedModel& m, const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& source) {
  const bool pair = m.model().has_encoder();
  check(!ids.empty(), "ids", "expected at least one id");
  if (pair) check(!source.empty(), "source_ids", "expected at least one id, since this model has an encoder");
  if (!pair) check(source.empty(), "source_ids", "a {} model has no encoder", m.model().family());
  const std::int64_t positions = m.model().max_positions();
  for (const auto& [name, list, size] : {std::tuple("ids", &ids, m.model().vocab_size()),
                                         std::tuple("source_ids", &source, m.model().source_vocab_size())}) {
    check(positions == 0 || std::ssize(*list) <= positions, name, "has {} ids, but the model has {} positions",
          list->size(), positions);
    for (const std::int32_t id : *list)
      check(id >= 0 && id < size, name, "{} is not in the vocabulary, expected ids from 0 to {}", id, size - 1);
  }
  Tensor result;
  Background background;
  background.run([&](const std::stop_token&) {
    Arena arena;
    Context c(arena);
    Rows rows;
    rows.append(static_cast<std::int32_t>(ids.size()));
    std::optional<model::Memory> memory;
    if (pair) memory = search::encode(c, m.model(), {&source, 1});
    const Tensor hidden = m.model().decode(
        c, {.ids = ids, .rows = std::move(rows), .memory = memory ? &*memory : nullptr, .memory_rows = {}});
    result = model::logits(c, m.model(), hidden);
  });
  return array_of(std::move(result));
}

}  // namespace

void bind_scores(nb::module_& m, nb::class_<SharedModel>& model) {
  nb::class_<Score>(m, "Score", "The score of a given translation or text.")
      .def_ro("log_prob", &Score::log_prob, "Sum of `token_log_probs`.")
      .def_ro("ids", &Score::ids, "The scored ids: of a translation with its end token; of a text without its first.")
      .def_prop_ro(
          "tokens", [](const Score& s) { return pieces_of(s.ids, *s.tokenizer, Side::target); }, "The pieces of `ids`.")
      .def_ro("source_ids", &Score::source_ids, "The ids of the source; empty for a text.")
      .def_prop_ro(
          "token_log_probs",
          [](nb::handle_t<Score> self) {
            const auto& s = nb::cast<const Score&>(self);
            return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<1>>(s.token_log_probs.data(),
                                                                             {s.token_log_probs.size()}, self));
          },
          nb::sig("def token_log_probs(self) -> numpy.ndarray"), "log p of each of `ids`, float32, without a copy.")
      .def_prop_ro(
          "attention",
          [](nb::handle_t<Score> self) -> nb::object {
            const auto& s = nb::cast<const Score&>(self);
            if (s.attention.empty()) return nb::none();
            return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<2>>(
                s.attention.data(), {s.ids.size(), s.attention.size() / s.ids.size()}, self));
          },
          nb::sig("def attention(self) -> typing.Optional[numpy.ndarray]"),
          "Cross-attention weights [ids, source_ids], float32, without a copy; None unless `alignment` is given.")
      .def_prop_ro(
          "perplexity",
          [](const Score& s) { return std::exp(-s.log_prob / static_cast<double>(s.token_log_probs.size())); },
          "exp(-log_prob / number of scored tokens).");
  model.def("score_pairs", &score_pairs, nb::arg("sources"), nb::arg("targets"), nb::arg("options"))
      .def("score_texts", &score_texts, nb::arg("texts"), nb::arg("options"))
      .def("logits", &logits, nb::arg("ids"), nb::arg("source_ids"),
           nb::sig("def logits(self, ids: collections.abc.Sequence[int], source_ids: collections.abc.Sequence[int]) -> "
                   "numpy.ndarray"));
  m.def("pair_score_options", [] {
    PairOptions o;
    return described(fields_of(o));
  });
  m.def("text_score_options", [] {
    TextOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
