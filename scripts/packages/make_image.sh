#!/bin/sh
# Makes the root directory of the container image from the Debian package, without a network: docs/Dockerfile copies it.
#   make_image.sh PACKAGE OUTPUT      PACKAGE: tril_VERSION_ARCHITECTURE.deb, built on this machine's release
# In it are the program, its libraries, certificates, and busybox for the health check and for a look inside.
set -eu
package=$(realpath "$1")
root=$(realpath -m "$2")
here=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
dpkg-deb -x "$package" "$scratch"

rm -rf "$root"
mkdir -p "$root/bin" "$root/etc/ssl/certs" "$root/models" "$root/tmp" "$root/dev" "$root/proc"
chmod 1777 "$root/tmp"
install -D -m 755 "$scratch/usr/bin/tril" "$root/usr/bin/tril"
sh "$here/copy_libraries.sh" "$root/usr/bin/tril" "$root/usr/lib" "$root/usr/share/doc"
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
for copied in busybox-static ca-certificates; do
  cp -L "/usr/share/doc/$copied/copyright" "$root/usr/share/doc/$copied"
done
install -m 644 "$scratch/usr/share/doc/tril/copyright" "$root/usr/share/doc/tril"
echo "$root: $(du -sk --apparent-size "$root" | cut -f 1) KiB"
