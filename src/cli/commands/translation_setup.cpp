#include "cli/commands/translation_setup.h"

#include <fmt/format.h>

#include <initializer_list>

#include "cli/commands/document_job.h"
#include "cli/options/assumed_language.h"
#include "cli/options/line_sources.h"
#include "decode/models/language_pair.h"
#include "decode/models/model_languages.h"
#include "decode/models/shortlist_file.h"
#include "decode/models/target_language.h"
#include "decode/texts/prompted_text.h"
#include "decode/texts/recall.h"
#include "tokenizer/files/language_tag.h"

namespace tril::cli {

void add_n_best_field(Fields& f, TranslationSetup& o) {
  f.add("n-best", &o.decoding.search.n_best, "print this many translations of each line: number ||| text ||| score")
      .at_least(1)
      .at_most(1000);
}

void add_attention_fields(Fields& f, TranslationSetup& o) {
  f.group("Attention");
  add_alignment_fields(f, o.alignment);
  f.add("replace-unknowns", &o.replace_unknowns,
        "replace an unknown token in the output with the source word it attends to most");
  add_coverage_field(f, o.decoding.search);
  f.add("shortlist", &o.shortlist,
        "vocabulary shortlist: Marian's binary file (lex.*.bin), or a table made by `tril shortlist`, which may be "
        "followed by the number of most frequent tokens (100), the number of translations of each source token (100) "
        "and their minimum probability (0); none: all tokens; unset: the lex.*.bin in a Marian model's directory, if "
        "there is one")
      .value_name("FILE [FIRST [BEST [P]]]");
}

void add_translation_search_fields(Fields& f, TranslationSetup& o) {
  f.group("Search");
  add_translation_fields(f, o.decoding);
  f.add("mbr", &o.mbr,
        "minimum Bayes risk decoding: draw N translations of each line with the sampling options and take the one most "
        "similar to the others by chrF; 0: off")
      .at_least(0)
      .at_most(10'000);
  add_deterministic_field(f, o.deterministic);
  add_choice_fields(f, o.decoding);
  f.group("Several models");
  add_ensemble_fields(f, o.others);
  add_speculative_fields(f, o.others);
}

void add_translation_rules(Fields& f) {
  f.excludes("memory", "alignment", "a translation from the memory has none");
  for (const char* ranks : {"length-penalty", "coverage-penalty"})
    f.excludes("mbr", ranks, "samples are ranked only by their similarity to the others");
}

namespace {

// The languages of a model of one pair: as the option states them, or else as the model does.
StatedLanguages pair_of_model(const TranslationSetup& o, const LoadedModel& loaded) {
  const bool has_encoder = loaded.model->has_encoder();
  if (!o.languages.empty()) return stated_pair(o.languages, *loaded.tokenizer, has_encoder);
  return has_encoder && loaded.source.has_tokenizer() ? model_languages(loaded.source)
                                                      : loaded.tokenizer->stated_languages();
}

}  // namespace

LoadedModel::LoadedModel(const DecodingOptions& o, std::shared_ptr<const Tokenizer> given)
    : source(model::ModelSource::open(o.model)),
      model(load_model(source, o)),
      tokenizer(given ? std::move(given) : source.tokenizer()),
      published(published_generation(source)) {}

namespace {

// The search's options; minimum Bayes risk decoding samples its candidates.
DecodingOptions sampled(const TranslationSetup& o) {
  DecodingOptions d = o.decoding;
  if (o.mbr == 0) return d;
  SearchOptions& s = d.search;
  if (s.n_best > o.mbr)
    fail_usage("--n-best", fmt::format("{} is more than the {} translations that --mbr draws", s.n_best, o.mbr),
               fmt::format("pass --mbr {} or more", s.n_best));
  if (s.beam_size.value_or(1) > 1 || s.temperature == 0.0)
    fail_usage("--mbr", "draws translations and uses no beam", "leave --beam-size and --temperature 0 out");
  s.sampling = true;
  s.n_best = o.mbr;
  return d;
}

// The options from flags and directory, except for other models.
search::TranslatorOptions settled(const TranslationSetup& o, const LoadedModel& loaded, bool scores,
                                  const Languages& languages) {
  const model::Model& m = *loaded.model;
  search::TranslatorOptions t = translator_options(sampled(o), loaded.published, m, *loaded.tokenizer);
  search::SearchPlan& s = t.decoding.search;
  t.source_language = languages.source, t.target_language = languages.target;
  s.scores = scores || o.decoding.search.n_best > 1;
  s.attention = attention_heads(o.alignment, m, o.replace_unknowns || s.coverage_penalty > 0);
  t.replace_unknowns = o.replace_unknowns;
  check_placeable(o.terms, m, s);
  t.decoding.deterministic = o.deterministic;
  t.context = static_cast<std::int32_t>(o.prompt.context);
  t.style = o.prompt.style;
  if (!m.has_encoder() && !o.deterministic) t.decoding.session.prefix_tokens = shared_prompt_tokens;
  t.mbr_best = o.mbr > 0 ? static_cast<std::int32_t>(o.decoding.search.n_best) : 0;
  const bool is_speculative =
      !o.others.draft_model.empty() || !o.others.draft_heads.empty() || o.others.prompt_lookup > 0;
  s.shortlist = shortlist_of(o.shortlist, loaded.source, *loaded.tokenizer, s,
                             m.has_encoder() && !o.deterministic && !is_speculative && o.others.models.empty());
  return t;
}

// The languages of the lines. A prompt takes any; the vocabulary of a model with an encoder lists its own.
LineLanguages line_languages(const TranslationSetup& o, const LoadedModel& loaded, const StatedLanguages& stated,
                             const std::optional<std::string>& to) {
  const model::Model& m = *loaded.model;
  const Tokenizer& tokenizer = *loaded.tokenizer;
  const bool by_to = to && o.target_language.empty();
  if (!m.has_encoder()) {
    const std::string& target = by_to ? *to : o.target_language;
    return {.given = {.prefix = "", .source = o.source_language, .target = target},
            .target = {m, tokenizer, target, true}};
  }
  const std::string target = by_to ? target_in_vocabulary(*to, tokenizer, stated.target) : o.target_language;
  const bool detects = o.source_language == "auto";
  LineLanguages languages{.given = choose_languages(tokenizer, detects ? "" : o.source_language, target,
                                                    "--source-language", by_to ? "--to" : "--target-language"),
                          .target = {m, tokenizer, target, loaded.published.forced_bos_token_id.has_value()}};
  languages.target.check_tokens();
  if (detects)
    languages.sources = std::make_shared<LineSources>(tokenizer);
  else
    warn_of_assumed_language(o.decoding.model, tokenizer, languages.given);
  return languages;
}

// The languages that glossaries and memories must have; "": not known.
terms::LanguagePair language_pair(const TranslationSetup& o, const StatedLanguages& stated,
                                  const std::optional<std::string>& to) {
  const auto first = [](std::initializer_list<std::string> codes) {
    for (const std::string& code : codes)
      if (!code.empty()) return code;
    return std::string();
  };
  return {first({o.source_language == "auto" ? "" : o.source_language, stated.source}),
          first({o.target_language, to.value_or(""), stated.target})};
}

}  // namespace

SettledTranslation settle(const TranslationSetup& o, const LoadedModel& loaded, const ModelSet& others, bool scores,
                          const std::optional<std::string>& to) {
  const StatedLanguages stated = pair_of_model(o, loaded);
  SettledTranslation t{
      .languages = line_languages(o, loaded, stated, to), .stated = stated, .options = {}, .memory = nullptr};
  t.options = settled(o, loaded, scores, t.languages.given);
  if (t.languages.sources)
    t.options.source_of = [sources = t.languages.sources](const std::string& line) { return sources->counted(line); };
  const terms::LanguagePair pair = language_pair(o, stated, to);
  t.options.terminology = terminology_of(o.terms, pair);
  t.memory = memory_of(o.terms, pair);
  if (t.memory && o.terms.memory_use == terms::MemoryUse::exact)
    t.options.recall = search::recall_from(t.memory, t.languages.given.prefix, *loaded.tokenizer);
  others.give_to(t.options.decoding);
  return t;
}

std::unique_ptr<const search::TranslationText> make_text(const TranslationSetup& o, const LoadedModel& loaded) {
  return search::make_translation_text(*loaded.model, loaded.tokenizer,
                                       load_prompt(loaded.source, *loaded.model, o.prompt.prompt_template));
}

}  // namespace tril::cli
