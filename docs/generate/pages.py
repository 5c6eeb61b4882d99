"""The reference in docs/reference/, generated from the code."""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel
from pydantic_core import to_json

import widgetd
from tests.field.deploy.scraping import scrape
from widgetd.author.browser import session_tools
from widgetd.author.browser.keywords import KEYWORDS, Keyword
from widgetd.author.commands.schemas import sidecar_schema
from widgetd.author.guide import answers
from widgetd.author.guide.component_details import (
    VALUES,
    Examples,
    describe_components,
    describe_properties,
)
from widgetd.cli import app
from widgetd.cli.shell import settings_schema
from widgetd.core.widget.components import load_vocabulary
from widgetd.daemon.wings import ROWS
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.builtin.table import BuiltinTool, Handler
from widgetd.server.observe.status import Health
from widgetd.server.web.metrics import Metrics
from widgetd.settings import GROUPS, PREFIX, SET_FIRST

FOLDER = Path(__file__).resolve().parents[1] / "reference"

GENERATED = "<!-- Made by `make reference`; do not edit. -->"

STANDARD = ("process_", "python_")
"""Metrics that every service in Python has."""


async def pages() -> Mapping[str, str]:
    """Return every page by its name in `FOLDER`."""
    return {
        "settings.md": _settings(),
        "sidecar.md": _sidecar(),
        "cli.md": _commands(),
        "metrics.md": await _metrics(),
        "keywords.md": _keywords(),
        "limits.md": _limits(),
        "python.md": _python(),
        "tools.md": _tools(),
        "components.md": _components(),
    }


def _page(title: str, *parts: str) -> str:
    return "\n\n".join((GENERATED, f"# {title}", *(part.strip("\n") for part in parts))) + "\n"


def _table(*rows: tuple[str, ...]) -> str:
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join((head, "|---" * len(rows[0]) + "|", *rest))


def _settings() -> str:
    parts, tables = settings_schema()["properties"], []
    for group, names in GROUPS.items():
        rows = [("setting", "value", "default", "decides")]
        rows += [
            (f"`{name}`", _kind(part), _default(part), part["description"])
            for name in names
            for part in (parts[name],)
        ]
        tables.append(f"## {group.capitalize()}\n\n{_table(*rows)}")
    intro = (
        "Each setting is a flag of `widgetd serve`, as `--list-tokens`; a variable, as "
        f"`{PREFIX}LIST_TOKENS`; and a key of `widgetd.toml`, as `list_tokens`, in this order of "
        "precedence. `profiles`, `webhook_secret` and `chat_key` have no flag. "
        "`widgetd serve --settings` prints what holds, and where it comes from. "
        "[Install](../operations/install.md#settings) says what each is good for."
    )
    first = ", ".join(f"`{name}`" for name in SET_FIRST)
    return _page("Settings", intro, f"Most people set first: {first}.", *tables)


def _sidecar() -> str:
    schema = sidecar_schema()
    intro = (
        "What a Studio file cannot say stands in a TOML file beside it: "
        "`Flight Tracker.widget.toml` beside `Flight Tracker.widget`. Every key may be left out; "
        "an unknown one is a fault. "
        "`widgetd new --sidecar FILE` writes one to fill in, and `widgetd schema sidecar` prints "
        "its JSON Schema, for editors."
    )
    parts = [_keys(schema)]
    for name, title in (
        ("SidecarExample", "[[examples]]"),
        ("ActionNote", '[actions."TYPE"]'),
        ("ActionCheck", '[[actions."TYPE".checks]]'),
        ("FeedPart", "[feed]` or `[[feed]]"),
    ):
        part = schema["$defs"][name]
        parts.append(f"## `{title}`\n\n{part['description']}\n\n{_keys(part)}")
    return _page("Sidecar", intro, *parts)


