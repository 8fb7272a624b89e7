// The terms and memory hits of a document, for the response: in the form of POST /translate, but equal terms are counted together, and
// the hits of many sentences are not listed, so that the response to a large document stays small.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "decode/texts/translation_text.h"
#include "serve/api/request_fields.h"
#include "terms/translation_memory.h"

namespace tril::serve {

class DocumentTerms {
 public:
  static constexpr std::size_t most_sentences = 1000;  ///< whose hits are listed

  DocumentTerms() = default;
  /// @param terms   whether the request has terms; memory: whether it has a translation memory
  DocumentTerms(bool terms, bool memory) : has_terms_(terms), has_memory_(memory) {}

  /// Adds what a memory has for a sentence, in the order of the sentences. @param number  of the sentence
  void add_hits(std::size_t number, const std::string& sentence, std::vector<terms::MemoryHit> hits);
  /// Adds a sentence's translation, in any order, after its hits.
  void add(std::size_t number, const search::Translation& translation);

  /// Adds `terms`: a list of {"source", "target", "applied", "count"} in the order of the document; and `memory`: a list of
  /// {"text", "source", "target", "score", "applied"}. Each only if the request has it.
  /// @param warnings  receives the number of sentences whose hits are not listed
  void put_into(Json& body, Warnings& warnings) const;

 private:
  struct Use {
    std::size_t first, count;  ///< the first sentence with the term; how often it occurs
  };
  struct Recalled {
    std::string sentence;
    std::vector<terms::MemoryHit> hits;
    bool applied = false;  ///< the translation is that of the memory
  };

  bool has_terms_ = false, has_memory_ = false;
  std::map<std::tuple<std::string, std::string, bool>, Use> terms_;  ///< by source, target, and whether it is applied
  std::map<std::size_t, Recalled> hits_;                             ///< by sentence
  std::size_t unlisted_ = 0;
};

}  // namespace tril::serve
