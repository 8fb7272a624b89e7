#!/bin/sh
# Makes a folder with the libraries that tril is built from, for ARM64: the packages of this machine's own release, unpacked, none
# of their scripts run. cmake/aarch64.cmake compiles against it. Nothing else of the machine is changed, but for the cross compiler,
# mmdebstrap and QEMU, which apt installs.
# usage: arm64_root.sh FOLDER      does nothing if the folder is there
set -eu
root=$1
[ ! -e "$root/usr/include" ] || exit 0
cd "$(dirname "$0")/.."
scripts/deps.sh g++-aarch64-linux-gnu mmdebstrap qemu-user
packages=$(sed -n '/^packages="\$packages/,/"$/p' scripts/deps.sh | sed 's/^packages="\$packages//; s/"$//' | tr -s ' \n' ' ')
wanted=""
for p in $packages; do
  case $p in
    g++ | cmake | ninja-build | make | pkg-config | openmpi-bin) ;;  # run on this machine
    *) wanted="$wanted,$p" ;;
  esac
done
. /etc/os-release
log=$(mktemp)
mkdir -p "$(dirname "$root")"
if ! mmdebstrap --architectures=arm64 --variant=extract --include="libstdc++-$(aarch64-linux-gnu-g++ -dumpversion)-dev,libgomp1$wanted" \
  "$VERSION_CODENAME" "$root.part" >"$log" 2>&1; then
  cat "$log" >&2
  rm -rf "$root.part" "$log"
  echo "arm64_root: mmdebstrap failed; its words stand above" >&2
  exit 1
fi
rm -f "$log"
rm -rf "$root.part/dev" "$root.part/proc" "$root.part/etc/rmt" "$root.part/var" "$root.part/usr/share/doc" "$root.part/usr/share/locale" "$root.part/usr/share/man"
# Links to absolute paths lead out of the folder.
find "$root.part" -type l -lname '/*' | while read -r link; do
  ln -sfr "$root.part$(readlink "$link")" "$link"
done
mv "$root.part" "$root"
