// The account of a training step, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "perf/step_profile.h"

namespace tril::cli {

/// A table of fixed columns, one line for each row, its roof beside it.
std::string profile_table(const train::StepProfile& p);

/// {"threads", "updates", "milliseconds", "roof": {...}, "rows": [{"name", "calls", ...}]}; rates in GFLOP/s and GB/s.
nlohmann::ordered_json profile_json(const train::StepProfile& p);

}  // namespace tril::cli
