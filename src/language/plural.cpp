#include "language/plural.h"

#include <unicode/locid.h>
#include <unicode/plurrule.h>
#include <unicode/strenum.h>

#include <array>
#include <memory>
#include <set>

#include "language/code.h"

namespace tril {

std::vector<std::string> plural_categories(std::string_view code) {
  constexpr std::array<const char*, 6> order{"zero", "one", "two", "few", "many", "other"};
  const auto language = find_language(code);
  if (!language) return {"other"};
  UErrorCode problem = U_ZERO_ERROR;
  const icu::Locale locale(language->language.c_str(), language->region.c_str());
  const std::unique_ptr<icu::PluralRules> rules(icu::PluralRules::forLocale(locale, problem));
  if (U_FAILURE(problem) || !rules) return {"other"};
  const std::unique_ptr<icu::StringEnumeration> keywords(rules->getKeywords(problem));
  std::set<std::string> known{"other"};
  while (const char* const keyword = U_SUCCESS(problem) ? keywords->next(nullptr, problem) : nullptr)
    known.insert(keyword);
  std::vector<std::string> list;
  for (const char* const category : order)
    if (known.contains(category)) list.emplace_back(category);
  return list;
}

}  // namespace tril
