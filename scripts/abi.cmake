# For scripts/check_abi.sh: tril_abi, a library of the rooms that libtril.so exports functions and types from, with debugging information,
# which describes the types. What these rooms use is left undefined, so that it need not be compiled.
set(exporting tril_library tril_capi tril_base)
file(WRITE ${CMAKE_BINARY_DIR}/abi.cpp "")
add_library(tril_abi SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/abi.cpp)
target_link_options(tril_abi PRIVATE LINKER:--version-script,${CMAKE_SOURCE_DIR}/cmake/install/tril.map LINKER:--whole-archive)
foreach(target IN LISTS exporting)
  target_link_options(tril_abi PRIVATE ${CMAKE_BINARY_DIR}/lib${target}.a)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL target_compile_options ${target} PRIVATE -g)")
endforeach()
target_link_options(tril_abi PRIVATE LINKER:--no-whole-archive)
cmake_language(DEFER CALL add_dependencies tril_abi ${exporting})
