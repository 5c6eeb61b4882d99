"""Hooks of mkdocs: links that leave the pages, and the pictures of components."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")
_SHEET = re.compile(r"<!-- sheet: ([\w.]+) -->")
_SHEETS = Path("build/components")
"""Pictures that `make docs` drew, as `Button-light.png`; empty without a browser."""

_log = logging.getLogger("mkdocs.hooks")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pictures of components beside their page."""
    for picture in sorted(_SHEETS.glob("*.png")):
        place = f"reference/components/{picture.name}"
        files.append(File.generated(config, place, abs_src_path=str(picture.absolute())))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Show the sheets of components, and name the file of a link that leaves the pages.

    `[text](../examples/README.md)` becomes the text and the file's path; a dead one is a warning.
    """
    docs = Path(config["docs_dir"])
    here = (docs / page.file.src_uri).parent

    def name_file(link: re.Match[str]) -> str:
        text, address = link.groups()
        target = (here / address).resolve()
        if docs in target.parents:
            return link[0]
        if not target.exists():
            _log.warning("%s: there is no %s", page.file.src_uri, address)
        path = f"`{target.relative_to(docs.parent)}`"
        return path if text.strip("`") in path else f"{text} ({path})"

    def show_sheet(comment: re.Match[str]) -> str:
        pictures = (f"{comment[1]}-{theme}.png" for theme in ("light", "dark"))
        return "\n".join(
            f"![{comment[1]}, drawn](components/{one}){{ width=48% }}"
            for one in pictures
            if (_SHEETS / one).exists()
        )

    return _SHEET.sub(show_sheet, _LINK.sub(name_file, markdown))
