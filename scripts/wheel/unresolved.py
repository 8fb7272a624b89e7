"""Fails if the module of a wheel needs a function that nothing in the wheel has, and that has no version of the C library: the linker
allows it in a shared library, since Python's own functions are of this kind, and auditwheel does not look for it.

python unresolved.py WHEEL      needs pyelftools, which auditwheel brings
"""

import io
import sys
import zipfile

from elftools.elf.elffile import ELFFile


def main() -> int:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        files = {name: ELFFile(io.BytesIO(wheel.read(name))) for name in wheel.namelist() if ".so" in name}
        symbols = {name: symbols_of(elf) for name, elf in files.items()}
    defined = {symbol for own, _ in symbols.values() for symbol in own}
    code = 0
    for name, (_, needed) in symbols.items():
        missing = sorted(s for s in needed - defined if not s.startswith(("Py", "_Py")))
        if missing:
            print(f"{name} needs {', '.join(missing)}: scripts/wheel/since_glibc_2_28.c may provide it", file=sys.stderr)
            code = 1
    return code


def symbols_of(elf):
    """The names that a library defines, and those that it needs of others without a version."""
    versions = elf.get_section_by_name(".gnu.version")
    own, needed = set(), set()
    for i, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
        if symbol["st_shndx"] != "SHN_UNDEF":
            own.add(symbol.name)
        elif symbol["st_info"]["bind"] != "STB_WEAK" and symbol.name and not has_version(versions, i):
            needed.add(symbol.name)
    return own, needed


def has_version(versions, index):
    number = versions.get_symbol(index)["ndx"]
    return isinstance(number, int) and number > 1


if __name__ == "__main__":
    sys.exit(main())
