"""Find in one search what helps authors: pages, components, examples, settings, codes, tests.

What comes with widgetd is read once. Examples are the served widgets that use a component, as
whoever asks sees them; they follow what is served when somebody asks, so a save costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from anyio import to_thread

from widgetd.access.principal import PerAudience
from widgetd.browser.keywords import KEYWORDS
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CODES
from widgetd.guide.component_details import components_in, properties_of, use_of
from widgetd.guide.guide import KINDS, pages
from widgetd.search.search_index import LONGEST_QUESTION, SearchIndex, best_of, words
from widgetd.widget.components import vocabulary
from widgetd.widget.widget import Widget

LONGEST = 400
"""Characters of a snippet."""

WORTH = MappingProxyType(
    {
        "guide": 1.0,
        "component": 1.0,
        "property": 0.7,
        "example": 0.8,
        "setting": 0.7,
        "code": 0.5,
        "test": 0.5,
    }
)
"""What a hit of each kind is worth beside one in what explains."""

ASKED = 2.0
"""What a hit is worth of the kind that the question names: an example, a setting."""

CALLED = MappingProxyType(
    {
        "Badge": "pill tag chip status",
        "Basic": "root bare plain",
        "Box": "background border container",
        "Button": "press click submit",
        "Caption": "small secondary subtitle hint",
        "Card": "root panel container",
        "Chart": "graph plot diagram",
        "Checkbox": "toggle switch tick",
        "Col": "column stack vertical below",
        "DatePicker": "date day calendar",
        "Divider": "line rule separator",
        "Form": "submit fields",
        "Icon": "symbol glyph",
        "Image": "picture photo avatar logo",
        "Input": "field single line text email password number",
        "Label": "field name",
        "ListView": "root list items",
        "ListViewItem": "list item row",
        "Markdown": "rich text link formatted",
        "RadioGroup": "radio option single choice",
        "Row": "horizontal side by side lay",
        "Select": "dropdown choose option",
        "Spacer": "push apart gap",
        "Table": "grid spreadsheet columns",
        "Text": "paragraph words",
        "Textarea": "multiline long text field",
        "Title": "headline heading header",
        "Transition": "animate animation change",
    }
)
"""What people call a component who do not know its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that can be found.

    Attributes:
        kind: One of `KINDS`.
        name: As it can be asked for elsewhere: a page, a component, a tool, a setting, a code.
        title: For people.
        at: Where it is, if that is not its name.
        keywords: What it is called, weighed most.
        called: What else people call it.
    """

    kind: str
    name: str
    title: str
    text: str
    at: str = ""
    keywords: str = ""
    called: str = ""
    is_property: bool = False

    def kind_in(self, asked: frozenset[str]) -> str:
        """Its kind; a property is what was looked for where its own name was said."""
        if not self.is_property or not asked.isdisjoint(_named(self.title.rpartition(".")[2])):
            return self.kind
        return "property"

    def hit(self, score: float) -> dict[str, Any]:
        """`{"kind", "name", "title", "snippet", "at"?, "score"}`."""
        snippet = " ".join(self.text.split())
        cut = snippet if len(snippet) <= LONGEST else f"{snippet[: LONGEST - 1]}…"
        place = {"at": self.at} if self.at else {}
        return {
            "kind": self.kind,
            "name": self.name,
            "title": self.title,
            "snippet": cut,
            **place,
            "score": round(score, 3),
        }


Scored = tuple[float, str, Entry | Widget]
"""A hit: its score, its name, and what it is; a widget is an example."""


class Reference:
    """Searches, settings by their names too; remembers the examples of what each audience sees."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._examples = PerAudience(lambda: SearchIndex(_texts_of_widget))

    @cached_property
    def _shipped(self) -> Mapping[str, Entry]:
        entries = _entries(self._settings)
        return {f"{entry.kind} {entry.name} {entry.title}": entry for entry in entries}

    @cached_property
    def _index(self) -> SearchIndex[Entry]:
        return SearchIndex(_texts_of_entry).following(self._shipped)

    async def prepare(self, snapshot: Snapshot, *, audience: Hashable = None) -> None:
        """Read beside the event loop what was never searched, so that `find` need not."""
        if audience not in self._examples:
            made = await to_thread.run_sync(self._read, snapshot)
            self._examples.keep(audience, made)

    def _read(self, snapshot: Snapshot) -> SearchIndex[Widget]:
        # The first search that forgives a slip would spell all words.
        self._index.scores("qqqq")
        return SearchIndex(_texts_of_widget).following(snapshot.widgets)

    def find(
        self,
        snapshot: Snapshot,
        query: str,
        kinds: Collection[str],
        limit: int,
        *,
        audience: Hashable = None,
    ) -> tuple[list[dict[str, Any]], int]:
        """The best `limit` hits of some kinds, or of all, and how many there are.

        Examples are of `snapshot`, which is what `audience` sees.
        """
        wanted = frozenset(kinds or KINDS)
        asked = _named(query[:LONGEST_QUESTION])
        scored: list[Scored] = [
            (score * _worth(entry.kind_in(asked), asked), entry.name, entry)
            for key, score in self._index.scores(query).items()
            if (entry := self._shipped[key]).kind in wanted
        ]
        total = len(scored)
        if "example" in wanted:
            index = self._examples.of(audience).following(snapshot.widgets)
            found = index.scores(query)
            total += len(found)
            worth = _worth("example", asked)
            scored += [
                (found[tool] * worth, tool, snapshot.widgets[tool])
                for tool in best_of(found, limit)
            ]
        ordered = sorted(scored, key=lambda item: (-item[0], item[1]))
        # To read where an example stands takes longer than to find it.
        types = [type_ for type_ in vocabulary().components if not asked.isdisjoint(_named(type_))]
        return [
            (one if isinstance(one, Entry) else _example(one, types)).hit(score)
            for score, _, one in islice(_varied(ordered, asked), limit)
        ], total


