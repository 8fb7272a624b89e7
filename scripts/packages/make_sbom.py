#!/usr/bin/env python3
"""Writes a software bill of materials in CycloneDX's JSON (version 1.5) for the program, and for the modules of Python beside it.

  make_sbom.py BUILD SOURCES [MODULES...] > tril-VERSION.cdx.json
    BUILD    the build folder, with the program and its CMakeCache.txt
    SOURCES  the folder that scripts/archives/sources.sh has written
    MODULES  more build folders, of which only the modules of Python are listed

The components are the Debian packages of the shared libraries of the program, by ldd and dpkg, and those of which it has static
libraries or headers inside (scripts/archives/packages.txt), with what SentencePiece's sources bring along. nanobind is one for each
version with which a module was compiled in BUILD or MODULES. The file names no time and no random number: the same inputs give the same bytes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "archives", "packages.txt")
# The folders of SentencePiece's third_party/ that are compiled into it. Abseil and esaxx do not say their versions there.
BROUGHT_ALONG = {
    "protobuf-lite": ("BSD-3-Clause", "https://protobuf.dev/", "google/protobuf/port_def.inc", r"#define PROTOBUF_VERSION (\d+)"),
    "darts_clone": ("BSD-3-Clause", "https://github.com/s-yata/darts-clone", "darts.h", r'#define DARTS_VERSION "([^"]+)"'),
    "absl": ("Apache-2.0", "https://abseil.io/", None, None),
    "esaxx": ("MIT", "https://github.com/hillbig/esaxx", None, None),
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def owners(paths):
    """The packages that have these files; some packages still say /lib where they mean /usr/lib, and some the other way round."""
    spellings = {path: {path, "/usr" + path, path.removeprefix("/usr")} for path in paths}
    asked = subprocess.run(["dpkg-query", "-S", *sorted(set().union(*spellings.values()))], capture_output=True, text=True)
    package_of = {}
    for line in asked.stdout.splitlines():
        package, _, path = line.partition(": ")
        if package.startswith("diversion by "):  # Ubuntu's move to /usr
            continue
        package_of[path] = package.split(":")[0]
    packages = set()
    for path, names in spellings.items():
        found = [package_of[name] for name in sorted(names) if name in package_of]
        if not found:
            sys.exit(f"make_sbom.py: {path} is of no package")
        packages.add(found[0])
    return packages


def release():
    with open("/etc/os-release") as file:
        fields = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
    return fields["ID"].strip('"'), fields["VERSION_ID"].strip('"')


def packages_inside(use):
    """What ldd does not see."""
    with open(INSIDE, encoding="utf-8") as file:
        return [line.split()[0] for line in file if line.rstrip().endswith(" " + use) and not line.startswith("#")]


def unpacked(folder, homepage):
    """A source package that was compiled for the program: none of its binary packages is in it."""
    source, version = re.match(r"(\S+) \((\S+)\)", text_of(folder, "debian", "changelog")).groups()
    return {
        "type": "library",
        "bom-ref": f"deb-source:{source}",
        "name": source,
        "version": version,
        "purl": f"pkg:deb/{release()[0]}/{source}@{version.replace('+', '%2B')}?arch=source",
        "properties": [{"name": "source", "value": f"{source} {version}"}, {"name": "use", "value": "static"}],
        "externalReferences": [{"type": "website", "url": homepage}],
    }


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def brought_along(folder):
    """What is compiled from within SentencePiece's sources. An unknown folder ends the program: its licence has to be read first."""
    parts = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
    unknown = [name for name in parts if name not in BROUGHT_ALONG]
    if unknown:
        sys.exit(f"make_sbom.py: {folder} has {', '.join(unknown)}, which BROUGHT_ALONG does not know")
    entries = []
    for name in parts:
        licence, homepage, file, pattern = BROUGHT_ALONG[name]
        entry = {
            "type": "library",
            "bom-ref": f"sentencepiece:{name}",
            "name": name,
            "licenses": [{"license": {"id": licence}}],
            "properties": [{"name": "use", "value": "static, from the sources of sentencepiece"}],
            "externalReferences": [{"type": "website", "url": homepage}],
        }
        if file:
            version = re.search(pattern, text_of(folder, name, file)).group(1)
            if version.isdigit():  # protobuf: 3014000 is 3.14.0
                version = f"{int(version) // 1000000}.{int(version) // 1000 % 1000}.{int(version) % 1000}"
            entry["version"] = version
        entries.append(entry)
    return entries


def nanobind(caches):
    """nanobind, in each version that the build folders have found, and its hash table; nothing if they have no module of Python."""
    pythons = {}
    for cache in caches:
        for python, version in re.findall(r"^TRIL_NANOBIND_([0-9.]+):[A-Z]+=(.+)$", cache, re.MULTILINE):
            pythons.setdefault(version, set()).add(python)
    entries = []
    for version, found in sorted(pythons.items()):
        used = ", ".join(sorted(found, key=lambda python: [int(part) for part in python.split(".")]))
        more = {"version": version, "purl": f"pkg:pypi/nanobind@{version}"}
        entries.append(inside_module("nanobind", f"@{version}", more, "BSD-3-Clause", "https://github.com/wjakob/nanobind", f" ({used})"))
    if entries:
        entries.append(inside_module("robin-map", "", {}, "MIT", "https://github.com/Tessil/robin-map", ""))
    return entries


def inside_module(name, suffix, more, licence, homepage, pythons):
    return {
        "type": "library",
        "bom-ref": f"pypi:{name}{suffix}",
        "name": name,
        **more,
        "licenses": [{"license": {"id": licence}}],
        "properties": [{"name": "use", "value": f"static, in the module of Python alone{pythons}"}],
        "externalReferences": [{"type": "website", "url": homepage}],
    }


def components_of(packages, use):
    if not packages:
        return []
    fields = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Homepage")
    told = output("dpkg-query", "-W", "-f", "\t".join("${%s}" % field for field in fields) + "\n", *packages)
    return [component(use, *line.split("\t")) for line in told.splitlines()]


def component(use, package, version, architecture, source, source_version, homepage):
    system, number = release()
    entry = {
        "type": "library",
        "bom-ref": f"deb:{package}",
        "name": package,
        "version": version,
        "purl": f"pkg:deb/{system}/{package}@{version.replace('+', '%2B').replace(':', '%3A')}"
                f"?arch={architecture}&distro={system}-{number}",
        "properties": [
            {"name": "source", "value": f"{source} {source_version}"},
            {"name": "use", "value": use},
        ],
    }
    if homepage:
        entry["externalReferences"] = [{"type": "website", "url": homepage}]
    return entry


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, sources, *modules = sys.argv[1:]
    program = os.path.realpath(os.path.join(build, "tril"))
    version = output(program, "--version").split()[1]
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    paths = re.findall(r"(?:=> |^\s*)(/\S+) \(0x", output("ldd", program), re.MULTILINE)
    components = components_of(sorted(owners(paths)), "shared")
    for use in ("static", "headers"):
        components += components_of(packages_inside(use), use)
    components.append(unpacked(os.path.join(sources, "onednn"), "https://github.com/oneapi-src/oneDNN"))
    components += brought_along(os.path.join(sources, "sentencepiece", "third_party"))
    components += nanobind([text_of(folder, "CMakeCache.txt") for folder in (build, *modules)])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "tril",
                "name": "tril",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
        },
        "components": components,
        "dependencies": [{"ref": "tril", "dependsOn": [entry["bom-ref"] for entry in components]}],
    }
    json.dump(document, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
