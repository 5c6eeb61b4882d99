"""Parse a sidecar: a TOML file beside a widget, for settings without a place in a Studio file.

    Flight Tracker.widget  ←  Flight Tracker.widget.toml

Only shapes are checked here. Whether an expression compiles or an example fits the schema is
checked with the widget.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.errors.expected import advise
from widgetd.base.files.source import Source
from widgetd.base.limits import AT_WORK
from widgetd.base.text_search import compile_pattern, did_you_mean, read_tokens
from widgetd.core.schema.json_text import decode
from widgetd.core.schema.json_values import Path, kind, pointer
from widgetd.core.widget.hidden_characters import strip_hidden
from widgetd.core.widget.images import ORIGIN
from widgetd.core.widget.limits import LIMITS

SUFFIX = ".toml"
"""The suffix that a sidecar's path adds to its widget's."""

VERSION = r"^[0-9]{1,9}(\.[0-9]{1,9}){0,3}(-[0-9A-Za-z.-]{1,40})?(\+[0-9A-Za-z.-]{1,40})?$"
"""A version: `1.5.0-beta.2`; anything after `+` has no meaning."""

_KEBAB = r"^[a-z0-9]+(-[a-z0-9]+)*$"

_WORDS = r"\S"

_NAME = r"^([A-Za-z_][A-Za-z0-9_]{0,39})?$"
"""A name that JMESPath reads without quotes."""


class SidecarPart(BaseModel):
    """A base of all parts: frozen, strict, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Part = TypeVar("Part", bound=SidecarPart)


class SidecarExample(SidecarPart):
    """Arguments that show the widget in a certain state."""

    name: str = Field(default="", description="what the gallery calls it")
    arguments: Mapping[str, Any] = Field(description="as a model would send them")


class ActionCheck(SidecarPart):
    """A condition on the payload of an action, and the message for users if it is not met."""

    items: str = Field(
        default="", description="a list of the arguments; field and says then read its item, too"
    )
    field: str = Field(default="", description="the field of the payload whose control shows it")
    holds: str = Field(description="an expression over payload that must hold")
    says: str = Field(description="what the user reads where it does not")


class ActionNote(SidecarPart):
    """The meaning of an action, and its tool of an upstream."""

    description: str = Field(default="", description="what it means when the user takes it")
    checks: tuple[ActionCheck, ...] = Field(default=(), description="what its payload must satisfy")
    repeat: bool = Field(
        default=False, description="take it again at each press, even if nothing has changed"
    )
    upstream: str = Field(
        default="", description="the server that does it, by its name in the file of upstreams"
    )
    tool: str = Field(
        default="", description="what is called there; the operator must allow it as an action"
    )
    confirm: str | None = Field(
        default=None, description="what the user is asked before; a template over arguments"
    )
    arguments: Mapping[str, str] | None = Field(
        default=None, description="what is sent, as expressions over the arguments and payload"
    )
    result: Mapping[str, str] = Field(
        default_factory=dict,
        description="the widget's new arguments, as expressions over the answer",
    )

    @property
    def is_bound(self) -> bool:
        return bool(self.upstream)


class JmesPath(SidecarPart):
    """An expression in JMESPath, able to make lists of objects."""

    jmespath: str


class FeedPart(SidecarPart):
    """The source of a widget's arguments: the caller's, and the upstream with the rest."""

    name: str = Field(
        default="",
        pattern=_NAME,
        description="of one among several, as [[feed]]: where expressions see its answer",
    )
    upstream: str = Field(
        min_length=1, description="the server, by its name in the file of upstreams"
    )
    tool: str = Field(min_length=1, description="what is called there")
    ask: tuple[str, ...] = Field(default=(), description="the arguments that the caller brings")
    keep_s: float = Field(
        default=60.0, ge=0, le=3600, description="seconds for which an answer is used again"
    )
    stale_s: float = Field(
        default=600.0,
        ge=0,
        le=86_400,
        description="seconds for which an old answer serves where the upstream fails",
    )
    on_failure: Literal["fail", "arguments"] = Field(
        default="fail", description="fail the call, or show the caller's arguments alone"
    )
    arguments: Mapping[str, str] | None = Field(
        default=None, description="what the upstream is sent, as expressions over what was asked"
    )
    answer: Literal["value", "blocks"] = Field(
        default="value",
        description="what expressions see: its JSON, or {value, blocks} with texts and pictures",
    )
    map: Mapping[str, str] | None = Field(
        default=None, description="the widget's arguments, as expressions over the answer"
    )
    every_s: float | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="seconds after which the upstream is asked again while a page shows the widget",
    )
    subscribe: str = Field(
        default="",
        description="the upstream's resource that announces changes; {name} is an asked argument",
    )
    tell: tuple[str, ...] = Field(
        default=(), description="the arguments whose changes the model reads"
    )
    ask_schema: Mapping[str, Mapping[str, Any]] = Field(
        default_factory=dict,
        description="schemas of what is asked, where the widget's own do not say it",
    )

    @property
    def is_live(self) -> bool:
        """Return whether the widget changes while a page shows it."""
        return self.every_s is not None or bool(self.subscribe)


