#!/usr/bin/env bash
# Uses tril as other projects do: builds one in an empty folder and translates with it. Prints the translations of standard input.
# usage: run.sh shared|static|pkgconfig|pkgconfig-static|ctypes|ctypes-trace|subproject|cpm SOURCE BUILD FOLDER MODEL [full]
#   BUILD   where tril was built, with the target tril_archive
#   FOLDER  empty; gets the installed tril, the project and its build
#   full    subproject and cpm alone: builds it, from nothing. Otherwise it is configured, and nothing is printed
# cpm needs CPM.cmake, by its path in TRIL_CPM.
set -euo pipefail
case=$1 source=$2 build=$3 folder=$4 model=$5
here=$source/tests/library/consumers
prefix=$folder/prefix
log=$folder/log
# A static library needs the OpenMP of the compiler that built it.
cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
quietly() { "$@" >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
case $case in
  subproject | cpm) parts="" ;;
  static | pkgconfig-static) parts="development static" ;;  # nobody needs the shared library for it
  *) parts="runtime development" ;;
esac
for part in $parts; do
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
    if [ $case = static ]; then  # a library that is missing is named, and find_package(QUIET) goes on
      mkdir without && printf 'cmake_minimum_required(VERSION 3.25)\nproject(without LANGUAGES CXX)\n%s\n%s\n' \
        'find_package(tril QUIET COMPONENTS static)' 'message("found: ${tril_FOUND}: ${tril_NOT_FOUND_MESSAGE}")' >without/CMakeLists.txt
      quietly cmake -S without -B without/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON
      quietly grep -q 'found: 0: .*not found: yaml-cpp' "$log"
    fi
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
  pkgconfig-static)
    cp "$source/examples/c/translate.c" .
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tril.pc)")
    export PKG_CONFIG_PATH
    quietly $cc translate.c -o translate $(pkg-config --cflags --static --libs tril)
    if ldd translate | grep libtril >&2; then
      echo "consumers: the program needs libtril.so" >&2
      exit 1
    fi
    ./translate "$model" ;;
  ctypes) python3 "$source/examples/ctypes/translate.py" "$libraries/libtril.so.0" "$model" ;;
  ctypes-trace) python3 "$source/examples/ctypes/trace.py" "$libraries/libtril.so.0" "$model" "a dog runs" ;;
  subproject | cpm)
    cp "$here/subproject/CMakeLists.txt" "$source/examples/cpp/translate.cpp" .
    cpm=""
    [ $case = subproject ] || cpm=$TRIL_CPM
    quietly cmake -S . -B build -G "Unix Makefiles" -DTRIL_SOURCE="$source" -DCPM="$cpm" -DCMAKE_CXX_COMPILER="$cxx" \
      -DCMAKE_C_COMPILER="$cc"
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
    # As its users build it; the second time, only that it can be built is of interest.
    if [ $case = subproject ]; then flags=-DCMAKE_BUILD_TYPE=Release; else flags=-DTRIL_QUICK=ON; fi
    quietly cmake -S . -B build $flags -DTRIL_BATCH=0
    quietly cmake --build build -j "$(nproc)" --target translate
    build/translate "$model" ;;
esac
