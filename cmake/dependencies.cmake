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
find_package(ICU REQUIRED COMPONENTS uc)
find_package(Boost 1.74 REQUIRED)  # Asio and Beast, headers alone
find_package(OpenSSL REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)  # its C interface: what all of them have

pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(ONIGURUMA REQUIRED IMPORTED_TARGET oniguruma)
pkg_check_modules(SENTENCEPIECE REQUIRED IMPORTED_TARGET sentencepiece)
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR dnnl.h REQUIRED)

add_library(tril_hwy INTERFACE)
target_link_libraries(tril_hwy INTERFACE PkgConfig::HWY)

add_library(tril_sentencepiece INTERFACE)
target_link_libraries(tril_sentencepiece INTERFACE PkgConfig::SENTENCEPIECE)

add_library(tril_dnnl INTERFACE)
target_include_directories(tril_dnnl INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(tril_dnnl INTERFACE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
