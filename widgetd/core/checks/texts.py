"""Checks of the texts in a file and its sidecar."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from widgetd.base.errors import Finding
from widgetd.base.text_search import did_you_mean, nearest
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.json_values import pointer
from widgetd.core.schema.phrase import join_alternatives
from widgetd.core.schema.validator import Schema
from widgetd.core.widget.actions import WidgetAction
from widgetd.core.widget.actions.widget_actions import find_template_actions
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.document import KNOWN, OPTIONAL, READ_BY_MODELS
from widgetd.core.widget.feed import Feed
from widgetd.core.widget.hidden_characters import find_hidden
from widgetd.core.widget.sidecar import SUFFIX


def sidecar_finding(
    definition: Definition, code: str, at: str, problem: str, advice: str
) -> Finding:
    path = definition.path + SUFFIX
    return Finding(code=code, path=path, at=at, problem=problem, advice=advice)


def check_key_spelling(file: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield unknown keys that resemble an optional key, and so have no effect (W1114)."""
    absent = {key.casefold(): key for key in OPTIONAL if key not in file}
    for key in file:
        folded = key.casefold().replace("_", "").replace("-", "")
        near = nearest(folded, tuple(absent)) if key not in KNOWN else None
        if near:
            yield Finding(
                code="W1114",
                at=pointer(key),
                problem=f"'{key}' is not a key of a widget, and is ignored",
                advice=f"did you mean '{absent[near]}'?",
            )


def check_package(definition: Definition) -> Iterator[Finding]:
    if definition.document.encoded_studio is not None and definition.studio is None:
        yield Finding(
            code="W1110",
            at="/encodedWidget",
            problem="this is not what ChatKit Studio packs, so there is no JSX and no sample in it",
            advice="export the widget again, or leave the key out",
        )


def check_hidden_characters(file: Mapping[str, Any], definition: Definition) -> Iterator[Finding]:
    """Yield the first invisible character of each text for a model (W1115)."""
    sidecar = definition.sidecar
    texts = [("", at, text) for at, text in _list_model_texts(file)]
    for key, value in (("title", sidecar.title), ("description", sidecar.description)):
        texts.append((definition.path + SUFFIX, f"/{key}", value or ""))
    for path, at, text in texts:
        for offset, name in find_hidden(text):
            yield Finding(
                code="W1115",
                path=path,
                at=at,
                problem=f"character {offset + 1} is invisible: {name}",
                advice="remove it; models read it, and it is not served",
            )
            break


def _list_model_texts(file: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("name", "description"):
        if isinstance(file.get(key), str):
            yield f"/{key}", file[key]
    waiting: list[tuple[str, Any]] = [("/jsonSchema", file.get("jsonSchema"))]
    while waiting:
        at, value = waiting.pop(0)
        if isinstance(value, list):
            waiting.extend((f"{at}/{index}", inner) for index, inner in enumerate(value))
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key in READ_BY_MODELS and isinstance(inner, str):
                    yield at + pointer(key), inner
                else:
                    waiting.append((at + pointer(key), inner))


def check_description(definition: Definition) -> Iterator[Finding]:
    """Yield a warning about a missing or too long description (W1116, W1117)."""
    length = len(definition.description)
    if not length:
        yield Finding(
            code="W1116",
            problem="there is no description, so a model can only guess when to use the widget",
            advice=f"write one into '{definition.path}{SUFFIX}'",
        )
    elif length > LIMITS.description_characters:
        in_sidecar = definition.sidecar.description is not None
        in_file = in_sidecar or "description" in definition.document.content
        yield Finding(
            code="W1117",
            path=definition.path + SUFFIX if in_sidecar else "",
            at="/description" if in_file else "/jsonSchema",
            problem=f"the description has {length:,} characters",
            advice=f"keep it below {LIMITS.description_characters:,}; hosts cut it off",
        )


def check_described_actions(
    definition: Definition, actions: Collection[WidgetAction]
) -> Iterator[Finding]:
    """Yield each action in the sidecar without an action in the template (W1214, W1615)."""
    if not all(type_.type for type_ in find_template_actions(definition.template)):
        return  # an expression computes a type, which may be any
    types = tuple(action.type for action in actions)
    sidecar = definition.sidecar
    described = [("W1214", "actions", "describe", name) for name in sidecar.actions]
    described += [("W1615", "local", "name", name) for name in sidecar.local]
    for code, table, verb, name in described:
        if name in types:
            continue
        named = [f"'{type_}'" for type_ in types[: LIMITS.named_actions]]
        none = "remove it; the widget has no actions"
        otherwise = f"{verb} {join_alternatives(named)}" if named else none
        problem = f"the template has no action '{name}'"
        advice = did_you_mean(name, types, otherwise)
        yield sidecar_finding(definition, code, pointer(table, name), problem, advice)


def check_upstream(
    feed: Feed, definition: Definition, upstreams: Collection[str]
) -> Iterator[Finding]:
    for source in feed.sources:
        name = source.part.upstream
        if name not in upstreams:
            problem = f"there is no upstream '{name}' in the upstreams file"
            advice = did_you_mean(name, upstreams, f"declare [{name}] there")
            yield sidecar_finding(definition, "W1601", f"{source.at}/upstream", problem, advice)


def check_feed_fields(feed: Feed, definition: Definition) -> Iterator[Finding]:
    filled = {f"{source.at}/map": source.part.map or () for source in feed.sources}
    return _find_lacking(definition, feed.schema, filled, "W1603", "feed")


def check_bound_actions(
    definition: Definition, upstreams: Mapping[str, Collection[str]]
) -> Iterator[Finding]:
    """Yield each action whose tool the operator does not allow (W1605)."""
    for name, note in definition.sidecar.actions.items():
        if not note.is_bound or note.tool in upstreams.get(note.upstream, ()):
            continue
        at = pointer("actions", name, "tool")
        problem = f"the upstreams file does not allow the action '{note.tool}'"
        advice = f'write actions = ["{note.tool}"] in [{note.upstream}] there'
        yield sidecar_finding(definition, "W1605", at, problem, advice)


def check_result_fields(schema: Schema, definition: Definition) -> Iterator[Finding]:
    notes = definition.sidecar.actions.items()
    filled = {pointer("actions", name, "result"): note.result for name, note in notes}
    return _find_lacking(definition, schema, filled, "W1608", "action")


def _find_lacking(
    definition: Definition,
    schema: Schema,
    filled: Mapping[str, Collection[str]],
    code: str,
    owner: str,
) -> Iterator[Finding]:
    properties = schema.advertised["properties"]
    for at, names in filled.items():
        for name in names:
            if name not in properties:
                problem = f"the {owner} fills '{name}', which the schema lacks"
                advice = did_you_mean(name, properties, "fill a field that it has")
                yield sidecar_finding(definition, code, f"{at}/{name}", problem, advice)
