// The temporary files and directories of outputs that are not complete yet. A signal that ends the program runs no destructors, so
// the thread that waits for signals removes them first. The list belongs to the process, as its signals do.
#pragma once

#include <functional>
#include <string>

namespace tril {

/// From now on remove_unfinished_outputs() removes the file or directory at this path.
void add_unfinished_output(const std::string& temporary);

/// Calls `action`, which moves the temporary file or directory to its place or removes it, and takes it from the list.
/// remove_unfinished_outputs() waits until it returns; an action that comes later waits for the end of the program.
void finish_output(const std::string& temporary, const std::function<void()>& action);

/// Removes all of the list. Call it right before the program ends: threads that are about to finish an output wait forever.
void remove_unfinished_outputs();

}  // namespace tril
