#!/bin/sh
# Makes the static libraries that the wheel and the portable archive are linked with (cmake/archives.cmake), and gathers the terms of
# what is in both. What is there already is not made again, and then nothing is downloaded.
#   make.sh FOLDER      writes FOLDER/sources, FOLDER/libraries and FOLDER/libraries/licenses
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
scripts/archives/sources.sh "$folder/sources"
scripts/archives/libraries.sh "$folder/sources" "$folder/libraries"
licenses=$folder/libraries/licenses
rm -rf "$licenses"
packages=$(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' scripts/archives/packages.txt)
scripts/packages/copy_terms.sh "$licenses" "$folder/sources/onednn" $packages
# SentencePiece's sources bring parts of other projects along, which are compiled into it.
for terms in "$folder"/sources/sentencepiece/third_party/*/LICENSE; do
  part=$(dirname "$terms")
  cp "$terms" "$licenses/sentencepiece-${part##*/}"
done
