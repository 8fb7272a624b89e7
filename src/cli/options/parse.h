// Parses the command line with CLI11: which option got which texts. Fields interpret the texts.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace tril::cli {

struct GivenValue {
  std::string name;                ///< the field's
  std::vector<std::string> texts;  ///< its values
  std::string where;               ///< "--size", "run.yml: line 3: size"
};

/// @param fields  one or more lists of options of this command line
/// @throws Error(usage) for an unknown option (naming the nearest), a missing value, a superfluous argument
std::vector<GivenValue> parse_arguments(const std::vector<const Fields*>& fields, const std::vector<std::string>& args);

}  // namespace tril::cli
