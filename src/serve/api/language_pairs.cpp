#include "serve/api/language_pairs.h"

#include <algorithm>

#include "language/detect.h"

namespace tril::serve {
namespace {

std::vector<std::string> codes_of(const KnownLanguages& languages) {
  std::vector<std::string> codes;
  for (std::size_t i = 0; i < languages.names().size(); ++i)
    if (std::string code = languages.code(i); std::find(codes.begin(), codes.end(), code) == codes.end())
      codes.push_back(std::move(code));
  return codes;
}

std::vector<std::string> public_codes(std::vector<std::string> names) {
  for (std::string& name : names) name = public_code(name);
  return names;
}

void add(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

}  // namespace

std::map<std::string, std::vector<std::string>> language_pairs(const Models& models, const PivotOptions& pivots) {
  const LanguageGraph graph(models.offers(), pivots);
  std::map<std::string, std::vector<std::string>> known;
  for (const Models::Offer& model : models.offers()) {
    if (!model.profile->translates) continue;
    const std::vector<std::string> targets = codes_of(model.profile->languages.into);
    std::vector<std::string> sources = codes_of(model.profile->languages.from);
    if (sources.empty()) sources.push_back(unknown_language);
    for (const std::string& source : sources) {
      add(known[source], targets);
      if (source != unknown_language) add(known[source], public_codes(graph.targets_of(source)));
    }
    for (const std::string& target : targets) known[target];
  }
  return known;
}

}  // namespace tril::serve
