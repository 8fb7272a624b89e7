#!/bin/sh
# Makes the libraries that a wheel is linked with in place of the system's C library: the names and versions of glibc 2.28 alone,
# without code. What is linked with them, and with since_glibc_2_28.c, runs with glibc 2.28 and later, which is what a wheel's tag
# manylinux_2_28 says.
#   stub_glibc.sh FOLDER      writes libc.so, libm.so, … there; link with -LFOLDER
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
list=$PWD/glibc-2.28-$(uname -m).txt
if [ ! -e "$list" ]; then
  echo "stub_glibc: there is no list of glibc 2.28's functions for $(uname -m); scripts/wheel/list_glibc.sh makes one" >&2
  exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# For each library its variables and functions (stub.s), and their versions (stub.map).
awk -v scratch="$scratch" '
  function finish(v) {
    for (v in names) print v " { global:" names[v] " };" > (base ".map")
    delete names
  }
  /:$/ {
    if (base) finish()
    base = scratch "/" substr($1, 1, length($1) - 1)
    print ".section .note.GNU-stack,\"\",%progbits" > (base ".s")
    next
  }
  {
    names[$2] = names[$2] " " $1 ";"
    if (NF == 3)
      printf ".data\n.globl %s\n.type %s,%%object\n.size %s,%d\n%s: .zero %d\n", $1, $1, $1, $3, $1, $3 > (base ".s")
    else
      printf ".text\n.globl %s\n.type %s,%%function\n%s: .long 0\n", $1, $1, $1 > (base ".s")
  }
  END { finish() }' "$list"

for source in "$scratch"/*.s; do
  soname=$(basename "$source" .s)
  ${CC:-cc} -shared -nostdlib -Wl,-soname,"$soname" -Wl,--version-script,"$scratch/$soname.map" -o "$folder/$soname" "$source"
  case "$soname" in
    libc.so.*) ;;
    lib*) ln -sf "$soname" "$folder/${soname%%.so*}.so" ;;
  esac
done
# As the system's own libc.so, which brings what is not in the shared library.
loader=$(basename "$folder"/ld-linux-*)
echo "GROUP ( $folder/libc.so.6 $folder/libpthread.so.0 AS_NEEDED ( $folder/libdl.so.2 $folder/librt.so.1 $folder/$loader ) )" >"$folder/libc.so"
