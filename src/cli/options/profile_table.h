// The profile of a training step, as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "perf/step_profile.h"

namespace tril::cli {

/// A table of fixed columns with one line for each row, including its roofline.
std::string profile_table(const train::StepProfile& p);

/// {"threads", "updates", "milliseconds", "roof": {...}, "rows": [{"name", "calls", ...}]}; rates in GFLOP/s and GB/s.
nlohmann::ordered_json profile_json(const train::StepProfile& p);

}  // namespace tril::cli
