#!/usr/bin/env bash
# Uses tril as other projects do: builds one in an empty folder and translates with it. Prints the translations of standard input.
# usage: run.sh shared|static|pkgconfig|ctypes|subproject SOURCE BUILD FOLDER MODEL [full]
#   BUILD   where tril was built, with the target tril_archive
#   FOLDER  empty; gets the installed tril, the project and its build
#   full    subproject alone: builds it, from nothing. Otherwise it is configured, and nothing is printed
set -euo pipefail
case=$1 source=$2 build=$3 folder=$4 model=$5
here=$source/tests/library/consumers
prefix=$folder/prefix
log=$folder/log
# A static library needs the OpenMP of the compiler that built it.
cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
quietly() { "$@" >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
[ "$case" = subproject ] || for part in runtime development static; do
  quietly cmake --install "$build" --prefix "$prefix" --component $part
done
libraries=$(dirname "$(find "$prefix" -name 'libtril.so.0' 2>/dev/null)" 2>/dev/null || true)
mkdir "$folder/project"
cd "$folder/project"
case $case in
  shared | static)
    cp "$here/$case/CMakeLists.txt" "$source"/examples/cpp/*.cpp .
    quietly cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx"
    quietly cmake --build build
    build/translate "$model" ;;
  pkgconfig)
    cp "$source/examples/c/translate.c" .
    export PKG_CONFIG_PATH=$libraries/pkgconfig
    # As C99 and as C++, and without a warning.
    quietly $cc -std=c99 -pedantic -Wall -Wextra -Werror translate.c -o translate \
      $(pkg-config --cflags --libs tril)
    printf '#include <tril/tril_c.h>\nint main() { return tril_abi_version(); }\n' >version.cpp
    quietly $cxx -pedantic -Wall -Wextra -Werror version.cpp -o version \
      $(pkg-config --cflags --libs tril)
    export LD_LIBRARY_PATH=$libraries
    ./version
    ./translate "$model" ;;
  ctypes) python3 "$source/examples/ctypes/translate.py" "$libraries/libtril.so.0" "$model" ;;
  subproject)
    cp "$here/subproject/CMakeLists.txt" "$source/examples/cpp/translate.cpp" .
    quietly cmake -S . -B build -G "Unix Makefiles" -DTRIL_SOURCE="$source" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc"
    if grep -E 'after tril: [A-Z_]+=<.+>' "$log" | grep -v '=<>' >&2; then
      echo "consumers: tril has set a variable of the project that adds it" >&2
      exit 1
    fi
    if ctest --test-dir build -N | grep -qE 'Total Tests: [1-9]'; then
      echo "consumers: tril adds its tests to the project that adds it" >&2
      exit 1
    fi
    if grep -E '^CXX_(FLAGS|DEFINES)' build/CMakeFiles/translate.dir/flags.make | grep -E -- '-W|TRIL' >&2; then
      echo "consumers: tril adds flags to the project that adds it" >&2
      exit 1
    fi
    [ "${6:-}" = full ] || exit 0
    quietly cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DTRIL_BATCH=0
    quietly cmake --build build -j "$(nproc)" --target translate
    build/translate "$model" ;;
esac
