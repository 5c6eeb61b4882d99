"""Read `*.test.yaml` into a suite. Each part knows its line and column.

YAML gives the structure alone. Scalars are read as JSON, so `no` and `1:30` stay texts.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml

from widgetd.author.testing.limits import LIMITS
from widgetd.author.testing.suite import (
    Answers,
    FileLocation,
    Module,
    Suite,
    Test,
    WrittenStep,
    display_path,
    suite_error,
)
from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.inside import read_inside
from widgetd.base.text_search import compile_pattern

T = TypeVar("T")

_JSON = compile_pattern(r"null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


def read_suite(file: Path) -> Suite:
    reader = _SuiteReader(file)
    try:
        return reader.suite()
    except WidgetError as error:
        return Suite(faults=(*reader.faults, error.finding))


class _SuiteReader:
    def __init__(self, file: Path) -> None:
        self.faults: list[Finding] = []
        self._file = file
        self._name = display_path(file)
        self._values_left = LIMITS.values

    def suite(self) -> Suite:
        root = self.compose()
        fields = self.read_fields(
            root, {"widget", "vars", "targets", "modules", "tests", "upstreams"}, "a file of tests"
        )
        if "tests" not in fields:
            raise self.error(root, "there are no tests", "write `tests:` and a list")
        widget = fields.get("widget")
        modules = self.read_pairs(fields.get("modules"))
        return Suite(
            widget=self.read_text(widget) if widget else "",
            widget_location=self.locate(widget) if widget else None,
            variables=self.read_object(fields.get("vars")),
            targets=self.read_object(fields.get("targets")),
            modules=dict(
                self.read_each(modules, lambda item: (item[0].value, self._module(item[1])))
            ),
            tests=self.read_list(fields["tests"], self._test),
            upstreams=self._upstreams(fields.get("upstreams")),
            faults=tuple(self.faults),
        )

    def _upstreams(self, node: yaml.Node | None) -> Answers:
        """Read `{upstream: {tool: {"answer" | "error", "confirm"?}}}`, here or in a file beside."""
        if isinstance(node, yaml.ScalarNode):
            other = _SuiteReader(self._file.with_name(self.read_text(node)))
            return other._upstreams(other.compose())
        keys = {"answer", "error", "confirm"}
        return {
            upstream.value: {
                tool.value: {
                    key: self.read_value(value)
                    for key, value in self.read_fields(answer, keys, "an answer").items()
                }
                for tool, answer in self.read_pairs(tools)
            }
            for upstream, tools in self.read_pairs(node)
        }

    def _module(self, node: yaml.Node) -> Module:
        if isinstance(node, yaml.SequenceNode):
            return Module(steps=self.read_list(node, self._step))
        fields = self.read_fields(node, {"params", "steps"}, "a module")
        return Module(
            parameters=self.read_list(fields.get("params"), self.read_text),
            steps=self.read_list(fields.get("steps"), self._step),
        )

    def _test(self, node: yaml.Node) -> Test:
        fields = self.read_fields(node, {"name", "tags", "for", "steps"}, "a test")
        for required in ("name", "steps"):
            if required not in fields:
                raise self.error(node, f"the test has no {required}", "write it")
        rows: tuple[Mapping[str, Any], ...] = ({},)
        if isinstance(fields.get("for"), yaml.ScalarNode):
            rows = self._csv_rows(fields["for"])
        elif "for" in fields:
            rows = self.read_list(fields["for"], self.read_object)
        if not rows:
            raise self.error(fields["for"], "there are no rows", "write one at least")
        return Test(
            name=self.read_text(fields["name"]),
            tags=self.read_list(fields.get("tags"), self.read_text),
            rows=rows,
            steps=self.read_list(fields["steps"], self._step),
            location=self.locate(node),
        )

    def _csv_rows(self, node: yaml.Node) -> tuple[Mapping[str, Any], ...]:
        name = self.read_text(node)
        try:
            content = read_inside(self._file.parent, name, limit_bytes=LIMITS.bytes)
            lines = StringIO(content.decode("utf-8-sig"), newline="")
            return tuple(dict(row) for row in csv.DictReader(lines))
        except WidgetError as error:
            problem = f"{name:.60}: {error.finding.problem}"
            raise self.error(node, problem, error.finding.advice) from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            problem = f"{name:.60} cannot be read ({error})"
            raise self.error(node, problem, "name a CSV file beside this one") from None

    def _step(self, node: yaml.Node) -> WrittenStep:
        location = self.locate(node)
        if isinstance(node, yaml.ScalarNode):
            return WrittenStep(name=self.read_text(node), location=location)
        pairs = {key.value: value for key, value in self.read_pairs(node)}
        when = self.read_object(pairs.pop("when", None))
        if len(pairs) != 1:
            problem = f"a step does one thing, and this one names {len(pairs)}"
            raise self.error(node, problem, "write `- Keyword: arguments`")
        ((name, written),) = pairs.items()
        value = self.read_value(written)
        if name != "use":
            return WrittenStep(name=name, arguments=value, when=when, location=location)
        arguments = dict(value) if isinstance(value, Mapping) else {"module": value}
        module = arguments.pop("module", None)
        if not isinstance(module, str):
            raise self.error(written, "use names no module", "write `use: name`")
        return WrittenStep(
            name=module, arguments=arguments or None, is_use=True, when=when, location=location
        )

    # --- nodes ---

    def locate(self, part: yaml.Node | yaml.Mark | None) -> FileLocation:
        mark = getattr(part, "start_mark", part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return FileLocation(self._name, line, column)

    def error(self, part: yaml.Node | yaml.Mark | None, problem: str, advice: str) -> WidgetError:
        return suite_error(self.locate(part), "W4401", problem, advice)

    def note(self, part: yaml.Node, problem: str, advice: str) -> None:
        self.faults.append(self.error(part, problem, advice).finding)

    def read_each(self, items: Iterable[Any], read: Callable[[Any], T]) -> Iterator[T]:
        for item in items:
            try:
                yield read(item)
            except WidgetError as error:
                if self._values_left < 0 or len(self.faults) >= LIMITS.faults:
                    raise
                self.faults.append(error.finding)

    def compose(self) -> yaml.Node:
        """Read the file as a tree of nodes.

        Raises:
            WidgetError: It cannot be read, or is not YAML.
        """
        try:
            content = read_inside(self._file.parent, self._file.name, limit_bytes=LIMITS.bytes)
            root = yaml.compose(content.decode("utf-8-sig"), yaml.SafeLoader)
        except WidgetError as error:
            raise self.error(None, error.finding.problem, error.finding.advice) from None
        except OSError as error:
            problem = f"it cannot be read ({error.strerror})"
            raise self.error(None, problem, "let the user who runs the tests read it") from None
        except UnicodeDecodeError:
            raise self.error(None, "it is not UTF-8", "save it as UTF-8") from None
        except RecursionError:
            raise self.error(None, "it nests too deeply", "nest less") from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = str(getattr(error, "problem", None) or error).split("\n", maxsplit=1)[0]
            raise self.error(mark, f"it is not YAML: {problem}", "correct it here") from None
        if root is None:
            raise self.error(None, "it is empty", "write `tests:` and a list")
        return root

    def read_pairs(self, node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
        if node is None:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, "a mapping is expected here", "write `name: value`")
        keys: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key is no text", "write a text")
            if key.value in keys:
                self.note(key, f"the key '{key.value}' is repeated", "remove one")
            keys.add(key.value)
        return list(node.value)

    def read_fields(self, node: yaml.Node, keys: set[str], what: str) -> dict[str, yaml.Node]:
        fields: dict[str, yaml.Node] = {}
        for key, value in self.read_pairs(node):
            if key.value in keys:
                fields[key.value] = value
                continue
            problem = f"{what} has no '{key.value:.60}'"
            self.note(key, problem, f"it has {', '.join(sorted(keys))}")
        return fields

    def read_value(self, node: yaml.Node, ancestors: tuple[int, ...] = ()) -> Any:
        self._values_left -= 1
        if id(node) in ancestors:
            raise self.error(node, "an alias leads to itself", "write it out")
        if self._values_left < 0:
            problem = f"it holds more than {LIMITS.values:,} values"
            raise self.error(node, problem, "use fewer aliases")
        ancestors = (*ancestors, id(node))
        if isinstance(node, yaml.MappingNode):
            return {
                key.value: self.read_value(inner, ancestors) for key, inner in self.read_pairs(node)
            }
        if isinstance(node, yaml.SequenceNode):
            return [self.read_value(inner, ancestors) for inner in node.value]
        if node.style is None and node.value in ("", "~"):
            return None
        if node.style is not None or not _JSON.fullmatch(node.value):
            return node.value
        try:
            return orjson.loads(node.value)
        except orjson.JSONDecodeError:
            problem = f"the number {node.value:.60} is too large"
            raise self.error(node, problem, "write it in quotes, or smaller") from None

    def read_text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.error(node, "a text is expected here", "write one")
        return str(node.value)

    def read_object(self, node: yaml.Node | None) -> Mapping[str, Any]:
        return {key.value: self.read_value(value) for key, value in self.read_pairs(node)}

    def read_list(self, node: yaml.Node | None, read: Callable[[yaml.Node], T]) -> tuple[T, ...]:
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, "a list is expected here", "write `- ` before each")
        return tuple(self.read_each(node.value, read))
