// From the options of the public interface, which are names and values, to the declared fields, and back to a list of them.
#pragma once

#include <tril/options.h>

#include <vector>

#include "base/fields.h"

namespace tril::library {

/// Sets the fields, and checks the rules between them. Names may be written with - or _.
/// @throws Error(usage) for an unknown name, a wrong value, and options that exclude each other
void set_options(Fields& fields, const v0::Options& options);

std::vector<v0::OptionInfo> list_of(const Fields& fields);

}  // namespace tril::library
