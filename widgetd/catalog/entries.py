"""Say what became of the files that a survey found to be others than they were.

A file that breaks keeps its last good widget; a file that cannot be judged at
this moment keeps its entry. What counts as gone is decided by the caller, for
that takes time and this module knows none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import structlog

from widgetd.catalog.last_good import Copies
from widgetd.catalog.snapshot import Entry
from widgetd.errors import Finding, WidgetError
from widgetd.files.persistent_map import differing, missing
from widgetd.files.scan import Survey
from widgetd.files.source import Source
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

WIDGET_SUFFIX = ".widget"
SIDECAR_SUFFIX = WIDGET_SUFFIX + SUFFIX

Make = Callable[[Source, Source | None], Widget]
"""Source and sidecar to a servable widget; raises `WidgetError` where there is none."""

Changes = Mapping[str, Entry | None]
"""What files came to that came to something else before, by path; None for a file that is gone."""

_log = structlog.get_logger()


def rebuild(
    before: Mapping[str, Entry],
    survey: Survey,
    *,
    known: Survey,
    gone: Collection[str],
    make: Make,
) -> Changes:
    """What became of the files that are others than they were.

    Args:
        before: The entries until now, made from `known`.
        survey: The folder as it is.
        known: The folder as it was.
        gone: Paths in `before` that count as deleted.
        make: Called once for each file whose content, or sidecar, is new.
    """
    changes: dict[str, Entry | None] = dict.fromkeys(gone)
    for path in _touched(known, survey):
        source = survey.sources.get(path)
        if source is None:
            continue
        sidecar = survey.sources.get(path + SUFFIX)
        entry = before.get(path)
        if entry is None or entry.key != _key(source, sidecar):
            changes[path] = _build(entry, source, sidecar, make)
    for path, error in _unreadable(survey):
        changes[path] = _broken(before.get(path), path, "", error)
    return {path: entry for path, entry in changes.items() if entry != before.get(path)}


def _touched(known: Survey, survey: Survey) -> list[str]:
    """The widget files whose own bytes, or whose sidecar's, may be others than they were."""
    sources, earlier = survey.sources, known.sources
    paths = {*differing(earlier, sources), *missing(earlier, sources), *known.faults}
    return sorted({path.removesuffix(SUFFIX) for path in paths})


def revive(
    changes: Changes, before: Mapping[str, Entry], copies: Copies, make: Make
) -> Iterator[tuple[str, Entry]]:
    """Each file that was never good in this process, with the last good widget of an earlier one.

    Args:
        changes: What became of the files that are others than they were.
        before: The entries until now: a file that has one was asked for when it was new.
        copies: Where earlier processes kept what was good.
        make: Source and sidecar to a widget.
    """
    for path, entry in changes.items():
        if entry and entry.widget is None and path not in before and (copy := copies.recall(path)):
            with suppress(WidgetError):
                yield path, replace(entry, widget=make(*copy))


def _key(source: Source, sidecar: Source | None) -> str:
    return source.digest if sidecar is None else f"{source.digest}+{sidecar.digest}"


def _build(entry: Entry | None, source: Source, sidecar: Source | None, make: Make) -> Entry:
    key = _key(source, sidecar)
    try:
        widget = make(source, sidecar)
    except WidgetError as error:
        return _broken(entry, source.path, key, error)
    except Exception as error:  # noqa: BLE001 - a defect that one file finds must not end them all
        _log.exception("widget.crashed", path=source.path)
        return _broken(entry, source.path, key, _defect(source.path, error))
    return Entry(path=source.path, key=key, widget=widget)


def _defect(path: str, error: Exception) -> WidgetError:
    problem = f"widgetd itself failed on it ({type(error).__name__})"
    advice = "this is a defect of widgetd; report it with this file"
    return WidgetError(Finding(code="W1005", problem=problem, advice=advice, path=path))


def _broken(entry: Entry | None, path: str, key: str, error: WidgetError) -> Entry:
    fault: Finding = error.finding
    return Entry(path=path, key=key, widget=entry.widget if entry else None, fault=fault)


def _unreadable(survey: Survey) -> Iterator[tuple[str, WidgetError]]:
    """The widget files that could not be read; an unreadable sidecar speaks for its widget."""
    for path, error in survey.faults.items():
        if path.endswith(SIDECAR_SUFFIX):
            yield path.removesuffix(SUFFIX), error
        else:
            yield path, error
