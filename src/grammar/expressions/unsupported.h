// What is meant well and cannot be written: a part of a schema that asks for it is left out, or refused where nothing else
// is left. An Error of another kind is a mistake, and always refused.
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
