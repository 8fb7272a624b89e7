#include "serve/api/request_terms.h"

#include <algorithm>

#include "base/printable.h"

namespace tril::serve {
namespace {

std::shared_ptr<const search::Terminology> requested_terms(const TranslateRequest& request, const Json& body,
                                                           const terms::LanguagePair& pair) {
  std::vector<std::shared_ptr<const terms::TermMatcher>> matchers;
  if (auto own = inline_terminology(body)) matchers.push_back(std::move(own));
  if (!request.glossary.empty())
    matchers.push_back(request.term_sources.glossaries->matcher({request.glossary, pair, request.glossary_match},
                                                                request.term_sources.viewer));
  if (matchers.empty()) return nullptr;
  return std::make_shared<const search::Terminology>(std::move(matchers));
}

std::shared_ptr<const terms::TranslationMemory> requested_memory(const TranslateRequest& request,
                                                                 const terms::LanguagePair& pair) {
  if (request.memory.empty()) return nullptr;
  const ServedMemories& memories = *request.term_sources.memories;
  const auto found = memories.find(request.memory);
  if (found == memories.end()) {
    std::vector<std::string> names;
    for (const auto& [name, memory] : memories) names.push_back(name);
    throw field_error("memory", fmt::format("there is no translation memory \"{}\"; {}", printable(request.memory),
                                            names.empty() ? std::string("the server has none")
                                                          : fmt::format("there are {}", fmt::join(names, ", "))));
  }
  const ServedMemory& memory = found->second;
  if (!terms::serves(memory.pair, pair))
    throw field_error("memory", fmt::format("\"{}\" is for {} to {}, not for {} to {}", printable(request.memory),
                                            memory.pair.source, memory.pair.target, pair.source, pair.target));
  return memory.memory;
}

}  // namespace

terms::Viewer viewer_of(const Call& call) {
  return {terms::owner_of_key(call.key), call.admin};
}

TermSources term_sources(const Service& service, const Call& call) {
  return {service.options().glossaries, service.options().memories, viewer_of(call)};
}

RequestTerms request_terms(const TranslateRequest& request, const Json& body, const ModelChoice& choice) {
  const terms::LanguagePair pair{choice.source.empty() ? choice.assumed : choice.source, choice.target};
  return {requested_terms(request, body, pair), requested_memory(request, pair)};
}

void add_terms(const search::Translation& translation, Json& list) {
  std::vector<search::Term> missing = translation.unsatisfied;
  for (const search::Term& term : translation.terms) {
    const auto lacks = std::find(missing.begin(), missing.end(), term);
    list.push_back({{"source", term.source}, {"target", term.target}, {"applied", lacks == missing.end()}});
    if (lacks != missing.end()) missing.erase(lacks);
  }
}

void add_hits(const std::vector<terms::MemoryHit>& hits, const std::string& sentence, bool recalled, Json& list) {
  for (const terms::MemoryHit& hit : hits)
    list.push_back({{"text", sentence},
                    {"source", hit.source},
                    {"target", hit.target},
                    {"score", hit.score},
                    {"applied", recalled && hit.score == 100}});
}

}  // namespace tril::serve
