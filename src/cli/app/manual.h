// The manual pages, generated from the registry: tril(1), and one page for each command.
#pragma once

#include <string>
#include <vector>

#include "cli/app/app.h"

namespace tril::cli {

struct ManualPage {
  std::string name;  ///< the file's name: "tril.1", "tril-bench-train.1"
  std::string text;  ///< roff with the macros of man(7), in UTF-8
};

/// The overview first, then the commands in their order.
std::vector<ManualPage> manual_pages(const App& app);

}  // namespace tril::cli
