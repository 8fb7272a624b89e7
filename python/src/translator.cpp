#include "translator.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "background.h"
#include "calls.h"
#include "cancel.h"
#include "cli/commands/line_translator.h"
#include "decode/models/language_pair.h"
#include "decode/texts/terminology.h"
#include "errors.h"
#include "hypotheses.h"
#include "loaded.h"
#include "models.h"

namespace tril::python {
namespace {

struct TranslateOptions : cli::TranslationSetup {
  std::vector<std::string> phrases;  ///< source phrase, target phrase, source phrase, ...
  bool scores = false;
};

Fields fields_of(TranslateOptions& o) {
  Fields f;
  f.group("Text");
  add_language_fields(f, o.source_language, o.target_language);
  add_language_pair_field(f, o.languages);
  add_split_fields(f, o.split);
  Fields of_terms;
  add_term_fields(of_terms, o.terms);
  f.include(of_terms,
            {"terminology", "glossary", "glossary-match", "memory"});  // similar sentences are not listed here
  f.add("terms", &o.phrases,
        "required translations of phrases, {source: target}, compared exactly; needs a beam, or a language model whose "
        "prompt lists them");
  for (const char* other : {"terminology", "glossary"})
    f.excludes("terms", other, "both say how phrases are translated");
  cli::add_n_best_field(f, o);
  f.add("scores", &o.scores, "compute log-probabilities in greedy search and sampling; a beam always has them");
  f.group("Language models");
  add_prompt_fields(f, o.prompt);
  cli::add_attention_fields(f, o);
  LoadingOptions loading;
  const Fields of_loading = fields_of(loading);
  Fields search;
  cli::add_translation_search_fields(search, o);
  std::vector<std::string> names;  // without those that concern loading
  for (const std::string& name : search.names())
    if (!of_loading.find(name)) names.push_back(name);
  f.include(search, names);
  cli::add_translation_rules(f);
  return f;
}

// A translation of one text: its hypotheses, best first, or those of its parts.
struct Part {
  std::string source;
  std::vector<std::shared_ptr<Hypothesis>> hypotheses;
};
struct TextTranslation {
  std::string text;
  std::vector<std::shared_ptr<Hypothesis>> hypotheses;
  std::vector<Part> parts;
};

std::vector<std::shared_ptr<Hypothesis>> all_shown(std::vector<search::Translation> list, const Shown& how) {
  std::vector<std::shared_ptr<Hypothesis>> out;
  for (search::Translation& t : list) out.push_back(shown(std::move(t), how));
  return out;
}

// A translator with settled options. One thread uses it at a time.
class ReadyTranslator {
 public:
  ReadyTranslator(std::shared_ptr<const Loaded> loaded, const std::vector<const Arguments*>& given)
      : loaded_(std::move(loaded)), fields_(fields_of(options_)) {
    for (const Arguments* one : given) set(fields_, *one);
    with_python_words(fields_, [&] {
      fields_.check_complete();
      check_kind(fields_, *loaded_->model.model);
      make();
      return 0;
    });
  }

  std::vector<std::shared_ptr<TextTranslation>> translate(const std::vector<std::string>& texts,
                                                          const std::vector<std::string>& prefixes,
                                                          const std::stop_token& stop) {
    check(prefixes.empty() || prefixes.size() == texts.size(), "prefixes", "{} for {} texts", prefixes.size(),
          texts.size());
    const bool split = options_.split.split != Split::none;
    if (split && !prefixes.empty())
      fail_usage("prefixes", "have no meaning for the parts of a text", "leave out split");
    std::vector<std::shared_ptr<TextTranslation>> results;
    with_python_words(fields_, [&] {
      background_.run(
          [&](const std::stop_token& token) {
            lines_->stop_by(token);
            for (std::size_t begin = 0; begin < texts.size() && !token.stop_requested(); begin += window_)
              add(window_of(texts, begin), prefixes.empty() ? prefixes : window_of(prefixes, begin), begin, results);
            while (results.size() < texts.size()) results.push_back(cancelled());
          },
          stop);
      return 0;
    });
    return results;
  }

 private:
  // As `tril translate`: window by window, so that its results are these to the last bit.
  std::vector<std::string> window_of(const std::vector<std::string>& all, std::size_t begin) const {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(std::min(window_, all.size() - begin))};
  }

  void add(const std::vector<std::string>& texts, const std::vector<std::string>& prefixes, std::size_t first,
           std::vector<std::shared_ptr<TextTranslation>>& results) {
    for (std::size_t number = first; const std::string& text : texts)
      settled_->languages.target.check_tag(text, fmt::format("text {}", ++number));
    const auto number = static_cast<std::int64_t>(first);
    if (options_.split.split != Split::none) {
      for (search::SplitTranslation& t : lines_->translate_in_parts(texts, number)) {
        auto one = std::make_shared<TextTranslation>(TextTranslation{std::move(t.text), {}, {}});
        for (auto& part : t.parts)
          one->parts.push_back({std::move(part.source), all_shown(std::move(part.translations), shown_)});
        results.push_back(std::move(one));
      }
      return;
    }
    for (auto& list : lines_->translate_texts(texts, prefixes, number)) {
      auto one = std::make_shared<TextTranslation>(TextTranslation{{}, all_shown(std::move(list), shown_), {}});
      one->text = one->hypotheses.front()->text;
      results.push_back(std::move(one));
    }
  }

