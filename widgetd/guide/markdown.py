"""Read the Markdown that pages of the guide are written in, and no more of it than they use.

Headings, paragraphs, lists of one level, fenced blocks; within them code, emphasis and links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

_ITEM = re.compile(r"(?:-|(?P<number>\d+)\.) ")
_SPAN = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*"
    r"|(?P<link>\[(?P<text>[^\]]+)\]\((?P<href>[^)]+)\))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of text of one kind; `href` is where a link leads."""

    kind: Literal["text", "code", "strong", "em", "link"]
    text: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a page.

    Attributes:
        kind: What it is; of the lists, `ol` counts.
        lines: The spans of a heading or a paragraph, or of each item of a list.
        text: Of a fenced block, as it stands.
    """

    kind: Literal["h1", "h2", "p", "ul", "ol", "fence"]
    lines: tuple[tuple[Span, ...], ...] = ()
    text: str = ""


def blocks(text: str) -> Iterator[Block]:
    """The parts of a page, in order."""
    lines = iter(text.splitlines())
    running: list[str] = []
    for line in lines:
        if line.startswith("```"):
            yield from _closed(running)
            fenced = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                fenced.append(inner)
            yield Block(kind="fence", text="\n".join(fenced))
        elif line.startswith("#"):
            yield from _closed(running)
            marks, _, heading = line.partition(" ")
            kind: Literal["h1", "h2"] = "h1" if marks == "#" else "h2"
            yield Block(kind=kind, lines=(spans(heading),))
        elif line.strip():
            running.append(line)
        else:
            yield from _closed(running)
    yield from _closed(running)


def _closed(running: list[str]) -> Iterator[Block]:
    """The paragraph or the list that `running` holds, which is empty from then on."""
    if not running:
        return
    first = _ITEM.match(running[0])
    if first is None:
        yield Block(kind="p", lines=(spans(" ".join(running)),))
    else:
        items: list[str] = []
        for line in running:
            mark = _ITEM.match(line)
            if mark is not None:
                items.append(line[mark.end() :])
            else:
                items[-1] += f" {line.strip()}"
        kind: Literal["ul", "ol"] = "ol" if first["number"] else "ul"
        yield Block(kind=kind, lines=tuple(map(spans, items)))
    running.clear()


def spans(text: str) -> tuple[Span, ...]:
    """The runs of one line of text."""
    found: list[Span] = []
    end = 0
    for match in _SPAN.finditer(text):
        if match.start() > end:
            found.append(Span(kind="text", text=text[end : match.start()]))
        end = match.end()
        kind: Any = match.lastgroup
        said = match["text" if kind == "link" else kind]
        found.append(Span(kind=kind, text=said, href=match["href"] or ""))
    if end < len(text):
        found.append(Span(kind="text", text=text[end:]))
    return tuple(found)
