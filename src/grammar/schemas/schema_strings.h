// The strings of a schema, property names included, as a pattern: lengths, `pattern`, `format`, and their negations.
#pragma once

#include <string>
#include <string_view>

#include "grammar/expressions/pattern.h"
#include "grammar/schemas/schema_boxes.h"

namespace tril::search {

/// Makes patterns for a schema and counts their states: more states than a grammar may have take too long, even if the result
/// is small.
class SchemaPatterns {
 public:
  explicit SchemaPatterns(SchemaDocument& document) : document_(document) {}

  /// The strings of a box that lists none.
  /// @param at  a schema that it comes from, for errors
  /// @throws Unsupported naming the place and what is not supported, Error(usage) if an expression is wrong
  Pattern of(const Box& box, SchemaId at);
  /// Names in both `a` and `b`.
  Pattern both(const Pattern& a, const Pattern& b, const std::string& place);
  /// Names in which the expression has a match, or none.
  Pattern matching(const std::string& regex, const std::string& place);
  Pattern not_matching(const std::string& regex, const std::string& place);
  /// `p`, counted. @throws Error(usage) beyond Grammar::most_states
  Pattern counted(Pattern p, const std::string& place);

 private:
  void count(std::size_t states, const std::string& place);

  SchemaDocument& document_;
  std::size_t states_ = 0;
};

enum class Verdict : std::uint8_t;
bool is_known_format(std::string_view format);
/// Unsure if validators differ on whether the text has the format.
Verdict has_format(const std::string& text, const std::string& format, SchemaExpressions& expressions, SchemaId at);
/// Whether surely no string is in the box; false if that takes too much work.
/// @param at  a schema that the box comes from, for errors
bool have_nothing_in_common(const Box& box, SchemaBoxes& boxes, SchemaId at);

}  // namespace tril::search
