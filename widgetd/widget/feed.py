"""Map a caller's arguments to an upstream's request, and its answer to the widget's arguments.

    asked arguments -> request -> (another server) -> answer -> the author's arguments

Pure: other modules talk to the upstream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from widgetd.errors import CallError
from widgetd.limits import Limits
from widgetd.schema.json_values import error_at
from widgetd.schema.validator import Schema, ValidArguments, compile_schema
from widgetd.widget.query import Query, compile_queries
from widgetd.widget.sidecar import FeedPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The feed of one widget.

    Attributes:
        part: The sidecar's settings.
        asked: The schema of a caller's arguments.
        schema: The author's schema: the widget's arguments.
        arguments: The request's arguments, as queries over the asked ones; None for the same names.
        fields: The widget's arguments, as queries over the answer; None for the same names.
    """

    part: FeedPart
    asked: Schema
    schema: Schema
    arguments: Mapping[str, Query] | None
    fields: Mapping[str, Query] | None

    def example(self, whole: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the caller's part of the author's whole arguments, or a valid substitute."""
        given = {name: whole[name] for name in self.part.ask if name in whole}
        return given if self.asked.admits(given) else self.asked.smallest

    def request(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Build the arguments of the upstream's tool, without values that are not found.

        Raises:
            CallError: An expression cannot be evaluated on this (W5007).
        """
        if self.arguments is None:
            return dict(asked)
        values = {name: query.find(dict(asked)) for name, query in self.arguments.items()}
        return {name: value for name, value in values.items() if value is not None}

    def resource(self, asked: Mapping[str, Any]) -> str:
        """Return the URI of the resource that announces changes; empty without one."""
        uri = self.part.subscribe
        for name, value in asked.items():
            uri = uri.replace(f"{{{name}}}", quote(str(value), safe=""))
        return uri

    def fill(self, asked: Mapping[str, Any], answer: Any) -> ValidArguments:
        """Build the widget's arguments: the asked ones, overridden by the answer.

        Raises:
            CallError: The widget does not accept the result; no value appears in it (W5007).
        """
        properties = self.schema.advertised["properties"]
        required = self.schema.advertised.get("required", ())
        if self.fields is not None:
            found = {name: query.find(answer) for name, query in self.fields.items()}
        else:
            found = {n: answer[n] for n in properties if isinstance(answer, dict) and n in answer}
        # JMESPath returns null for absent values, too; in a required field that is an error.
        answered = {n: value for n, value in found.items() if value is not None or n in required}
        given = {name: value for name, value in asked.items() if name in properties}
        try:
            return self.schema.check(
                {**given, **answered}, sensitive=tuple({**properties, **answered})
            )
        except CallError as error:
            wrong = error.invalid_arguments
            reason = "; ".join(str(one) for one in wrong) or "it is not what the widget takes"
            raise CallError(
                "W5007",
                f"the answer of the upstream '{self.part.upstream}' does not fit: {reason}",
                path=error.path,
                invalid_arguments=wrong,
            ) from None


def compile_feed(part: FeedPart, schema: Schema, *, limits: Limits) -> Feed:
    """Compile a sidecar's feed against its widget's schema.

    Raises:
        WidgetError: They do not match (W1113, W1602, W1604, W12xx).
    """
    asked = compile_schema(_build_asked_schema(part, schema), limits=limits)
    fields = None if part.map is None else compile_queries(part.map, "/feed/map")
    for name in schema.advertised.get("required", ()) if fields is not None else ():
        if name not in part.ask and name not in (part.map or {}):
            problem = f"the schema demands '{name}', which the feed neither asks for nor fills"
            advice = f"write {name} = \"…\" in [feed.map], or name it in 'ask'"
            raise error_at("W1604", "/feed", problem, advice)
    given = part.arguments
    arguments = None if given is None else compile_queries(given, "/feed/arguments")
    return Feed(part=part, asked=asked, schema=schema, arguments=arguments, fields=fields)


def _build_asked_schema(part: FeedPart, schema: Schema) -> dict[str, Any]:
    """Build the schema of the asked arguments from the author's, field by field."""
    written = schema.advertised
    properties = {**written["properties"], **part.ask_schema}
    for name in part.ask:
        if name not in properties:
            problem = f"the feed asks for '{name}', which the schema lacks"
            advice = f"describe it in [feed.ask_schema.{name}]"
            raise error_at("W1113", "/feed/ask", problem, advice)
    required = [
        name
        for name in part.ask
        if (
            "default" not in part.ask_schema[name]
            if name in part.ask_schema
            else name in written.get("required", ())
        )
    ]
    asked: dict[str, Any] = {
        "type": "object",
        "properties": {name: properties[name] for name in part.ask},
        "required": required,
    }
    for key in ("$schema", "additionalProperties"):
        if isinstance(written.get(key), (str, bool)):
            asked[key] = written[key]
    for key in ("$defs", "definitions"):
        if key in written and f"#/{key}/" in str(asked["properties"]):
            asked[key] = written[key]
    return asked
