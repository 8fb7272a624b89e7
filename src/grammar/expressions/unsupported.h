// Thrown for a valid part of a schema that cannot be written: the part is left out, or refused if nothing else remains.
// Any other Error is a mistake in the schema, and always refused.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace tril::search {

class Unsupported : public Error {
 public:
  Unsupported(std::string where, std::string what, std::string hint = {})
      : Error(ErrorKind::usage, std::move(where), std::move(what), std::move(hint)) {}
};

}  // namespace tril::search