class Sidecar(SidecarPart):
    """The settings of a sidecar. Absent settings have their defaults."""

    description: str | None = Field(
        default=None, description="what the widget shows, and when a model should use it"
    )
    title: str | None = Field(default=None, description="what people call it")
    tags: tuple[str, ...] = Field(
        default=(),
        description="its subjects; pinned keeps it listed where others are found by search",
    )
    keywords: tuple[str, ...] = Field(
        default=(), description="what people call it who search for it"
    )
    wishes: tuple[Annotated[str, Field(pattern=_WORDS)], ...] = Field(
        default=(), description="what people say who mean it; a search must find it"
    )
    never: tuple[str, ...] = Field(
        default=(), description="the tools of widgets that no wish may find first"
    )
    ui_type: str | None = Field(
        default=None,
        pattern=_KEBAB,
        description="the type of its results, in kebab-case; made from the name",
    )
    summary: str | None = Field(
        default=None, description="what the model reads of a result; a template over the arguments"
    )
    summary_fields: tuple[str, ...] = Field(
        default=(), description="the arguments that the model gets as data in the split profile"
    )
    sensitive: tuple[str, ...] = Field(
        default=(), description="arguments that no reader is shown: in no text, no data and no log"
    )
    permission: Literal["read", "elevated"] = Field(
        default="read", description="elevated: callers need a scope of their own"
    )
    version: str | None = Field(
        default=None, description="of the component; 0.0.0 and a digest otherwise"
    )
    provider: str | None = Field(default=None, description="whose component it is, for clients")
    priority: Literal["high", "medium", "low"] = Field(
        default="medium", description="for clients that draw several"
    )
    render_mode: Literal["immediate", "lazy", "progressive"] = Field(
        default="immediate", description="for clients: when to draw it"
    )
    preload: bool = Field(default=False, description="for clients: fetch the component ahead")
    min_client_version: str | None = Field(
        default=None, pattern=VERSION, description="clients that say they are older are refused"
    )
    deprecated: bool = Field(default=False, description="for clients: another should be used")
    migration_guide: str | None = Field(
        default=None, description="where callers read which, and how to change"
    )
    cache: Literal["none", "session", "persistent"] = Field(
        default="none", description="for clients: how long the component may be kept"
    )
    profile: Literal["auto", "chatkit", "split"] = Field(
        default="auto", description="who sees the tree, whatever the settings say"
    )
    text: Literal["summary", "markdown"] | None = Field(
        default=None, description="the text of results, whatever the settings say"
    )
    image_origins: tuple[Annotated[str, Field(pattern=ORIGIN)], ...] = Field(
        default=(), description="origins that images may come from, too"
    )
    ids: tuple[str, ...] = Field(
        default=(), description="arguments that widgetd makes where a call leaves them out"
    )
    derived: Mapping[str, str] = Field(
        default_factory=dict,
        description="arguments that follow from others, as expressions over them",
    )
    source: Literal["template", "view"] | None = Field(
        default=None, description="which of an export's two is drawn; decided by what is whole"
    )
    program: bool = Field(
        default=True,
        description="false keeps the template from the widget's page, which then waits for results",
    )
    json_schema: Mapping[str, Any] | None = Field(
        default=None,
        alias="schema",
        description="the schema of the arguments, where the file has none",
    )
    summary_data: Mapping[str, str | JmesPath] = Field(
        default_factory=dict, description="more for the model: expressions over the arguments"
    )
    examples: tuple[SidecarExample, ...] = Field(
        default=(), description="arguments that show the widget in its states"
    )
    actions: Mapping[str, ActionNote] = Field(
        default_factory=dict, description="what its actions mean, by their type"
    )
    state: Mapping[str, Any] = Field(
        default_factory=dict,
        description="names that the template reads beside its arguments, with their first values",
    )
    local: Mapping[str, Mapping[str, str]] = Field(
        default_factory=dict,
        description="actions that change only the page: by type, the state that each assigns, as "
        "expressions over arguments, state and payload",
    )
    feeds: tuple[FeedPart, ...] = Field(
        default=(),
        alias="feed",
        max_length=LIMITS.feeds,
        description="where the arguments come from that a caller does not bring",
    )


