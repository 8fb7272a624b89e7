// Lines of train.jsonl and samples.jsonl, read back (report.h says what stands in them).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::train {

/// The line's JSON object; null where it is none (cut short, or not ours). What is nested deeper than any run writes is left
/// out, since to copy, compare or write JSON takes stack for every level.
nlohmann::ordered_json run_line(const std::string& line);

/// The lines of such a file, without those that are no text: a power cut may leave NUL bytes at its end.
/// @throws Error for what is no regular file, a pipe among it
std::vector<std::string> read_run_lines(const std::string& path);

}  // namespace tril::train
