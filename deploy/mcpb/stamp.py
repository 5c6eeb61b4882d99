"""Give each file of a bundle the time of the commit, so that the same commit gives the same bytes.

The program that packs it writes the time of the packing.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo


def main(bundle: Path, committed_s: int) -> None:
    """Repack a bundle with its files in the order of their names, all of one time."""
    with ZipFile(bundle) as packed:
        files = [(info, packed.read(info)) for info in packed.infolist()]
    with ZipFile(bundle, "w", ZIP_DEFLATED) as stamped:
        for info, content in sorted(files, key=lambda one: one[0].filename):
            again = ZipInfo(info.filename, time.gmtime(committed_s)[:6])
            again.external_attr = info.external_attr
            stamped.writestr(again, content, ZIP_DEFLATED)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
