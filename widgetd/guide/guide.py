"""The pages of the guide, and a parser for the Markdown that they use.

The pages are part of the package and use little of Markdown: headings, paragraphs, lists of one
level and fenced blocks, with code, emphasis and links inside. A library's tokens would take as much
code to turn into blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from widgetd.errors import CallError
from widgetd.text_search import compile_pattern, nearest

ORDER = (
    *("start", "jsx", "template", "schema", "components", "sidecar"),
    *("feeds", "actions", "acting", "state", "testing", "operating"),
)
"""Names of the pages, in the order in which a new author reads them."""

KINDS = ("guide", "component", "example", "setting", "code", "test")
"""Kinds of search results in the reference."""

_ITEM = compile_pattern(r"\A(?:-|(?P<number>\d+)\.) ")
_SPAN = compile_pattern(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*"
    r"|(?P<link>\[(?P<text>[^\[\]]+)\]\((?P<href>[^()]+)\))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of the guide.

    Attributes:
        use_when: A clause that says when to read it.
        text: Markdown.
    """

    name: str
    title: str
    use_when: str
    text: str

    def sections(self) -> Mapping[str, str]:
        """Return the text below each heading, by heading; the introduction is below the title."""
        sections = {self.title: ""}
        at, fenced = self.title, False
        for line in self.text.splitlines()[1:]:
            fenced ^= line.startswith("```")
            if line.startswith("## ") and not fenced:
                at = line.removeprefix("## ")
            sections[at] = f"{sections.get(at, '')}{line}\n"
        return {heading: text.strip() for heading, text in sections.items()}


@cache
def pages() -> Mapping[str, Page]:
    """Return all pages by name, in the order of reading."""
    folder, by_name = files("widgetd.guide") / "pages", {}
    for name in ORDER:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        title, _, rest = text.partition("\n")
        use_when, _, _ = rest.strip().partition("\n\n")
        by_name[name] = Page(
            name=name,
            title=title.removeprefix("# "),
            use_when=" ".join(use_when.removeprefix("Use when ").split()).rstrip("."),
            text=text,
        )
    return MappingProxyType(by_name)


def page(name: str) -> Page:
    """Return the page of that name.

    Raises:
        CallError: There is none (W3001); the error names the nearest.
    """
    known = pages()
    if name not in known:
        near = nearest(name, ORDER)
        hint = f"did you mean '{near}'?" if near else f"there are {', '.join(ORDER)}"
        suggestions = () if near is None else (near,)
        problem = f"the guide has no page '{name[:80]}'; {hint}"
        raise CallError("W3001", problem, suggestions=suggestions)
    return known[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of text of one kind.

    Attributes:
        href: Target of a link.
    """

    kind: Literal["text", "code", "strong", "em", "link"]
    text: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a page.

    Attributes:
        kind: Named as in HTML, except `fence`: a fenced block of code.
        lines: The spans of a heading or a paragraph, or of each item of a list.
        text: Content of a fenced block, verbatim.
    """

    kind: Literal["h1", "h2", "p", "ul", "ol", "fence"]
    lines: tuple[tuple[Span, ...], ...] = ()
    text: str = ""


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page, in order."""
    lines = iter(text.splitlines())
    pending: list[str] = []
    for line in lines:
        if line.startswith("```"):
            yield from _take_block(pending)
            fenced = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                fenced.append(inner)
            yield Block(kind="fence", text="\n".join(fenced))
        elif line.startswith("#"):
            yield from _take_block(pending)
            marks, _, heading = line.partition(" ")
            kind: Literal["h1", "h2"] = "h1" if marks == "#" else "h2"
            yield Block(kind=kind, lines=(spans(heading),))
        elif line.strip():
            pending.append(line)
        else:
            yield from _take_block(pending)
    yield from _take_block(pending)


def _take_block(pending: list[str]) -> Iterator[Block]:
    """Yield the paragraph or list that the pending lines form, and empty them."""
    if not pending:
        return
    first = _ITEM.match(pending[0])
    if first is None:
        yield Block(kind="p", lines=(spans(" ".join(pending)),))
    else:
        items: list[str] = []
        for line in pending:
            mark = _ITEM.match(line)
            if mark is not None:
                items.append(line[mark.end() :])
            else:
                items[-1] += f" {line.strip()}"
        kind: Literal["ul", "ol"] = "ol" if first["number"] else "ul"
        yield Block(kind=kind, lines=tuple(map(spans, items)))
    pending.clear()


def spans(text: str) -> tuple[Span, ...]:
    """Return the spans of one line of text."""
    runs: list[Span] = []
    end = 0
    for match in _SPAN.finditer(text):
        if match.start() > end:
            runs.append(Span(kind="text", text=text[end : match.start()]))
        end = match.end()
        kind: Any = match.lastgroup
        content = match["text" if kind == "link" else kind]
        runs.append(Span(kind=kind, text=content, href=match["href"] or ""))
    if end < len(text):
        runs.append(Span(kind="text", text=text[end:]))
    return tuple(runs)
