#!/bin/bash
# Builds the container image from the files of `make image-root`, and runs the server in it as docs/Dockerfile says: read-only, without
# any right, its port published, with a new volume, which the image's user must be able to write. It becomes healthy, translates,
# reloads and stops.
#   use_container.sh ROOT      ROOT: a folder of the name build-image
# Needs docker, or a program with its commands: DOCKER=podman.
set -euo pipefail
root=$(realpath "$1")
docker=${DOCKER:-docker}
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
name=tril-test-$$
trap '"$docker" rm -f "$name" > /dev/null 2>&1 || true; "$docker" volume rm "$name" > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
"$root/usr/bin/tril" demo --only times --lines 200 --updates 41 --threads 1 --json -o "$folder/demo" > /dev/null

"$docker" build -q -t "$name" -f docs/Dockerfile "$(dirname "$root")" > /dev/null
port=$((20000 + $$ % 20000))
run=("$docker" run --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp -v "$name:/models"
  -e TRIL_ALLOW_ANYONE=true -e TRIL_MODEL=/models/model)
tar -C "$folder/demo" -cf - model | "${run[@]}" -i --rm --entrypoint /bin/busybox "$name" tar -x -f - -C /models
[ "$("${run[@]}" --rm --entrypoint /bin/busybox "$name" id -u)" = 10000 ]
if "${run[@]}" --rm --entrypoint /bin/busybox "$name" touch /usr/bin/x 2> /dev/null; then
  echo "the container's files can be written" >&2
  exit 1
fi

"${run[@]}" -d --name "$name" -p "127.0.0.1:$port:8080" "$name" > /dev/null
healthy() { "$docker" exec "$name" /bin/busybox sh -c 'busybox wget -q -O /dev/null http://127.0.0.1:$TRIL_PORT/health' 2> /dev/null; }
for ((i = 0; i < 300; ++i)); do
  ! healthy || break
  sleep 0.1
done
healthy || { "$docker" logs "$name" >&2; exit 1; }
translate() { curl -fsS "http://127.0.0.1:$port/translate" -d 'q=half past two'; }
before=$(translate)
"$docker" kill -s HUP "$name" > /dev/null
sleep 1
[ "$(translate)" = "$before" ]
"$docker" stop -t 150 "$name" > /dev/null
code=$("$docker" inspect -f '{{.State.ExitCode}}' "$name")
if [ "$code" != 0 ]; then
  "$docker" logs "$name" >&2
  echo "the server ended with $code when it was told to stop" >&2
  exit 1
fi
size=$("$docker" image inspect -f '{{.Size}}' "$name")
"$docker" rm -f "$name" > /dev/null
"$docker" image rm -f "$name" > /dev/null
echo "packages: the container is built and runs; the image has $size bytes"
[ "$size" -lt 80000000 ]
