"""A folder with `test_cases.csv` -> suite, by the columns that Optics uses.

test_cases.csv   test_case, test_step       a step is a module or a keyword
modules.csv      module_name, module_step, param_1, param_2, ...
elements.csv     Element_Name, Element_ID   a name that comes again is a ladder
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from widgetd.browser.keywords import keyword
from widgetd.errors import CallError, WidgetError
from widgetd.files.inside import read_inside
from widgetd.testing.limits import LIMITS
from widgetd.testing.suite import Module, Place, Suite, Test, Written, display, wrong
from widgetd.text_search import compile_pattern

CASES = "test_cases.csv"

_NAMED = compile_pattern(r"(?s)\A(\w+)=(.*)")


def read_folder(folder: Path) -> Suite:
    """The suite of the CSV files in `folder`.

    Raises:
        WidgetError: One of them cannot be read (W4401).
    """
    modules: dict[str, list[Written]] = {}
    rows = list(_rows(folder / "modules.csv", ("module_name", "module_step")))
    names = {row["module_name"] for _, row in rows}
    for place, row in rows:
        params = [value for key, value in row.items() if key.startswith("param_") and value]
        step = _step(row["module_step"], params, names, place)
        modules.setdefault(row["module_name"], []).append(step)
    tests: dict[str, tuple[Place, list[Written]]] = {}
    for place, row in _rows(folder / CASES, ("test_case", "test_step")):
        _, steps = tests.setdefault(row["test_case"], (place, []))
        steps.append(_step(row["test_step"], [], names, place))
    elements: dict[str, Any] = {}
    for _, row in _rows(folder / "elements.csv", ("Element_Name", "Element_ID")):
        name, rung = row["Element_Name"], row["Element_ID"]
        had = elements.get(name)
        elements[name] = rung if had is None else [*([had] if isinstance(had, str) else had), rung]
    return Suite(
        targets=elements,
        modules={name: Module(steps=tuple(steps)) for name, steps in modules.items()},
        tests=tuple(
            Test(name=name, steps=tuple(steps), place=place)
            for name, (place, steps) in tests.items()
        ),
    )


def _step(does: str, params: list[str], modules: set[str], place: Place) -> Written:
    if does in modules:
        return Written(does=does, is_use=True, place=place)
    try:
        known = [one.name for one in keyword(does).parameters]
    except CallError as error:
        problem, _, advice = error.message.partition("; ")
        raise wrong(place, error.code, problem, advice) from None
    given: dict[str, Any] = {}
    positional = iter(known)
    for param in params:
        named = _NAMED.fullmatch(param)
        # `text=Save` is a target unless the keyword has a parameter of that name.
        if named and named[1] in known:
            given[named[1]] = named[2]
        else:
            free = next((name for name in positional if name not in given), "")
            if not free:
                problem = f"{does} takes {len(known)} arguments, and here are {len(params)}"
                raise wrong(place, "W4102", problem, "leave the others out")
            given[free] = param
    alone = list(given) == known[:1]
    return Written(does=does, given=given[known[0]] if alone else given or None, place=place)


def _rows(file: Path, columns: tuple[str, ...]) -> Iterator[tuple[Place, dict[str, str]]]:
    start = Place(display(file), 1, 1)
    try:
        content = read_inside(file.parent, file.name, limit_bytes=LIMITS.bytes)
    except FileNotFoundError:
        if file.name != CASES:
            return
        raise wrong(start, "W4401", "there is no such file", f"write {CASES}") from None
    except WidgetError as error:
        raise wrong(start, "W4401", error.finding.problem, error.finding.advice) from None
    try:
        lines = StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(lines, skipinitialspace=True, strict=True)
        for column in columns:
            if column not in (reader.fieldnames or ()):
                problem = f"there is no column '{column}'"
                raise wrong(start, "W4401", problem, "write it in the first line")
        for row in reader:
            cells = {key: (value or "").strip() for key, value in row.items() if key}
            if any(cells.values()):
                yield start._replace(line=reader.line_num), cells
    except (UnicodeDecodeError, csv.Error) as error:
        raise wrong(start, "W4401", f"it cannot be read ({error})", "mend it") from None
