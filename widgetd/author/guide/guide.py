"""The pages of the guide, part of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from widgetd.base.errors import CallError
from widgetd.base.text_search import did_you_mean

ORDER = (
    *("start", "jsx", "template", "schema", "components", "sidecar"),
    *("feeds", "actions", "acting", "state", "testing", "operating"),
)
"""Names of the pages, in the order in which a new author reads them."""

KINDS = ("guide", "component", "example", "setting", "code", "test")
"""Kinds of search results in the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the guide.

    Attributes:
        use_when: A clause about when to read it.
        text: Markdown.
    """

    name: str
    title: str
    use_when: str
    text: str

    def sections(self) -> Mapping[str, str]:
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
    folder, by_name = files("widgetd.author.guide") / "pages", {}
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
    """Return a page by name.

    Raises:
        CallError: There is none (W3001). The error names the nearest.
    """
    if name not in ORDER:
        hint = did_you_mean(name, ORDER, f"there are {', '.join(ORDER)}")
        raise CallError("W3001", f"the guide has no page '{name[:80]}'; {hint}")
    return pages()[name]


def render_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the HTML of a page up to each fenced block, with the block's code.

    The last part has no code.
    """
    # Takes a quarter of a second to import, and only the gallery shows pages.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    markdown = MarkdownIt("commonmark", {"html": False})
    tokens = markdown.parse(text)
    start = 0
    for end, token in enumerate(tokens):
        if token.type == "fence":
            prose = markdown.renderer.render(tokens[start:end], markdown.options, {})
            yield prose, token.content.removesuffix("\n")
            start = end + 1
    yield markdown.renderer.render(tokens[start:], markdown.options, {}), ""
