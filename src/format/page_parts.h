// Self-contained HTML pages, put together from embedded parts.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tril {

/// Replaces each `mark` of the page by `text`, in which marks have no meaning. @throws Error if there is none
void put_part(std::string& page, std::string_view mark, std::string_view text);

/// Replaces the first `mark` of the page by JSON for a script element. It comes last: the data may contain any text.
/// @throws Error if there is none
void put_data(std::string& page, std::string_view mark, std::string_view json);

/// The parts of a script, one after another, each below its name.
/// @param part_of  the text of a part, by its name
std::string joined_script(std::span<const char* const> names, std::string_view (*part_of)(std::string_view name));

}  // namespace tril
