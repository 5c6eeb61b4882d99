"""A search over pages, components, examples, settings, codes and keywords of tests.

Everything in widgetd is indexed once. Examples are the served widgets, as the caller's audience
sees them. Their index follows the snapshot with each search, so a save costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from textwrap import dedent
from typing import Any

from widgetd.author.browser.keywords import KEYWORDS
from widgetd.author.guide.component_details import (
    COLORS,
    ICONS,
    SIZES,
    VALUES,
    count_components,
    describe_properties,
    list_colors,
    list_sizes,
)
from widgetd.author.guide.guide import KINDS, pages
from widgetd.author.guide.limits import LIMITS
from widgetd.base.errors import CODES, CallError, WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.schema.phrase import shorten
from widgetd.core.template.dialect.exporter import LEXEME
from widgetd.core.template.jsx import View
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.naming import TESTS_SUFFIX
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import PerAudience
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.search.search_index import LONGEST_QUESTION, SearchIndex, best_of, words

WEIGHTS: Mapping[str, float] = {
    "guide": 1.0,
    "component": 1.0,
    "property": 0.6,
    "named property": 0.8,
    "example": 0.8,
    "setting": 0.7,
    "code": 0.5,
    "test": 0.5,
}
"""Weights of results by kind: what explains comes first."""

NAMED_KIND_WEIGHT = 2.0
"""Further weight of the kind that the query names: an example, a setting."""

SYNONYMS: Mapping[str, str] = {
    "Badge": "pill tag chip status",
    "Basic": "root bare plain",
    "Box": "background border container progress bar meter gauge",
    "Box.radius": "rounded corners",
    "Button": "press click submit spinner loading wait",
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
    "colors": "color colour names words of colors palette shade hue token text background",
    "icons": "icon names symbol glyph",
    "sizes": "names of sizes small large width height radius length unit pixels",
    "Transition": "animate animation change",
}
"""Words for components in queries of people who do not know their names."""


def require_kinds(kinds: Sequence[str]) -> Sequence[str]:
    """Return `kinds`. Raise `CallError` (W2002) if there is no such kind of results."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        problem = f"there is no kind '{unknown[0]}'; there are {', '.join(KINDS)}"
        raise CallError("W2002", problem, path="kinds")
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceEntry:
    """An entry of the reference.

    Attributes:
        kind: Of `KINDS`.
        name: Name of the page, component, tool, setting or code, as other tools take it.
        title: Name for people.
        at: Address, if it is not the name.
        keywords: Its names, with the greatest weight.
        synonyms: Other words for it.
    """

    kind: str
    name: str
    title: str
    text: str
    at: str = ""
    keywords: str = ""
    synonyms: str = ""
    is_property: bool = False

    def weighted_kind(self, query: frozenset[str]) -> str:
        if not self.is_property:
            return self.kind
        is_named = not query.isdisjoint(_words(self.title.rpartition(".")[2]))
        return "named property" if is_named else "property"

    def to_result(self, score: float) -> dict[str, Any]:
        """Return `{"kind", "name", "title", "snippet", "at"?, "score"}`."""
        snippet, most = " ".join(self.text.split()), LIMITS.snippet_chars
        if self.at.partition(" line ")[2]:  # code keeps its lines
            snippet, most = self.text.strip(), LIMITS.element_chars
        place = {"at": self.at} if self.at else {}
        return {
            "kind": self.kind,
            "name": self.name,
            "title": self.title,
            "snippet": shorten(snippet, most),
            **place,
            "score": round(score, 3),
        }


Scored = tuple[float, str, ReferenceEntry | Widget]
"""A match: its score, its name, and the entry, or the widget that is an example."""


