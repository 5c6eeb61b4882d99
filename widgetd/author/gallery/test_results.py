"""The results of the last run of `widgetd test`, for the pages of the tested widgets.

A run leaves them in its working folder, for a daemon started there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import ConfigDict, TypeAdapter, ValidationError

from widgetd.server.web.limits import LIMITS

FOLDER = Path("test-results")
"""The folder of what runs leave behind, in their working folder."""

_FILE = "results.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """The result of a test.

    Attributes:
        name: Path of the file, with the name of the test.
        widget: The absolute path of the tested widget's file.
        digest: The tested version, as `Widget.key`.
        outcome: `passed`, `failed` or `skipped`.
        problem: The first line of the failure.
        pictures: Pictures of the failure, as paths in the folder.
    """

    __test__ = False

    name: str
    widget: str
    digest: str
    outcome: str
    problem: str = ""
    pictures: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


# Built at its first use, in a tenth of a second.
_RESULTS = TypeAdapter(tuple[TestResult, ...], config=ConfigDict(defer_build=True))


def read_results(folder: Path = FOLDER) -> Sequence[TestResult]:
    with suppress(OSError, ValidationError), (folder / _FILE).open("rb") as file:
        return _RESULTS.validate_json(file.read(LIMITS.results_bytes))
    return ()


def results_of(file: Path) -> list[TestResult]:
    path = str(file.resolve())
    results = [result for result in read_results() if result.widget == path]
    return sorted(results, key=lambda result: result.outcome)


def write_results(results: Iterable[TestResult], folder: Path) -> None:
    by_name = {result.name: result for result in results}
    files = {result.file for result in by_name.values()}
    earlier = [result for result in read_results(folder) if result.file not in files]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _FILE).write_bytes(orjson.dumps([*earlier, *by_name.values()]))


def read_picture(path: str, results: Iterable[TestResult]) -> bytes | None:
    named = any(path in result.pictures for result in results)
    place = (FOLDER / path).resolve()
    if not named or not place.is_relative_to(FOLDER.resolve()):
        return None
    with suppress(OSError), place.open("rb") as file:
        return file.read(LIMITS.results_bytes)
    return None
