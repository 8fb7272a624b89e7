// What the response of POST /translate says about each sentence of a text.
#pragma once

#include <string>

#include "serve/api/sentence_plan.h"
#include "serve/api/split_text.h"

namespace tril::serve {

/// The field `details` of a text: [{"source", "translations": [{"text", "score", "log_prob", "tokens", ...}]}, ...].
/// @param alignment  adds the source's tokens and the attention weights
Json details_of(const SplitText& text, const SentencePlan& plan, bool alignment);

/// The bytes of each sentence of a plain text, in which sentences stay as they are: [{"source": [begin, end], "target": [begin, end],
/// "links": [[source begin, source end, target begin, target end], ...]}, ...].
/// @param links  whether the best link of each token of the translation is wanted (SentencePlan::linked)
Json places_of(const SplitText& text, const std::string& source, const std::string& translation,
               const SentencePlan& plan, bool links);

}  // namespace tril::serve
