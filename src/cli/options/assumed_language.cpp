#include "cli/options/assumed_language.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

namespace tril::cli {

void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages) {
  const std::vector<std::string> known = tokenizer.languages();
  if (known.empty() || !languages.source.empty() || !tokenizer.stated_languages().source.empty()) return;
  TextFrame frame = tokenizer.frame(Side::source);
  frame.prefix.insert(frame.prefix.end(), frame.suffix.begin(), frame.suffix.end());
  for (const std::string& code : known)
    if (std::find(frame.prefix.begin(), frame.prefix.end(), tokenizer.language_id(code)) != frame.prefix.end())
      spdlog::warn("{}: the source language, one of {}, is not given; assuming {}, pass --source-language to set it",
                   directory, known.size(), code);
}

}  // namespace tril::cli
