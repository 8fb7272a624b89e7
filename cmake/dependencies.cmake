# Every library comes from Debian's or Ubuntu's packages (`make deps` installs them).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(pugixml REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(Boost 1.74 REQUIRED)  # Asio and Beast, headers alone
find_package(OpenSSL REQUIRED)
find_package(CURL 7.85 REQUIRED)
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

pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(ONIGURUMA REQUIRED IMPORTED_TARGET oniguruma)
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR dnnl.h REQUIRED)

add_library(tril_hwy INTERFACE)
target_link_libraries(tril_hwy INTERFACE PkgConfig::HWY)

# Not by pkg-config: Ubuntu's file asks for protobuf-lite's, which its package does not install and a shared library does not need.
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h REQUIRED)
add_library(tril_sentencepiece INTERFACE)
target_include_directories(tril_sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE_DIR})
target_link_libraries(tril_sentencepiece INTERFACE ${SENTENCEPIECE_LIBRARY} ${SENTENCEPIECE_TRAIN_LIBRARY})

add_library(tril_dnnl INTERFACE)
target_include_directories(tril_dnnl INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(tril_dnnl INTERFACE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)

# CLD2, without a pkg-config file. Its functions are in one library; the other has the tables of all its languages, and comes first,
# because the first has smaller tables of the same names.
find_library(CLD2_LIBRARY cld2 REQUIRED)
find_library(CLD2_TABLES cld2_full REQUIRED)
find_path(CLD2_INCLUDE_DIR cld2/internal/cldutil.h REQUIRED)
add_library(tril_cld2 INTERFACE)
target_include_directories(tril_cld2 SYSTEM INTERFACE ${CLD2_INCLUDE_DIR})
target_link_libraries(tril_cld2 INTERFACE ${CLD2_TABLES} ${CLD2_LIBRARY})
