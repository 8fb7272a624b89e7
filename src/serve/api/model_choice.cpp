#include "serve/api/model_choice.h"

#include <algorithm>
#include <set>

#include "base/printable.h"

namespace tril::serve {
namespace {

enum class Fit : std::uint8_t { no, perhaps, yes };  // perhaps: the model's languages are unknown

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

Fit fit(const std::vector<std::string>& languages, const std::string& wanted) {
  if (wanted.empty()) return Fit::yes;
  if (languages.empty()) return Fit::perhaps;
  return has(languages, wanted) ? Fit::yes : Fit::no;
}

std::string code_of(std::string_view name) {
  using Around = std::pair<std::string_view, std::string_view>;
  for (const auto& [begin, end] : {Around{">>", "<<"}, Around{"__", "__"}, Around{"<2", ">"}})
    if (name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end))
      name = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return std::string(name);
}

// "auto" as a source leaves the choice to the server; as a target it would be meaningless.
std::string code_of_source(const std::string& name) {
  return name == "auto" ? "" : code_of(name);
}
std::string code_of_target(const std::string& name) {
  if (name == "auto") throw field_error("target", "expected a language, got \"auto\", which is only for source");
  return code_of(name);
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

std::vector<std::string> sources_of(const Models::Offer& model) {
  return model.profile->languages.sources();
}
const std::vector<std::string>& targets_of(const Models::Offer& model) {
  return model.profile->languages.targets;
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
Offers candidates(const Service& service, const TranslationWish& wish) {
  Offers list = fitting(service, wish);
  if (!list.empty()) return list;
  std::vector<std::string> pairs;
  for (const Models::Offer& model : service.models().offers())
    if (model.profile->translates)
      pairs.push_back(
          fmt::format("{} from {} into {}", model.name, listed(sources_of(model)), listed(targets_of(model))));
  if (service.models().loading()) throw being_loaded();
  service.find_model("", true);  // throws if there is no model at all
  const auto said = [](const std::string& code) { return code.empty() ? "any language" : printable(code); };
  throw HttpError(400, fmt::format("no model here translates from {} into {}; available: {}", said(wish.source),
                                   said(wish.target), fmt::join(pairs, "; ")))
      .of_field(wish.target.empty() ? "source" : "target");
}

// The choice of a path through pivots between the languages; nothing if there is none.
std::optional<ModelChoice> choose_path(const Service& service, const TranslationWish& wish) {
  const LanguageGraph graph(service.models().offers(), service.options().pivots);
  std::vector<Hop> path = graph.path(wish.source, wish.target);
  if (path.empty()) return std::nullopt;
  Hop last = std::move(path.back());
  path.pop_back();
  return ModelChoice{std::move(last.model), std::move(last.source), std::move(last.target), std::move(path), {}};
}

// The named model, checked against the requested languages.
Models::Offer named_model(const Service& service, const TranslationWish& wish) {
  Models::Offer model = service.find_model(wish.model, true);
  const auto check = [&](const char* field, const char* way, const std::vector<std::string>& has,
                         const std::string& code) {
    if (fit(has, code) == Fit::no)
      throw field_error(field, fmt::format("model {} does not translate {} {}, but {} {}", printable(wish.model), way,
                                           printable(code), way, listed(has)));
  };
  check("source", "from", sources_of(model), wish.source);
  check("target", "into", targets_of(model), wish.target);
  return model;
}

// The only language that the texts can be in; "" if the only model does not say. @throws HttpError if there are several
std::string only_source(const Offers& models, const std::string& field = "source") {
  std::set<std::string> known;
  std::vector<std::string> silent;
  for (const Models::Offer& model : models) {
    const std::vector<std::string> sources = sources_of(model);
    known.insert(sources.begin(), sources.end());
    if (sources.empty()) silent.push_back(model.name);
  }
  if (known.size() > 1 || (known.size() == 1 && !silent.empty()))
    throw field_error(
        field, fmt::format("language detection is not supported, and the text may be in any of {}{}; choose one",
                           listed(known), silent.empty() ? "" : ", or in the language of model " + listed(silent)));
  return known.empty() ? "" : *known.begin();
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
  return choose_languages(model->tokenizer(), source, target.empty() ? model->languages().standard : target,
                          "source_language", "target_language");
}

TagsOfText::TagsOfText(const ServedModel& model, std::string said, std::string field)
    : model_(&model), said_(std::move(said)), field_(std::move(field)) {}

std::string TagsOfText::put_before(const std::string& sentence) {
  if (!said_.empty() || !model_->languages().tagged || is_blank(sentence)) return prepend_language_tag(said_, sentence);
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

ModelChoice choose_model(const Service& service, const TranslationWish& asked) {
  const TranslationWish wish{asked.model, code_of_source(asked.source), code_of_target(asked.target)};
  ModelChoice choice{.model = {}, .source = wish.source, .target = wish.target, .before = {}, .assumed = {}};
  if (!wish.model.empty()) {
    choice.model = named_model(service, wish);
    if (wish.source.empty()) choice.assumed = only_source({choice.model});
    check_target(choice.model, wish.target);
    return choice;
  }
  if (!wish.source.empty() && !wish.target.empty() && !service.models().loading() && fitting(service, wish).empty())
    if (std::optional<ModelChoice> path = choose_path(service, wish)) return *std::move(path);
  const Offers models = candidates(service, wish);
  if ((wish.source.empty() || wish.target.empty()) && service.models().loading()) throw being_loaded();
  if (wish.source.empty()) choice.assumed = only_source(models);
  if (wish.target.empty()) {
    std::set<std::string> targets;
    for (const Models::Offer& model : models) targets.insert(targets_of(model).begin(), targets_of(model).end());
    const auto same = [&](const Models::Offer& model) { return targets_of(model).size() == targets.size(); };
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
  check_target(choice.model, wish.target);
  return choice;
}

}  // namespace tril::serve
