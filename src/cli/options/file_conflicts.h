// Refuses files that a command would use in two ways: an output that it also reads, and standard input for two texts.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace tril::cli {

/// What the fields of a command are for. Every other field that names files is an input.
struct FileUses {
  std::vector<std::string> models;   ///< fields whose values are models
  std::vector<std::string> outputs;  ///< fields whose values are files that the command writes
};

/// @throws Error(usage) if an output exists and is also an input, or is one of the files of a model that is an input;
///   or if two inputs are standard input
void check_file_conflicts(const Fields& fields, const FileUses& uses);

}  // namespace tril::cli
