// Writes a directory completely or not at all, as AtomicFile does for a file.
#pragma once

#include <functional>
#include <string>

namespace tril {

/// Calls `write` with the name of an empty temporary directory, then moves its content to `path`. The temporary
/// directory is beside `path`, or inside it if `path` already exists. If `write` throws, nothing remains, and an error
/// that names the temporary directory names `path` instead. Files that are already in `path` stay, unless a new file of
/// the same name replaces them. The file `last`, which marks the directory as complete, is moved after all others. The
/// next call for the same path removes what a killed process left. A symbolic link at `path` is followed.
void write_directory(const std::string& path, const std::string& last,
                     const std::function<void(const std::string& beside)>& write);

}  // namespace tril
