#!/bin/sh
# Copies the terms of packages, and the texts of the licences that these name by the place that Debian keeps them at.
#   copy_terms.sh FOLDER PACKAGE...      a PACKAGE is installed, or it is the path of an unpacked source package
set -eu
folder=$1
shift
common=/usr/share/common-licenses
mkdir -p "$folder"
for package; do
  case $package in
    /*) cp "$package/debian/copyright" "$folder/${package##*/}" ;;
    *) cp -L "/usr/share/doc/$package/copyright" "$folder/$package" ;;
  esac
done
grep -d skip -hoE "$common/[A-Za-z0-9.+-]*[A-Za-z0-9]" "$folder"/* | sort -u | while read -r text; do
  mkdir -p "$folder/common-licenses"
  cp -L "$text" "$folder/common-licenses/"
done
