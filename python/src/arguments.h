// Keyword arguments as declared options. Python's `beam_size` is the field "beam-size" of the program's options, with the same
// limits and the same help, so there is no second list.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"

namespace tril::python {

namespace nb = nanobind;

/// Names of arguments with their values as texts, in the order given.
using Arguments = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Numbers, texts, paths, lists of these, and dictionaries of these ("key=value"). None: the argument is left out.
/// @throws TypeError (nb::type_error) for other types
Arguments arguments_of(const nb::dict& given);

/// Sets the fields of the arguments. @throws Error(usage) naming the nearest argument for an unknown name
void set(Fields& fields, const Arguments& arguments);

/// The arguments as one text, equal for equal arguments in equal order.
std::string key_of(const Arguments& arguments);

/// [{"name": "beam_size", "kind": "number", "help": ..., "group": ..., "default": ..., "choices": [...], "list": False}, ...]
nb::list described(const Fields& fields);

}  // namespace tril::python
