// A trace as a file: JSON for pages and scripts, npz for NumPy, safetensors for all others.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trace/trace.h"

namespace tril::trace {

/// {"decoder.0.self.q": {"shape": [5, 4, 16], "data": [...]}, ...}: values row by row; -inf is null.
nlohmann::ordered_json values_json(const Trace& trace);
void write_npz(const std::string& path, const Trace& trace);
/// @param about  a JSON object about the trace, kept as the file's metadata "about"
void write_safetensors(const std::string& path, const Trace& trace, const std::string& about);

}  // namespace tril::trace
