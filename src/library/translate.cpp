// Translation with the public interface: options by name to a search::Translator, texts through it.
#include <tril/translate.h>

#include <mutex>

#include "base/error.h"
#include "decode/models/decoding_options.h"
#include "decode/models/language_pair.h"
#include "decode/models/model_languages.h"
#include "decode/models/prompt_fields.h"
#include "decode/models/split_fields.h"
#include "decode/models/target_language.h"
#include "decode/models/term_fields.h"
#include "decode/texts/prompted_text.h"
#include "decode/texts/recall.h"
#include "decode/texts/split_translator.h"
#include "decode/texts/translator.h"
#include "library/alignment.h"
#include "library/model_state.h"
#include "library/named_options.h"
#include "tokenizer/files/language_tag.h"

namespace tril {
namespace library {
namespace {

struct TranslatorFields {
  DecodingOptions decoding;
  std::string source_language, target_language, languages;
  PromptOptions prompt;
  SplitLineOptions split;
  AlignmentOptions alignment;
  TermOptions terms;
  bool deterministic = false, scores = false;
};

Fields fields_of(TranslatorFields& o) {
  Fields f, of_model, of_terms;
  add_model_fields(of_model, o.decoding);
  f.include(of_model, {"threads", "pin", "numa"});
  add_language_fields(f, o.source_language, o.target_language);
  add_language_pair_field(f, o.languages);
  add_split_fields(f, o.split);
  f.add("n-best", &o.decoding.search.n_best, "number of translations of each text").at_least(1).at_most(1000);
  f.add("scores", &o.scores, "compute log-probabilities in greedy search and sampling too; a beam always has them");
  add_term_fields(of_terms, o.terms);
  f.include(of_terms, {"terminology", "glossary", "glossary-match", "memory"});  // similar sentences are not listed
  add_alignment_fields(f, o.alignment);
  f.excludes("memory", "alignment", "a translation from the memory has none");
  add_prompt_fields(f, o.prompt);
  add_coverage_field(f, o.decoding.search);
  add_translation_fields(f, o.decoding);
  add_deterministic_field(f, o.deterministic);
  add_choice_fields(f, o.decoding);
  return f;
}

Languages languages_of(const TranslatorFields& o, const v0::ModelState& m) {
  if (!m.model->has_encoder()) return {.prefix = "", .source = o.source_language, .target = o.target_language};
  return choose_languages(*m.tokenizer, o.source_language, o.target_language, "source_language", "target_language");
}

StatedLanguages stated_languages_of(const TranslatorFields& o, const v0::ModelState& m) {
  if (!o.languages.empty()) return stated_pair(o.languages, *m.tokenizer, m.model->has_encoder());
  return m.model->has_encoder() ? model_languages(m.source) : m.tokenizer->stated_languages();
}

search::TranslatorOptions settled(const TranslatorFields& o, const v0::ModelState& m, const Languages& languages,
                                  const StatedLanguages& stated) {
  search::TranslatorOptions t = translator_options(o.decoding, published_generation(m.source), *m.model, *m.tokenizer);
  search::SearchPlan& s = t.decoding.search;
  t.source_language = languages.source, t.target_language = languages.target;
  s.scores = o.scores || o.decoding.search.n_best > 1;
  s.attention = attention_heads(o.alignment, *m.model, s.coverage_penalty > 0);
  check_placeable(o.terms, *m.model, s);
  const terms::LanguagePair pair{o.source_language.empty() ? stated.source : o.source_language,
                                 o.target_language.empty() ? stated.target : o.target_language};
  t.terminology = terminology_of(o.terms, pair);
  if (const auto memory = memory_of(o.terms, pair))
    t.recall = search::recall_from(memory, languages.prefix, *m.tokenizer);
  m.others.give_to(t.decoding);
  t.decoding.deterministic = o.deterministic;
  t.context = static_cast<std::int32_t>(o.prompt.context);
  t.style = o.prompt.style;
  if (!m.model->has_encoder() && !o.deterministic) t.decoding.session.prefix_tokens = shared_prompt_tokens;
  return t;
}

void append(const std::vector<search::Term>& terms, std::vector<v0::Term>& list) {
  for (const search::Term& t : terms) list.push_back({t.source, t.target});
}

v0::Translation result(search::Translation&& t, const AlignmentOptions& alignment) {
  v0::Translation r{std::move(t.text), std::move(t.tokens), t.log_prob, t.score,
                    static_cast<v0::StopReason>(t.stop_reason)};
  append(t.terms, r.terms);
  append(t.unsatisfied, r.missing_terms);
  r.recalled = t.recalled;
  if (alignment.alignment.empty()) return r;
  r.alignment = pairs_of(alignment, t.attention, r.tokens.size());
  r.source_tokens = std::move(t.source);
  r.attention = std::move(t.attention);
  return r;
}

v0::Translation result(search::SplitTranslation&& t) {
  v0::Translation all{std::move(t.text), {}, 0, 0, v0::StopReason::end_token};
  all.recalled = !t.parts.empty();
  for (const search::SplitTranslation::Part& part : t.parts) {
    const search::Translation& best = part.translations.front();
    append(best.terms, all.terms);
    append(best.unsatisfied, all.missing_terms);
    all.recalled = all.recalled && best.recalled;
    all.tokens.insert(all.tokens.end(), best.tokens.begin(), best.tokens.end());
    all.log_prob += best.log_prob, all.score += best.score;
    all.stop_reason = static_cast<v0::StopReason>(best.stop_reason);
  }
  if (t.cancelled) all.stop_reason = v0::StopReason::cancelled;
  return all;
}

}  // namespace
}  // namespace library

namespace v0 {

class TranslatorState {
 public:
  TranslatorState(std::shared_ptr<const ModelState> model, const Options& options) : model_(std::move(model)) {
    library::TranslatorFields o;
    Fields fields = library::fields_of(o);
    library::set_options(fields, options);
    check_kind(fields, *model_->model);
    check(o.source_language != "auto", "source_language", "is not detected here, expected the name of a language");
    const bool forced = model_->source.generation().forced_bos_token_id.has_value();
    languages_ = library::languages_of(o, *model_);
    target_.emplace(*model_->model, *model_->tokenizer, o.target_language, forced || !model_->model->has_encoder());
    if (model_->model->has_encoder()) target_->check_tokens();
    splits_ = o.split.split != Split::none;
    check(!splits_ || o.decoding.search.n_best == 1, "n_best", "has no meaning for the parts of a split text");
    check(!splits_ || o.alignment.alignment.empty(), "alignment", "has no meaning for the parts of a split text");
    check(splits_ || o.split.language.empty(), "split_language", "has an effect only with `split`");
    alignment_ = o.alignment;
    const StatedLanguages stated = library::stated_languages_of(o, *model_);
    const search::TranslatorOptions settled = library::settled(o, *model_, languages_, stated);
    translator_.emplace(search::make_translation_text(*model_->model, model_->tokenizer,
                                                      library::prompt_of(*model_, o.prompt.prompt_template)),
                        settled);
    split_.emplace(*translator_, split_options(o.split, languages_, o.target_language, stated));
  }

