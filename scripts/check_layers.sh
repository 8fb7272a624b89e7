#!/bin/sh
# The house is as CMakeLists.txt says: a folder includes what it USES and nothing else, and uses all that it names; an include of
# a folder that stands below it does not compile, tried out with the include path of its own CMake target. A folder holds files
# or folders, never both. No text of a library names an option of the command line.
set -eu
cd "$(dirname "$0")/.."
fail=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# "tril_layer(ops "sentence" COLD USES base kern LINK ...)" -> "ops base kern"
tr '\n' ' ' <CMakeLists.txt | grep -oE 'tril_layer\([^)]*\)' | sed -E 's/^tril_layer\(([a-z0-9_/]+) "[^"]*"/\1/; s/ COLD / /; s/ LINK .*//; s/ USES / /; s/\)$//; s/ +/ /g' >"$scratch/rooms"
folders=$(cut -d' ' -f1 "$scratch/rooms")

complain() {
  echo "layers: $1" >&2
  fail=1
}
for d in $(find src -mindepth 1 -type d); do
  [ -z "$(find "$d" -maxdepth 1 -name '*.h' -o -maxdepth 1 -name '*.cpp')" ] || printf '%s\n' "$folders" | grep -qx "${d#src/}" \
    || complain "$d has no line in CMakeLists.txt"
done

reach() { # a folder and all that it uses, directly or not
  seen=""
  todo=$1
  while [ -n "$todo" ]; do
    next=""
    for r in $todo; do
      case " $seen " in *" $r "*) continue ;; esac
      seen="$seen $r"
      next="$next $(grep -E "^$r( |\$)" "$scratch/rooms" | cut -s -d' ' -f2-)"
    done
    todo=$(printf '%s' "$next" | tr -s ' ' | sed 's/^ //')
  done
  printf '%s' "$seen"
}
for folder in $folders; do
  mkdir -p "$scratch/$folder.root/$(dirname "$folder")"
  ln -sfn "$PWD/src/$folder" "$scratch/$folder.root/$folder"
done
# Libraries name fields (`beam_size`); only cli/ knows by which options they are set.
flags=$(grep -rnE '^[^/]*"[^"]*--[a-z][^"]*"' src --include='*.cpp' --include='*.h' | grep -vE '^src/cli/' || true)
[ -z "$flags" ] || complain "a library names an option of the command line, not the field that it sets:
$flags"
while read -r folder uses; do
  included=$(cat src/"$folder"/*.h src/"$folder"/*.cpp 2>/dev/null | sed -nE 's|^#include "([a-z0-9_/]+)/[^/"]+".*|\1|p' | sort -u)
  for other in $included; do
    [ "$other" != "$folder" ] && [ "${other%%/*}" != hwy ] || continue
    case " $uses " in *" $other "*) ;; *) complain "$folder/ includes $other/, which is not among what it uses: $uses" ;; esac
  done
  for other in $uses; do
    printf '%s\n' "$included" | grep -qx "$other" || complain "$folder/ uses $other/ by CMakeLists.txt, and includes nothing of it"
  done
  allowed=$(reach "$folder")
  path=""
  for a in $allowed; do path="$path -I$scratch/$a.root"; done
  for other in $folders; do
    case " $allowed " in *" $other "*) continue ;; esac
    header=$(ls src/"$other"/*.h 2>/dev/null | head -n 1)
    [ -n "$header" ] || continue
    printf '#if __has_include("%s")\n#error "%s can be included"\n#endif\n' "${header#src/}" "${header#src/}"
  done >"$scratch/tried.cpp"
  ${CXX:-c++} -std=c++20 $path -fsyntax-only "$scratch/tried.cpp" || complain "an include of a folder that stands below $folder/ compiles in it"
done <"$scratch/rooms"
[ "$fail" -eq 0 ] && echo "layers: every arrow goes down"
exit "$fail"
