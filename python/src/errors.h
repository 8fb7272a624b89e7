// Errors in Python: tril.Error, in the words of Python's arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "base/error.h"
#include "base/fields.h"

namespace tril::python {

namespace nb = nanobind;

/// Adds the class Error to the module. From now on, every tril::Error that leaves a bound function becomes one.
void bind_errors(nb::module_& m);

/// Text about options of the program as text about arguments: "--beam-size" -> "beam_size", "-b 8" -> "beam_size=8".
/// @param fields  the options that have short forms here; may be null
std::string in_python_words(const std::string& text, const Fields* fields);
Error in_python_words(const Error& error, const Fields* fields);

/// Returns the result of `work`, whose errors are in the words of these fields.
template <class Work>
auto with_python_words(const Fields& fields, const Work& work) {
  try {
    return work();
  } catch (const Error& e) {
    throw in_python_words(e, &fields);
  }
}

}  // namespace tril::python
