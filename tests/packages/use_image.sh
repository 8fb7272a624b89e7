#!/bin/bash
# Runs the server from the container's files: nothing else is there, they cannot be written, and the user is not root. The model
# comes by https from a hub on the loopback, into the volume, if the certificates of the image vouch for that hub; then documents of
# each kind are translated, and languages detected.
#   use_image.sh ROOT
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$1")
folder=$(mktemp -d)
server= hub=
trap 'kill $server $hub 2> /dev/null || true; umount "$folder/root/etc/ssl/certs/ca-certificates.crt" "$folder/root/models" "$folder/root/tmp" "$folder/root/proc" "$folder/root/dev" "$folder/root" 2> /dev/null; rm -rf --one-file-system "$folder"' EXIT

mkdir "$folder/root" "$folder/models"
"$root/usr/bin/tril" demo --only times --lines 200 --updates 41 --threads 1 --json -o "$folder/demo" > /dev/null
chmod -R a+rX "$folder"
chown 10000:10000 "$folder/models"
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
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hub -addext subjectAltName=IP:127.0.0.1 -keyout "$folder/key" \
  -out "$folder/certificate" 2> /dev/null
python3 "$here/serve_hub.py" "$folder/demo/model" $((port + 1)) "$folder/certificate" "$folder/key" 2> /dev/null &
hub=$!
endpoint=https://127.0.0.1:$((port + 1))
for ((i = 0; i < 100; ++i)); do
  ! curl -fsS --cacert "$folder/certificate" -o /dev/null "$endpoint/api/models/acme/model/revision/main" 2> /dev/null || break
  sleep 0.1
done
if inside HF_ENDPOINT=$endpoint tril pull acme/model > "$folder/pull.log" 2>&1 || ! grep -qi certificate "$folder/pull.log"; then
  echo "a hub that no certificate of the image vouches for was not refused:" >&2
  cat "$folder/pull.log" >&2
  exit 1
fi
certificates=$root/etc/ssl/certs/ca-certificates.crt
cat "$certificates" "$folder/certificate" > "$folder/certificates"
mount --bind "$folder/certificates" "$folder/root${certificates#"$root"}"
"${as_user[@]}" TRIL_MODEL=acme/model HF_ENDPOINT=$endpoint TRIL_PORT=$port TRIL_HOST=127.0.0.1 \
  tril serve --pull --quiet > "$folder/server.log" 2>&1 &
server=$!
for ((i = 0; i < 100; ++i)); do
  ! inside TRIL_PORT=$port sh -c 'busybox wget -q -O /dev/null http://127.0.0.1:$TRIL_PORT/health' 2> /dev/null || break
  sleep 0.1
done
inside TRIL_PORT=$port sh -c 'busybox wget -q -O /dev/null http://127.0.0.1:$TRIL_PORT/health' ||
  { cat "$folder/server.log" >&2; exit 1; }
[ -d "$folder/models/hub/models--acme--model" ]
inside sh -c "busybox wget -q -O - --post-data 'q=half past two' http://127.0.0.1:$port/translate" | grep translatedText

mkdir "$folder/documents"
cd "$folder/documents"
cp "$here"/../office/samples/*.{docx,odt,pptx,xlsx,epub} .
echo "half past two" > text.txt
echo "# half *past* two" > notes.md
echo "<p>half <b>past</b> two</p>" > page.html
printf '1\n00:00:01,000 --> 00:00:02,000\nhalf past two\n' > film.srt
printf 'msgid ""\nmsgstr ""\n\nmsgid "half past two"\nmsgstr ""\n' > program.po
echo '{"time": "half past two"}' > program.json
echo "time=half past two" > program.properties
printf '\\section{half past two}\n' > paper.tex
echo '<tmx version="1.4"><header/><body><tu><tuv xml:lang="en"><seg>half past two</seg></tuv></tu></body></tmx>' > memory.tmx
for document in *; do
  answer=$(curl -fsS -F "file=@$document" -F source=en -F target=de "http://127.0.0.1:$port/translate_file") ||
    { echo "$document was not translated" >&2; exit 1; }
  address=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["translatedFileUrl"])' "$answer")
  curl -fsS -o "$folder/translated" "$address"
  [ -s "$folder/translated" ] && ! cmp -s "$document" "$folder/translated"
done
echo "packages: the image translates $(ls | wc -l) kinds of documents"
for sentence in "fr:Le chat dort sur la chaise." "ja:猫は椅子で寝ています。" "ru:Кошка спит на стуле." "th:แมวนอนอยู่บนเก้าอี้"; do
  curl -fsS --data-urlencode "q=${sentence#*:}" "http://127.0.0.1:$port/detect" | grep -q "\"language\": *\"${sentence%%:*}\""
done

kill -TERM $server
wait $server
packed=$(tar -C "$root" -cf - . | gzip -9 | wc -c)
echo "packages: the image has $((packed / 1000000)) MB to download, $(du -sm --apparent-size "$root" | cut -f 1) MiB unpacked"
[ "$packed" -lt 40000000 ]
[ "$(du -sm --apparent-size "$root" | cut -f 1)" -lt 76 ] # 80 MB
