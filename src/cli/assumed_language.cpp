#include "cli/assumed_language.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "text/tokenizer_config.h"

namespace tril::cli {

void warn_of_assumed_language(const std::string& directory, const Tokenizer& tokenizer, const Languages& languages) {
  const std::vector<std::string> known = tokenizer.languages();
  if (known.empty() || !languages.source.empty() || !std::filesystem::is_directory(directory)) return;
  if (!read_tokenizer_config(directory).source_language.empty()) return;
  TextFrame frame = tokenizer.frame(Side::source);
  frame.prefix.insert(frame.prefix.end(), frame.suffix.begin(), frame.suffix.end());
  for (const std::string& code : known)
    if (std::find(frame.prefix.begin(), frame.prefix.end(), tokenizer.language_id(code)) != frame.prefix.end())
      spdlog::warn("{}: nothing says which of its {} languages the text is in; {} is assumed, pass --source-language",
                   directory, known.size(), code);
}

}  // namespace tril::cli
