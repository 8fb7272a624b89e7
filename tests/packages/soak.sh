#!/bin/bash
# Builds the packages, and installs, uses and removes each as a user would: the Debian packages in a new system of this release, the
# archive also in older systems, and the container's files alone, read-only, as an ordinary user, and in a container.
#   soak.sh
# DOCKER names a program with docker's commands; without it, docker is taken if its daemon answers.
# OLDER lists more systems for the archive, as SUITE=MIRROR: OLDER="jammy=URL". Without it, Debian 11 is taken on Debian.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap > /dev/null; then
  echo "packages: skipped: this needs root and debootstrap"
  exit 0
fi
here=$PWD/tests/packages
scratch=$(mktemp -d)
trap 'umount_all; rm -rf --one-file-system "$scratch"' EXIT

umount_all() { awk -v under="$scratch/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount; }

# new_system SUITE MIRROR: an unpacked system in $scratch/SUITE
new_system() {
  local script=/usr/share/debootstrap/scripts/$1
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/jammy
  debootstrap --variant=minbase --no-check-gpg "$1" "$scratch/$1" "$2" "$script" > "$scratch/$1.log" 2>&1 ||
    { tail -n 5 "$scratch/$1.log" >&2; return 1; }
  mount -t proc proc "$scratch/$1/proc"
}

make deb image-root # the image's files are made from the archive, which it makes first
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

new_system "$suite" "$mirror"
cp build-deb/dist/*.deb "$here/use_packages.sh" "$here/use_program.sh" "$scratch/$suite/root/"
cp /etc/resolv.conf /etc/hosts "$scratch/$suite/etc/"
chroot "$scratch/$suite" bash /root/use_packages.sh

archive=$(ls build-portable/dist/*.tar.xz)
if [ -z "${OLDER-}" ] && [ "$suite" = bookworm ]; then OLDER="bullseye=$mirror"; fi
for one in "$suite=$mirror" ${OLDER-}; do
  system=$scratch/${one%%=*}
  [ -d "$system" ] || new_system "${one%%=*}" "${one#*=}"
  rm -rf "$system/root/archive" && mkdir "$system/root/archive"
  tar -C "$system/root/archive" --strip-components=1 -xf "$archive"
  cp "$here/use_program.sh" "$system/root/"
  chroot "$system" sh -ec '/root/archive/install.sh
    sh /root/use_program.sh /usr/local/bin/tril
    /root/archive/install.sh --uninstall
    [ -z "$(find /usr/local -name "*tril*")" ]'
  echo "packages: the archive works on ${one%%=*}: $(chroot "$system" ldd --version | head -n 1)"
done

bash "$here/use_image.sh" build-image
if [ -n "${DOCKER-}" ] || docker info > /dev/null 2>&1; then
  bash "$here/use_container.sh" build-image
else
  echo "packages: no Docker daemon answers: the image is not built (DOCKER=podman takes another program)"
fi
echo "packages: all of them work"
