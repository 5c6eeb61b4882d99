"""The pages of the guide, as they lie in the package, and the Markdown that they are written in.

No more of Markdown is read than they use: headings, paragraphs, lists of one level, fenced blocks;
within them code, emphasis and links.
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
    *("start", "template", "schema", "components", "sidecar"),
    *("feeds", "actions", "testing", "operating"),
)
"""In which somebody new reads them."""

KINDS = ("guide", "component", "example", "setting", "code", "test")
"""What the reference finds."""

_ITEM = compile_pattern(r"\A(?:-|(?P<number>\d+)\.) ")
_SPAN = compile_pattern(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*"
    r"|(?P<link>\[(?P<text>[^\[\]]+)\]\((?P<href>[^()]+)\))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page, in Markdown; `use_when` is a clause that says when to read it."""

    name: str
    title: str
    use_when: str
    text: str

    def sections(self) -> Mapping[str, str]:
        """The text below each heading, by the heading; below the title, what comes first."""
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
    """Every page, by name, in the order of reading."""
    folder, found = files("widgetd.guide") / "pages", {}
    for name in ORDER:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        title, _, rest = text.partition("\n")
        use_when, _, _ = rest.strip().partition("\n\n")
        found[name] = Page(
            name=name,
            title=title.removeprefix("# "),
            use_when=" ".join(use_when.removeprefix("Use when ").split()).rstrip("."),
            text=text,
        )
    return MappingProxyType(found)


def page(name: str) -> Page:
    """The page called `name`.

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