class Reference:
    """A search over all entries, with an index of examples per audience.

    Args:
        settings: Descriptions of settings by name.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._examples = PerAudience(lambda _: SearchIndex(_texts_of_widget))

    @cached_property
    def _entries_by_title(self) -> Mapping[str, ReferenceEntry]:
        entries = _entries(self._settings)
        return {f"{entry.kind} {entry.name} {entry.title}": entry for entry in entries}

    @cached_property
    def _index(self) -> SearchIndex[ReferenceEntry]:
        return SearchIndex(_texts_of_entry).following(self._entries_by_title)

    async def prepare(self, snapshot: Snapshot, *, audience: Hashable = None) -> None:
        if audience not in self._examples:
            index = await SYSTEM.threads.run_blocking(self._build, snapshot)
            self._examples.keep(audience, index)

    def _build(self, snapshot: Snapshot) -> SearchIndex[Widget]:
        # A word without a match: it builds the index of misspellings as well.
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
        tests: Sequence[tuple[float, ReferenceEntry]] = (),
    ) -> tuple[list[dict[str, Any]], int]:
        """Search the entries of some kinds.

        Args:
            snapshot: The widgets of `audience`, as examples.
            query: Words.
            kinds: Of `KINDS`. None for all.
            limit: Number of results.
            audience: Key of the examples' index.
            tests: The folder's matching tests, from `TestFiles.search`.

        Returns:
            The best results, and the number of all matches.
        """
        wanted = frozenset(kinds or KINDS)
        query_words = _words(query[:LONGEST_QUESTION])
        own = {entry.name for _, entry in tests}
        scored: list[Scored] = [
            (score * _weight(entry.weighted_kind(query_words), query_words), entry.name, entry)
            for key, score in self._index.scores(query).items()
            if (entry := self._entries_by_title[key]).kind in wanted and entry.name not in own
        ]
        weight = _weight("test", query_words)
        scored += [(score * weight, entry.name, entry) for score, entry in tests]
        total = len(scored)
        if "example" in wanted:
            index = self._examples.of(audience).following(snapshot.widgets)
            scores = index.scores(query)
            total += len(scores)
            weight = _weight("example", query_words)
            scored += [
                (scores[tool] * weight, tool, snapshot.widgets[tool])
                for tool in best_of(scores, limit)
            ]
        ordered = sorted(scored, key=lambda item: (-item[0], item[1]))
        # Only for the results: locating the place in a template takes longer than the search.
        types = [
            type_
            for type_ in load_vocabulary().components
            if not query_words.isdisjoint(_words(type_))
        ]
        return [
            (row if isinstance(row, ReferenceEntry) else _example(row, types)).to_result(score)
            for score, _, row in islice(_without_repetition(ordered, query_words), limit)
        ], total


class TestFiles:
    """An index of the tests in test files. A file is split when it changes."""

    __test__ = False  # pytest collects no tests here

    def __init__(self) -> None:
        self._texts: Mapping[str, str] = {}
        self._tests: dict[str, tuple[ReferenceEntry, ...]] = {}
        self._index: SearchIndex[ReferenceEntry] = SearchIndex(_texts_of_entry)

    def search(self, texts: Mapping[str, str], query: str) -> list[tuple[float, ReferenceEntry]]:
        before, self._texts = self._texts, texts
        self._tests = {
            path: self._tests[path] if before.get(path) == text else tuple(split_tests(path, text))
            for path, text in texts.items()
        }
        entries = {test.at: test for tests in self._tests.values() for test in tests}
        scores = self._index.following(entries).scores(query)
        return [(score, entries[key]) for key, score in scores.items()]


def _weight(kind: str, query: frozenset[str]) -> float:
    return WEIGHTS[kind] * (1.0 if query.isdisjoint(_words(kind)) else NAMED_KIND_WEIGHT)


def _without_repetition(ordered: Iterable[Scored], query: frozenset[str]) -> Iterator[Scored]:
    """Yield matches, but a property of many components once, unless the query names a component."""
    names = set()
    for match in ordered:
        _, full_name, entry = match
        type_, _, name = full_name.rpartition(".")
        is_property = isinstance(entry, ReferenceEntry) and entry.is_property
        if is_property and query.isdisjoint(_words(type_)):
            if name in names:
                continue
            names.add(name)
        yield match


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _entries(settings: Mapping[str, str]) -> Iterator[ReferenceEntry]:
    for page in pages().values():
        for heading, text in page.sections().items():
            yield ReferenceEntry(
                kind="guide",
                name=page.name,
                title=heading,
                text=text,
                at=f"widgetd://guide/{page.name}",
                keywords=f"{page.name} {heading}",
                # The clause is about the whole page, so the result is its beginning.
                synonyms=page.use_when if heading == page.title else "",
            )
    for component in load_vocabulary().components.values():
        type_, properties = component.type, describe_properties(component)
        text = f"{component.use} {', '.join(row['name'] for row in properties)}"
        yield _build_entry("component", type_, text, synonyms=SYNONYMS.get(type_, ""))
        for prop in properties:
            text = f"{prop['name']} of {type_}: {prop['expected']}. {prop.get('text', '')}"
            name = f"{type_}.{prop['name']}"
            more = {"synonyms": SYNONYMS.get(name, ""), "keywords": "", "is_property": True}
            yield _build_entry("component", name, text, **more)
    colors, sizes = list_colors(), list_sizes()
    words_of = {
        name: ", ".join(dict.fromkeys(value for t in listed["tokens"] for value in t["values"]))
        for name, listed in ((COLORS, colors), (SIZES, sizes))
    }
    named = {
        COLORS: f"{words_of[COLORS]}; {', '.join(colors['hues'])} with a shade. {colors['others']}",
        SIZES: f"{words_of[SIZES]}. {sizes['others']}",
        ICONS: ", ".join(load_vocabulary().icons),
    }
    for name, text in named.items():
        yield _build_entry("component", name, f"{VALUES[name]} {text}", synonyms=SYNONYMS[name])
    for code in CODES.values():
        yield _build_entry("code", code.code, code.meaning)
    for row in KEYWORDS.values():
        takes = ", ".join(parameter.name for parameter in row.parameters) or "nothing"
        text = f"{row.summary} Takes {takes}."
        yield _build_entry("test", row.name, text, title=f"{row.name}, in a test")
    for file in sorted(bundled_folder().glob(f"*{TESTS_SUFFIX}")):
        yield from split_tests(file.name, file.read_text(encoding="utf-8"))
    for name, description in settings.items():
        yield _build_entry("setting", name, description, title=f"--{name.replace('_', '-')}")


def _build_entry(kind: str, name: str, text: str, **more: Any) -> ReferenceEntry:
    return ReferenceEntry(
        kind=kind, name=name, text=text, **{"title": name, "keywords": name, **more}
    )


def _texts_of_entry(entry: ReferenceEntry) -> Iterator[tuple[int, str]]:
    yield 4, entry.keywords
    yield 3, entry.synonyms
    yield 2, entry.title
    yield 1, entry.text


def _texts_of_widget(widget: Widget) -> Iterator[tuple[int, str]]:
    yield 3, " ".join(count_components(widget))
    yield 3, f"{widget.tool} {widget.definition.title}"
    yield 1, " ".join(widget.definition.tags)
    yield 1, "example template"


def _example(widget: Widget, types: Iterable[str]) -> ReferenceEntry:
    is_view = widget.source == "view"
    source = widget.definition.view if is_view else widget.definition.template
    mark = "<{}" if is_view else '"{}"'
    wanted = next((candidate for candidate in types if mark.format(candidate) in source), None)
    start, text = 0, source
    if wanted is not None:
        matching = None
        with suppress(WidgetError):  # of an unreadable view
            view = View(source, Limits()) if is_view else None
            spans = view.elements if view else objects_of(source)
            matching = next((span for type_, *span in spans if type_ == wanted), None)
        start, end = matching or (source.find(mark.format(wanted)), len(source))
        text = source[start:end]
    line = source.count("\n", 0, start) + 1
    return ReferenceEntry(
        kind="example",
        name=widget.tool,
        title=f"{widget.definition.title}: {wanted}" if wanted else widget.definition.title,
        text=text,
        at=f"{widget.definition.path}#{widget.drawing_at} line {line}",
    )


def objects_of(template: str) -> Iterator[tuple[str, int, int]]:
    starts: list[int] = []
    types: dict[int, str] = {}
    for match in read_tokens(LEXEME, template):
        mark, at = match.group("mark"), match.start()
        if mark == "{":
            starts.append(at)
            if named := _TYPE.match(template, at):
                types[at] = named.group(1)
        elif mark == "}" and starts:
            start = starts.pop()
            if start in types:
                yield types[start], start, at + 1


_TYPE = compile_pattern(r'\{\s*"type"\s*:\s*"([A-Za-z.]{1,64})"')


_TEST = compile_pattern(r"(?m)^ *- name: *")


def split_tests(path: str, text: str) -> Iterator[ReferenceEntry]:
    starts = [match.start() for match in read_tokens(_TEST, text)]
    file = path.rpartition("/")[2].removesuffix(TESTS_SUFFIX)
    line, counted = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line, counted = line + text.count("\n", counted, start), start
        written = dedent(text[start:end]).strip()
        name = written.partition("\n")[0].removeprefix("- name:").strip()
        yield ReferenceEntry(
            kind="test",
            name=path,
            title=f"{file}: {name}",
            text=written,
            at=f"{path} line {line}",
            keywords="test example",
        )
