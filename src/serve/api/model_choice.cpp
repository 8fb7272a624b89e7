#include "serve/api/model_choice.h"

#include <algorithm>
#include <set>

#include "base/printable.h"

namespace tril::serve {
namespace {

enum class Fit : std::uint8_t { no, perhaps, yes };  // perhaps: the model's languages are unknown

Fit fit(const KnownLanguages& languages, const std::string& wanted) {
  if (wanted.empty()) return Fit::yes;
  if (languages.empty()) return Fit::perhaps;
  return languages.find(wanted) ? Fit::yes : Fit::no;
}

// The model's own name of a language that it has; a model that does not state its languages gets the code as it is.
std::string own_name_of(const KnownLanguages& languages, const std::string& wanted) {
  const auto at = wanted.empty() ? std::nullopt : languages.find(wanted);
  return at ? languages.names()[*at] : std::string(without_marks(wanted));
}

// Refuses a text that is neither a code nor a model's name of a language, such as "german".
void check_code(const Service& service, const char* field, const std::string& code) {
  if (code.empty() || find_language(code)) return;
  for (const Models::Offer& model : service.models().offers())
    if (model.profile->languages.from.find(code) || model.profile->languages.into.find(code)) return;
  const std::string hint = nearest_language(code);
  throw field_error(
      field, fmt::format("expected a language code, got \"{}\"{}", printable(code), hint.empty() ? "" : "; " + hint));
}

template <class List>
std::string listed(const List& codes) {
  return fmt::format("{}", fmt::join(codes, ", "));
}

HttpError being_loaded() {
  HttpError error(503, "the models are still loading", "server_error");
  error.retry_after = 1;
  return error;
}

using Offers = std::vector<Models::Offer>;

const KnownLanguages& sources_of(const Models::Offer& model) {
  return model.profile->languages.from;
}
const KnownLanguages& targets_of(const Models::Offer& model) {
  return model.profile->languages.into;
}

// Models that may satisfy the request, in the server's order.
Offers fitting(const Service& service, const TranslationWish& wish) {
  Offers list;
  for (const Models::Offer& model : service.models().offers())
    if (model.profile->translates && fit(sources_of(model), wish.source) != Fit::no &&
        fit(targets_of(model), wish.target) != Fit::no)
      list.push_back(model);
  return list;
}

// The same. @throws HttpError if there are none
Offers fitting_models(const Service& service, const TranslationWish& wish) {
  Offers list = fitting(service, wish);
  if (!list.empty()) return list;
  std::vector<std::string> pairs;
  for (const Models::Offer& model : service.models().offers())
    if (model.profile->translates)
      pairs.push_back(fmt::format("{} from {} into {}", model.name, listed(sources_of(model).names()),
                                  listed(targets_of(model).names())));
  if (service.models().loading()) throw being_loaded();
  service.find_model("", true);  // throws if there is no model at all
  const auto shown = [](const std::string& code) { return code.empty() ? "any language" : printable(code); };
  throw HttpError(400, fmt::format("no model here translates from {} into {}; available: {}", shown(wish.source),
                                   shown(wish.target), fmt::join(pairs, "; ")))
      .of_field(wish.target.empty() ? "source" : "target");
}

// The choice of a path through pivots between the languages; nothing if there is none.
std::optional<ModelChoice> choose_path(const Service& service, const TranslationWish& wish) {
  const LanguageGraph graph(service.models().offers(), service.options().pivots);
  std::vector<Hop> path = graph.path(wish.source, wish.target);
  if (path.empty()) return std::nullopt;
  Hop last = std::move(path.back());
  path.pop_back();
  return ModelChoice{std::move(last.model), std::move(last.source), std::move(last.target), std::move(path), {}, {}};
}

// The named model, checked against the requested languages.
Models::Offer named_model(const Service& service, const TranslationWish& wish) {
  Models::Offer model = service.find_model(wish.model, true);
  const auto check = [&](const char* field, const char* way, const KnownLanguages& known, const std::string& code) {
    if (fit(known, code) == Fit::no)
      throw field_error(field, fmt::format("model {} does not translate {} {}, but {} {}", printable(wish.model), way,
                                           printable(code), way, listed(known.names())));
  };
  check("source", "from", sources_of(model), wish.source);
  check("target", "into", targets_of(model), wish.target);
  return model;
}

// The only language that the texts can be in; "" if the only model does not say. @throws HttpError if there are several
std::string only_source(const Offers& models, const std::string& field = "source") {
  const PossibleSources possible = possible_sources(models);
  if (possible.several())
    throw field_error(
        field, fmt::format("the text may be in any of {}{}; choose one", listed(possible.codes),
                           possible.silent.empty() ? "" : ", or in the language of model " + listed(possible.silent)));
  return possible.codes.empty() ? "" : possible.codes[0];
}

// Refuses a model with several targets and no default, which would translate into an arbitrary one. Texts may begin
// with their tags.
void check_target(const Models::Offer& model, const std::string& target, const std::string& field = "target") {
  const ServedLanguages& l = model.profile->languages;
  if (target.empty() && l.wants_target && !l.tagged)
    throw field_error(field, fmt::format("model {} translates into {}, and its directory sets no default; choose one",
                                         model.name, listed(l.targets)));
}

Models::Offer offer_of(const ServedModel& model) {
  return {model.name(), std::make_shared<const ModelProfile>(model.profile())};
}

}  // namespace

Languages requested_languages(const ModelPtr& model, const std::string& source, const std::string& target) {
  const Models::Offer offer = offer_of(*model);
  if (source.empty()) only_source({offer}, "source_language");
  check_target(offer, target, "target_language");
  return languages_for(*model, source, target.empty() ? model->languages().standard : target,
                       {"source_language", "target_language"});
}

Languages languages_for(const ServedModel& model, const std::string& source, const std::string& target,
                        const std::pair<std::string, std::string>& fields) {
  if (model.model().has_encoder())
    return choose_languages(model.tokenizer(), source, target, fields.first, fields.second);
  return {.prefix = "", .source = source, .target = target};
}

TagsOfText::TagsOfText(const ServedModel& model, std::string prefix, std::string field)
    : model_(&model), prefix_(std::move(prefix)), field_(std::move(field)) {}

std::string TagsOfText::put_before(const std::string& sentence) {
  if (!prefix_.empty() || !model_->languages().tagged || is_blank(sentence))
    return prepend_language_tag(prefix_, sentence);
  if (std::string own = leading_tag(model_->tokenizer(), sentence); !own.empty()) {
    last_ = std::move(own);
    return sentence;
  }
  if (last_.empty() && model_->languages().wants_target) {
    const std::vector<std::string>& targets = model_->languages().targets;
    throw field_error(field_,
                      fmt::format("model {} translates into {}, and the target is not given; choose one, or begin "
                                  "each text with a tag: >>{}<<",
                                  model_->name(), listed(targets), targets.front()));
  }
  return prepend_language_tag(last_, sentence);
}

PossibleSources possible_sources(const std::vector<Models::Offer>& models) {
  PossibleSources possible;
  for (const Models::Offer& model : models) {
    const KnownLanguages& sources = sources_of(model);
    for (std::size_t i = 0; i < sources.names().size(); ++i) {
      const std::string code = sources.code(i);
      if (std::find(possible.codes.begin(), possible.codes.end(), code) == possible.codes.end())
        possible.codes.push_back(code);
    }
    if (sources.empty()) possible.silent.push_back(model.name);
  }
  return possible;
}

TranslationWish checked_wish(const Service& service, const TranslationWish& asked) {
  if (asked.target == "auto")
    throw field_error("target", "expected a language, got \"auto\", which is only for source");
  TranslationWish wish = asked;
  if (wish.source == "auto") wish.source.clear();
  check_code(service, "source", wish.source);
  check_code(service, "target", wish.target);
  return wish;
}

std::vector<Models::Offer> possible_models(const Service& service, const TranslationWish& wish) {
  if (!wish.model.empty()) return {named_model(service, wish)};
  Offers models = fitting_models(service, wish);
  if ((wish.source.empty() || wish.target.empty()) && service.models().loading()) throw being_loaded();
  return models;
}

std::vector<std::string> pivots_of(const ModelChoice& choice) {
  std::vector<std::string> pivots;
  for (const Hop& hop : choice.before) pivots.push_back(public_code(hop.target));
  return pivots;
}

ModelChoice choose_model(const Service& service, const TranslationWish& wish) {
  if (wish.model.empty() && !wish.source.empty() && !wish.target.empty() && !service.models().loading() &&
      fitting(service, wish).empty())
    if (std::optional<ModelChoice> path = choose_path(service, wish)) return *std::move(path);
  const Offers models = possible_models(service, wish);
  ModelChoice choice;
  if (wish.source.empty()) choice.assumed = only_source(models);
  if (wish.target.empty()) {
    std::set<std::string> targets;
    for (const Models::Offer& model : models)
      targets.insert(targets_of(model).names().begin(), targets_of(model).names().end());
    const auto same = [&](const Models::Offer& model) { return targets_of(model).names().size() == targets.size(); };
    if (!std::all_of(models.begin(), models.end(), same))
      throw field_error("target", fmt::format("the models here translate into {}; choose one", listed(targets)));
  }
  const auto knows = [&](const Models::Offer& model) {
    return fit(sources_of(model), wish.source) == Fit::yes && fit(targets_of(model), wish.target) == Fit::yes &&
           (!wish.source.empty() || !sources_of(model).empty());
  };
  const auto first = std::find_if(models.begin(), models.end(), knows);
  if (first == models.end() && models.size() > 1) {
    std::vector<std::string> names;
    for (const Models::Offer& model : models) names.push_back(model.name);
    throw field_error("model",
                      fmt::format("the possible models do not state their languages; choose one of {}", listed(names)));
  }
  choice.model = first == models.end() ? models.front() : *first;
  choice.source = own_name_of(sources_of(choice.model), wish.source);
  choice.target = own_name_of(targets_of(choice.model), wish.target);
  check_target(choice.model, wish.target);
  return choice;
}

}  // namespace tril::serve
