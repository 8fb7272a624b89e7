// Where the sources' tests and the program lie. Only paths.cpp is compiled with these, so that all other tests are the same
// wherever the project stands, and a compiler cache knows them.
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
