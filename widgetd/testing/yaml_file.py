"""`*.test.yaml` -> suite, each thing with its line and column.

YAML only for its shape: scalars are what they are in JSON, so that `no` and `1:30` stay texts.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import yaml

from widgetd.errors import WidgetError
from widgetd.files.inside import read_inside
from widgetd.testing.limits import LIMITS
from widgetd.testing.suite import Module, Place, Suite, Test, Written, display, wrong
from widgetd.text_search import compile_pattern

_JSON = compile_pattern(r"null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


def read_suite(file: Path) -> Suite:
    """The suite of a YAML file.

    Raises:
        WidgetError: It cannot be read as one (W4401).
    """
    return _Reader(file).suite()


class _Reader:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._name = display(file)
        self._left = LIMITS.values

    def _fault(self, mark: Any, problem: str, advice: str) -> Exception:
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return wrong(Place(self._name, line, column), "W4401", problem, advice)

    def _place(self, node: yaml.Node) -> Place:
        return Place(self._name, node.start_mark.line + 1, node.start_mark.column + 1)

    def suite(self) -> Suite:
        node = self._compose()
        found = self._fields(
            node, {"widget", "vars", "targets", "modules", "tests"}, "a file of tests"
        )
        if "tests" not in found:
            raise self._fault(node.start_mark, "there are no tests", "write `tests:` and a list")
        return Suite(
            widget=self._text(found["widget"]) if "widget" in found else "",
            variables=self._object(found.get("vars")),
            targets=self._object(found.get("targets")),
            modules={
                key.value: self._module(value) for key, value in self._pairs(found.get("modules"))
            },
            tests=tuple(self._test(one) for one in self._items(found["tests"])),
        )

    def _compose(self) -> yaml.Node:
        try:
            content = read_inside(self._file.parent, self._file.name, limit_bytes=LIMITS.bytes)
            node = yaml.compose(content.decode("utf-8-sig"), yaml.SafeLoader)
        except WidgetError as error:
            raise self._fault(None, error.finding.problem, error.finding.advice) from None
        except OSError as error:
            raise self._fault(None, f"it cannot be read ({error.strerror})", "mend it") from None
        except UnicodeDecodeError:
            raise self._fault(None, "it is not UTF-8", "save it as UTF-8") from None
        except RecursionError:
            raise self._fault(None, "it nests too deeply", "nest less") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            said = str(getattr(error, "problem", None) or error).split("\n", maxsplit=1)[0]
            raise self._fault(mark, f"it is not YAML: {said}", "mend it here") from None
        if node is None:
            raise self._fault(None, "it is empty", "write `tests:` and a list")
        return node

    def _pairs(self, node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
        if node is None:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self._fault(node.start_mark, "a mapping is expected here", "write `name: value`")
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._fault(key.start_mark, "a key is no text", "write a text")
            if key.value in seen:
                problem = f"the key '{key.value}' stands here twice"
                raise self._fault(key.start_mark, problem, "leave one of them out")
            seen.add(key.value)
        return list(node.value)

    def _items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._fault(node.start_mark, "a list is expected here", "write `- ` before each")
        return list(node.value)

    def _fields(self, node: yaml.Node, known: set[str], what: str) -> dict[str, yaml.Node]:
        found: dict[str, yaml.Node] = {}
        for key, value in self._pairs(node):
            if key.value not in known:
                problem = f"{what} has no '{key.value:.60}'"
                advice = f"it has {', '.join(sorted(known))}"
                raise self._fault(key.start_mark, problem, advice)
            found[key.value] = value
        return found

    def _value(self, node: yaml.Node, above: tuple[int, ...] = ()) -> Any:
        self._left -= 1
        if id(node) in above:
            raise self._fault(node.start_mark, "an alias leads to itself", "write it out")
        if self._left < 0:
            problem = f"it holds more than {LIMITS.values:,} values"
            raise self._fault(node.start_mark, problem, "use fewer aliases")
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            return {key.value: self._value(one, above) for key, one in self._pairs(node)}
        if isinstance(node, yaml.SequenceNode):
            return [self._value(one, above) for one in node.value]
        if node.style is None and node.value in ("", "~"):
            return None
        if node.style is not None or not _JSON.fullmatch(node.value):
            return node.value
        try:
            return orjson.loads(node.value)
        except orjson.JSONDecodeError:
            problem = f"the number {node.value:.60} is too large"
            raise self._fault(node.start_mark, problem, "write it in quotes, or smaller") from None

    def _text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self._fault(node.start_mark, "a text is expected here", "write one")
        return str(node.value)

    def _object(self, node: yaml.Node | None) -> Mapping[str, Any]:
        return {key.value: self._value(value) for key, value in self._pairs(node)}

    def _list(self, node: yaml.Node | None, read: Callable[[yaml.Node], Any]) -> tuple[Any, ...]:
        return () if node is None else tuple(read(one) for one in self._items(node))

    def _module(self, node: yaml.Node) -> Module:
        if isinstance(node, yaml.SequenceNode):
            return Module(steps=self._list(node, self._step))
        found = self._fields(node, {"params", "steps"}, "a module")
        return Module(
            parameters=self._list(found.get("params"), self._text),
            steps=self._list(found.get("steps"), self._step),
        )

    def _test(self, node: yaml.Node) -> Test:
        found = self._fields(node, {"name", "tags", "for", "steps"}, "a test")
        for needed in ("name", "steps"):
            if needed not in found:
                raise self._fault(node.start_mark, f"the test has no {needed}", "write it")
        rows: tuple[Mapping[str, Any], ...] = ({},)
        if isinstance(found.get("for"), yaml.ScalarNode):
            rows = self._csv(found["for"])
        elif "for" in found:
            rows = self._list(found["for"], self._object)
        return Test(
            name=self._text(found["name"]),
            tags=self._list(found.get("tags"), self._text),
            rows=rows,
            steps=self._list(found["steps"], self._step),
            place=self._place(node),
        )

    def _csv(self, node: yaml.Node) -> tuple[Mapping[str, Any], ...]:
        name = self._text(node)
        try:
            content = read_inside(self._file.parent, name, limit_bytes=LIMITS.bytes)
            lines = StringIO(content.decode("utf-8-sig"), newline="")
            return tuple(dict(row) for row in csv.DictReader(lines))
        except WidgetError as error:
            problem = f"{name:.60}: {error.finding.problem}"
            raise self._fault(node.start_mark, problem, error.finding.advice) from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            problem = f"{name:.60} cannot be read ({error})"
            raise self._fault(node.start_mark, problem, "name a CSV file beside this one") from None

    def _step(self, node: yaml.Node) -> Written:
        place = self._place(node)
        if isinstance(node, yaml.ScalarNode):
            return Written(does=self._text(node), place=place)
        pairs = {key.value: value for key, value in self._pairs(node)}
        when = self._object(pairs.pop("when", None))
        if len(pairs) != 1:
            problem = f"a step does one thing, and this one names {len(pairs)}"
            raise self._fault(node.start_mark, problem, "write `- Keyword: arguments`")
        ((does, value),) = pairs.items()
        given = self._value(value)
        if does != "use":
            return Written(does=does, given=given, when=when, place=place)
        name, more = (given, None) if isinstance(given, str) else (None, dict(given or {}))
        if more is not None:
            name = more.pop("module", None)
        if not isinstance(name, str):
            raise self._fault(value.start_mark, "use names no module", "write `use: name`")
        return Written(does=name, given=more or None, is_use=True, when=when, place=place)
