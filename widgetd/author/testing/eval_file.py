"""Read `*.eval.yaml`, the wishes that a widget is for, and transcripts of what a model called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from widgetd.author.testing.limits import LIMITS
from widgetd.author.testing.suite import FileLocation, display_path, suite_error
from widgetd.author.testing.yaml_reader import YamlReader
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.inside import read_inside
from widgetd.base.text_search import did_you_mean
from widgetd.core.schema.json_text import NotJsonError, parse_json
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.naming import EVALS_SUFFIX, slugify
from widgetd.server.catalog.snapshot import Snapshot

UNREADABLE_CASES = "W2512"
UNREADABLE_TRANSCRIPT = "W2513"

_ROW = compile_schema(
    {
        "type": "object",
        "properties": {
            "wish": {"type": "string"},
            "tool": {"type": "string"},
            "arguments": {"type": "object"},
            "tokens": {"type": "integer", "minimum": 0},
        },
        "required": ["wish"],
        "additionalProperties": False,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A wish in a person's words, and the call that answers it.

    Attributes:
        text: The words.
        tool: The widget that is meant.
        arguments: Texts and numbers that must be somewhere in the arguments.
        never: Widgets that must not be called.
    """

    text: str
    tool: str
    arguments: tuple[Any, ...] = ()
    never: tuple[str, ...] = ()
    location: FileLocation = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuestion:
    """A question that the facts of a result must answer by themselves.

    Attributes:
        text: The question.
        answer: What the answer must mention.
        tool: The widget that is called.
        given: Its arguments; None for its first example.
    """

    text: str
    answer: Any
    tool: str
    given: Mapping[str, Any] | None = None
    location: FileLocation = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """All cases of a folder.

    Attributes:
        wishes: In the order of files and lines.
        questions: In the same order.
        faults: What could not be read (W2512), and names that are unknown (W2001).
    """

    wishes: tuple[Wish, ...]
    questions: tuple[FactQuestion, ...]
    faults: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call that a model made.

    Attributes:
        tool: The tool that it named; empty if it called none.
        arguments: Its arguments.
        tokens: The cost of the turn, where it is known.
    """

    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0


def read_cases(folder: Path, snapshot: Snapshot) -> Cases:
    """Read the `*.eval.yaml` files of `folder`, whose widgets are in `snapshot`."""
    readers = [_CaseReader(file, snapshot) for file in sorted(folder.rglob(f"*{EVALS_SUFFIX}"))]
    for reader in readers:
        try:
            reader.read()
        except WidgetError as error:
            reader.faults.append(error.finding)
    wishes, known = [wish for reader in readers for wish in reader.wishes], dict[str, Wish]()
    faults = [fault for reader in readers for fault in reader.faults]
    for wish in wishes:
        # Transcripts name a wish by its words.
        other = known.setdefault(wish.text, wish)
        if other is not wish:
            problem = f"the wish of {other.location.place} is repeated"
            repeated = suite_error(wish.location, UNREADABLE_CASES, problem, "remove one")
            faults.append(repeated.finding)
    return Cases(
        wishes=tuple(wishes),
        questions=tuple(one for reader in readers for one in reader.questions),
        faults=tuple(faults),
    )


class _CaseReader(YamlReader):
    def __init__(self, file: Path, snapshot: Snapshot) -> None:
        super().__init__(file, code=UNREADABLE_CASES, content="write `cases:` and a list")
        self.wishes: list[Wish] = []
        self.questions: list[FactQuestion] = []
        self._widgets = snapshot.widgets
        self._tool = slugify(file.name.removesuffix(EVALS_SUFFIX))

    def read(self) -> None:
        root = self.compose()
        fields = self.read_fields(root, {"tool", "cases"}, "a file of wishes")
        if "cases" not in fields:
            raise self.error(root, "there are no cases", "write `cases:` and a list")
        self._tool = self._read_tool(fields.get("tool"), root)
        self.read_list(fields["cases"], self._read_case)

    def _read_case(self, node: yaml.Node) -> None:
        known = {"wish", "tool", "arguments", "never", "facts", "given"}
        fields = self.read_fields(node, known, "a case")
        if not fields.keys() & {"wish", "facts"}:
            raise self.error(node, "the case has no wish", "write `wish:` or `facts:`")
        tool = self._read_tool(fields.get("tool"), node)
        if "wish" in fields:
            wish = Wish(
                text=self.read_text(fields["wish"]),
                tool=tool,
                arguments=self.read_list(fields.get("arguments"), self.read_value),
                never=self.read_list(fields.get("never"), lambda one: self._read_tool(one, one)),
                location=self.locate(fields["wish"]),
            )
            self.wishes.append(wish)
        given = self.read_object(fields["given"]) if "given" in fields else None
        for question, answer in self.read_pairs(fields.get("facts")):
            self.questions.append(
                FactQuestion(
                    text=self.read_text(question),
                    answer=self.read_value(answer),
                    tool=tool,
                    given=given,
                    location=self.locate(question),
                )
            )

    def _read_tool(self, node: yaml.Node | None, around: yaml.Node) -> str:
        """Read the name of a widget; without a node, that of the file's."""
        name = self.read_text(node) if node else self._tool
        if name not in self._widgets:
            advice = did_you_mean(name, self._widgets, "`widgetd list` names what there is")
            raise self.error(node or around, f"there is no widget '{name:.60}'", advice)
        return name


def read_transcript(file: Path, wishes: tuple[Wish, ...]) -> dict[str, list[ModelCall]]:
    """Read what a model called for each wish: JSON lines of `{"wish", "tool"?, "arguments"?}`.

    Raises:
        WidgetError: Lines cannot be used (W2513).
    """
    name, faults = display_path(file), list[Finding]()
    calls: dict[str, list[ModelCall]] = {wish.text: [] for wish in wishes}

    def error(line: int, problem: str, advice: str) -> WidgetError:
        return suite_error(FileLocation(name, line, 1), UNREADABLE_TRANSCRIPT, problem, advice)

    try:
        content = read_inside(file.parent, file.name, limit_bytes=LIMITS.transcript_bytes)
    except (OSError, WidgetError) as failure:
        raise error(1, f"it cannot be read ({failure})", "name another file") from None
    for number, line in enumerate(content.splitlines(), 1):
        try:
            row = _ROW.check(parse_json(line), strict=True).arguments
            wish = row.pop("wish")
        except NotJsonError as failure:
            problem = f"it is not JSON ({failure})"
        except CallError as failure:
            problem = failure.message
        else:
            problem = "" if wish in calls else f"no case has the wish {wish!r:.80}"
            calls.get(wish, []).append(ModelCall(**row))
        if problem:
            faults.append(error(number, problem, "correct this line").finding)
    if faults:
        raise WidgetError(*faults[: LIMITS.faults])
    return calls
