#!/bin/sh
# Builds static libraries (cmake/archives.cmake) from the sources that sources.sh has unpacked, and ICU's data.
#   libraries.sh SOURCES FOLDER      writes FOLDER/libcurl.a, …; what is there already is not built again
# Each has only what tril uses: of oneDNN the product of float32 matrices, for the calling thread alone; of libcurl HTTP(S). Functions
# have sections of their own, so that the linker can leave out the others.
set -eu
sources=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
root=$PWD
flags="-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -w"
work=$folder/objects
mkdir -p "$work"

# run LOG COMMAND...: its output is shown if it fails.
run() {
  log=$1
  shift
  "$@" >> "$log" 2>&1 || { tail -n 40 "$log" >&2; echo "libraries: $log has all" >&2; exit 1; }
}

# by_cmake NAME SOURCE OPTIONS...: configures it in objects/NAME.
by_cmake() {
  name=$1
  source=$2
  shift 2
  run "$work/$name.log" cmake -S "$source" -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_CXX_FLAGS_RELEASE="$flags" "$@"
}

# archive NAME OBJECTS...
archive() {
  rm -f "$folder/$1.part"
  result=$folder/$1
  shift
  ar rcs "$result.part" "$@"
  mv "$result.part" "$result"
}

# objects_of NAME ARCHIVE PATTERN...: builds those object files of what by_cmake has configured whose names match, and archives them.
objects_of() {
  build=$work/$1
  result=$2
  log=$build.log
  shift 2
  objects=$(ninja -C "$build" -t targets all | sed -n 's/\.o: .*/.o/p' | grep -E "$@")
  run "$log" ninja -C "$build" $objects
  (cd "$build" && archive "$result" $objects)
}

if [ ! -e "$folder/libfmt.a" ]; then
  for file in format os; do
    run "$work/fmt.log" c++ -std=c++20 $flags -c "$sources/fmtlib/src/$file.cc" -o "$work/fmt_$file.o"
  done
  archive libfmt.a "$work"/fmt_*.o
fi

if [ ! -e "$folder/libspdlog.a" ]; then
  for file in "$sources"/spdlog/src/*.cpp; do
    name=$(basename "$file" .cpp)
    [ "$name" = fmt ] || run "$work/spdlog.log" c++ -std=c++20 $flags -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -c "$file" -o "$work/spdlog_$name.o"
  done
  archive libspdlog.a "$work"/spdlog_*.o
fi

if [ ! -e "$folder/libsentencepiece.a" ]; then
  by_cmake sentencepiece "$sources/sentencepiece" -DSPM_ENABLE_SHARED=ON -DSPM_ENABLE_TCMALLOC=OFF -DSPM_USE_BUILTIN_PROTOBUF=ON \
    -DSPM_NO_THREADLOCAL=ON  # its 5 kB are more than a library gets that a program loads later
  objects_of sentencepiece libsentencepiece_train.a '/sentencepiece_train\.dir/'
  objects_of sentencepiece libsentencepiece.a '/sentencepiece\.dir/'
fi

if [ ! -e "$folder/libcurl.a" ]; then
  by_cmake curl "$sources/curl" -DHTTP_ONLY=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DCURL_USE_OPENSSL=ON -DCURL_USE_LIBSSH2=OFF \
    -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF -DUSE_NGHTTP2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_USE_GSSAPI=OFF \
    -DCURL_DISABLE_LDAP=ON -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none
  run "$work/curl.log" cmake --build "$work/curl" --target libcurl
  cp "$work/curl/lib/libcurl.a" "$folder/"
fi

# Almost all of oneDNN's work is done by code that it writes at run time, and its long functions take minutes with -O2.
if [ ! -e "$folder/libdnnl.a" ]; then
  flags="$flags -O1"
  by_cmake onednn "$sources/onednn" -DONEDNN_LIBRARY_TYPE=STATIC -DONEDNN_CPU_RUNTIME=SEQ -DONEDNN_GPU_RUNTIME=NONE \
    -DONEDNN_BUILD_GRAPH=OFF -DONEDNN_BUILD_TESTS=OFF -DONEDNN_BUILD_EXAMPLES=OFF -DONEDNN_BUILD_DOC=OFF -DONEDNN_ENABLE_WORKLOAD=INFERENCE \
    -DONEDNN_ENABLE_PRIMITIVE=MATMUL -DONEDNN_ENABLE_JIT_PROFILING=OFF -DONEDNN_ENABLE_ITT_TASKS=OFF
  objects_of onednn libdnnl.a -f "$root/scripts/archives/onednn_objects.txt"
fi

if [ ! -e "$folder/libicudata.a" ]; then
  "$root/scripts/trim_icu.sh" "$folder"
fi
