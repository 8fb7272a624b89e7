// Libraries name the fields of what was asked, `beam_size`; these are the options that set them, --beam-size.
#pragma once

#include <string>
#include <string_view>

#include "base/fields.h"

namespace tril::cli {

/// The option that sets what lower folders call "beam_size" or "beam groups"; "" where none does.
std::string option_of(const Fields& fields, std::string_view called);

/// `text` with each field in backquotes that an option sets as that option: "`beam_size` 4" is "--beam-size 4".
std::string with_options(const Fields& fields, std::string text);

/// The same error by the options' names, in its place as well ("valid_sets: a.txt" is "--valid-sets: a.txt"). A value of an
/// option is no field: a file that is called as a field keeps its name.
Error with_options(const Fields& fields, const Error& error);

}  // namespace tril::cli
