# Static libraries in place of shared ones, for files that run on other systems than this one: the module of the wheel
# (scripts/make_wheel.sh) and the program of the portable archive (scripts/packages/make_tarball.sh). The headers stay the system's.
# TRIL_ARCHIVES has the libraries that scripts/archives/make.sh makes; the rest are of Debian's -dev packages.
#
# Highway, Oniguruma and CLD2 have no static libraries there. They stay shared: they ask only for what glibc 2.28 and the C++ library
# of that time have.
function(tril_use_archives target)  # tril_use_archives(target archives and libraries...)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(type ${target} TYPE)
  list(POP_FRONT ARGN archive)
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR "${archive} is missing: scripts/archives/make.sh makes it, or a -dev package has it (make deps)")
  endif()
  if(type STREQUAL "INTERFACE_LIBRARY")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archive};${ARGN}")
    return()
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
  endforeach()
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive} INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

cmake_path(GET ZLIB_LIBRARIES PARENT_PATH tril_system)
tril_use_archives(fmt::fmt ${TRIL_ARCHIVES}/libfmt.a)
tril_use_archives(spdlog::spdlog ${TRIL_ARCHIVES}/libspdlog.a fmt::fmt)
tril_use_archives(yaml-cpp ${tril_system}/libyaml-cpp.a)
tril_use_archives(pugixml::pugixml ${tril_system}/libpugixml.a)
tril_use_archives(ZLIB::ZLIB ${tril_system}/libz.a)
tril_use_archives(ICU::uc ${tril_system}/libicuuc.a ${TRIL_ARCHIVES}/libicudata.a)
tril_use_archives(ICU::i18n ${tril_system}/libicui18n.a ICU::uc)
tril_use_archives(OpenSSL::Crypto ${tril_system}/libcrypto.a)
tril_use_archives(OpenSSL::SSL ${tril_system}/libssl.a OpenSSL::Crypto)
tril_use_archives(CURL::libcurl ${TRIL_ARCHIVES}/libcurl.a OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB)
tril_use_archives(tril_sentencepiece ${TRIL_ARCHIVES}/libsentencepiece_train.a ${TRIL_ARCHIVES}/libsentencepiece.a)
tril_use_archives(tril_dnnl ${TRIL_ARCHIVES}/libdnnl.a)
# Functions that nothing calls are left out.
target_link_options(tril_options INTERFACE LINKER:--as-needed LINKER:--gc-sections LINKER:-O1)
# This oneDNN computes in the calling thread alone.
set_source_files_properties(src/kern/gemm_onednn.cpp PROPERTIES COMPILE_DEFINITIONS TRIL_SEQUENTIAL_ONEDNN)

# tril_link_for_older_systems(target map): with the stubs of the C library in TRIL_OLD_GLIBC (scripts/wheel/stub_glibc.sh) and the C++
# library inside. The map names what others see.
function(tril_link_for_older_systems target map)
  set(wheel ${PROJECT_SOURCE_DIR}/scripts/wheel)
  add_library(tril_since OBJECT ${wheel}/since_glibc_2_28.c ${wheel}/icu_time_zone.c)
  set_target_properties(tril_since PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE tril_since)
  target_link_options(${target} PRIVATE -L${TRIL_OLD_GLIBC} -static-libstdc++ LINKER:--version-script,${map})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map};${TRIL_OLD_GLIBC}/libc.so")
endfunction()
