#!/bin/sh
# Makes the root directory of the container image from the portable archive, without a network: docs/Dockerfile copies it.
#   make_image.sh ARCHIVE OUTPUT      ARCHIVE: tril-VERSION-linux-PROCESSOR.tar.xz, made on this machine or another one
# In it are the program, its libraries, certificates, and busybox for the health check and for a look inside.
set -eu
archive=$(realpath "$1")
root=$(realpath -m "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -C "$scratch" --strip-components=1 -xf "$archive"

rm -rf "$root"
mkdir -p "$root/bin" "$root/etc/ssl/certs" "$root/usr/bin" "$root/usr/share" "$root/models" "$root/tmp" "$root/dev" "$root/proc"
chmod 1777 "$root/tmp"
mv "$scratch/lib/tril/tril" "$root/usr/bin/"
mv "$scratch/lib/tril" "$root/usr/lib"
loader=$(ldd "$root/usr/bin/tril" | awk '$1 ~ /^\// { print $1 }')
mkdir -p "$root${loader%/*}"
mv "$root/usr/lib/${loader##*/}" "$root$loader"
install -m 755 "$(command -v busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
echo "root:x:0:0:root:/:/bin/sh
tril:x:10000:10000:tril:/models:/bin/sh" > "$root/etc/passwd"
echo "root:x:0:
tril:x:10000:" > "$root/etc/group"
echo "hosts: files dns" > "$root/etc/nsswitch.conf"
mv "$scratch/share/doc/tril/licenses" "$root/usr/share/doc"
cp "$scratch/share/doc/tril/LICENSE" "$root/usr/share/doc/tril"
"$(dirname "$0")/copy_terms.sh" "$root/usr/share/doc" busybox-static ca-certificates
echo "$root: $(du -sk --apparent-size "$root" | cut -f 1) KiB"
