// Something that `tril doctor` found to be wrong, or worth knowing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::doctor {

enum class Severity : std::uint8_t {
  error,    ///< something does not work
  warning,  ///< it works, but slowly, or with results that may surprise
  note,     ///< nothing is wrong
};

constexpr std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

struct Finding {
  std::string id;  ///< "tokenizer-missing": stable, for scripts; docs/doctor.md lists all
  Severity severity = Severity::error;
  std::string what;  ///< a sentence without a full stop
  std::string why;   ///< its effect
  std::string hint;  ///< what to try
};

using Findings = std::vector<Finding>;

/// True if a finding is an error or a warning.
inline bool is_anything_wrong(const Findings& findings) {
  for (const Finding& f : findings)
    if (f.severity != Severity::note) return true;
  return false;
}

}  // namespace tril::doctor
