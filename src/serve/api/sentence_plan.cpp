#include "serve/api/sentence_plan.h"

#include <algorithm>
#include <array>

#include "decode/texts/recall.h"
#include "decode/texts/sentence_links.h"
#include "serve/api/request_terms.h"
#include "serve/api/search_fields.h"

namespace tril::serve {
namespace {

// A key of everything that affects the search options: the whole request except what differs by text.
std::string search_key(const search::TextOptions& text, const Json& body) {
  static constexpr std::array own{"q",
                                  "source",
                                  "target",
                                  "format",
                                  "api_key",
                                  "model",
                                  "split",
                                  "prefix",
                                  "scores",
                                  "stream",
                                  "priority",
                                  "time_limit",
                                  "min_length",
                                  "max_length",
                                  "max_length_factor",
                                  "terminology",
                                  "context",
                                  "style",
                                  "glossary",
                                  "glossary_match",
                                  "memory",
                                  "memory_use",
                                  "ignore_tags",
                                  "splitting_tags",
                                  "non_splitting_tags",
                                  "outline_detection"};
  static const Json known = translate_schema()["properties"];
  std::string key = text.terminology ? "terms" : "plain";
  for (const auto& [name, schema] : known.items())  // in a fixed order, whatever the request's is
    if (body.contains(name) && std::find(own.begin(), own.end(), name) == own.end())
      key += "," + json_text(Json(name)) + ":" + json_text(body[name]);
  return key;
}

}  // namespace

SentencePlan::SentencePlan(ModelPtr model, const ModelChoice& choice, const TranslateRequest& r, const Json& body,
                           const RequestTerms& terms)
    : model_(std::move(model)),
      text_(model_->loaded().text),
      source_language_(choice.source.empty() ? choice.assumed : choice.source),
      schedule_(r.schedule),
      min_length_(r.search.min_length),
      aligns_(r.alignment),
      can_link_(choice.before.empty() && model_->model().has_encoder()) {
  text_.terminology = terms.terminology;
  text_.replace_unknowns = r.replace_unknowns;
  set_lengths(r.search);
  search_ = search_plan(r.search, model_->asked_to_translate(), r.alternatives + 1, *model_);
  if (!search_.constraint) search_.shortlist = model_->loaded().search.shortlist;
  text_.context = static_cast<std::int32_t>(r.context);
  if (model_->profile().takes_style || !r.style_may_be_left_out) text_.style = r.style;
  if (text_.terminology && model_->translation().places_terms() && !search_.has_beam()) {
    search_.beam_size = 8;
    if (!r.search.sampling) search_.sampling.on = false;  // the publisher's choice, which the terms overrule
  }
  set_languages(choice);
  if (terms.memory && r.memory_use == terms::MemoryUse::exact)
    text_.recall = search::recall_from(terms.memory, tag_, model_->tokenizer());
  key_ = search_key(text_, body);
}

void SentencePlan::set_lengths(const SearchOptions& asked) {
  const std::int64_t positions = model_->model().max_positions();
  if (asked.min_length && positions > 0 && *asked.min_length > positions)
    throw field_error("min_length", fmt::format("{} is above the model's {} positions", *asked.min_length, positions));
  if (asked.max_length)
    text_.max_length = static_cast<std::int32_t>(*asked.max_length), text_.max_counts = search::Counted::output;
  if (asked.min_length) {
    text_.min_length = static_cast<std::int32_t>(*asked.min_length), text_.min_counts = search::Counted::output;
    text_.min_raises_max = true;
  }
  if (asked.max_length_factor) text_.max_length_factor = *asked.max_length_factor;
  if (text_.min_length <= text_.max_length) return;
  if (asked.min_length)
    throw field_error("min_length",
                      fmt::format("{} is above the longest output of {}", text_.min_length, text_.max_length));
  throw field_error("max_length",
                    fmt::format("{} is below the shortest output of {}", text_.max_length, text_.min_length));
}

void SentencePlan::set_languages(const ModelChoice& choice) {
  if (!model_->languages().reads_target) return;
  const bool from_each = model_->languages().from_each;
  // For a model with language tokens, the search follows the directory's default by itself.
  const bool by_standard = choice.target.empty() && !from_each;
  const bool encodes = model_->model().has_encoder();
  const Languages languages = languages_for(*model_, from_each ? (encodes ? choice.source : source_language_) : "",
                                            by_standard ? model_->languages().standard : choice.target);
  text_.source_language = languages.source, text_.target_language = languages.target;
  tag_ = languages.prefix;
}

void SentencePlan::settle(bool any_marks) {
  links_ = can_link_ && any_marks;
  if (aligns_ || text_.replace_unknowns || search_.attention || links_)
    search_.attention = model_->loaded().engine.session.attention;
  search_.scores = true;
  model_->translation().check(text_, search_);
  const std::string key = search_.sampling.on ? "" : key_ + (links_ ? ",marks" : "");
  options_ = model_->options(key, [&] { return std::move(search_); });
}

PlannedSentence SentencePlan::sentence(search::TextInput input, std::uint64_t number) const {
  PlannedSentence planned;
  const auto prepared = std::make_shared<search::TextToTranslate>(
      model_->translation().prepare(std::move(input), number, text_, *options_));
  planned.text = prepared;
  if (prepared->is_empty()) return planned;
  if (min_length_ && prepared->request.min_length < *min_length_)
    throw field_error("min_length", fmt::format("{} is above the {} positions that are left after the prefix",
                                                *min_length_, prepared->request.min_length));
  planned.work = std::make_shared<Work>();
  planned.work->source = prepared->source;
  planned.work->request = prepared->request;
  planned.work->options = options_;
  set_schedule(schedule_, *planned.work);
  return planned;
}

std::vector<search::Translation> SentencePlan::translations(const search::TextToTranslate& text,
                                                            const Outcome& outcome) const {
  if (outcome.error) std::rethrow_exception(outcome.error);
  // The time limit may have cut the search before its first token.
  const bool none = outcome.hypotheses.empty() || (outcome.stop_reason == search::StopReason::time_limit &&
                                                   outcome.hypotheses.front().tokens.empty());
  if (none && !text.is_empty())
    throw HttpError(outcome.stop_reason == search::StopReason::cancelled ? 499 : 503, "the request waited too long",
                    "server_error");
  return model_->translation().finish(text, outcome.hypotheses, text_);
}

document::Translated SentencePlan::linked(const search::Translation& translation, std::string_view source) const {
  if (!links_) return {translation.text, {}};
  return {translation.text, search::sentence_links(translation, source, model_->tokenizer())};
}

}  // namespace tril::serve
