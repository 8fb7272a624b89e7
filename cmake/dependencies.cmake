# Every library comes from Debian's or Ubuntu's packages (`make deps` installs them).
include(${CMAKE_CURRENT_LIST_DIR}/library_dependencies.cmake)
tril_need(nlohmann_json)
if(NOT TRIL_LIBRARY_ONLY)
  tril_need(CLI11)
  tril_need(Boost 1.74)  # Asio and Beast, headers alone
endif()
if(tril_missing)
  list(JOIN tril_missing ", " missing)
  message(FATAL_ERROR "these libraries were not found, or only older ones: ${missing}; `make deps`, or scripts/deps.sh, installs the "
    "packages of Debian 12 and Ubuntu 24.04")
endif()
if(TRIL_ARCHIVES)
  include(${CMAKE_CURRENT_LIST_DIR}/archives.cmake)
endif()
if(TRIL_LIBRARY_ONLY)
  return()
endif()
if(TRIL_MPI)
  find_package(MPI REQUIRED COMPONENTS C)  # its C interface: what all of them have

  # Whether this one can go on without a rank that has died (src/dist/survivors.h).
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX=1)
  check_cxx_source_compiles("
    #include <mpi.h>
    #include <mpi-ext.h>
    int main() {
      MPI_Comm left;
      int flag = 1;
      MPI_Request question;
      MPI_Group dead;
      MPIX_Comm_get_failed(MPI_COMM_WORLD, &dead);
      MPIX_Comm_revoke(MPI_COMM_WORLD);
      return MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &question) + MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
    }" TRIL_ULFM)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_DEFINITIONS)
endif()
