// The languages in the name of a translation model, as publishers write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// Source and target, as codes that find_language() knows.
struct NamedPair {
  std::string source, target;

  friend bool operator==(const NamedPair&, const NamedPair&) = default;
};

/// The languages in a name of one of these forms. Other names have none, since too many words are codes as well ("is", "it").
///   opus-mt-en-de, opus-mt-tc-big-en-pt   OPUS-MT [huggingface.co/Helsinki-NLP]; further parts may follow: opus-mt-en-de-ct2
///   translate-en_de-1_0                   Argos Translate
///   ende.student.tiny11                   Bergamot, Firefox
/// Names of groups of languages have no pair: opus-mt-ROMANCE-en, opus-mt-en-mul, opus-mt-tc-big-gmw-gmw.
/// @param name  the last part of a path or of a repository's name, in any letter case
std::optional<NamedPair> languages_in_name(std::string_view name);

}  // namespace tril
