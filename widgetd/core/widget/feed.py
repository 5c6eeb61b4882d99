"""Map a caller's arguments to requests of upstreams, and their answers to the widget's arguments.

    request arguments -> requests -> (other servers) -> answers -> the author's arguments

A single `[feed]` has no name, and its expressions see its answer. With several, `[[feed]]` with a
`name` each, every expression sees all answers by name. Pure: other modules talk to upstreams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from widgetd.base.errors import CallError
from widgetd.base.limits import Limits
from widgetd.core.schema.json_values import error_at
from widgetd.core.schema.validator import Schema, ValidArguments, compile_schema
from widgetd.core.widget.query import Query, compile_queries
from widgetd.core.widget.sidecar import FeedPart


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedSource:
    """A request for a part of a widget's arguments.

    Attributes:
        part: The sidecar's settings.
        at: Their JSON pointer in the sidecar.
        arguments: The request's arguments, as queries over the caller's. None: the same names.
    """

    part: FeedPart
    at: str
    arguments: Mapping[str, Query] | None

    def request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Build the arguments of the upstream's tool, without absent values.

        Raises:
            CallError: An expression cannot be evaluated on this (W5007).
        """
        if self.arguments is None:
            part = self.part
            return {n: value for n, value in arguments.items() if not part.name or n in part.ask}
        values = {name: query.find(dict(arguments)) for name, query in self.arguments.items()}
        return {name: value for name, value in values.items() if value is not None}

    def resource(self, arguments: Mapping[str, Any]) -> str:
        """Return the URI of the resource with announcements of changes, or an empty text."""
        uri = self.part.subscribe
        for name, value in arguments.items():
            uri = uri.replace(f"{{{name}}}", quote(str(value), safe=""))
        return uri


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The feed of a widget.

    Attributes:
        sources: Its requests, in the order of the sidecar, at least a single source.
        request_schema: The schema of a caller's arguments.
        schema: The author's schema: the widget's arguments.
        fields: The widget's arguments, as queries over the answers. None: the same names.
    """

    sources: tuple[FeedSource, ...]
    request_schema: Schema
    schema: Schema
    fields: Mapping[str, Query] | None

    @property
    def is_live(self) -> bool:
        return any(source.part.is_live for source in self.sources)

    @property
    def can_fail(self) -> bool:
        """Return whether the caller's arguments alone will do where every upstream fails."""
        return all(source.part.on_failure == "arguments" for source in self.sources)

    def example(self, whole: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the caller's part of the author's whole arguments, or a valid substitute."""
        names = self.request_schema.advertised["properties"]
        part = {name: whole[name] for name in names if name in whole}
        return part if self.request_schema.admits(part) else self.request_schema.smallest

    def fill(
        self, arguments: Mapping[str, Any], answers: Mapping[str, Any], before: Mapping[str, Any]
    ) -> ValidArguments:
        """Build the widget's arguments: the caller's, overridden by the answers.

        A field whose expression names a source without an answer stays as it was before.

        Raises:
            CallError: The widget does not accept the result. No value appears in it (W5007).
        """
        properties = self.schema.advertised["properties"]
        required = self.schema.advertised.get("required", ())
        if self.fields is None:
            [answer] = answers.values()
            values = {n: answer[n] for n in properties if isinstance(answer, dict) and n in answer}
        else:
            values = self._find(answers, before)
        # JMESPath returns null for absent values, too. In a required field that is an error.
        answered = {n: value for n, value in values.items() if value is not None or n in required}
        own = {name: value for name, value in arguments.items() if name in properties}
        try:
            return self.schema.check(
                {**own, **answered}, sensitive=tuple({**properties, **answered})
            )
        except CallError as error:
            wrong = error.invalid_arguments
            reason = "; ".join(map(str, wrong)) or "it is not what the widget takes"
            names = ", ".join(dict.fromkeys(f"'{source.part.upstream}'" for source in self.sources))
            raise CallError(
                "W5007",
                f"the answer of the upstream {names} does not fit: {reason}",
                path=error.path,
                invalid_arguments=wrong,
            ) from None

    def _find(self, answers: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
        scope = answers[""] if "" in answers else dict(answers)
        absent = {source.part.name for source in self.sources} - answers.keys()
        values = {}
        for name, query in (self.fields or {}).items():
            if absent.isdisjoint(query.names):
                values[name] = query.find(scope)
            elif name in before:
                values[name] = before[name]
        return values


def compile_feed(parts: Sequence[FeedPart], schema: Schema, *, limits: Limits) -> Feed:
    """Compile a sidecar's feeds against their widget's schema.

    Raises:
        WidgetError: They do not match (W1113, W1602, W1604, W1623 to W1625, W12xx).
    """
    at = ["" if not part.name else f"/{index}" for index, part in enumerate(parts)]
    request_schema = compile_schema(_build_asked_schema(parts, schema), limits=limits)
    sources = tuple(
        FeedSource(
            part=part,
            at=f"/feed{step}",
            arguments=None
            if part.arguments is None
            else compile_queries(part.arguments, f"/feed{step}/arguments"),
        )
        for part, step in zip(parts, at, strict=True)
    )
    fields = _compile_fields(sources)
    for name in schema.advertised.get("required", ()) if fields is not None else ():
        if name not in request_schema.advertised["properties"] and name not in (fields or {}):
            problem = f"the schema demands '{name}', which the feed neither asks for nor fills"
            advice = f"write {name} = \"…\" in [feed.map], or name it in 'ask'"
            raise error_at("W1604", "/feed", problem, advice)
    return Feed(sources=sources, request_schema=request_schema, schema=schema, fields=fields)


def _compile_fields(sources: Sequence[FeedSource]) -> dict[str, Query] | None:
    names = [source.part.name for source in sources]
    if len(sources) > 1 and (not all(names) or len({*names}) < len(names)):
        problem = "several feeds need a name each, which no other has"
        raise error_at("W1623", "/feed", problem, 'write name = "…" in each [[feed]]')
    if all(source.part.map is None for source in sources):
        if len(sources) == 1:
            return None
        problem = "nothing says what becomes of several answers"
        advice = f"write [feed.map] with expressions such as '{names[0]}.status'"
        raise error_at("W1624", "/feed", problem, advice)
    fields: dict[str, Query] = {}
    for source in sources:
        compiled = compile_queries(source.part.map or {}, f"{source.at}/map")
        if twice := fields.keys() & compiled.keys():
            problem = f"two feeds fill '{min(twice)}'"
            raise error_at("W1625", f"{source.at}/map", problem, "write one expression over both")
        fields |= compiled
    return fields


def _build_asked_schema(parts: Sequence[FeedPart], schema: Schema) -> dict[str, Any]:
    written = schema.advertised
    described = {name: inner for part in parts for name, inner in part.ask_schema.items()}
    properties = {**written["properties"], **described}
    ask = dict.fromkeys(name for part in parts for name in part.ask)
    for name in ask:
        if name not in properties:
            problem = f"the feed asks for '{name}', which the schema lacks"
            advice = f"describe it in [feed.ask_schema.{name}]"
            raise error_at("W1113", "/feed/ask", problem, advice)
    needed = {*written.get("required", ())} - described.keys()
    needed |= {name for name, inner in described.items() if "default" not in inner}
    request_schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: properties[name] for name in ask},
        "required": [name for name in ask if name in needed],
    }
    for key in ("$schema", "additionalProperties"):
        if isinstance(written.get(key), (str, bool)):
            request_schema[key] = written[key]
    for key in ("$defs", "definitions"):
        if key in written and f"#/{key}/" in str(request_schema["properties"]):
            request_schema[key] = written[key]
    return request_schema
