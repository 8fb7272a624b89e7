// Reads back lines of train.jsonl and samples.jsonl (report.h describes them).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::train {

/// The line's JSON object; null if the line is truncated or foreign. Parts nested deeper than any run writes are
/// dropped, since copying, comparing and writing JSON recurses on every level.
nlohmann::ordered_json run_line(const std::string& line);

/// The lines of such a file, except invalid text: a power failure may leave NUL bytes at its end.
/// @throws Error for anything but a regular file, such as a pipe
std::vector<std::string> read_run_lines(const std::string& path);

}  // namespace tril::train
