// Ends of sentences in Chinese and Japanese, which have no spaces between sentences: what stands before and behind a mark decides.
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// Whether Chinese or Japanese text continues the sentence of a quotation, a bracket, a question or an exclamation before it: with a
/// particle, such as "to" after reported speech, or with what the quotation names, such as a button. Words that begin like a
/// particle do not continue it.
bool continues_quotation(std::string_view text);

/// Whether the Chinese or Japanese text before an ellipsis is a whole sentence: it ends with a polite verb, with the sign for
/// what is being done, or with a particle that ends sentences. Elsewhere an ellipsis may be a pause.
bool is_whole_before_ellipsis(std::string_view text);

/// Whether a quotation or bracket that is closed behind the text is a sentence by itself: it opens at the beginning of the text, or
/// before it. Looks back for at most 1,000 bytes.
bool closes_whole_quotation(std::string_view text);

}  // namespace tril
