"""Write the face Inter as the package holds it: its files, what each of them covers, its licence.

`npm pack @fontsource-variable/inter@5.3.0` fetches the package; of its files the upright ones with an axis
of weights are taken, one for each script.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path


def main(package: Path, folder: Path) -> None:
    """Read the npm package and write what is taken of it into the folder."""
    folder.mkdir(exist_ok=True)
    with tarfile.open(package) as archive:
        for one in archive:
            name, held = Path(one.name).name, archive.extractfile(one)
            if held is None:
                continue
            if name.endswith("-wght-normal.woff2"):
                subset = name.removeprefix("inter-").removesuffix("-wght-normal.woff2")
                (folder / f"{subset}.woff2").write_bytes(held.read())
            elif one.name in {"package/unicode.json", "package/LICENSE"}:
                (folder / name).write_bytes(held.read())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
