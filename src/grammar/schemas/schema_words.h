// A JSON schema's keywords, one by one: which there are, what is wrong with one, and what one says of the values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "grammar/expressions/unsupported.h"
#include "grammar/schemas/schema_notes.h"

namespace tril::search {

/// A schema or a value. Properties keep their order: they are written in it.
using Json = nlohmann::ordered_json;

/// @param place  where in the schema: "#/properties/name"
[[noreturn]] void refuse_schema(const std::string& place, const std::string& what, const std::string& hint = {});
/// The same of what is sound and not supported.
[[noreturn]] void refuse_unsupported(const std::string& place, const std::string& what, const std::string& hint = {});

/// A JSON pointer to what is called `name` at `place` [RFC 6901].
std::string below(const std::string& place, std::string_view name);
/// What `read` gives; its errors come with the place.
template <class Read>
auto at_place(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const Unsupported& error) {
    const Error at = error.within("JSON schema: " + printable(place));
    throw Unsupported(at.where(), at.message(), at.hint());
  } catch (const Error& error) {
    throw error.within("JSON schema: " + printable(place));
  }
}

/// The kinds of values, which exclude each other.
enum class Kind : std::uint8_t { object, array, string, number, boolean, null };
inline constexpr std::array all_kinds{Kind::object, Kind::array, Kind::string, Kind::number, Kind::boolean, Kind::null};
Kind kind_of(const Json& value);
std::string_view name_of(Kind kind);

/// Looks at the keywords of one schema that is an object, not at those of schemas within it.
/// @param notes  what no draft defines is added to them
/// @throws Error(usage) naming a type that there is not, or a keyword whose value is of another sort than it must be
void check_words(const Json& schema, const std::string& place, SchemaNotes& notes);
/// Whether a keyword says something of values.
bool is_assertion(std::string_view word);

/// Keywords that the compiler makes for itself; they cannot stand in a text.
namespace made {
constexpr const char* mark =
    "\x01"
    "made";  ///< true: not the user's; read as the latest draft
constexpr const char* not_pattern =
    "\x01"
    "pattern";  ///< strings that this pattern does not match
constexpr const char* not_texts =
    "\x01"
    "texts";  ///< strings but these
constexpr const char* fraction =
    "\x01"
    "fraction";  ///< numbers that are not whole
/// Objects in which a property that is not among those of `properties` and `patternProperties`, or that `pattern` matches,
/// has a value of the schema `value`:
///   {"properties": ..., "patternProperties": ..., "value": schema} or {"pattern": regex, "value": schema}
constexpr const char* some_property =
    "\x01"
    "some";
constexpr const char* never =
    "\x01"
    "never";  ///< nothing: what would be valid is not supported, and why
}  // namespace made

/// `word` as a number from 0 to 10^9, or `otherwise`. @throws Error(usage) where it is something else
std::int64_t count_of(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place);

/// Whether `type` allows values of this kind; "integer" allows some numbers. True where there is no `type`.
bool allows_kind(const Json& schema, Kind kind);
/// Whether `type` allows whole numbers alone, of all numbers.
bool only_whole(const Json& schema);
/// Whether keywords of the schema, `type` aside, are about values of this kind.
bool speaks_of(const Json& schema, Kind kind);
bool is_whole(const Json& value);

/// As values: whatever the order of an object's keys, and 1 is 1.0.
bool are_equal(const Json& a, const Json& b);

template <class List>
bool holds(const List& values, const Json& value) {
  return std::any_of(values.begin(), values.end(), [&](const Json& one) { return are_equal(one, value); });
}

}  // namespace tril::search
