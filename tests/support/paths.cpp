#include "support/paths.h"

namespace tril::test {

std::string test_dir() {
  return TRIL_TEST_DIR;
}

std::string tril_program() {
  return TRIL_PROGRAM;
}

std::string mpirun() {
  return TRIL_MPIRUN;
}

}  // namespace tril::test