  std::vector<std::vector<Translation>> translate(const std::vector<std::string>& texts, const TranslateOptions& o) {
    check(o.prefixes.empty() || o.prefixes.size() == texts.size(), "prefixes",
          "expected one for each of {} texts, got {}", texts.size(), o.prefixes.size());
    check(!splits_ || o.prefixes.empty(), "prefixes", "have no meaning for the parts of a split text");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string where = fmt::format("text {}", i + 1);
      library::check_utf8(texts[i], where);
      target_->check_tag(texts[i], where);
    }
    for (std::size_t i = 0; i < o.prefixes.size(); ++i)
      library::check_utf8(o.prefixes[i], fmt::format("prefix {}", i + 1));
    const std::lock_guard lock(mutex_);
    return splits_ ? translate_split(texts, o) : translate_whole(texts, o);
  }

 private:
  std::vector<std::vector<Translation>> translate_whole(const std::vector<std::string>& texts,
                                                        const TranslateOptions& o) {
    std::vector<std::string> tagged;
    if (!languages_.prefix.empty())
      for (const std::string& text : texts) tagged.push_back(prepend_language_tag(languages_.prefix, text));
    translator_->go_to(next_);
    auto found = translator_->translate(tagged.empty() ? texts : tagged, o.prefixes,
                                        {.on_partial = o.on_partial, .stop = o.stop});
    next_ += texts.size();
    std::vector<std::vector<Translation>> results;
    for (std::vector<search::Translation>& list : found) {
      results.emplace_back();
      for (search::Translation& t : list) results.back().push_back(library::result(std::move(t), alignment_));
    }
    return results;
  }

  std::vector<std::vector<Translation>> translate_split(const std::vector<std::string>& texts,
                                                        const TranslateOptions& o) {
    auto found = split_->translate(texts, languages_.prefix, next_, {.on_partial = {}, .stop = o.stop});
    next_ += texts.size();
    std::vector<std::vector<Translation>> results;
    for (search::SplitTranslation& t : found) {
      results.emplace_back();
      results.back().push_back(library::result(std::move(t)));
    }
    return results;
  }

  std::shared_ptr<const ModelState> model_;
  Languages languages_;
  std::optional<TargetLanguage> target_;
  bool splits_ = false;
  AlignmentOptions alignment_;
  std::optional<search::Translator> translator_;
  std::optional<search::SplitTranslator> split_;
  std::uint64_t next_ = 0;  ///< the number of the next text
  std::mutex mutex_;
};

Translator::Translator(const Model& model, const Options& options)
    : state_(std::make_unique<TranslatorState>(model.state(), options)) {}
Translator::~Translator() = default;
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;

std::vector<OptionInfo> Translator::option_list() {
  library::TranslatorFields o;
  return library::list_of(library::fields_of(o));
}

std::string Translator::translate(const std::string& text) {
  return translate_n_best({text})[0][0].text;
}

std::vector<std::string> Translator::translate(const std::vector<std::string>& texts) {
  std::vector<std::string> best;
  for (std::vector<Translation>& list : translate_n_best(texts)) best.push_back(std::move(list[0].text));
  return best;
}

std::vector<std::vector<Translation>> Translator::translate_n_best(const std::vector<std::string>& texts,
                                                                   const TranslateOptions& options) {
  return state_->translate(texts, options);
}

}  // namespace v0
}  // namespace tril