def read_sidecar(source: Source | None) -> Sidecar:
    """Parse a sidecar, or return the defaults if there is none.

    Raises:
        WidgetError: It is not TOML (W1111), has an unknown key (W1112) or an unusable value
            (W1113). The finding's path is the sidecar's, and its line the key's.
    """
    if source is None:
        return _DEFAULTS
    return parse_toml(source, Sidecar)


_DEFAULTS = Sidecar()


_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_DEEP = compile_pattern(rf"(?m)(?:^|[\[{{,])[ \t]*+(?:{_PART}\.[ \t]*+){{{LIMITS.key_parts}}}")


def parse_toml(source: Source, model: type[Part]) -> Part:
    """Parse a file of settings.

    Raises:
        WidgetError: As `read_sidecar`.
    """
    try:
        return cast("Part", _parse(decode(source.content), model))
    except WidgetError as error:
        raise error.of(source.path) from None


@lru_cache(maxsize=AT_WORK)
def _parse(text: str, model: type[Part]) -> Part:
    if deep := _DEEP.search(text):
        line = text.count("\n", 0, deep.end()) + 1
        problem = f"a key has more than {LIMITS.key_parts} parts"
        raise _build_error("W1113", problem, "nest less, or put it in quotes", line=line)
    is_single = False
    try:
        values = tomllib.loads(text, parse_float=_parse_finite)
        is_single = isinstance(values.get("feed"), dict)
        if is_single:
            values["feed"] = [values["feed"]]
        # As JSON, because pydantic's strict mode then accepts lists as tuples and dates as text.
        return model.model_validate_json(orjson.dumps(values))
    except tomllib.TOMLDecodeError as error:
        raise _build_toml_error(text, error) from None
    except ValidationError as error:
        # Unknown keys first: a misspelt required key is also reported as missing.
        errors = error.errors(include_url=False)
        for entry in errors:
            if is_single and entry["loc"][:2] == ("feed", 0):
                entry["loc"] = ("feed", *entry["loc"][2:])
        raise _build_value_error(
            text, model, min(errors, key=lambda entry: entry["type"] != _UNKNOWN)
        ) from None
    except _NotFiniteError as error:
        problem = f"{error} is no number that JSON has"
        raise _build_error(
            "W1113", problem, "write a finite number", line=error.line(text)
        ) from None
    except (orjson.JSONEncodeError, RecursionError, ValueError):  # ValueError: too many digits
        problem = "it holds a number of more than 64 bits, or nests too deeply"
        raise _build_error("W1113", problem, "write the number as text, or nest less") from None


_VALUE = compile_pattern(r"[=,\[]\s*([^\s=,\[\]{}#]+)")
_VERSION = compile_pattern(VERSION)


class _NotFiniteError(Exception):
    """An infinity or NaN, valid in TOML but not in JSON."""

    def line(self, text: str) -> int | None:
        for match in read_tokens(_VALUE, text):
            if match[1] == str(self):
                return text.count("\n", 0, match.end()) + 1
        return None


def _parse_finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise _NotFiniteError(text)
    return number


