#!/usr/bin/env python3
"""Writes a software bill of materials in CycloneDX's JSON (version 1.5) for the program.

  make_sbom.py PROGRAM > tril-VERSION.cdx.json

The components are the Debian packages of the libraries that the program is linked with, by ldd and dpkg, and the packages of which
only headers are used. The file names no time and no random number: the same inputs give the same bytes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

HEADERS = ["nlohmann-json3-dev", "libcli11-dev", "libboost-dev"]  # compiled into the program, so ldd does not see them


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


def component(package, linked):
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
            {"name": "use", "value": "linked" if linked else "headers"},
        ],
    }
    if homepage:
        entry["externalReferences"] = [{"type": "website", "url": homepage}]
    return entry


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.realpath(sys.argv[1])
    version = output(program, "--version").split()[1]
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    paths = re.findall(r"(?:=> |^\s*)(/\S+) \(0x", output("ldd", program), re.MULTILINE)
    linked = sorted({owner(path) for path in paths})
    components = [component(package, True) for package in linked] + [component(package, False) for package in HEADERS]
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
