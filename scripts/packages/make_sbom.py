#!/usr/bin/env python3
"""Writes a software bill of materials in CycloneDX's JSON (version 1.5) for the program.

  make_sbom.py PROGRAM SOURCES > tril-VERSION.cdx.json      SOURCES: the folder that scripts/archives/sources.sh has written

The components are the Debian packages of the shared libraries of the program, by ldd and dpkg, and those of which it has static
libraries or headers inside (scripts/archives/packages.txt). The file names no time and no random number: the same inputs give the
same bytes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "archives", "packages.txt")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def owner(path):
    """The package that has a file; some packages still say /lib where they mean /usr/lib."""
    for name in (path, "/usr" + path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"make_sbom.py: {path} is of no package")


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
    with open(os.path.join(folder, "debian", "changelog"), encoding="utf-8") as file:
        source, version = re.match(r"(\S+) \((\S+)\)", file.readline()).groups()
    return {
        "type": "library",
        "bom-ref": f"deb-source:{source}",
        "name": source,
        "version": version,
        "purl": f"pkg:deb/{release()[0]}/{source}@{version.replace('+', '%2B')}?arch=source",
        "properties": [{"name": "source", "value": f"{source} {version}"}, {"name": "use", "value": "static"}],
        "externalReferences": [{"type": "website", "url": homepage}],
    }


def component(package, use):
    form = "${binary:Package}\n${Version}\n${Architecture}\n${source:Package}\n${source:Version}\n${Homepage}"
    version, architecture, source, source_version, homepage = output("dpkg-query", "-W", "-f", form, package).split("\n")[1:6]
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
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = os.path.realpath(sys.argv[1])
    version = output(program, "--version").split()[1]
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    paths = re.findall(r"(?:=> |^\s*)(/\S+) \(0x", output("ldd", program), re.MULTILINE)
    components = [component(package, "shared") for package in sorted({owner(path) for path in paths})]
    components += [component(package, use) for use in ("static", "headers") for package in packages_inside(use)]
    components.append(unpacked(os.path.join(sys.argv[2], "onednn"), "https://github.com/oneapi-src/oneDNN"))
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
