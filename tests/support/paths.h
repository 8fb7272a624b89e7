// Paths of the tests' sources and of the program. Only paths.cpp is compiled with them, so that all other tests do not
// depend on the project's location, and a compiler cache can reuse them.
#pragma once

#include <string>

namespace tril::test {

/// The folder tests/, absolute.
std::string test_dir();

/// The program tril as it was built.
std::string tril_program();

/// The mpirun of the library that it was built with; "": there is none.
std::string mpirun();

}  // namespace tril::test
