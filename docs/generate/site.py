"""Look through the built documentation: `make docs` ends with this.

mkdocs finds dead links between pages; here every page is read as a browser reads it. Whatever it
loads lies in the site itself, and nothing that a link of its own names is missing. `llms.txt` and
`llms-full.txt` have every page, and the site has no file that Python wrote for itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"src", "srcset", "poster", "data", "action"}
"""Attributes whose address a browser fetches, or sends to, by itself."""

_LISTED = re.compile(r"^- \[[^\]]+\]\(([^)]+)\)$", re.MULTILINE)
_IN_FULL = re.compile(r"^<!-- (\S+\.html) -->$", re.MULTILINE)
_IN_STYLE = re.compile(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)")


class _Page(HTMLParser):
    """The addresses of a page.

    Attributes:
        loaded: What it fetches.
        linked: Where its links lead.
        ids: Where links can lead in it.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"}:
                self.ids.add(value or "")
            elif name == "href" and tag == "a":
                self.linked.append(value or "")
            elif name in LOADS or (name == "href" and tag == "link"):
                self.loaded.append(value or "")


def faults(site: Path) -> Iterator[str]:
    """Return the faults of the site, one sentence each."""
    yield from (f"{path.relative_to(site)} is no page" for path in site.rglob("*.py[co]"))
    yield from _faults_for_models(site)
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name} loads {one}" for one in page.loaded if _is_foreign(one))
        if name != Path("404.html"):  # which is shown at any address
            for one in (*page.loaded, *page.linked):
                if not _is_foreign(one) and not urlsplit(one).scheme and _is_dead(one, path, pages):
                    yield f"{name} leads to {one}, which is not there"
    for path in sorted(site.rglob("*.css")):
        named = (match[1] or match[2] for match in _IN_STYLE.finditer(path.read_text("utf-8")))
        yield from (f"{path.relative_to(site)} loads {one}" for one in named if _is_foreign(one))


def _faults_for_models(site: Path) -> Iterator[str]:
    pages = {str(path.relative_to(site)) for path in site.rglob("*.html")} - {"404.html"}
    listed = set(_LISTED.findall((site / "llms.txt").read_text("utf-8")))
    full = set(_IN_FULL.findall((site / "llms-full.txt").read_text("utf-8")))
    yield from (
        f"llms.txt lists {page}, which is not there" for page in listed - pages - {"llms-full.txt"}
    )
    yield from (f"llms.txt has no {page}" for page in pages - listed)
    yield from (f"llms-full.txt has no {page}" for page in pages - full)


def _is_dead(address: str, path: Path, pages: Mapping[Path, _Page]) -> bool:
    parts = urlsplit(address)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    target = target / "index.html" if target.is_dir() else target
    if not parts.fragment:
        return not target.is_file()
    return target not in pages or unquote(parts.fragment) not in pages[target].ids


def _is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) and parts.scheme in {"", "http", "https"}


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).resolve()))
    sys.stderr.writelines(f"{one}\n" for one in found)
    raise SystemExit(1 if found else 0)
