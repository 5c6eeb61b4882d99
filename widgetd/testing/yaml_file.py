"""Read `*.test.yaml` into a suite; each part knows its line and column.

YAML gives the structure alone. Scalars are read as JSON, so that `no` and `1:30` stay texts.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml

from widgetd.errors import Finding, WidgetError
from widgetd.files.inside import read_inside
from widgetd.testing.limits import LIMITS
from widgetd.testing.suite import (
    Answers,
    FileLocation,
    Module,
    Suite,
    Test,
    WrittenStep,
    display_path,
    suite_error,
)
from widgetd.text_search import compile_pattern

T = TypeVar("T")

_JSON = compile_pattern(r"null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


def read_suite(file: Path) -> Suite:
    """Read a YAML file; what cannot be read is in the suite's `faults` (W4401)."""
    reader = _YamlReader(file)
    try:
        return reader.suite()
    except WidgetError as error:
        return Suite(faults=(*reader.faults, error.finding))


class _YamlReader:
    def __init__(self, file: Path) -> None:
        self.faults: list[Finding] = []
        self._file = file
        self._name = display_path(file)
        self._values_left = LIMITS.values

    def suite(self) -> Suite:
        root = self._compose()
        fields = self._fields(
            root, {"widget", "vars", "targets", "modules", "tests", "upstreams"}, "a file of tests"
        )
        if "tests" not in fields:
            raise self._error(root.start_mark, "there are no tests", "write `tests:` and a list")
        widget = fields.get("widget")
        modules = self._pairs(fields.get("modules"))
        return Suite(
            widget=self._text(widget) if widget else "",
            widget_location=self._location(widget) if widget else None,
            variables=self._object(fields.get("vars")),
            targets=self._object(fields.get("targets")),
            modules=dict(self._each(modules, lambda one: (one[0].value, self._module(one[1])))),
            tests=self._list(fields["tests"], self._test),
            upstreams=self._upstreams(fields.get("upstreams")),
            faults=tuple(self.faults),
        )

    def _error(self, mark: Any, problem: str, advice: str) -> WidgetError:
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return suite_error(FileLocation(self._name, line, column), "W4401", problem, advice)

    def _note(self, mark: Any, problem: str, advice: str) -> None:
        """Note a fault beside which the rest of the file can be read."""
        self.faults.append(self._error(mark, problem, advice).finding)

    def _each(self, items: Iterable[Any], read: Callable[[Any], T]) -> Iterator[T]:
        """Read each of `items` that can be read, and note the faults of the others."""
        for item in items:
            try:
                yield read(item)
            except WidgetError as error:
                if self._values_left < 0 or len(self.faults) >= LIMITS.faults:
                    raise
                self.faults.append(error.finding)

    def _location(self, node: yaml.Node) -> FileLocation:
        return FileLocation(self._name, node.start_mark.line + 1, node.start_mark.column + 1)

    def _compose(self) -> yaml.Node:
        try:
            content = read_inside(self._file.parent, self._file.name, limit_bytes=LIMITS.bytes)
            root = yaml.compose(content.decode("utf-8-sig"), yaml.SafeLoader)
        except WidgetError as error:
            raise self._error(None, error.finding.problem, error.finding.advice) from None
        except OSError as error:
            problem = f"it cannot be read ({error.strerror})"
            raise self._error(None, problem, "let the user who runs the tests read it") from None
        except UnicodeDecodeError:
            raise self._error(None, "it is not UTF-8", "save it as UTF-8") from None
        except RecursionError:
            raise self._error(None, "it nests too deeply", "nest less") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = str(getattr(error, "problem", None) or error).split("\n", maxsplit=1)[0]
            raise self._error(mark, f"it is not YAML: {problem}", "correct it here") from None
        if root is None:
            raise self._error(None, "it is empty", "write `tests:` and a list")
        return root

    def _pairs(self, node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
        if node is None:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self._error(node.start_mark, "a mapping is expected here", "write `name: value`")
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key.start_mark, "a key is no text", "write a text")
            if key.value in keys:
                self._note(key.start_mark, f"the key '{key.value}' is repeated", "remove one")
            keys.add(key.value)
        return list(node.value)

    def _items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._error(node.start_mark, "a list is expected here", "write `- ` before each")
        return list(node.value)

    def _fields(self, node: yaml.Node, known: set[str], what: str) -> dict[str, yaml.Node]:
        fields: dict[str, yaml.Node] = {}
        for key, value in self._pairs(node):
            if key.value in known:
                fields[key.value] = value
                continue
            problem = f"{what} has no '{key.value:.60}'"
            self._note(key.start_mark, problem, f"it has {', '.join(sorted(known))}")
        return fields

    def _value(self, node: yaml.Node, ancestors: tuple[int, ...] = ()) -> Any:
        self._values_left -= 1
        if id(node) in ancestors:
            raise self._error(node.start_mark, "an alias leads to itself", "write it out")
        if self._values_left < 0:
            problem = f"it holds more than {LIMITS.values:,} values"
            raise self._error(node.start_mark, problem, "use fewer aliases")
        ancestors = (*ancestors, id(node))
        if isinstance(node, yaml.MappingNode):
            return {key.value: self._value(one, ancestors) for key, one in self._pairs(node)}
        if isinstance(node, yaml.SequenceNode):
            return [self._value(one, ancestors) for one in node.value]
        if node.style is None and node.value in ("", "~"):
            return None
        if node.style is not None or not _JSON.fullmatch(node.value):
            return node.value
        try:
            return orjson.loads(node.value)
        except orjson.JSONDecodeError:
            problem = f"the number {node.value:.60} is too large"
            raise self._error(node.start_mark, problem, "write it in quotes, or smaller") from None

    def _text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self._error(node.start_mark, "a text is expected here", "write one")
        return str(node.value)

    def _object(self, node: yaml.Node | None) -> Mapping[str, Any]:
        return {key.value: self._value(value) for key, value in self._pairs(node)}

    def _upstreams(self, node: yaml.Node | None) -> Answers:
        """Read `{upstream: {tool: {"answer" | "error", "confirm"?}}}`, here or in a file beside."""
        if isinstance(node, yaml.ScalarNode):
            other = _YamlReader(self._file.with_name(self._text(node)))
            return other._upstreams(other._compose())
        known = {"answer", "error", "confirm"}
        return {
            upstream.value: {
                tool.value: {
                    key: self._value(value)
                    for key, value in self._fields(answer, known, "an answer").items()
                }
                for tool, answer in self._pairs(tools)
            }
            for upstream, tools in self._pairs(node)
        }

    def _list(self, node: yaml.Node | None, read: Callable[[yaml.Node], T]) -> tuple[T, ...]:
        return () if node is None else tuple(self._each(self._items(node), read))

    def _module(self, node: yaml.Node) -> Module:
        if isinstance(node, yaml.SequenceNode):
            return Module(steps=self._list(node, self._step))
        fields = self._fields(node, {"params", "steps"}, "a module")
        return Module(
            parameters=self._list(fields.get("params"), self._text),
            steps=self._list(fields.get("steps"), self._step),
        )

    def _test(self, node: yaml.Node) -> Test:
        fields = self._fields(node, {"name", "tags", "for", "steps"}, "a test")
        for required in ("name", "steps"):
            if required not in fields:
                raise self._error(node.start_mark, f"the test has no {required}", "write it")
        rows: tuple[Mapping[str, Any], ...] = ({},)
        if isinstance(fields.get("for"), yaml.ScalarNode):
            rows = self._csv_rows(fields["for"])
        elif "for" in fields:
            rows = self._list(fields["for"], self._object)
        if not rows:
            raise self._error(fields["for"].start_mark, "there are no rows", "write one at least")
        return Test(
            name=self._text(fields["name"]),
            tags=self._list(fields.get("tags"), self._text),
            rows=rows,
            steps=self._list(fields["steps"], self._step),
            location=self._location(node),
        )

    def _csv_rows(self, node: yaml.Node) -> tuple[Mapping[str, Any], ...]:
        name = self._text(node)
        try:
            content = read_inside(self._file.parent, name, limit_bytes=LIMITS.bytes)
            lines = StringIO(content.decode("utf-8-sig"), newline="")
            return tuple(dict(row) for row in csv.DictReader(lines))
        except WidgetError as error:
            problem = f"{name:.60}: {error.finding.problem}"
            raise self._error(node.start_mark, problem, error.finding.advice) from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            problem = f"{name:.60} cannot be read ({error})"
            raise self._error(node.start_mark, problem, "name a CSV file beside this one") from None

    def _step(self, node: yaml.Node) -> WrittenStep:
        location = self._location(node)
        if isinstance(node, yaml.ScalarNode):
            return WrittenStep(name=self._text(node), location=location)
        pairs = {key.value: value for key, value in self._pairs(node)}
        when = self._object(pairs.pop("when", None))
        if len(pairs) != 1:
            problem = f"a step does one thing, and this one names {len(pairs)}"
            raise self._error(node.start_mark, problem, "write `- Keyword: arguments`")
        ((name, written),) = pairs.items()
        value = self._value(written)
        if name != "use":
            return WrittenStep(name=name, arguments=value, when=when, location=location)
        arguments = dict(value) if isinstance(value, Mapping) else {"module": value}
        module = arguments.pop("module", None)
        if not isinstance(module, str):
            raise self._error(written.start_mark, "use names no module", "write `use: name`")
        return WrittenStep(
            name=module, arguments=arguments or None, is_use=True, when=when, location=location
        )
