# For scripts/check_abi.sh: what libtril.so exports is compiled with debugging information, which describes its types.
foreach(target IN ITEMS tril_library tril_capi tril_base)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL target_compile_options ${target} PRIVATE -g)")
endforeach()
