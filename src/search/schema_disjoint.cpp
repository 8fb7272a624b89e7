#include "search/schema_disjoint.h"

namespace tril::search {
namespace {

bool are_disjoint(const Json& a, const Json& b, SchemaReader& reader, int depth) {
  if (a == false || b == false) return true;
  if (depth > 8) return false;
  for (const auto& [x, y] : {std::pair<const Json&, const Json&>{a, b}, {b, a}})
    for (const char* word : {"anyOf", "oneOf"})
      if (x.contains(word))
        // By a name of its own: clang 14 has no captures of structured bindings.
        return std::all_of(x[word].begin(), x[word].end(), [&, &other = y](const Json& one) {
          return are_disjoint(reader.simplified(one, "#"), other, reader, depth + 1);
        });
  if (is_listed(a) && is_listed(b)) {
    const std::vector<Json> others = listed_values(b);
    const std::vector<Json> values = listed_values(a);
    return std::none_of(values.begin(), values.end(), [&](const Json& v) { return holds(others, v); });
  }
  for (const auto& [x, y] : {std::pair<const Json&, const Json&>{a, b}, {b, a}})
    if (is_listed(x)) {
      const std::vector<Json> values = listed_values(x);
      const std::vector<std::string> allowed = types_of(y);
      return y.contains("type") && std::all_of(values.begin(), values.end(), [&](const Json& v) {
               return std::none_of(allowed.begin(), allowed.end(),
                                   [&](const std::string& t) { return is_of_type(v, t); });
             });
    }
  // A schema without a type is valid for any other type too, although none is written.
  if (!a.contains("type") || !b.contains("type")) return false;
  if (common_types(a["type"], b["type"]).empty()) return true;
  const Json object = "object";
  if (a["type"] != object || b["type"] != object || !a.contains("properties") || !b.contains("properties"))
    return false;
  const auto requires_it = [](const Json& s, const std::string& name) {
    return s.contains("required") && holds(s["required"], Json(name));
  };
  for (const auto& [name, schema] : a["properties"].items())
    if (b["properties"].contains(name) && requires_it(a, name) && requires_it(b, name) &&
        are_disjoint(reader.simplified(schema, "#"), reader.simplified(b["properties"][name], "#"), reader, depth + 1))
      return true;
  return false;
}

}  // namespace

bool are_disjoint(const Json& a, const Json& b, SchemaReader& reader) {
  return are_disjoint(a, b, reader, 0);
}

}  // namespace tril::search
