// Microsoft's dynamic dictionary: words of an HTML text with the translation that they must have
// [learn.microsoft.com/azure/ai-services/translator/text-translation/how-to/use-dynamic-dictionary]:
//   <mstrans:dictionary translation="Hund">dog</mstrans:dictionary>
#pragma once

#include <string>
#include <string_view>

namespace tril::serve {

/// Whether the text has such an element.
bool has_dictionary_words(std::string_view text);
/// The text with each of these elements replaced by an element that holds its translation and is not translated. One without a
/// translation or an end stays.
std::string with_dictionary_words(std::string_view html);
/// A translation of such a text, with the words alone in place of these elements.
std::string without_dictionary_marks(std::string_view html);

}  // namespace tril::serve
