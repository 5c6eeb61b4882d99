"""`widgetd new`: create a widget, or a widget's missing sidecar."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import OWN_FOLDER
from widgetd.base.text_search import compile_pattern, did_you_mean
from widgetd.core.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX, make_tool_name
from widgetd.server.command import CommandLine, Shell

SCHEMAS = ".schemas"
"""Folder, hidden from the scan, with the JSON Schemas of the files beside it, for editors."""

_TEMPLATE = """{
  "type": "Card",
  "size": "sm",
  "children": [
    {"type": "Title", "value": {{ title | tojson }}, "size": "sm"}
    {%- if text %},
    {"type": "Text", "value": {{ text | tojson }}}
    {%- endif %}
    {%- for item in items %},
    {"type": "Row", "gap": 2, "children": [
      {"type": "Icon", "name": "check", "color": "success"},
      {"type": "Text", "value": {{ item | tojson }}}
    ]}
    {%- endfor %}
  ]
}"""

_JSX = """<Card size="sm">
  <Title value={title} size="sm" />
  {text && <Text value={text} />}
  {items.map((item) => (
    <Row gap={2}>
      <Icon name="check" color="success" />
      <Text value={item} />
    </Row>
  ))}
</Card>"""

_SAMPLE = {"title": "Ready for Friday", "text": "So far.", "items": ["Room booked", "Food"]}

_SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "The heading, in a few words."},
        "text": {"type": "string", "default": "", "description": "What it is about."},
        "items": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 10,
            "default": [],
            "description": "The points, a few words each.",
        },
    },
    "required": ["title"],
    "additionalProperties": False,
}

_SIDECAR = '''#:schema ./{schemas}/sidecar.json
# What the widget shows, and when a model should use it.
description = """
Show a heading with a text and a list of short points. Use it to sum something up in a card."""
tags = []
keywords = ["summary", "checklist"]

# What the model reads of a result.
summary = "{name}: {{{{ title }}}}"

[[examples]]
name = "sample"
arguments = {{ title = "Ready for Friday", text = "So far.", items = ["Room booked", "Food"] }}
'''


_WISHES = compile_pattern(r"(?m)^(?:wishes = \[\n(?:  .*\n)*\]\n|never = .*\n)")


def new(
    name: str = "",
    dir: Path | None = None,
    *,
    sidecar: Path | None = None,
    from_: Annotated[str, Parameter(name="--from")] = "",
    template: Annotated[bool, Parameter(negative="")] = False,
    shell: Shell,
) -> None:
    """Create a widget: write NAME.widget.jsx and its sidecar, which can be served at once.

    With --sidecar, write a sidecar beside a widget that has none. No file is ever replaced.

    Args:
        name: The name that people see, as "Parcel Tracker".
        dir: The folder. Default: ./widgets, which is made unless the current folder has widgets.
        sidecar: A .widget file. Write its sidecar, for what Studio cannot express, and no widget.
        from_: A bundled widget to copy, by its tool's name.
        template: Write NAME.widget instead, with a Jinja template, as Studio exports it.
    """
    if sidecar is None:
        _write_widget(shell, name, dir, from_, template=template)
    elif name:
        raise ConfigError("W0002", "--sidecar takes no NAME", "leave one of them out")
    else:
        _write_sidecar(sidecar)


def _write_widget(
    shell: CommandLine, name: str, dir: Path | None, from_: str, *, template: bool
) -> None:
    from widgetd.author.commands.schemas import document_schema, sidecar_schema
    from widgetd.author.uploads.uploads import is_widget_name
    from widgetd.core.widget.sidecar import SUFFIX

    if not is_widget_name(f"{name}{WIDGET_SUFFIX}"):
        problem = f"'{name}' is not a name for a widget"
        raise ConfigError("W0002", problem, "take letters, digits and spaces, as 'Parcel Tracker'")
    folder = dir or _own_folder()
    if dir is not None and not dir.is_dir():
        raise ConfigError("W0003", f"there is no folder {folder}", "make it first", exit_code=3)
    file, view, sample, beside = (
        _copy_bundled(shell, from_, name) if from_ else _fill_template(name)
    )
    if not template:
        constants = {"schema": file["jsonSchema"], "sample": sample}
        parts = [f"const {key} = {_pretty(value)};" for key, value in constants.items()]
        text = "\n\n".join([*parts, view]) + "\n"
    else:
        text = _pretty(file) + "\n"
    suffix, other = (WIDGET_SUFFIX, JSX_SUFFIX) if template else (JSX_SUFFIX, WIDGET_SUFFIX)
    path = folder / f"{name}{suffix}"
    written = {path: text, path.with_name(path.name + SUFFIX): beside}
    for file_path in (*written, folder / f"{name}{other}"):
        if file_path.exists():
            raise ConfigError("W0002", f"{file_path} is there already", "take another name")
    tool = make_tool_name(name, path.name)
    owner = shell.load_snapshot(folder).widgets.get(tool) if folder.is_dir() else None
    whose = f"belongs to '{owner.definition.path}'" if owner else "is one of widgetd's own"
    if owner or shell.is_reserved(tool):
        raise ConfigError("W0002", f"the tool name '{tool}' {whose}", "take another name")
    schemas = folder / SCHEMAS
    schemas.mkdir(exist_ok=True, parents=True)
    for kind, of in (("widget", document_schema), ("sidecar", sidecar_schema)):
        (schemas / f"{kind}.json").write_text(_pretty(of()), encoding="utf-8")
    # The widget last: a sidecar alone is not served.
    for file_path, text in reversed(written.items()):
        with file_path.open("x", encoding="utf-8") as target:
            target.write(text)
        print(file_path)
    print(shell.page_of(folder, tool))


def _write_sidecar(path: Path) -> None:
    from widgetd.author.commands.sidecar_template import sidecar_text
    from widgetd.core.widget.sidecar import SUFFIX
    from widgetd.server.catalog.loader import load_widget

    if not path.is_file():
        raise ConfigError("W0003", f"there is no file {path}", "name another", exit_code=3)
    text, target = sidecar_text(load_widget(path)), path.with_name(path.name + SUFFIX)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        advice = "edit that one, or move it away first"
        raise ConfigError("W0002", f"{target} is there already", advice) from None
    print(target)


def _own_folder() -> Path:
    has_widgets = any(path.name.endswith((WIDGET_SUFFIX, JSX_SUFFIX)) for path in Path().iterdir())
    return Path() if has_widgets and not OWN_FOLDER.is_dir() else OWN_FOLDER


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


_NewWidget = tuple[Mapping[str, Any], str, Mapping[str, Any], str]
"""A file, the JSX that renders the same as its template, a sample, and the sidecar."""


def _fill_template(name: str) -> _NewWidget:
    file = {
        "$schema": f"./{SCHEMAS}/widget.json",
        "version": "1.0",
        "name": name,
        "template": _TEMPLATE,
        "jsonSchema": _SCHEMA,
    }
    return file, _JSX, _SAMPLE, _SIDECAR.format(name=name, schemas=SCHEMAS)


def _copy_bundled(shell: CommandLine, tool: str, name: str) -> _NewWidget:
    from widgetd.base.files.folder import bundled_folder
    from widgetd.core.widget.sidecar import SUFFIX

    widgets = shell.load_snapshot(bundled_folder()).widgets
    if tool not in widgets:
        advice = did_you_mean(tool, widgets, f"there are {', '.join(widgets)}")
        raise ConfigError("W0002", f"no bundled widget is called '{tool}'", advice)
    definition = widgets[tool].definition
    sidecar_file = bundled_folder() / f"{definition.path}{SUFFIX}"
    head, table, rest = sidecar_file.read_text(encoding="utf-8").partition("\n[")
    # Leave out the title, the response type and the wishes: they belong to the old name.
    lines = _WISHES.sub("", head).splitlines()
    own_lines = [
        line for line in lines if not line.startswith(("title =", "ui_type =", "#:schema"))
    ]
    content = {"$schema": f"./{SCHEMAS}/widget.json", **definition.document.content}
    content["name"] = name
    content.pop("encodedWidget", None)
    head = "\n".join([f"#:schema ./{SCHEMAS}/sidecar.json", *own_lines])
    sample = widgets[tool].example
    return content, definition.view.strip(), sample, f"{head}{table}{rest}"
