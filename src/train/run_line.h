// A line of train.jsonl or samples.jsonl, read back (report.h says what stands in them).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril::train {

/// The line's JSON object; null where it is none (cut short, or not ours). What is nested deeper than any run writes is left
/// out, since to copy, compare or write JSON takes stack for every level.
nlohmann::ordered_json run_line(const std::string& line);

}  // namespace tril::train
