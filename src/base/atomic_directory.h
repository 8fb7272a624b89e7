// A directory that comes into being whole or not at all, as AtomicFile does it for a file.
#pragma once

#include <functional>
#include <string>

namespace tril {

/// Calls `write` with the name of an empty directory beside `path`, or within it where there is one already; what it leaves
/// there is what is at `path` then. Where `write` throws, nothing of it stays, and an error that names that directory names
/// `path` instead. What is at `path` before keeps its place: files go in beside it, or replace those of their names once all
/// of them are written; `last`, without which nobody takes the directory for whole, goes in after the others. What a killed
/// process left is removed by the next call for the same path. A symbolic link at `path` is followed.
void write_directory(const std::string& path, const std::string& last,
                     const std::function<void(const std::string& beside)>& write);

}  // namespace tril
