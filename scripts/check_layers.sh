#!/bin/sh
# The layers hold: an include of a folder that stands below does not compile. Tried out for every folder with the include path
# of its own CMake target, and every include written today is held against the same list.
set -eu
cd "$(dirname "$0")/.."
fail=0

# The lists of CMakeLists.txt: "tril_layer(ops USES base kern tensor ...)" -> "ops: base kern tensor"
layers=$(sed -nE 's/^tril_layer\(([a-z]+) *(USES ([a-z ]+))?.*$/\1:\3/p' CMakeLists.txt | sed -E 's/ LINK.*//')
folders=$(printf '%s\n' "$layers" | cut -d: -f1)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for line in $(printf '%s\n' "$layers" | tr ' ' ','); do
  folder=${line%%:*}
  allowed="$folder $(printf '%s' "${line#*:}" | tr ',' ' ')"
  path=""
  for a in $allowed; do
    mkdir -p "$scratch/$a" && ln -sfn "$PWD/src/$a" "$scratch/$a/$a"
    path="$path -I$scratch/$a"
  done
  for other in $folders; do
    case " $allowed " in *" $other "*) continue ;; esac
    if grep -nE "#include \"$other/" src/"$folder"/*.h src/"$folder"/*.cpp 2>/dev/null; then
      echo "layers: $folder/ includes $other/, which is not among what it uses: $allowed" >&2
      fail=1
    fi
    header=$(ls src/"$other"/*.h 2>/dev/null | head -n 1)
    [ -n "$header" ] || continue
    if printf '#include "%s"\n' "${header#src/}" | ${CXX:-c++} -std=c++20 $path -fsyntax-only -x c++ - 2>/dev/null; then
      echo "layers: an include of $other/ compiles in $folder/" >&2
      fail=1
    fi
  done
done
[ "$fail" -eq 0 ] && echo "layers: every arrow goes down"
exit "$fail"
