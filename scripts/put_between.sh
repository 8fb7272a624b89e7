#!/bin/sh
# Puts standard input into a page, between its marks <!-- NAME begins --> and <!-- NAME ends -->.
# usage: put_between.sh NAME docs/page.md < text
set -eu
text=$(mktemp)
page=$(mktemp)
trap 'rm -f "$text" "$page"' EXIT
cat >"$text"
grep -q "^<!-- $1 begins -->\$" "$2" && grep -q "^<!-- $1 ends -->\$" "$2" || {
  echo "put_between.sh: $2 has no lines <!-- $1 begins --> and <!-- $1 ends -->" >&2
  exit 1
}
awk -v text="$text" -v name="$1" '
  $0 == "<!-- " name " ends -->" { within = 0 }
  !within { print }
  $0 == "<!-- " name " begins -->" { within = 1; while ((getline line < text) > 0) print line }' "$2" >"$page"
cat "$page" >"$2"
