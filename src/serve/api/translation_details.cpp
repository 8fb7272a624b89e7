#include "serve/api/translation_details.h"

#include <cmath>
#include <optional>
#include <utility>

#include "serve/http/http_error.h"

namespace tril::serve {

Json details_of(const SplitText& t, const SentencePlan& plan, bool alignment) {
  const Tokenizer& tokenizer = plan.model().tokenizer();
  Json sentences = Json::array();
  for (std::size_t k = 0; k < t.sentences.size(); ++k) {
    Json list = Json::array();
    for (const search::Translation& one : t.translations[k]) {
      Json j{{"text", one.text}, {"score", one.score}, {"log_prob", one.log_prob}};
      Json tokens = Json::array();
      for (const std::int32_t id : one.tokens) tokens.push_back(tokenizer.piece(id, Side::target));
      j["tokens"] = std::move(tokens);
      if (search::is_cut(one.stop_reason)) j["cut"] = search::name_of(one.stop_reason);
      for (const search::RemovedPart& part : one.removed)
        j["removed"].push_back({{"kind", search::name_of(part.kind)}, {"text", part.text}});
      if (plan.text().terminology) {
        j["unsatisfied"] = Json::array();
        for (const search::Term& term : one.unsatisfied)
          j["unsatisfied"].push_back({{"source", term.source}, {"target", term.target}});
      }
      if (alignment && !one.source.empty()) {
        j["source_tokens"] = Json::array();
        for (const std::int32_t id : one.source) j["source_tokens"].push_back(tokenizer.piece(id, Side::source));
        Json rows = Json::array();
        for (std::size_t at = 0; at + one.source.size() <= one.attention.size(); at += one.source.size()) {
          Json row = Json::array();
          for (std::size_t x = 0; x < one.source.size(); ++x)
            row.push_back(std::round(one.attention[at + x] * 1e4) / 1e4);
          rows.push_back(std::move(row));
        }
        j["attention"] = std::move(rows);
      }
      list.push_back(std::move(j));
    }
    sentences.push_back({{"source", t.sources[k]}, {"translations", std::move(list)}});
  }
  return sentences;
}

Json places_of(const SplitText& t, const std::string& whole_source, const std::string& whole_translation,
               const SentencePlan& plan, bool links) {
  Json list = Json::array();
  std::size_t source = 0, target = 0;
  for (std::size_t k = 0; k < t.sentences.size(); ++k) {
    const search::Translation& best = t.translations[k].at(0);
    const std::string& text = t.sentences.text(k);
    source = whole_source.find(text, source), target = whole_translation.find(best.text, target);
    if (source == std::string::npos || target == std::string::npos)
      throw HttpError(500, "a sentence is not in its text", "server_error");
    Json list_of_links = Json::array();
    std::optional<document::Range> last;  // of the translation: the best link of each token is its first one
    for (const document::Link& link : links ? plan.linked(best, text).links : std::vector<document::Link>{})
      if (std::exchange(last, link.target) != link.target)
        list_of_links.push_back({source + link.source.begin, source + link.source.end, target + link.target.begin,
                                 target + link.target.end});
    list.push_back({{"source", {source, source + text.size()}},
                    {"target", {target, target + best.text.size()}},
                    {"links", std::move(list_of_links)}});
    source += text.size(), target += best.text.size();
  }
  return list;
}

}  // namespace tril::serve