_UNKNOWN = "extra_forbidden"
_TOML_ERROR = compile_pattern(r"(?s)\A(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _build_toml_error(text: str, error: tomllib.TOMLDecodeError) -> WidgetError:
    parts = _TOML_ERROR.match(str(error))
    reason, line, column = parts.groups() if parts else (str(error), None, None)
    end = text.rstrip("\n").count("\n") + 1
    return _build_error(
        "W1111",
        f"this is not TOML ({reason[:1].lower()}{reason[1:]})",
        "write it as `key = value`, with text in double quotes",
        line=int(line) if line else end,
        column=int(column) if column else None,
    )


def _build_value_error(text: str, model: type[SidecarPart], error: ErrorDetails) -> WidgetError:
    loc, line = error["loc"], find_line(text, pointer(*error["loc"]))
    if loc[0] == "summary_data":  # drop the branch of the union, unknown to an author
        loc = loc[:2]
    key = ".".join(str(part + 1 if isinstance(part, int) else part) for part in loc)
    if error["type"] == _UNKNOWN:
        owner = _find_owner(model, loc)
        keys = tuple(field.alias or name for name, field in owner.model_fields.items())
        advice = did_you_mean(str(loc[-1]), keys, f"known are {', '.join(keys)}")
        return _build_error("W1112", f"the key '{key}' is unknown", advice, line=line)
    if error["type"] == "missing":
        return _build_error("W1113", f"the key '{key}' is missing", "write it", line=line)
    value = error["input"]
    got = f"'{value[:60]}'" if isinstance(value, str) else kind(value)
    pattern = error.get("ctx", {}).get("pattern", "")
    advice = f"write {_PATTERNS[pattern]}" if pattern in _PATTERNS else advise(error)
    return _build_error("W1113", f"'{key}' cannot be {got}", advice, line=line)


def _find_owner(model: type[SidecarPart], loc: Path) -> type[SidecarPart]:
    owner: Any = model
    for part in (*loc[:-1], None):
        # The last of `Mapping[str, Part]`, the first of `tuple[Part, ...]`.
        while not hasattr(owner, "model_fields"):
            owner = next(type_ for type_ in reversed(get_args(owner)) if type_ is not Ellipsis)
        fields = {field.alias or name: field for name, field in owner.model_fields.items()}
        owner = fields[part].annotation if part in fields else owner
    return cast("type[SidecarPart]", owner)


_PATTERNS: Mapping[str, str] = {
    _KEBAB: "words in lower case joined by hyphens, as in 'flight-tracker'",
    _NAME: "letters, digits and _, as in 'gate_change'",
    _WORDS: "what a person would say, as in 'Is my flight late?'",
    ORIGIN: "an origin in lower case, as in 'https://images.example.com'",
    VERSION: "numbers joined by dots, as in '1.5.0'",
}


def find_line(text: str, at: str) -> int | None:
    """Return the line of the key at the JSON pointer `at`, or of the innermost key around it.

    Returns:
        From 1, None if no part of the path has a line.
    """
    lines = {pointer(*path): line for line, path in _iterate_keys(text)}
    while at and at not in lines:
        at = at.rpartition("/")[0]
    return lines.get(at)


# Possessive, or a long line of spaces would be matched in every possible way.
_HEADER = compile_pattern(r"\A\s*+\[(\[?)([^\[\]]++)\]")
_LIST = compile_pattern(r"=[ \t]*\[[ \t]*(?:#.*)?$")
# An unclosed string ends with the line: starting again behind its quote is quadratic.
_STRING = compile_pattern(r"""(?:"(?:[^"\\]|\\.)*+["\\]?|'[^']*+'?)""")
_KEY = compile_pattern(r"\A\s*+([^#=\[\]{}\s][^#=\[\]{}]*+)=")


def _iterate_keys(text: str) -> Iterator[tuple[int, Path]]:
    """Yield each line that names a key or a table, with its path.

    A list with elements on lines of their own yields the line of each text. Keys inside
    inline tables are not distinguished.
    """
    table: Path = ()
    counts: dict[Path, int] = {}
    inside = ""
    elements: Path | None = None
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in line else inside
        elif elements is not None:
            for _ in read_tokens(_STRING, line):
                yield number, (*elements, count)
                count += 1
            elements = None if line.lstrip().startswith("]") else elements
        elif header := _HEADER.match(line):
            *around, last = _split_key(header.group(2))
            table = ()
            for part in around:
                table = (*table, part)
                if table in counts:  # continues the last element of a list of tables
                    table = (*table, counts[table])
            table = (*table, last)
            if header.group(1):
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield number, table
        elif key := _KEY.match(line):
            inside = next((q for q in ('"""', "'''") if line.count(q) % 2), "")
            path = table + _split_key(key.group(1).rstrip())
            elements, count = path if _LIST.search(line) else None, 0
            yield number, path


def _split_key(dotted: str) -> Path:
    try:
        value: object = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted,)
    parts: list[str] = []
    while isinstance(value, dict):
        part, value = next(iter(value.items()))
        parts.append(part)
    return tuple(parts)


def _build_error(
    code: str, problem: str, advice: str, *, line: int | None = None, column: int | None = None
) -> WidgetError:
    return WidgetError(
        Finding(code=code, problem=strip_hidden(problem), advice=advice, line=line, column=column)
    )


Precedence = tuple[tuple[int, ...], tuple[object, ...]]


def parse_precedence(version: str) -> Precedence | None:
    """Return a key that sorts versions, `1.5.0-beta.2`, `1.5.0`, `1.10`, or None for other texts.

    Source: Semantic Versioning 2.0.0, section 11. Fewer or more than three numbers are accepted.
    """
    if _VERSION.match(version) is None or version.endswith("\n"):
        return None
    numbers, _, candidate = version.partition("+")[0].partition("-")
    counted = tuple(map(int, numbers.split(".")))
    # Every candidate comes before the release, a number before a word, fewer parts before more.
    parts = ((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in candidate.split("."))
    return counted + (0,) * (4 - len(counted)), (0, *parts) if candidate else (1,)
