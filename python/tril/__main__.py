"""The program ``tril``: ``python -m tril translate -m DIR``."""

import sys


def main() -> int:
    from . import _tril

    return _tril.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
