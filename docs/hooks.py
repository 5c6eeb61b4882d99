"""Hooks of mkdocs: links that leave the pages, pictures of components, and the pages for models."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

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


def on_env(env: Any, *, config: Any, files: Files) -> Any:
    """Add the list of pages and their text for models, in the order of the navigation.

    Source: https://llmstxt.org
    """
    pages = list(_follow_pages(files))
    head = f"# {config['site_name']}\n\n> {config['site_description']}\n"
    links = "".join(f"- [{page.title}]({page.url})\n" for page in pages)
    texts = "".join(f"\n<!-- {page.url} -->\n\n{page.markdown}\n" for page in pages)
    everything = "- [All pages in one file](llms-full.txt)\n"
    for name, text in {
        "llms.txt": f"{head}\n## Pages\n\n{links}\n## Optional\n\n{everything}",
        "llms-full.txt": head + texts,
    }.items():
        files.append(File.generated(config, name, content=text))
    return env


def _follow_pages(files: Files) -> Iterator[Page]:
    home = files.get_file_from_path("index.md")
    page = home and home.page
    while page:
        yield page
        page = page.next_page


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
