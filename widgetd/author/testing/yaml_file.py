"""Read `*.test.yaml` into a suite. Each part knows its line and column."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from widgetd.author.testing.limits import LIMITS
from widgetd.author.testing.suite import Answers, Module, Suite, Test, WrittenStep
from widgetd.author.testing.yaml_reader import YamlReader
from widgetd.base.errors import WidgetError
from widgetd.base.files.inside import read_inside


def read_suite(file: Path) -> Suite:
    reader = _SuiteReader(file)
    try:
        return reader.suite()
    except WidgetError as error:
        return Suite(faults=(*reader.faults, error.finding))


class _SuiteReader(YamlReader):
    def __init__(self, file: Path) -> None:
        super().__init__(file, code="W4401", content="write `tests:` and a list")

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
            other = _SuiteReader(self.file.with_name(self.read_text(node)))
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
            content = read_inside(self.file.parent, name, limit_bytes=LIMITS.bytes)
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
