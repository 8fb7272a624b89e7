#!/bin/sh
# Writes the documentation site to build-site/html: the pages of docs/, and the references of the C++, C and Python interfaces. A dead
# link, and a public name without documentation, are errors.
set -eu
cd "$(dirname "$0")/.."
rm -rf build-site
mkdir -p build-site/pages/reference
cp -r docs/* CONTRIBUTING.md CHANGELOG.md CMakeLists.txt LICENSE examples build-site/pages/
# The pages of the project's root and those of docs/ are in one folder now.
sed -i 's#](\.\./#](#g' build-site/pages/*.md
sed -i 's#](docs/#](#g' build-site/pages/CONTRIBUTING.md build-site/pages/CHANGELOG.md
doxygen docs/Doxyfile
mv build-site/doxygen/html build-site/pages/reference/cpp
python3 scripts/python_reference.py > build-site/pages/reference/python.md
mkdocs build --strict > build-site/log 2>&1 || { cat build-site/log >&2; exit 1; }
echo "the site is build-site/html/index.html"
