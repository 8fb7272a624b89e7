#include "search/schema_reader.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "search/schema_merge.h"

namespace tril::search {
namespace {

constexpr int most_schemas = 200'000;

// %7E is ~
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() ? std::string_view("0123456789abcdef").find(static_cast<char>(text[at] | 0x20))
                              : std::string_view::npos;
    };
    if (text[i] == '%' && digit(i + 1) < 16 && digit(i + 2) < 16) {
      out += static_cast<char>(static_cast<unsigned char>(digit(i + 1) * 16 + digit(i + 2)));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Json SchemaReader::simplified(const Json& schema, const std::string& place, int depth) {
  if (depth > deepest) refuse_schema(place, "refers to itself without end, or is too deep");
  if (++simplified_ > most_schemas)
    refuse_schema(place, fmt::format("more than {} schemas, those referred to counted each time", most_schemas));
  if (schema.is_boolean()) return schema.get<bool>() ? Json::object() : Json(false);
  if (!schema.is_object())
    refuse_schema(place, fmt::format("expected a schema, an object or true or false, got {}", schema.type_name()));
  check_words(schema, place);
  Json result = Json::object();
  for (const auto& [word, value] : schema.items())
    if (word != "$ref" && word != "allOf" && !is_annotation(word)) result[word] = value;
  if (schema.contains("$ref"))
    result = merged(simplified(target_of(schema["$ref"], place), place + "/$ref", depth + 1), result, place);
  if (schema.contains("allOf"))
    for (std::size_t i = 0; i < schema["allOf"].size(); ++i) {
      const std::string at = fmt::format("{}/allOf/{}", place, i);
      result = merged(result, simplified(schema["allOf"][i], at, depth + 1), at);
    }
  return result;
}

Json SchemaReader::target_of(const Json& reference, const std::string& place) const {
  if (!reference.is_string()) refuse_schema(place + "/$ref", "expected a text");
  const std::string text = reference.get<std::string>();
  if (text != "#" && !text.starts_with("#/"))
    refuse_schema(place + "/$ref", fmt::format("\"{}\" lies elsewhere", printable(text)),
                  "only #/... of the schema itself is supported");
  try {
    return root_.at(Json::json_pointer(unescaped(text.substr(1))));
  } catch (const nlohmann::json::exception&) {
    refuse_schema(place + "/$ref", fmt::format("there is no \"{}\"", printable(text)));
  }
}

}  // namespace tril::search
