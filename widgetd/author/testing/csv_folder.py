"""Read a folder of CSV files into a suite, by the columns of Optics.

test_cases.csv   test_case, test_step       a step is a module or a keyword
modules.csv      module_name, module_step, param_1, param_2, ...
elements.csv     Element_Name, Element_ID   a repeated name is a list of candidates
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from widgetd.author.browser.keywords import find_keyword
from widgetd.author.testing.limits import LIMITS
from widgetd.author.testing.suite import (
    FileLocation,
    Module,
    Suite,
    Test,
    WrittenStep,
    display_path,
    suite_error,
)
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.inside import read_inside
from widgetd.base.text_search import compile_pattern

CASES = "test_cases.csv"

_NAMED_ARGUMENT = compile_pattern(r"(?s)\A(\w+)=(.*)")


def read_folder(folder: Path) -> Suite:
    reader = _CsvReader(folder)
    try:
        return reader.suite()
    except WidgetError as error:
        return Suite(faults=(*reader.faults, error.finding))


class _CsvReader:
    def __init__(self, folder: Path) -> None:
        self.faults: list[Finding] = []
        self._folder = folder
        self._modules: set[str] = set()

    def suite(self) -> Suite:
        modules: dict[str, list[WrittenStep]] = {}
        rows = list(self._rows("modules.csv", ("module_name", "module_step")))
        self._modules = {row["module_name"] for _, row in rows}
        for location, row in rows:
            params = [value for key, value in row.items() if key.startswith("param_") and value]
            steps = modules.setdefault(row["module_name"], [])
            steps += self._steps(row["module_step"], params, location)
        tests: dict[str, tuple[FileLocation, list[WrittenStep]]] = {}
        for location, row in self._rows(CASES, ("test_case", "test_step")):
            _, steps = tests.setdefault(row["test_case"], (location, []))
            steps += self._steps(row["test_step"], [], location)
        elements: dict[str, list[str]] = {}
        for _, row in self._rows("elements.csv", ("Element_Name", "Element_ID")):
            elements.setdefault(row["Element_Name"], []).append(row["Element_ID"])
        return Suite(
            targets={
                name: candidates[0] if len(candidates) == 1 else candidates
                for name, candidates in elements.items()
            },
            modules={name: Module(steps=tuple(steps)) for name, steps in modules.items()},
            tests=tuple(
                Test(name=name, steps=tuple(steps), location=location)
                for name, (location, steps) in tests.items()
            ),
            faults=tuple(self.faults[: LIMITS.faults]),
        )

    def _steps(self, name: str, params: list[str], location: FileLocation) -> list[WrittenStep]:
        if name in self._modules:
            return [WrittenStep(name=name, is_use=True, location=location)]
        try:
            arguments = _arguments(name, params)
        except CallError as error:
            problem, _, advice = error.message.partition("; ")
            self.faults.append(suite_error(location, error.code, problem, advice).finding)
            return []
        return [WrittenStep(name=name, arguments=arguments, location=location)]

    def _rows(
        self, name: str, columns: tuple[str, ...]
    ) -> Iterator[tuple[FileLocation, dict[str, str]]]:
        start = FileLocation(display_path(self._folder / name), 1, 1)
        try:
            content = read_inside(self._folder, name, limit_bytes=LIMITS.bytes)
        except FileNotFoundError:
            if name != CASES:
                return
            raise suite_error(start, "W4401", "there is no such file", f"write {CASES}") from None
        except WidgetError as error:
            problem, advice = error.finding.problem, error.finding.advice
            raise suite_error(start, "W4401", problem, advice) from None
        try:
            lines = StringIO(content.decode("utf-8-sig"), newline="")
            reader = csv.DictReader(lines, skipinitialspace=True, strict=True)
            for column in columns:
                if column not in (reader.fieldnames or ()):
                    problem = f"there is no column '{column}'"
                    raise suite_error(start, "W4401", problem, "write it in the first line")
            for row in reader:
                cells = {key: (value or "").strip() for key, value in row.items() if key}
                if any(cells.values()):
                    yield start._replace(line=reader.line_num), cells
        except (UnicodeDecodeError, csv.Error) as error:
            problem = f"it cannot be read ({error})"
            raise suite_error(start, "W4401", problem, "save it as CSV in UTF-8") from None


def _arguments(name: str, params: list[str]) -> Any:
    names = [parameter.name for parameter in find_keyword(name).parameters]
    arguments: dict[str, Any] = {}
    for param in params:
        named = _NAMED_ARGUMENT.fullmatch(param)
        # `text=Save` is a target unless the keyword has such a parameter.
        if named and named[1] in names:
            arguments[named[1]] = named[2]
            continue
        free = next((parameter for parameter in names if parameter not in arguments), "")
        if not free:
            problem = f"{name} takes {len(names)} arguments, and here are {len(params)}"
            raise CallError("W4102", f"{problem}; leave the others out")
        arguments[free] = param
    is_alone = bool(arguments) and list(arguments) == names[:1]
    return arguments[names[0]] if is_alone else arguments or None