  // Of a text whose search did not begin.
  std::shared_ptr<TextTranslation> cancelled() const {
    search::Translation none;
    none.stop_reason = search::StopReason::cancelled;
    return std::make_shared<TextTranslation>(TextTranslation{{}, {shown(std::move(none), shown_)}, {}});
  }

  void make() {
    const cli::LoadedModel& m = loaded_->model;
    loaded_->place(options_.decoding);
    settled_.emplace(cli::settle(options_, m, loaded_->others, options_.scores));
    const search::SearchPlan& s = settled_->options.decoding.search;
    if (!options_.phrases.empty()) settled_->options.terminology = given_terms(m, s);
    shown_ = {.tokenizer = m.tokenizer, .scores = s.scores || s.has_beam(), .alignment = options_.alignment.alignment};
    translator_.emplace(cli::make_text(options_, m), settled_->options);
    window_ = lines_at_a_time(settled_->options.decoding.batch_size, settled_->options.decoding.threads);
    const search::SplitOptions split =
        tril::split_options(options_.split, settled_->languages.given, options_.target_language, settled_->stated);
    lines_.emplace(cli::LineForm{.n_best = s.n_best, .alignment = options_.alignment, .split = split},
                   settled_->languages, *translator_, std::stop_token());
  }

  std::shared_ptr<const search::Terminology> given_terms(const cli::LoadedModel& m, const search::SearchPlan& s) const {
    check(options_.phrases.size() % 2 == 0, "terms", "expected a dictionary of phrases and their translations");
    if (m.model->has_encoder() && !s.has_beam())
      fail_usage("terms", "needs a beam search to place phrases", "pass a beam, for example beam_size=8");
    std::vector<search::Term> terms;
    for (std::size_t i = 0; i + 1 < options_.phrases.size(); i += 2)
      terms.push_back({options_.phrases[i], options_.phrases[i + 1]});
    return std::make_shared<const search::Terminology>(std::move(terms));
  }

  std::shared_ptr<const Loaded> loaded_;
  TranslateOptions options_;
  Fields fields_;
  std::optional<cli::SettledTranslation> settled_;
  std::optional<search::Translator> translator_;
  std::optional<cli::LineTranslator> lines_;
  std::size_t window_ = 1;
  Shown shown_;
  Background background_;  // last: its thread ends before what it uses
};

class Translator {
 public:
  Translator(const std::string& model, const nb::dict& options) : calls_(model, options) {}

  std::vector<std::shared_ptr<TextTranslation>> translate(const std::vector<std::string>& texts,
                                                          const std::vector<std::string>& prefixes,
                                                          const nb::dict& options, const Cancel* cancel) const {
    return calls_.with(options,
                       [&](ReadyTranslator& ready) { return ready.translate(texts, prefixes, token_of(cancel)); });
  }

  const std::shared_ptr<const Loaded>& loaded() const { return calls_.loaded(); }

 private:
  Calls<ReadyTranslator, TranslateOptions> calls_;
};

// An attribute of the best hypothesis; None if the text was split.
void show_best(nb::class_<TextTranslation>& c, const char* name, const char* type) {
  const std::string signature = std::string("def ") + name + "(self) -> typing.Optional[" + type + "]";
  c.def_prop_ro(
      name,
      [name](const TextTranslation& t) -> nb::object {
        return t.hypotheses.empty() ? nb::none() : nb::object(nb::cast(t.hypotheses.front()).attr(name));
      },
      nb::sig(signature.c_str()), "That of the first of `hypotheses`; None if the text was split.");
}

}  // namespace

void bind_translator(nb::module_& m) {
  nb::class_<Part>(m, "Part", "A part of a text that was split, with its translations.")
      .def_ro("source", &Part::source, "The part's text.")
      .def_ro("hypotheses", &Part::hypotheses, "Its translations, best first.");
  nb::class_<TextTranslation> translation(m, "Translation", "The translation of one text.");
  for (const auto& [name, type] : {std::pair("score", "float"),
                                   {"log_prob", "float"},
                                   {"ids", "list[int]"},
                                   {"tokens", "list[str]"},
                                   {"attention", "numpy.ndarray"},
                                   {"alignment", "list[tuple[int, int]]"},
                                   {"stop_reason", "str"}})
    show_best(translation, name, type);
  translation.def_ro("text", &TextTranslation::text, "The best translation.")
      .def_ro("hypotheses", &TextTranslation::hypotheses,
              "All n_best translations, best first; empty if the text was split.")
      .def_ro("parts", &TextTranslation::parts, "The parts of a text that was split; else empty.")
      .def("__str__", [](const TextTranslation& t) { return t.text; })
      .def("__repr__", [](const TextTranslation& t) {
        return "<tril.Translation " + nb::cast<std::string>(nb::repr(nb::str(t.text.data(), t.text.size()))) + ">";
      });
  nb::class_<Translator>(m, "Translator", nb::is_weak_referenceable())
      .def(nb::init<const std::string&, const nb::dict&>(), nb::arg("model"), nb::arg("options"))
      .def("translate", &Translator::translate, nb::arg("texts"), nb::arg("prefixes"), nb::arg("options"),
           nb::arg("cancel").none())
      .def_prop_ro("loaded", [](const Translator& t) { return SharedModel{t.loaded()}; });
  m.def("translate_options", [] {
    TranslateOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
