#include "language/match.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace tril {
namespace {

constexpr std::size_t most_listed = 20;

// The distance of two languages without their scripts and regions.
std::optional<int> of_languages(const std::string& wanted, const std::string& have) {
  if (wanted == have) return 0;
  const auto is = [&](std::string_view a, std::string_view b) { return wanted == a && have == b; };
  if (is("no", "nb") || is("nb", "no")) return 1;
  if (is("no", "nn") || is("nn", "no")) return 8;
  return std::nullopt;
}

std::optional<int> of_scripts(const Language& wanted, const Language& have) {
  const std::string script = script_of(wanted);
  if (script == script_of(have)) return 0;
  // The region of zh-TW says a script, as does "Hant" itself; "zh" leaves it open.
  const bool stated = !wanted.script.empty() || script != script_of({wanted.language, "", ""});
  return stated ? std::nullopt : std::optional<int>(100);
}

int of_regions(const Language& wanted, const Language& have) {
  if (wanted.region == have.region) return 0;
  if (have.region.empty()) return 1;
  const bool is_usual = have.region == region_of({have.language, have.script, ""});
  return wanted.region.empty() ? (is_usual ? 1 : 2) : (is_usual ? 2 : 3);
}

}  // namespace

std::optional<int> language_distance(const Language& wanted, const Language& have) {
  const std::optional<int> language = of_languages(wanted.language, have.language);
  if (!language) return std::nullopt;
  const std::optional<int> script = of_scripts(wanted, have);
  if (!script) return std::nullopt;
  return 10 * *language + *script + of_regions(wanted, have);
}

bool same_language(const Language& a, const Language& b) {
  return of_languages(a.language, b.language).value_or(2) <= 1 && script_of(a) == script_of(b);
}

KnownLanguages::KnownLanguages(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) {
    languages_.push_back(find_language(name));
    codes_.push_back(languages_.back() ? code_of(*languages_.back()) : name);
  }
}

std::optional<std::size_t> KnownLanguages::find(std::string_view wanted) const {
  for (const std::string_view name : {wanted, without_marks(wanted)})
    if (const auto at = std::find(names_.begin(), names_.end(), name); at != names_.end())
      return static_cast<std::size_t>(at - names_.begin());
  const std::optional<Language> language = find_language(wanted);
  return language ? find(*language) : std::nullopt;
}

std::optional<std::size_t> KnownLanguages::find(const Language& wanted) const {
  std::optional<std::size_t> best;
  int least = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!languages_[i]) continue;
    const std::optional<int> distance = language_distance(wanted, *languages_[i]);
    if (!distance || (best && *distance >= least)) continue;
    best = i;
    least = *distance;
  }
  return best;
}

std::string KnownLanguages::hint(std::string_view wanted) const {
  std::vector<std::string> hints;
  if (!find_language(wanted)) hints.push_back(nearest_language(wanted));
  const std::size_t shown = std::min(names_.size(), most_listed);
  if (shown < names_.size()) hints.push_back(did_you_mean(wanted, names_));
  hints.push_back(fmt::format("it has {}{}",
                              fmt::join(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                              shown < names_.size() ? ", ..." : ""));
  std::erase(hints, "");
  return fmt::format("{}", fmt::join(hints, "; "));
}

}  // namespace tril
