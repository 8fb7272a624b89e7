// Assertions of a fuzzer about accepted input: if one fails, the run ends with the reason.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tril::fuzz {

inline void must(bool ok, const std::string& what) {
  if (ok) return;
  std::fprintf(stderr, "ERROR: does not hold: %s\n", what.c_str());
  std::abort();
}

/// Calls f(), where an Error is a finding: the input was accepted before, and written by us.
template <class F>
auto must_read(const std::string& what, const F& f) {
  try {
    return f();
  } catch (const Error& e) {
    must(false, what + ": " + e.what());
    throw;
  }
}

}  // namespace tril::fuzz
