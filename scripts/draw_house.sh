#!/bin/sh
# Draws the house into a page, between its two marks, from the list of rooms that CMake writes (tril_layer in CMakeLists.txt).
# usage: draw_house.sh build/rooms.txt docs/architecture.md
set -eu
drawn=$(mktemp)
trap 'rm -f "$drawn"' EXIT

# Each line of the list: folder|what is in it|folders that it includes. The picture is of the outer folders, with the arrows that
# no longer way replaces; the table is of all rooms.
awk -F'|' '
  function outer(folder) { sub("/.*", "", folder); return folder }
  $1 == "" { next }
  {
    o = outer($1)
    if (!(o in seen)) { seen[o] = 1; order[++n] = o }
    rows[++m] = "| `" $1 "/` | " $2 " | " ($3 == "" ? "" : $3) " |"
    split($3, used, " ")
    for (i in used) if (outer(used[i]) != o) uses[o, outer(used[i])] = 1
  }
  END {
    for (i = 1; i <= n; i++)                    # what is reached at all, from the ground up
      for (j = 1; j < i; j++) if ((order[i], order[j]) in uses) {
        reached[i, j] = 1
        for (k = 1; k < j; k++) if ((j, k) in reached) { reached[i, k] = 1; longer[i, k] = 1 }
      }
    print "```mermaid\nflowchart TD"
    for (i = n; i >= 1; i--)
      for (j = i - 1; j >= 1; j--)
        if ((order[i], order[j]) in uses && !((i, j) in longer)) print "  " order[i] " --> " order[j]
    print "```\n\n| folder | what is in it | includes |\n|---|---|---|"
    for (i = 1; i <= m; i++) print rows[i]
  }' "$1" >"$drawn"

"$(dirname "$0")/put_between.sh" "the house" "$2" <"$drawn"
