#!/bin/sh
# Makes the portable archive: the program with its libraries, the C library among them, for every Linux of this processor family.
#   make_tarball.sh PROGRAM OUTPUT
# A program that is linked with nothing could not find host names by the system's own rules, and libcurl's and Kerberos's packages
# have no static libraries for it. PROGRAM is built without MPI, since the plugins of MPI belong to the system's own.
set -eu
program=$(realpath "$1")
mkdir -p "$2"
output=$(realpath "$2")
cd "$(dirname "$0")/../.."
version=$("$program" --version | cut -d ' ' -f 2)
name=tril-$version-linux-$(uname -m)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/$name
doc=$tree/share/doc/tril

mkdir -p "$tree/bin" "$doc"
# ICU's data as a shared library, for the libraries of ICU that the system has.
sh scripts/trim_icu.sh "$scratch/trimmed"
data=libicudata.so.$(pkg-config --modversion icu-uc | cut -d. -f1)
mkdir "$scratch/smaller"
${CC:-cc} -shared -nostdlib -Wl,-soname,"$data" -Wl,--whole-archive "$scratch/trimmed/libicudata.a" -o "$scratch/smaller/$data"
sh scripts/packages/copy_libraries.sh "$program" "$tree/lib/tril" "$doc/licenses" "$scratch/smaller"
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
