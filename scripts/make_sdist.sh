#!/bin/sh
# Makes the source archive of the Python package: what `pip install tril-VERSION.tar.gz` compiles, with python/pyproject.toml at the
# top. Takes the files that git has. Needs Python 3.11 for what package indexes show, which PKG-INFO says.
#   make_sdist.sh FOLDER
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^#define TRIL_VERSION "([0-9.]+)"/\1/p' include/tril/version.h)
name=tril-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/$name"
git ls-files CMakeLists.txt LICENSE README.md cmake examples include python scripts/deps.sh src | tar -cf - -T - | tar -xf - -C "$scratch/$name"
cd "$scratch/$name"
sed -E -e 's|^(cmake.source-dir = )"\.\."|\1"."|' -e 's|"\.\./|"|' -e 's|^(readme = )"|\1"python/|' \
  -e 's|^(wheel.packages = )\["tril"\]|\1["python/tril"]|' python/pyproject.toml >pyproject.toml
rm python/pyproject.toml
python3 - "$version" >PKG-INFO <<'PYTHON'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
print("Metadata-Version: 2.1", "Name: tril", f"Version: {sys.argv[1]}", f"Summary: {project['description']}", sep="\n")
print(f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}", sep="\n")
for name in project["classifiers"]:
    print("Classifier:", name)
for name in project["dependencies"]:
    print("Requires-Dist:", name)
print("Description-Content-Type: text/markdown", "", sep="\n")
with open(project["readme"], encoding="utf-8") as file:
    print(file.read(), end="")
PYTHON
cd ..
tar --owner=0 --group=0 --sort=name -czf "$folder/$name.tar.gz" "$name"
ls -l "$folder/$name.tar.gz"
