// What a fuzzer holds true of input that was accepted: where it does not hold, the run ends with the reason.
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

/// f(), in which an Error is a finding: of what was read before, and was written by us.
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
