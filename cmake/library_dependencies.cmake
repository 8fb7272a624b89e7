# The libraries of libtril, all from Debian's or Ubuntu's packages. An installed static libtril reads this file too,
# once for each find_package: targets may exist.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(pugixml REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(OpenSSL REQUIRED)
find_package(CURL 7.85 REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(ONIGURUMA REQUIRED IMPORTED_TARGET oniguruma)
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR dnnl.h REQUIRED)

if(NOT TARGET tril_hwy)
  add_library(tril_hwy INTERFACE)
  target_link_libraries(tril_hwy INTERFACE PkgConfig::HWY)
endif()

# Not by pkg-config: Ubuntu's file asks for protobuf-lite's, which its package does not install and a shared library does not need.
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h REQUIRED)
if(NOT TARGET tril_sentencepiece)
  add_library(tril_sentencepiece INTERFACE)
  target_include_directories(tril_sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE_DIR})
  target_link_libraries(tril_sentencepiece INTERFACE ${SENTENCEPIECE_LIBRARY} ${SENTENCEPIECE_TRAIN_LIBRARY})
endif()

if(NOT TARGET tril_dnnl)
  add_library(tril_dnnl INTERFACE)
  target_include_directories(tril_dnnl INTERFACE ${DNNL_INCLUDE_DIR})
  target_link_libraries(tril_dnnl INTERFACE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
endif()

# CLD2, without a pkg-config file. Its functions are in one library; the other has the tables of all its languages, and comes first,
# because the first has smaller tables of the same names.
find_library(CLD2_LIBRARY cld2 REQUIRED)
find_library(CLD2_TABLES cld2_full REQUIRED)
find_path(CLD2_INCLUDE_DIR cld2/internal/cldutil.h REQUIRED)
if(NOT TARGET tril_cld2)
  add_library(tril_cld2 INTERFACE)
  target_include_directories(tril_cld2 SYSTEM INTERFACE ${CLD2_INCLUDE_DIR})
  target_link_libraries(tril_cld2 INTERFACE ${CLD2_TABLES} ${CLD2_LIBRARY})
endif()
