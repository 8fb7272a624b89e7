#include "serve/api/text_sources.h"

#include <algorithm>
#include <optional>

#include "serve/api/service.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_detectors = 32;
constexpr std::size_t most_candidates = 3;

std::string with_confidence(const std::string& code, double confidence) {
  return fmt::format("{} {:.0f}", code, confidence);
}

// Refuses a text whose language is uncertain.
HttpError uncertain(const LanguageDetector& detector, const Detection& found, const std::string& which,
                    const PossibleSources& possible) {
  std::vector<std::string> candidates;
  for (const LanguageGuess& guess : found.guesses)
    if (candidates.size() < most_candidates)
      candidates.push_back(with_confidence(code_of(detector.languages()[guess.language]), guess.confidence));
  std::string what = fmt::format("the language of {} is uncertain", which);
  if (found.other)
    what = fmt::format("{} seems to be in {} (confidence {:.0f}), which no model for this request reads", which,
                       code_of(*found.other), found.other_confidence);
  if (!candidates.empty()) what += fmt::format("; candidates with their confidences: {}", fmt::join(candidates, ", "));
  what += fmt::format("; give source, one of {}", fmt::join(possible.codes, ", "));
  if (!possible.silent.empty())
    what += fmt::format(", or choose model {}, which does not state its language", fmt::join(possible.silent, ", "));
  return field_error("source", what).with_code("language_uncertain");
}

// The language of each text; nothing for one without letters.
std::vector<std::optional<DetectedSource>> detected(Service& service, const std::vector<std::string>& texts,
                                                    const PossibleSources& possible) {
  const std::shared_ptr<const LanguageDetector> detector = service.detectors().of(possible.codes);
  std::vector<std::optional<DetectedSource>> list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Detection found = detector->detect(texts[i]);
    list.emplace_back();
    if (!found.has_letters) continue;
    const LanguageGuess* const best = found.sure();
    if (!best)
      throw uncertain(*detector, found, texts.size() == 1 ? "the text" : fmt::format("text {}", i + 1), possible);
    list.back() = DetectedSource{code_of(detector->languages()[best->language]), best->confidence};
  }
  return list;
}

// The language of most texts; if none has letters, the first that the models read.
std::string usual_language(const std::vector<std::optional<DetectedSource>>& sources, const PossibleSources& possible) {
  std::map<std::string, int> counts;
  for (const auto& source : sources)
    if (source) ++counts[source->language];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? possible.codes.front() : most->first;
}

// Adds the languages that can be translated into the target only through others.
void add_sources_over_pivots(const Service& service, const std::string& target, PossibleSources& possible) {
  const std::vector<Models::Offer> models = service.models().offers();
  std::vector<Models::Offer> translators;
  for (const Models::Offer& model : models)
    if (model.profile->translates) translators.push_back(model);
  std::optional<LanguageGraph> graph;
  for (const std::string& code : possible_sources(translators).codes) {
    if (std::find(possible.codes.begin(), possible.codes.end(), code) != possible.codes.end()) continue;
    if (!graph) graph.emplace(models, service.options().pivots);
    if (!graph->path(code, target).empty()) possible.codes.push_back(code);
  }
}

}  // namespace

std::shared_ptr<const LanguageDetector> Detectors::of(const std::vector<std::string>& codes) {
  const std::string key = fmt::format("{}", fmt::join(codes, " "));
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const LanguageDetector>& detector = known_[key];
  if (detector) return detector;
  std::vector<Language> languages;
  for (const std::string& code : codes)
    if (const std::optional<Language> language = find_language(code); language && is_detectable(*language))
      languages.push_back(*language);
  auto made = std::make_shared<const LanguageDetector>(std::move(languages));
  if (known_.size() > most_detectors) known_.clear();  // the models change now and then
  known_[key] = made;
  return made;
}

std::vector<TextGroup> choose_models(Service& service, const TranslationWish& asked, std::size_t count,
                                     const std::function<std::vector<std::string>()>& texts) {
  const TranslationWish wish = checked_wish(service, asked);
  std::vector<TextGroup> groups;
  const auto group_of_all = [&] {
    groups.push_back({choose_model(service, wish), {}});
    for (std::size_t i = 0; i < count; ++i) groups[0].texts.push_back(i);
    return groups;
  };
  if (!wish.source.empty() || count == 0) return group_of_all();
  PossibleSources possible = possible_sources(possible_models(service, wish));
  if (wish.model.empty() && !wish.target.empty()) add_sources_over_pivots(service, wish.target, possible);
  if (possible.codes.empty() || (asked.source != "auto" && !possible.several())) return group_of_all();

  const std::vector<std::optional<DetectedSource>> sources = detected(service, texts(), possible);
  const DetectedSource usual{usual_language(sources, possible), 0};
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < count; ++i) {
    const DetectedSource source = sources[i].value_or(usual);
    const auto [at, is_new] = known.emplace(source.language, groups.size());
    if (is_new) groups.push_back({choose_model(service, {wish.model, source.language, wish.target}), {}});
    TextGroup& group = groups[at->second];
    group.texts.push_back(i);
    group.choice.detected.push_back(source);
  }
  return groups;
}

}  // namespace tril::serve
