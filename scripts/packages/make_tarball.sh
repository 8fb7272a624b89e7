#!/bin/sh
# Makes the portable archive: the program with the libraries that it is not linked with statically, the C library among them, for every
# Linux of this processor family.
#   make_tarball.sh PROGRAM LICENSES OUTPUT      LICENSES: the terms of what PROGRAM has inside
# A program that is linked with nothing could not find host names by the system's own rules. PROGRAM is built without MPI, since the
# plugins of MPI belong to the system's own.
set -eu
program=$(realpath "$1")
licenses=$(realpath "$2")
mkdir -p "$3"
output=$(realpath "$3")
cd "$(dirname "$0")/../.."
version=$("$program" --version | cut -d ' ' -f 2)
name=tril-$version-linux-$(uname -m)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/$name
doc=$tree/share/doc/tril

mkdir -p "$tree/bin" "$doc"
cp -R "$licenses" "$doc/licenses"
sh scripts/packages/copy_libraries.sh "$program" "$tree/lib/tril" "$doc/licenses"
strip -o "$tree/lib/tril/tril" "$program"
install -m 755 scripts/packages/launcher.sh "$tree/bin/tril"
install -m 755 scripts/packages/install.sh "$tree/install.sh"
"$program" help --man "$tree/share/man/man1"
mkdir -p "$tree/share/bash-completion/completions" "$tree/share/zsh/site-functions" "$tree/share/fish/vendor_completions.d"
"$program" completion bash > "$tree/share/bash-completion/completions/tril"
"$program" completion zsh > "$tree/share/zsh/site-functions/_tril"
"$program" completion fish > "$tree/share/fish/vendor_completions.d/tril.fish"
cp README.md CHANGELOG.md LICENSE docs/tril.service "$doc/"

tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | xz -T0 > "$output/$name.tar.xz"
ls -l "$output/$name.tar.xz"
