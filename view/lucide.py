"""Write Lucide's icons as the package holds them, and their licence beside them.

`npm pack lucide-static@1.62.0` fetches the package; this turns its SVG files into `lucide.txt`, which is read
a line at a time: sorted by name, a line is a name, a tab, and its shapes on a 24 by 24 grid as JSON.
A path is its `d` alone, any other shape `[tag, attributes]`; a former name is `=` and the present one.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

Shape = str | list[object]


def shapes(svg: bytes) -> list[Shape]:
    """Return the shapes of an SVG file, in the order in which they are drawn."""
    found: list[Shape] = []
    for element in ElementTree.fromstring(svg):
        tag = element.tag.rpartition("}")[2]
        is_path = tag == "path" and element.attrib.keys() == {"d"}
        found.append(element.attrib["d"] if is_path else [tag, dict(element.attrib)])
    return found


def table(icons: dict[str, list[Shape]], present: set[str]) -> str:
    """Return one line for each icon; the present name of several for the same shapes has them."""
    texts = {name: json.dumps(icons[name], separators=(",", ":")) for name in sorted(icons)}
    owners = {text: name for name, text in texts.items() if name in present}
    return "".join(
        f"{name}\t{text if name in present or text not in owners else '=' + owners[text]}\n"
        for name, text in texts.items()
    )


def main(package: Path, folder: Path) -> None:
    """Read the npm package and write both files into the folder."""
    icons: dict[str, list[Shape]] = {}
    with tarfile.open(package) as archive:
        held = {PurePosixPath(one.name): one for one in archive if one.isfile()}
        read = lambda path: archive.extractfile(held[PurePosixPath(path)]).read()
        for path in held:
            if path.parent.name == "icons" and path.suffix == ".svg":
                icons[path.stem] = shapes(read(path))
        present = set(json.loads(read("package/icon-nodes.json")))
        licence = read("package/LICENSE")
    (folder / "lucide.txt").write_text(table(icons, present), encoding="utf-8")
    (folder / "lucide-LICENSE.txt").write_bytes(licence)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