def _worth(kind: str, asked: frozenset[str]) -> float:
    return WORTH[kind] * (1.0 if asked.isdisjoint(_named(kind)) else ASKED)


def _varied(ordered: Iterable[Scored], asked: frozenset[str]) -> Iterator[Scored]:
    """The hits, a property that many components share only once, unless one of them was named."""
    told = set()
    for hit in ordered:
        _, full, one = hit
        type_, _, name = full.rpartition(".")
        if isinstance(one, Entry) and one.is_property and asked.isdisjoint(_named(type_)):
            if name in told:
                continue
            told.add(name)
        yield hit


@lru_cache(maxsize=1024)
def _named(text: str) -> frozenset[str]:
    """The words of a question or a name; every question compares the same names."""
    return frozenset(words(text))


def _entries(settings: Mapping[str, str]) -> Iterator[Entry]:
    for page in pages().values():
        for heading, text in page.sections().items():
            yield Entry(
                kind="guide",
                name=page.name,
                title=heading,
                text=text,
                at=f"widgetd://guide/{page.name}",
                keywords=f"{page.name} {heading}",
                # When to read a page is said of all of it, and found at its beginning.
                called=page.use_when if heading == page.title else "",
            )
    for component in vocabulary().components.values():
        properties = properties_of(component)
        yield Entry(
            kind="component",
            name=component.type,
            title=component.type,
            text=f"{use_of(component)} {', '.join(each['name'] for each in properties)}",
            keywords=component.type,
            called=CALLED.get(component.type, ""),
        )
        for each in properties:
            yield Entry(
                kind="component",
                name=f"{component.type}.{each['name']}",
                title=f"{component.type}.{each['name']}",
                text=f"{each['name']} of {component.type}: {each['expected']}",
                is_property=True,
            )
    for code in CODES.values():
        yield Entry(
            kind="code", name=code.code, title=code.code, text=code.meaning, keywords=code.code
        )
    for row in KEYWORDS.values():
        takes = ", ".join(one.name for one in row.parameters) or "nothing"
        yield Entry(
            kind="test",
            name=row.name,
            title=f"{row.name}, in a test",
            text=f"{row.summary} Takes {takes}.",
            keywords=row.name,
        )
    for name, description in settings.items():
        flag = f"--{name.replace('_', '-')}"
        yield Entry(kind="setting", name=name, title=flag, text=description, keywords=name)


def _texts_of_entry(entry: Entry) -> Iterator[tuple[int, str]]:
    yield 4, entry.keywords
    yield 3, entry.called
    yield 2, entry.title
    yield 1, entry.text


def _texts_of_widget(widget: Widget) -> Iterator[tuple[int, str]]:
    yield 3, " ".join(components_in(widget))
    yield 3, f"{widget.tool} {widget.definition.title}"
    yield 1, " ".join(widget.definition.tags)
    yield 1, "example template"


def _example(widget: Widget, types: Iterable[str]) -> Entry:
    """The place in a template that shows one of these components, else its beginning."""
    template, view = widget.definition.template, widget.definition.view
    wanted = next((one for one in types if f'"{one}"' in template or f"<{one}" in view), None)
    start = template.find(f'"{wanted}"') if wanted else 0
    line = template.count("\n", 0, max(start, 0)) + 1
    begin = max(start - 40, 0)
    return Entry(
        kind="example",
        name=widget.tool,
        title=f"{widget.definition.title}: {wanted}" if wanted else widget.definition.title,
        text=template[begin : begin + LONGEST],
        at=f"{widget.definition.path}#/template line {line}",
    )
