#!/bin/sh
# Gathers what `make wheel tarball deb` have made, with the sources, the bill of materials and the checksums of all.
#   gather_release.sh OUTPUT
# It takes the sources from the last commit, and refuses a checkout that differs from it.
set -eu
output=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
version=$(sed -nE 's/^#define TRIL_VERSION "([0-9.]+)"/\1/p' include/tril/version.h)
if [ -n "$(git status --porcelain)" ]; then
  echo "gather_release.sh: the checkout has changes that are not committed; a release is made from a commit" >&2
  exit 1
fi

rm -rf "$output"
mkdir -p "$output"
git archive --format=tar.gz --prefix="tril-$version/" -o "$output/tril-$version-source.tar.gz" HEAD
scripts/make_sdist.sh "$output" > /dev/null  # tril-$version.tar.gz, by the name that pip expects
cp build-deb/dist/*"_${version}_"*.deb build-portable/dist/"tril-$version"-*.tar.xz build-wheel/dist/"tril-$version"-*.whl "$output"
python3 scripts/packages/make_sbom.py build-portable build-archives/sources build-deb/source/obj > "$output/tril-$version.cdx.json"
(cd "$output" && sha256sum -- * > SHA256SUMS)
cat "$output/SHA256SUMS"
