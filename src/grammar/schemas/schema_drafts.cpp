#include "grammar/schemas/schema_drafts.h"

namespace tril::search {
namespace {

struct Span {
  std::string_view word;
  int first, last;  // drafts that define it
};

constexpr int no_last = 9999;
constexpr std::array spans{Span{"const", 6, no_last},
                           Span{"contains", 6, no_last},
                           Span{"propertyNames", 6, no_last},
                           Span{"if", 7, no_last},
                           Span{"dependencies", 0, 7},
                           Span{"dependentRequired", 2019, no_last},
                           Span{"dependentSchemas", 2019, no_last},
                           Span{"minContains", 2019, no_last},
                           Span{"maxContains", 2019, no_last},
                           Span{"unevaluatedItems", 2019, no_last},
                           Span{"unevaluatedProperties", 2019, no_last},
                           Span{"$recursiveRef", 2019, 2019},
                           Span{"$dynamicRef", 2020, no_last},
                           Span{"prefixItems", 2020, no_last}};

}  // namespace

bool counts(const Json& schema, std::string_view word, int draft) {
  if (!is_assertion(word) || schema.contains(made::mark)) return true;
  if (draft <= 7 && word != "$ref" && schema.contains("$ref")) return false;
  // Up to draft 4 a boolean that modifies `minimum` or `maximum`; from draft 6 on a number.
  if (word == "exclusiveMinimum" || word == "exclusiveMaximum") return schema[word].is_boolean() == (draft <= 4);
  const auto span = std::find_if(spans.begin(), spans.end(), [&](const Span& one) { return one.word == word; });
  return span == spans.end() || (span->first <= draft && draft <= span->last);
}

bool all_count(const Json& schema, int draft) {
  return std::all_of(schema.items().begin(), schema.items().end(),
                     [&](const auto& member) { return counts(schema, member.key(), draft); });
}

Json what_counts(const Json& schema, int draft) {
  Json kept = Json::object();
  for (const auto& [word, value] : schema.items())
    if (counts(schema, word, draft)) kept[word] = value;
  return kept;
}

}  // namespace tril::search
