#!/bin/sh
# The files with which docs/packages.md runs a service: systemd understands docs/tril.service and rates its exposure below 2 of 10,
# and docs/compose.yml is YAML with the settings that make the container's files read-only.
# usage: check_service_files.sh compose|unit PROGRAM      exit code 77: this machine cannot tell, and why is said
set -eu
cd "$(dirname "$0")/.."
program=${2:-}

skip() {
  echo "service files: skipped: $1"
  exit 77
}

unit() {
  command -v systemd-analyze >/dev/null 2>&1 || skip "there is no systemd-analyze"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  sed "s|^ExecStart=/usr/bin/tril|ExecStart=$program|" docs/tril.service >"$scratch/tril.service"
  # What it does not understand is a warning to it; what it says of the machine's own units is not ours.
  words=$(systemd-analyze verify --man=no "$scratch/tril.service" 2>&1 || true)
  if printf '%s\n' "$words" | grep -F "tril.service" >&2; then
    exit 1
  fi
  rating=$(systemd-analyze security --offline=true --no-pager docs/tril.service 2>/dev/null |
    sed -nE 's/.*Overall exposure level for tril.service: ([0-9.]+).*/\1/p')
  [ -n "$rating" ] || skip "this systemd-analyze rates no files"
  if ! awk "BEGIN { exit !($rating < 2) }"; then
    echo "service files: the exposure of docs/tril.service is $rating, not below 2; see systemd-analyze security" >&2
    exit 1
  fi
  echo "service files: systemd understands docs/tril.service; its exposure is $rating"
}

compose() {
  python3 -c 'import yaml' 2>/dev/null || skip "this python3 has no module yaml"
  python3 - <<'CHECK'
import yaml

with open("docs/compose.yml") as file:
    service = yaml.safe_load(file)["services"]["tril"]
assert service["read_only"] is True and service["cap_drop"] == ["ALL"], service
assert service["volumes"] == ["models:/models"], service
assert "TRIL_MODEL" in service["environment"], service
# The image's server asks nobody for a key.
assert service["ports"] == ["127.0.0.1:8080:8080"] or "TRIL_API_KEY" in service["environment"], service
CHECK
  echo "service files: docs/compose.yml is in order"
}

case ${1:-} in
  compose | unit) "$1" ;;
  *) sed -n 's/^# usage: //p' "$0" >&2 && exit 2 ;;
esac
