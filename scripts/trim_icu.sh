#!/bin/sh
# ICU's data for a file that is linked with its static libraries: without code pages, collation, currencies, units, time zones,
# transliteration, spelled-out numbers, names of characters and profiles of names on the Internet, which tril does not use.
#   trim_icu.sh FOLDER     writes libicudata.a of the installed version there
# Needs libicu-dev and icu-devtools, which libicu-dev brings.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$PATH:/usr/sbin
archive=$(pkg-config --variable=libdir icu-uc)/libicudata.a
version=$(pkg-config --modversion icu-uc | cut -d. -f1)
cd "$scratch"
ar x "$archive" "icudt${version}l_dat.o"
mkdir whole trimmed
objcopy -O binary --only-section=.rodata "icudt${version}l_dat.o" "whole/icudt${version}l.dat"
icupkg -l "whole/icudt${version}l.dat" | grep -E '^(coll|curr|rbnf|translit|unit|zone)/|\.(cnv|spp|cfu)$|^(cnvalias|unames)\.icu$|^uts46\.nrm$' >without.txt
icupkg -r without.txt "whole/icudt${version}l.dat" "trimmed/icudt${version}l.dat"
cat >data.s <<END
.section .note.GNU-stack,"",%progbits
.section .rodata
.globl icudt${version}_dat
.type icudt${version}_dat, %object
.balign 16
icudt${version}_dat:
.incbin "trimmed/icudt${version}l.dat"
.size icudt${version}_dat, . - icudt${version}_dat
END
${CC:-cc} -c data.s -o data.o
ar rcs "$folder/libicudata.a" data.o
