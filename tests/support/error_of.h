// The message of an expected error.
#pragma once

#include <string>

#include "base/error.h"
#include "support/contains.h"

namespace tril {

/// The message of the Error thrown by `run`; "" if none is thrown.
template <class Run>
std::string error_of(Run&& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tril
