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

/// Public codes of names, each computed once: a look-up in ICU's tables takes some 20 us, and a model of 200 languages has 40,000
/// pairs.
class PublicCodes {
 public:
  std::vector<std::string> of(std::vector<std::string> names) {
    for (std::string& name : names) {
      auto [known, is_new] = codes_.try_emplace(name);
      if (is_new) known->second = public_code(name);
      name = known->second;
    }
    return names;
  }

 private:
  std::map<std::string, std::string> codes_;
};

void add(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& one : more)
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

}  // namespace

std::map<std::string, std::vector<std::string>> language_pairs(const Models& models, const PivotOptions& pivots) {
  const LanguageGraph graph(models.offers(), pivots);
  PublicCodes public_codes;
  std::map<std::string, std::vector<std::string>> known;
  for (const Models::Offer& model : models.offers()) {
    if (!model.profile->translates) continue;
    const std::vector<std::string> targets = codes_of(model.profile->languages.into);
    std::vector<std::string> sources = codes_of(model.profile->languages.from);
    if (sources.empty()) sources.push_back(unknown_language);
    for (const std::string& source : sources) {
      add(known[source], targets);
      if (source != unknown_language) add(known[source], public_codes.of(graph.targets_of(source)));
    }
    for (const std::string& target : targets) known[target];
  }
  return known;
}

}  // namespace tril::serve
