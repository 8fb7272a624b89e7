#!/bin/sh
# Downloads, with apt, the sources of libraries that Debian packages without a static library, or with much that tril does not use.
# What is there already is not downloaded again.
#   sources.sh FOLDER      FOLDER/curl, FOLDER/onednn, …, with the distribution's patches
# The versions are those of the installed packages, so that they fit their headers. On Debian 12, oneDNN is Debian 13's: its product
# of matrices compiles without the rest. The system's own lists of packages stay as they are. Needs dpkg-dev.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$folder"
lists=$folder/lists
entries=$folder/sources.list

# read_lists: what apt knows of the sources of this system's packages.
read_lists() {
  mkdir -p "$lists/partial"
  for origin in Debian Ubuntu; do
    apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' "Origin: $origin"
  done | sort -u > "$entries"
  sed -n 's/ bookworm main$/ trixie main/p' "$entries" >> "$entries.newer"
  cat "$entries.newer" >> "$entries"
  rm "$entries.newer"
  if [ ! -s "$entries" ]; then
    echo "sources: apt has no lists of Debian or Ubuntu; run apt-get update" >&2
    exit 1
  fi
  apt update -qq
  : > "$lists/complete"
}

apt() {
  apt-get -o Dir::Etc::SourceList="$entries" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$lists" \
    -o APT::Sandbox::User=root "$@"
}

# get NAME SOURCE: the source package as FOLDER/NAME.
get() {
  [ ! -d "$1" ] || return 0
  [ -e "$lists/complete" ] || read_lists
  mkdir -p "download/$1"
  (cd "download/$1" && apt source -qq --download-only "$2" > log 2>&1) || { cat "download/$1/log" >&2; exit 1; }
  dpkg-source --no-check -x "download/$1"/*.dsc "$1.part" > "download/$1/log" 2>&1 || { cat "download/$1/log" >&2; exit 1; }
  mv "$1.part" "$1"
  rm -rf "download/$1" ./*.orig.tar.*
}

# of PACKAGE: its source package with the version that is installed.
of() {
  dpkg-query -W -f '${source:Package}=${source:Version}' "$1"
}

get curl "$(of libcurl4-openssl-dev)"
get fmtlib "$(of libfmt-dev)"
get onednn onednn
get sentencepiece "$(of libsentencepiece-dev)"
get spdlog "$(of libspdlog-dev)"
