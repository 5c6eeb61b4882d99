"""Make the entries of a snapshot from a survey, touching only what changed.

A file that breaks keeps its last good widget; a file that cannot be judged at
this moment keeps its entry. What counts as gone is decided by the caller, for
that takes time and this module knows none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from widgetd.catalog.copies import Copies
from widgetd.catalog.snapshot import Entry
from widgetd.errors import Finding, WidgetError
from widgetd.files.source import Source
from widgetd.files.survey import Survey
from widgetd.widget.compiled import Widget

WIDGET_SUFFIX = ".widget"
SIDECAR_SUFFIX = ".widget.toml"

Make = Callable[[Source, Source | None], Widget]
"""Source and sidecar to a servable widget; raises `WidgetError` where there is none."""


def rebuild(
    before: Mapping[str, Entry],
    survey: Survey,
    *,
    known: Survey,
    gone: Collection[str],
    make: Make,
) -> Mapping[str, Entry]:
    """What each file came to, given what it came to before; the same mapping if nothing changed.

    Args:
        before: The entries until now, made from `known`.
        survey: The folder as it is.
        known: The folder as it was.
        gone: Paths in `before` that count as deleted.
        make: Called once for each file whose content, or sidecar, is new.
    """
    touched = _touched(known, survey)
    if not (touched or gone or survey.faults):
        return before
    entries = {path: entry for path, entry in before.items() if path not in gone}
    for path in touched:
        source = survey.sources.get(path)
        if source is None:
            continue
        sidecar = survey.sources.get(path + ".toml")
        entry = entries.get(path)
        if entry is None or entry.key != _key(source, sidecar):
            entries[path] = _build(entry, source, sidecar, make)
    for path, error in _unreadable(survey):
        entries[path] = _broken(entries.get(path), path, "", error)
    return entries


def _touched(known: Survey, survey: Survey) -> list[str]:
    """The widget files whose own bytes, or whose sidecar's, may be others than they were."""
    sources, earlier = survey.sources, known.sources
    paths = {path for path, source in sources.items() if earlier.get(path) is not source}
    if len(earlier) + len(paths) > len(sources):
        paths.update(path for path in earlier if path not in sources)
    paths.update(known.faults)
    return sorted({path.removesuffix(".toml") for path in paths})


def revive(
    entries: Mapping[str, Entry], before: Mapping[str, Entry], copies: Copies, make: Make
) -> Mapping[str, Entry]:
    """Give a file that was never good in this process the last good widget of an earlier one.

    Args:
        entries: What each file came to.
        before: The entries until now: a file that has one was asked for when it was new.
        copies: Where earlier processes kept what was good.
        make: Source and sidecar to a widget.
    """
    if entries is before:
        return before
    revived: dict[str, Entry] = {}
    for path, entry in entries.items():
        if entry.widget is None and path not in before and (copy := copies.recall(path)):
            with suppress(WidgetError):
                revived[path] = replace(entry, widget=make(*copy))
    return {**entries, **revived} if revived else entries


def _key(source: Source, sidecar: Source | None) -> str:
    return source.digest if sidecar is None else f"{source.digest}+{sidecar.digest}"


def _build(entry: Entry | None, source: Source, sidecar: Source | None, make: Make) -> Entry:
    key = _key(source, sidecar)
    try:
        widget = make(source, sidecar)
    except WidgetError as error:
        return _broken(entry, source.path, key, error)
    return Entry(path=source.path, key=key, widget=widget)


def _broken(entry: Entry | None, path: str, key: str, error: WidgetError) -> Entry:
    fault: Finding = error.finding
    return Entry(path=path, key=key, widget=entry.widget if entry else None, fault=fault)


def _unreadable(survey: Survey) -> Iterator[tuple[str, WidgetError]]:
    """The widget files that could not be read; an unreadable sidecar speaks for its widget."""
    for path, error in survey.faults.items():
        if path.endswith(SIDECAR_SUFFIX):
            yield path.removesuffix(".toml"), error
        else:
            yield path, error
