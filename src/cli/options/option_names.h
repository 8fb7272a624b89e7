// Maps the field names of libraries' errors, such as `beam_size`, to options, such as --beam-size.
#pragma once

#include <string>
#include <string_view>

#include "base/fields.h"

namespace tril::cli {

/// The option for a library's "beam_size" or "beam groups"; "" if there is none.
std::string option_of(const Fields& fields, std::string_view called);

/// Replaces each field in backquotes that has an option: "`beam_size` 4" becomes "--beam-size 4".
std::string with_options(const Fields& fields, std::string text);

/// The same error with options' names, also in its place ("valid_sets: a.txt" becomes "--valid-sets: a.txt"). Values
/// are not replaced: a file with the name of a field keeps its name.
Error with_options(const Fields& fields, const Error& error);

}  // namespace tril::cli
