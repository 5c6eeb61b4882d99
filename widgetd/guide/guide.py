"""The pages of the guide, as they lie in the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from widgetd.errors import CallError, nearest

ORDER = (
    *("start", "template", "schema", "components", "sidecar"),
    *("feeds", "actions", "testing", "operating"),
)
"""In which somebody new reads them."""

KINDS = ("guide", "component", "example", "setting", "code", "test")
"""What the reference finds."""


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
