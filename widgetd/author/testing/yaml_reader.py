"""Read a YAML file beside a widget. Each part knows its line and column.

YAML gives the structure alone. Scalars are read as JSON, so `no` and `1:30` stay texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml

from widgetd.author.testing.limits import LIMITS
from widgetd.author.testing.suite import FileLocation, display_path, suite_error
from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.inside import read_inside
from widgetd.base.text_search import compile_pattern

T = TypeVar("T")

_JSON = compile_pattern(r"null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class YamlReader:
    """Values of a file, and its faults.

    Args:
        file: The designer's file.
        code: The code of its faults.
        content: What it must contain, as advice for an empty file.
    """

    def __init__(self, file: Path, *, code: str, content: str) -> None:
        self.faults: list[Finding] = []
        self.file = file
        self._code = code
        self._content = content
        self.name = display_path(file)
        self._values_left = LIMITS.values

    def locate(self, part: yaml.Node | yaml.Mark | None) -> FileLocation:
        mark = getattr(part, "start_mark", part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return FileLocation(self.name, line, column)

    def error(self, part: yaml.Node | yaml.Mark | None, problem: str, advice: str) -> WidgetError:
        return suite_error(self.locate(part), self._code, problem, advice)

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
            content = read_inside(self.file.parent, self.file.name, limit_bytes=LIMITS.bytes)
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
            raise self.error(None, "it is empty", self._content)
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

    def read_items(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, "a list is expected here", "write `- ` before each")
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
        return () if node is None else tuple(self.read_each(self.read_items(node), read))
