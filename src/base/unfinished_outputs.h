// The temporary files and directories of outputs that are not complete yet. A signal that ends the program runs no destructors:
// whoever waits for signals removes them first. The list belongs to the process, as its signals do.
#pragma once

#include <functional>
#include <string>

namespace tril {

/// From now on remove_unfinished_outputs() removes the file or directory at this path.
void add_unfinished_output(const std::string& temporary);

/// Calls `rename`, which moves the temporary file or directory to its place, and takes it from the list. A removal waits until it
/// returns; a rename that comes after a removal waits for the end of the program.
void put_in_place(const std::string& temporary, const std::function<void()>& rename);

/// Takes a temporary file or directory from the list that its writer has removed.
void forget_unfinished_output(const std::string& temporary);

/// Removes all of the list. Call it right before the program ends: threads that are about to put an output in its place, or to forget
/// one, wait forever.
void remove_unfinished_outputs();

}  // namespace tril
