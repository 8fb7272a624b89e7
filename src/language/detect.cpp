#include "language/detect.h"

#include <algorithm>
#include <cmath>

#include "language/gram_scores.h"
#include "language/match.h"
#include "unicode/characters.h"

namespace tril {
namespace {

// The probability of a language grows with exp(score / (base * groups ^ power)): neighbouring groups overlap, so many of them say
// less than their sum. A language that is not among the given ones has the weight `unlisted` from the outset, and languages of
// which no group is known have `unseen` together. The four numbers are fitted to real texts (bench/language).
constexpr double base = 1.5, power = 0.3, unlisted = 0.005, unseen = 45 * unlisted;

struct Weighed {
  Language language;
  std::optional<std::size_t> place;  // among the detector's languages
  double score = 0, weight = 0;
};

}  // namespace

bool is_detectable(const Language& language) {
  const std::vector<Language>& scored = scored_languages();
  return std::any_of(scored.begin(), scored.end(),
                     [&](const Language& l) { return language_distance(language, l).has_value(); });
}

LanguageDetector::LanguageDetector(std::vector<Language> languages) : languages_(std::move(languages)) {
  const std::vector<Language>& scored = scored_languages();
  if (languages_.empty()) languages_ = scored;
  for (const Language& language : scored) scored_.push_back({place_of(language), Alphabet(language)});
}

std::optional<std::size_t> LanguageDetector::place_of(const Language& language) const {
  std::optional<std::size_t> best;
  int least = 0;
  for (std::size_t i = 0; i < languages_.size(); ++i) {
    const std::optional<int> distance = language_distance(languages_[i], language);
    if (!distance || (best && *distance >= least)) continue;
    best = i;
    least = *distance;
  }
  return best;
}

Detection LanguageDetector::detect(std::string_view bytes) const {
  const std::string text = without_invalid_utf8(bytes.substr(0, 10'000));
  const GramScores scores = gram_scores(text);
  Detection result;
  result.has_letters = scores.has_letters;
  if (!result.has_letters) return result;

  // Languages without a score count too if they may be the answer.
  const std::vector<Language>& scored = scored_languages();
  std::vector<Weighed> all;
  for (std::size_t i = 0; i < scored.size(); ++i) {
    const auto found = std::find_if(scores.languages.begin(), scores.languages.end(),
                                    [&](const ScoredLanguage& s) { return s.language == scored[i]; });
    const double score = found == scores.languages.end() ? 0 : found->score;
    if (score > 0 || scored_[i].place)
      all.push_back({scored[i], scored_[i].place, score - scored_[i].alphabet.foreign_letters(text), 0});
  }

  const double scale = base * std::pow(std::max(scores.groups, 1.0), power);
  double most = 0;
  for (const Weighed& w : all) most = std::max(most, w.score);
  double sum = unseen * std::exp(-most / scale);
  for (Weighed& w : all) sum += w.weight = (w.place ? 1 : unlisted) * std::exp((w.score - most) / scale);

  std::vector<double> confidence(languages_.size());
  for (const Weighed& w : all) {
    if (w.place)
      confidence[*w.place] += 100 * w.weight / sum;
    else if (100 * w.weight / sum > result.other_confidence)
      result.other = w.language, result.other_confidence = 100 * w.weight / sum;
  }
  for (std::size_t i = 0; i < confidence.size(); ++i)
    if (confidence[i] >= 1) result.guesses.push_back({i, confidence[i]});
  std::stable_sort(result.guesses.begin(), result.guesses.end(),
                   [](const LanguageGuess& a, const LanguageGuess& b) { return a.confidence > b.confidence; });
  if (!result.guesses.empty() && result.guesses[0].confidence >= result.other_confidence)
    result.other.reset(), result.other_confidence = 0;
  return result;
}

}  // namespace tril
