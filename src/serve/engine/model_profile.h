// What is known of a model without its weights: what it does, its languages, and its size. Requests choose a model by its
// profile, so that a model need not be loaded to be chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "language/match.h"

namespace tril::serve {

/// The languages of a translation model.
struct ServedLanguages {
  std::string source;  ///< "": unknown
  std::vector<std::string> targets;
  bool from_each = false;     ///< the source is one of `targets`, and each request gives it
  bool reads_target = false;  ///< the model reads the target language from a tag or a token
  bool tagged = false;        ///< from a tag before the text
  std::string standard;       ///< the target of a request without one; "": unknown; "-": texts without a tag
  bool wants_target = false;  ///< there are several targets and no default, so a request must give one
  KnownLanguages from, into;  ///< sources() and `targets`, to be found by codes in any form

  /// The source languages; empty: unknown.
  std::vector<std::string> sources() const {
    if (from_each) return targets;
    return source.empty() ? std::vector<std::string>{} : std::vector{source};
  }
};

struct ModelProfile {
  bool translates = false;                          ///< it has an encoder, or a prompt and languages for it
  bool continues = false;                           ///< it is a language model
  bool takes_style = false, takes_context = false;  ///< its prompt has a place for a style, or for the texts before
  ServedLanguages languages;                        ///< of a model that translates
  std::vector<std::string> adapters;                ///< their names
  std::int64_t bytes = 0;  ///< memory that it takes once loaded, without its KV cache (Loaded::bytes)
};
using ProfilePtr = std::shared_ptr<const ModelProfile>;

}  // namespace tril::serve
