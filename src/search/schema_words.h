// A JSON schema's keywords, one by one: which there are, what is wrong with one, and what one says of the values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace tril::search {

/// A schema or a value. Properties keep their order: they are written in it.
using Json = nlohmann::ordered_json;

/// @param place  where in the schema: "#/properties/name"
[[noreturn]] void refuse_schema(const std::string& place, const std::string& what, const std::string& hint = {});

/// A JSON pointer to what is called `name` at `place` [RFC 6901].
std::string below(const std::string& place, std::string_view name);
/// What `read` gives; its errors come with the place.
template <class Read>
auto at_place(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw error.within("JSON schema: " + printable(place));
  }
}

/// @throws Error(usage) naming a keyword or a type that there is not, or one whose value is of another kind
void check_words(const Json& schema, const std::string& place);
/// Whether a keyword only annotates.
bool is_annotation(std::string_view word);

/// `word` as a number from 0 to 10^9, or `otherwise`. @throws Error(usage) where it is something else
std::int64_t count_of(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place);
/// `word`, which is there. @throws Error(usage) where it is no text
std::string text_of(const Json& schema, const char* word, const std::string& place);

// Of a schema that is an object and is in its simplest form (schema_reader.h).

/// The types of its values; those that its keywords are about where it does not say, or all.
std::vector<std::string> types_of(const Json& schema);
bool is_of_type(const Json& value, std::string_view type);
/// What both allow, as an array; each is what "type" may be, a name or an array of them.
Json common_types(const Json& a, const Json& b);

/// Whether it lists its values, by `enum` or `const`.
bool is_listed(const Json& schema);
/// The values that `enum`, `const` and `type` leave; only where is_listed().
std::vector<Json> listed_values(const Json& schema);

/// As values: whatever the order of an object's keys, and 1 is 1.0.
bool are_equal(const Json& a, const Json& b);

template <class List>
bool holds(const List& values, const Json& value) {
  return std::any_of(values.begin(), values.end(), [&](const Json& one) { return are_equal(one, value); });
}

}  // namespace tril::search
