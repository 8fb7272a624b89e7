#!/bin/bash
# Runs the server from the container's files: nothing else is there, they cannot be written, and the user is not root.
#   use_image.sh ROOT
set -euo pipefail
root=$(realpath "$1")
folder=$(mktemp -d)
server=
trap 'kill $server 2> /dev/null || true; umount "$folder/root/models" "$folder/root/tmp" "$folder/root/proc" "$folder/root/dev" "$folder/root" 2> /dev/null; rm -rf --one-file-system "$folder"' EXIT

mkdir "$folder/root" "$folder/models"
"$root/usr/bin/tril" demo --only times --lines 200 --updates 41 --threads 1 --json -o "$folder/demo" > /dev/null
cp -r "$folder/demo/model" "$folder/models/demo"
chmod -R a+rX "$folder"
mount --bind "$root" "$folder/root"
mount -o remount,bind,ro "$folder/root"
mount -t tmpfs tmpfs "$folder/root/tmp"
mount -t proc proc "$folder/root/proc"
mount --bind /dev "$folder/root/dev"
mount --bind "$folder/models" "$folder/root/models"

as_user=(chroot --userspec=10000:10000 "$folder/root" /bin/busybox env -i PATH=/usr/bin:/bin HOME=/models HF_HOME=/models)
inside() { "${as_user[@]}" "$@"; }
port=$((20000 + $$ % 20000))
if inside sh -c 'echo > /usr/bin/x' 2> /dev/null; then
  echo "the container's files can be written" >&2
  exit 1
fi
"${as_user[@]}" TRIL_MODEL=demo=/models/demo TRIL_PORT=$port TRIL_HOST=127.0.0.1 tril serve --pull --quiet &
server=$!
for ((i = 0; i < 100; ++i)); do
  ! inside TRIL_PORT=$port sh -c 'busybox wget -q -O /dev/null http://127.0.0.1:$TRIL_PORT/health' 2> /dev/null || break
  sleep 0.1
done
inside TRIL_PORT=$port sh -c 'busybox wget -q -O /dev/null http://127.0.0.1:$TRIL_PORT/health'
inside sh -c "busybox wget -q -O - --post-data 'q=half past two' http://127.0.0.1:$port/translate" | grep translatedText
kill -TERM $server
wait $server
packed=$(tar -C "$root" -cf - . | gzip -9 | wc -c)
echo "packages: the image has $((packed / 1000000)) MB to download, $(du -sm --apparent-size "$root" | cut -f 1) MiB unpacked"
[ "$packed" -lt 80000000 ]