def _keys(schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [("key", "value", "default", "says")]
    for name, part in schema["properties"].items():
        default = "*needed*" if name in needed else _default(part)
        rows.append((f"`{name}`", _kind(part), default, part["description"]))
    return _table(*rows)


LIMITS: Mapping[str, tuple[str, ...]] = {
    "base": (
        *("file_bytes", "json_depth", "schema_nodes", "template_bytes", "template_nodes"),
        *("output_bytes", "steps"),
    ),
    "core.widget": ("program_bytes",),
    "server.web": ("arguments_bytes", "upload_bytes"),
    "server.mcp": ("wait_s", "note_chars"),
    "server.store": ("delivery_s", "deliveries"),
    "server.catalog": ("folder_files", "versions", "versions_bytes"),
    "author.browser": ("steps", "step_s", "session_hard_s", "trace_bytes", "picture_bytes"),
    "chat": ("message_bytes", "turn_s", "threads_each"),
    "upstreams": ("answer_bytes", "event_bytes", "tools"),
}
"""The limits that users meet, at most 30, by the room whose table has them."""


def _limits() -> str:
    intro = (
        "Limits that users meet and no setting changes. A name's end is its unit; without one it "
        "is a number of things. `limits.py` of each room has all others."
    )
    rows: list[tuple[str, ...]] = [("of", "limit", "value", "is")]
    for room, names in LIMITS.items():
        module = import_module(f"widgetd.{room}.limits")
        for name in names:
            table = next(one for one in _tables(module) if name in one.__dataclass_fields__)
            value = f"{getattr(table(), name):,}"
            rows.append((room.rpartition(".")[2], f"`{name}`", value, _attributes(table)[name]))
    return _page("Limits", intro, _table(*rows))


def _tables(module: ModuleType) -> Iterator[type[Any]]:
    """Yield the tables of limits that a module defines."""
    for member in vars(module).values():
        is_table = isinstance(member, type) and is_dataclass(member)
        if is_table and member.__module__ == module.__name__:
            yield member


def _attributes(table: type) -> dict[str, str]:
    """Return the meaning of each attribute, from the docstring of a class."""
    text = (inspect.getdoc(table) or "").partition("Attributes:\n")[2]
    named = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", text, re.MULTILINE)
    return {name: " ".join(meaning.split()).rstrip(".") for name, meaning in named}


def _kind(part: Mapping[str, Any]) -> str:
    """Describe a value in a few words."""
    if "anyOf" in part:
        kinds = dict.fromkeys(_kind(one) for one in part["anyOf"] if one.get("type") != "null")
        return " or ".join(kinds)
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "const" in part:
        return f"`{part['const']}`"
    if "$ref" in part:
        return "table"
    if part.get("type") == "array":
        return f"list of {_kind(part['items'])}s"
    names = {"object": "table", "boolean": "true or false", "string": "text"}
    return names.get(part.get("type", ""), str(part.get("type", "any")))


def _default(part: Mapping[str, Any]) -> str:
    default = part.get("default")
    if default in (None, "", [], {}):
        return ""
    return f"`{to_json(default).decode()}`"


def _commands() -> str:
    with mock.patch.object(sys, "argv", ["widgetd"]):  # or it tells how this process was started
        documentation = app.generate_docs(output_format="markdown")
    # Its own contents repeat the list of commands below them.
    rest = re.sub(
        r"^# widgetd\n|## Table of Contents\n.*?(?=\n\*\*)", "", documentation, flags=re.DOTALL
    )
    shared = r"(?<=\n)\*\*Set first\*\*.*?(?=\n## |\Z)"
    flags = "A flag for each [setting](settings.md).\n"
    rest = re.sub(shared, flags, rest, flags=re.DOTALL)
    return _page(
        "Command line",
        "Exit codes: 0 ok, 1 faults, 2 a flag, setting or value, 3 a folder, "
        "port or permission; 26, of the watchdog.",
        rest,
    )


async def _metrics() -> str:
    with tempfile.TemporaryDirectory() as folder:
        text = await scrape(Path(folder))
    declared = _declared()
    ours, standard = [("metric", "kind", "labels", "counts")], [("metric", "kind", "counts")]
    for family in sorted(text_string_to_metric_families(text), key=lambda one: one.name):
        name = f"`{family.name}{'_total' if family.type == 'counter' else ''}`"
        if family.name.startswith(STANDARD):
            standard.append((name, family.type, family.documentation))
            continue
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        named = ", ".join(f"`{one}`" for one in sorted(labels | declared.get(family.name, set())))
        ours.append((name, family.type, named, family.documentation))
    intro = (
        "What `/metrics` tells. [Observe](../operations/observe.md) says what to look at, "
        "and which alerts there are."
    )
    others = "## Of every service in Python"
    return _page("Metrics", intro, _table(*ours), others, _table(*standard))


def _declared() -> Mapping[str, set[str]]:
    """Return the labels of each metric, including those without samples."""
    metrics = Metrics(Registry(), Health())
    metrics.watch_upstreams(dict)
    return {
        family.name: set(getattr(collector, "_labelnames", ()))
        for collector in metrics.collected._collector_to_names
        if hasattr(collector, "describe")
        for family in collector.describe()
    }


SHORT_CHARS = 24
"""Longest description of a property that is repeated; a longer one is referred to."""

KINDS = {"show": "Show", "act": "Act", "expect": "Expect", "read": "Read"}


def _keywords() -> str:
    intro = (
        "The steps of test files and of sessions ([Testing widgets](../testing.md)). A test file "
        "writes a keyword as `- Press: action=track`, where one argument needs no name, or with "
        'arguments by name; a session as `{"keyword": "Press", "target": "action=track"}`; '
        "`--keyword-tools` makes each but Expect Picture a tool, as `kw_press`."
    )
    parts = []
    for kind, title in KINDS.items():
        rows: list[tuple[str, ...]] = [("keyword", "argument", "value", "default", "does")]
        for keyword in KEYWORDS.values():
            if keyword.kind == kind:
                rows += _keyword_rows(keyword)
        parts.append(f"## {title}\n\n{_table(*rows)}")
    return _page("Keywords", intro, *parts)


def _keyword_rows(keyword: Keyword) -> Iterator[tuple[str, ...]]:
    schema = keyword.schema
    head, summary = keyword.name, keyword.summary
    for name, part in schema["properties"].items() or [("", {})]:
        default = "*needed*" if name in schema.get("required", ()) else _default(part)
        kind = _kind(part).removeprefix("``, ") if name else ""
        kind = {"table": "object", "integer": "whole number"}.get(kind, kind)
        yield head, f"`{name}`" if name else "", kind, default, summary
        head = summary = ""


def _tools() -> str:
    intro = (
        "The tools that a server has besides its widgets. `core` is always there; the setting "
        "`toolset` switches the others on, and `--keyword-tools` makes each "
        "[keyword](keywords.md) a tool. Cost counts against the caller's `--rate`; a picture "
        "adds 4; a tool that waits takes no place of `--at-once`. An answer is the result's "
        "`structuredContent`, and "
        "the same as text. Any tool can answer that the arguments do not fit (W2002, W2003), that "
        "there are too many calls (W2201, W2202) or that the token has no scope (W2301); what "
        "else it raises stands with it, and all codes in [Codes](../codes.md)."
    )
    parts = [
        f"## Toolset `{toolset}`\n\n" + "\n\n".join(map(_tool, rows))
        for toolset, rows in groupby(ROWS, key=lambda tool: tool.toolset)
    ]
    return _page("Built-in tools", intro, *parts)


def _tool(tool: BuiltinTool) -> str:
    facts = [f"Scope `{tool.scope}`", f"cost {tool.cost}"]
    facts += ["waits"] if tool.waits else []
    facts += ["changes nothing"] if tool.read_only else []
    facts += ["for pages, not models"] if tool.app_only else []
    rows: list[tuple[str, ...]] = [("argument", "value", "default", "says")]
    schema = tool.input_schema
    for name, part in schema["properties"].items():
        default = "*needed*" if name in schema.get("required", ()) else _default(part)
        kind = {"table": "object", "integer": "whole number"}.get(_kind(part), _kind(part))
        rows.append((f"`{name}`", kind, default, part.get("description", "")))
    arguments = _table(*rows) if len(rows) > 1 else "It takes no arguments."
    text = (f"### `{tool.name}`", tool.description, f"{', '.join(facts)}.", arguments)
    return "\n\n".join((*text, _doc(handler_of(tool))))


def handler_of(tool: BuiltinTool) -> Handler:
    """Return the function that answers for a tool; the guide imports its own when called."""
    rooms = {"author": answers, "sessions": session_tools}
    handler: Handler = getattr(rooms.get(tool.toolset), tool.name, tool.handler)
    return handler


def _components() -> str:
    """Write every component with its properties; the site replaces the comment by its sheet."""
    intro = (
        "The components that a widget is made of, as ChatKit documents them; the site shows each "
        "in every value of its choices, light and dark, and so does the gallery at `/components`. "
        "`get_component_details` and `widgetd guide components` answer the same to agents and in a "
        "terminal. A default is what widgetd's view draws."
    )
    parts, described, texts = [intro], dict[str, str](), dict[str, str]()
    for component in load_vocabulary().components.values():
        rows: list[tuple[str, ...]] = [("property", "value", "is")]
        for row in describe_properties(component):
            rows += _property_rows(component.type, row, described, texts)
        holds = "anything" if component.holds is None else _list_children(component.holds)
        parts.append(f"## `{component.type}`\n\n{component.use} Holds {holds}.")
        parts.append(f"<!-- sheet: {component.type} -->")
        parts += [_table(*rows)] if len(rows) > 1 else []
    for name, use in VALUES.items():
        [item] = describe_components([name], Examples())
        parts.append(f"## {name.capitalize()}\n\n{use}\n\n{_value_table(item)}")
    return _page("Components", *parts)


def _list_children(types: frozenset[str]) -> str:
    if not types:
        return "nothing"
    return f"`{next(iter(types))}`" if len(types) == 1 else "components"


def _property_rows(
    owner: str, row: Mapping[str, Any], described: dict[str, str], texts: dict[str, str]
) -> Iterator[tuple[str, ...]]:
    """Yield the row of a property and those of its fields, the first time that they appear."""
    name = f"{owner}.{row['name']}"
    kinds = {"": row["fields"]} if "fields" in row else row.get("kinds", {})
    first = described.setdefault(repr(kinds), name) if kinds else name
    says = " ".join(row.get("text", "").split())
    described_at = texts.setdefault(says, name)
    if described_at != name and len(says) > SHORT_CHARS:
        says = f"As `{described_at}`."
    if first != name:
        says += f" Fields as of `{first}`."
    default = f"; default {text}" if (text := _default(row)) else ""
    yield f"`{row['name']}`", _choices(row) + default, says
    for kind, parts in kinds.items() if first == name else ():
        for field, inner in parts.items():
            field_name = f"`{row['name']}.{field}`" + (f" ({kind})" if kind else "")
            yield field_name, _choices(inner), " ".join(inner.get("text", "").split())


def _choices(row: Mapping[str, Any]) -> str:
    values = row.get("values")
    text = ", ".join(f"`{one}`" for one in values) if values else row["expected"]
    return text + (", *needed*" if row.get("required") else "")


def _value_table(item: Mapping[str, Any]) -> str:
    """Return a list of values that several components take, with those that do."""
    if "tokens" not in item:
        return f"{', '.join(f'`{one}`' for one in item['values'])}; {item['holds']}."
    columns = "values", "of"
    rows = (
        tuple(", ".join(f"`{one}`" for one in row[part]) for part in columns)
        for row in item["tokens"]
    )
    return f"{_table(columns, *rows)}\n\n{item['others']}"


def _python() -> str:
    intro = "Importing `widgetd` starts nothing; each name is loaded when it is first used."
    return _page("Python", intro, *(_described(name) for name in widgetd.__all__))


def _described(name: str) -> str:
    """Return the section of a public name: its signature and its docstring."""
    member = getattr(widgetd, name)
    parts = [f"## `{name}`"]
    if inspect.isclass(member):
        parts.append(_doc(member))
        if not issubclass(member, BaseModel | BaseException):
            parts += _members(member)
    elif callable(member):
        parts += [_code(f"{name}{inspect.signature(member)}"), _doc(member)]
    return "\n\n".join(parts)


def _members(cls: type) -> Iterator[str]:
    """Yield the public methods and properties that have a docstring."""
    for name, member in vars(cls).items():
        bare = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if name.startswith("_") or not inspect.isfunction(bare) or not bare.__doc__:
            continue
        if inspect.isfunction(member):
            yield f"### `{cls.__name__}.{name}`\n\n{_code(f'{name}{inspect.signature(bare)}')}"
        else:
            yield f"### `{cls.__name__}.{name}`"
        yield _doc(bare)


def _code(text: str) -> str:
    # An annotation that is evaluated says more of modules than a reader needs.
    text = re.sub(r"'([^']*)'(?=[,)\]]| ->|$)", r"\1", text)
    bare = re.sub(r"(?:[a-z_]+[.])+(?=[A-Z])", "", text)
    return f"```python\n{bare}\n```"


def _doc(member: Any) -> str:
    """Return a docstring as Markdown, its sections as lists."""
    text = inspect.getdoc(member) or ""
    head, *sections = re.split(
        r"^(Args|Attributes|Returns|Raises|Yields|Source):\n", text, flags=re.MULTILINE
    )
    parts = [head.strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        # cleandoc would take the indentation off a continuation line that is the only other one.
        lines = textwrap.dedent(body.replace("\n\n", "\n")).strip().split("\n")
        joined: list[str] = []
        for line in lines:
            if joined and line.startswith(" "):
                joined[-1] += " " + line.strip()
            else:
                joined.append(line)
        listed = "\n".join("- " + re.sub(r"^(\w+):", r"`\1`:", one) for one in joined if one)
        parts.append(f"**{title}**\n\n{listed}")
    return "\n\n".join(parts)
