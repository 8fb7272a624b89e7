// Scalars of YAML in the bytes of a file: where they stand, and how another text is written in their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "document/segments/segment.h"

namespace tril::document {

enum class YamlStyle : std::uint8_t { plain, single_quoted, double_quoted, literal, folded };

struct YamlScalar {
  YamlStyle style = YamlStyle::plain;
  Range at;  ///< with its quotes; of a block scalar: from its first to its last line with text, behind the indentation
  std::string indent;  ///< of a block scalar's lines
};

/// Finds a scalar. @param begin  its place, or that of its anchor or tag; @param value  its value
/// @return nothing if this code cannot read this value from its bytes: then the scalar must not be changed
std::optional<YamlScalar> find_yaml_scalar(std::string_view bytes, std::size_t begin, std::string_view value);

/// Whether a plain scalar is a string in YAML 1.1 and 1.2, not a number, a date, null or a boolean.
bool is_yaml_string(std::string_view plain);

/// The text in the scalar's style, or quoted if it needs quotes. @param flow  it stands within [] or {}
std::string yaml_text(const YamlScalar& scalar, std::string_view text, bool flow, std::string_view line_end);

}  // namespace tril::document
