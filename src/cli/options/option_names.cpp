#include "cli/options/option_names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tril::cli {
namespace {

// Names in libraries that correspond to several options.
const std::vector<std::pair<std::string_view, std::vector<std::string_view>>>& other_names() {
  static const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> list{
      {"n_best", {"n-best", "n"}},
      {"constraint", {"regex", "json-schema", "json-object"}},
      {"regular expression", {"regex"}},
      {"size", {"vocab-size"}},
      {"GGUF", {"to"}},
      {"language model", {"model"}},
      {"translation", {"model"}},
      {"speculative decoding", {"draft-model", "draft-heads", "prompt-lookup"}},
      {"draft heads", {"draft-heads"}},
      {"unknown words", {"replace-unknowns"}},
      {"log-probabilities of tokens", {"logprobs"}}};
  return list;
}

bool is_value(const Fields& fields, const std::string& text) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    const auto texts = field.texts();
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  });
}

}  // namespace

std::string option_of(const Fields& fields, std::string_view called) {
  for (const auto& [other, options] : other_names())
    for (const std::string_view option : options)
      if (called == other && fields.find(option) && fields.given(option)) return std::string(option);
  std::string name(called);
  for (char& c : name)
    if (c == ' ' || c == '_') c = '-';
  return fields.find(name) ? name : "";
}

std::string with_options(const Fields& fields, std::string text) {
  for (std::size_t begin = 0; (begin = text.find('`', begin)) != std::string::npos; ++begin) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    const std::string option = option_of(fields, std::string_view(text).substr(begin + 1, end - begin - 1));
    if (option.empty()) {
      begin = end;
      continue;
    }
    text.replace(begin, end + 1 - begin, "--" + option);
  }
  return text;
}

Error with_options(const Fields& fields, const Error& error) {
  std::string where = error.where();
  const std::size_t end = std::min(where.find(": "), where.size());
  const std::string first = where.substr(0, end);
  if (const std::string option = option_of(fields, first); !option.empty() && !is_value(fields, first))
    where.replace(0, end, "--" + option);
  return Error(error.kind(), where, with_options(fields, error.message()), with_options(fields, error.hint()));
}

}  // namespace tril::cli
