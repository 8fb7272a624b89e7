#!/bin/sh
# Lists what the GNU C library offered at a version, for stub_glibc.sh: "LIBRARY:", then "NAME VERSION" for each function and
# "NAME VERSION SIZE" for each variable of it. Where a name has several versions, the newest that is not newer than MAXIMUM.
#   list_glibc.sh LIBC6_PACKAGE MAXIMUM > glibc-MAXIMUM-PROCESSOR.txt
# The package must be older than 2.34, which moved the content of libpthread, libdl and librt into libc. Debian 11's has 2.31;
# `apt-get download libc6/bullseye` downloads it where Debian 11 is among apt's sources. Needs binutils.
set -eu
maximum=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dpkg-deb -x "$1" "$scratch"
for library in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libresolv.so.2 libutil.so.1 \
    $(cd "$scratch"/lib/*/ && ls ld-linux-*.so.*); do
  echo "$library:"
  # objdump: ADDRESS FLAGS SECTION SIZE [(]VERSION[)] NAME, where FLAGS are two words if the symbol is weak. ifunc is "i".
  objdump -T "$scratch"/lib/*/"$library" | grep -v -e '\*UND\*' -e '\*ABS\*' -e GLIBC_PRIVATE | grep GLIBC_ |
    sed -E 's/^[0-9a-f]+ (.{7}) [^ \t]+\t([0-9a-f]+) +\(?(GLIBC_[0-9.]+)\)? +(\.hidden |\.protected )?([^ ]+)$/\1|\2|\3|\5/' |
    while IFS='|' read -r flags size version name; do
      newest=$(printf '%s\n%s\n' "${version#GLIBC_}" "$maximum" | sort -V | tail -n 1)
      [ "$newest" = "$maximum" ] || continue
      case "$flags" in
        *O) echo "$name $version $((0x$size))" ;;
        *) echo "$name $version" ;;
      esac
    done | sort -k 1,1 -k 2,2V | awk '{ last[$1] = $0 } END { for (name in last) print last[name] }' | LC_ALL=C sort
done
