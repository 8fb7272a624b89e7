#include "document/segments/document_languages.h"

#include "base/error.h"
#include "base/printable.h"
#include "language/code.h"
#include "language/match.h"

namespace tril::document {

bool is_same_language(std::string_view a, std::string_view b) {
  const auto first = find_language(a), second = find_language(b);
  return first && second ? same_language(*first, *second) : a == b;
}

std::string written_language(std::string_view code) {
  const auto known = find_language(code);
  return known ? code_of(*known) : std::string(code);
}

void check_languages(std::string_view source, std::string_view target, const DocumentOptions& options) {
  const auto check_one = [&](std::string_view stated, std::string_view expected, const char* what, const char* hint) {
    if (!stated.empty() && !expected.empty() && !is_same_language(stated, expected))
      fail(options.where,
           fmt::format("its {} language is \"{}\", expected \"{}\"", what, printable(stated), printable(expected)),
           hint);
  };
  check_one(source, options.source_language, "source", "translate it with a model that reads its language");
  check_one(target, options.target_language, "target", "translate it into its own target language");
}

std::string target_language(const DocumentOptions& options) {
  if (options.target_language.empty())
    fail_usage(options.where, "the language of its translation is not known, but this format states it",
               "name the target language");
  return written_language(options.target_language);
}

}  // namespace tril::document
