# A toolchain file: ARM64 from any Debian or Ubuntu, with the libraries in TRIL_ARM64_ROOT (scripts/arm64_root.sh makes the folder).
# Programs of the build, tests among them, run under QEMU. docs/arm64.md says how to use it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TRIL_ARM64_ROOT "$ENV{TRIL_ARM64_ROOT}" CACHE PATH "Folder with the libraries for ARM64")
if(NOT TRIL_ARM64_ROOT)
  get_filename_component(TRIL_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build-arm64-root ABSOLUTE)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRIL_ARM64_ROOT)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${TRIL_ARM64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# pkg-config sees the folder alone.
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} "${TRIL_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${TRIL_ARM64_ROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${TRIL_ARM64_ROOT}")

# The linker finds the libraries of libraries in the folders of BLAS too, which an alternative names on a running system.
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-rpath-link,${TRIL_ARM64_ROOT}/usr/lib/aarch64-linux-gnu:${TRIL_ARM64_ROOT}/lib/aarch64-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")

# "max" has every instruction that QEMU knows: all kernel tables run. 8 GB of addresses: an arena reserves twice the machine's
# memory, and the memory of QEMU 7.2 grows with what is reserved, to 18 GB for test_nn.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -R 8G -L ${TRIL_ARM64_ROOT})
