#include "serve/api/document_terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/api/request_terms.h"

namespace tril::serve {

void DocumentTerms::add_hits(std::size_t number, const std::string& sentence, std::vector<terms::MemoryHit> hits) {
  if (hits.empty()) return;
  if (hits_.size() < most_sentences)
    hits_[number] = {sentence, std::move(hits)};
  else
    ++unlisted_;
}

void DocumentTerms::add(std::size_t number, const search::Translation& translation) {
  Json list = Json::array();
  add_terms(translation, list);
  for (const Json& term : list) {
    const std::tuple key{term["source"].get<std::string>(), term["target"].get<std::string>(),
                         term["applied"].get<bool>()};
    Use& use = terms_.try_emplace(key, Use{number, 0}).first->second;
    use.first = std::min(use.first, number);
    ++use.count;
  }
  if (const auto found = hits_.find(number); found != hits_.end()) found->second.applied = translation.recalled;
}

void DocumentTerms::put_into(Json& body, Warnings& warnings) const {
  if (has_terms_) {
    std::vector<const decltype(terms_)::value_type*> in_order;
    for (const auto& one : terms_) in_order.push_back(&one);
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const auto* a, const auto* b) { return a->second.first < b->second.first; });
    Json& list = body["terms"] = Json::array();
    for (const auto* one : in_order) {
      const auto& [source, target, applied] = one->first;
      list.push_back({{"source", source}, {"target", target}, {"applied", applied}, {"count", one->second.count}});
    }
  }
  if (!has_memory_) return;
  Json& list = body["memory"] = Json::array();
  for (const auto& [number, one] : hits_) serve::add_hits(one.hits, one.sentence, one.applied, list);
  if (unlisted_ > 0)
    warnings.tell(fmt::format("memory: the hits of {} more sentences are not listed, only those of the first {}",
                              unlisted_, most_sentences));
}

}  // namespace tril::serve
