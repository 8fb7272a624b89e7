// The versions of the libraries that decide speed and results.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tril::doctor {

/// {"oneDNN", "3.5.3"}, ...: of the library that is loaded, or, where it does not tell, of its headers.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace tril::doctor
