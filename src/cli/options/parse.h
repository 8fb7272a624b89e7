// The command line by CLI11: arguments -> which option got which texts. What the texts mean is the fields' affair.
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

/// @param fields  one or more lists of options that this command line may name
/// @throws Error(usage) for an option that is not there (naming the nearest), a missing value, a superfluous argument
std::vector<GivenValue> parse_arguments(const std::vector<const Fields*>& fields, const std::vector<std::string>& args);

}  // namespace tril::cli
