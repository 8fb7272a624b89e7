// A JSON schema's keywords, one by one: which exist, whether one is well-formed, and what it asserts.
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

/// A schema or a value. Properties keep their order, since they are written in it.
using Json = nlohmann::ordered_json;

/// @param place  where in the schema: "#/properties/name"
[[noreturn]] void refuse_schema(const std::string& place, const std::string& what, const std::string& hint = {});
/// Likewise, for a valid schema that is not supported.
[[noreturn]] void refuse_unsupported(const std::string& place, const std::string& what, const std::string& hint = {});

/// A JSON pointer to the member `name` of `place` [RFC 6901].
std::string below(const std::string& place, std::string_view name);
/// Calls `read`, and adds the place to its errors.
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

/// The kinds of values; they are mutually exclusive.
enum class Kind : std::uint8_t { object, array, string, number, boolean, null };
inline constexpr std::array all_kinds{Kind::object, Kind::array, Kind::string, Kind::number, Kind::boolean, Kind::null};
Kind kind_of(const Json& value);
std::string_view name_of(Kind kind);

/// Checks the keywords of one schema that is an object, not those of its subschemas.
/// @param notes  receives keywords that no draft defines
/// @throws Error(usage) for an unknown type, or a keyword whose value has the wrong type
void check_words(const Json& schema, const std::string& place, SchemaNotes& notes);
/// Whether a keyword asserts something about values.
bool is_assertion(std::string_view word);

/// Keywords that the compiler makes for itself; a document cannot contain them.
namespace made {
constexpr const char* mark =
    "\x01"
    "made";  ///< true: made by the compiler; read as the latest draft
constexpr const char* not_pattern =
    "\x01"
    "pattern";  ///< strings that this pattern does not match
constexpr const char* not_texts =
    "\x01"
    "texts";  ///< strings except these
constexpr const char* fraction =
    "\x01"
    "fraction";  ///< numbers that are not whole
/// Objects in which a property that no name of `properties` and no expression of `patternProperties` matches, or that
/// `pattern` matches, has a value of the schema `value`:
///   {"properties": ..., "patternProperties": ..., "value": schema} or {"pattern": regex, "value": schema}
constexpr const char* some_property =
    "\x01"
    "some";
constexpr const char* never =
    "\x01"
    "never";  ///< no value: the valid ones are not supported, and why
}  // namespace made

/// `word` as a number from 0 to 10^9, or `otherwise` if absent. @throws Error(usage) for any other value
std::int64_t count_of(const Json& schema, const char* word, std::int64_t otherwise, const std::string& place);

/// Whether `type` allows values of this kind; "integer" allows some numbers. True without `type`.
bool allows_kind(const Json& schema, Kind kind);
/// Whether `type` allows no numbers except whole ones.
bool only_whole(const Json& schema);
/// Whether keywords of the schema other than `type` are about values of this kind.
bool speaks_of(const Json& schema, Kind kind);
bool is_whole(const Json& value);

/// Equality of values: the order of an object's keys is ignored, and 1 equals 1.0.
bool are_equal(const Json& a, const Json& b);

template <class List>
bool holds(const List& values, const Json& value) {
  return std::any_of(values.begin(), values.end(), [&](const Json& one) { return are_equal(one, value); });
}

}  // namespace tril::search
