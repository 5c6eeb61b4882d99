"""Every action that one tree offers, and whether a payload is one that it offers.

What the author sends along is the author's: it is recognised in what comes back,
and taken from the tree. What the user adds is held to the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from widgetd.errors import CallError, Slip
from widgetd.limits import Limits
from widgetd.schema.validator import compile_schema
from widgetd.widget.actions.fields import Field
from widgetd.widget.actions.offers import Handler, Offer, as_object, offers
from widgetd.widget.actions.payloads import as_browser, exactly, payload_schema

_LIMITS = Limits(schema_nodes=200_000, json_depth=256)
"""What a tree within its own limits can come to; widgets are held to them long before."""


_MOST_TRIED = 50
"""Forms that offer the same action with the same payload; a widget has one or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One type of action, with every place in a tree where it can be taken.

    Attributes:
        type: The action's type, as `flight.track`.
        offers: The places, in the order of the tree.
    """

    type: str
    offers: tuple[Offer, ...]

    @property
    def handler(self) -> Handler:
        """The server's to handle if it is so anywhere."""
        return "server" if any(one.handler == "server" for one in self.offers) else "client"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the payloads that the tree offers, and of no others."""
        schemas = {orjson.dumps(schema): schema for schema in map(_schema, self.offers)}
        return next(iter(schemas.values())) if len(schemas) == 1 else {"anyOf": [*schemas.values()]}

    def accept(self, payload: object) -> dict[str, Any]:
        """The payload as whoever waits for it may trust it.

        Args:
            payload: What came; what is no object counts as `{"value": ...}`.

        Raises:
            CallError: The tree does not offer it (W2404); the slips are named as the fields are.
        """
        given = as_object(payload)
        meant = [offer for offer in self.offers if _is_meant(offer, given)]
        if not meant:
            raise _refusal(self._strange(given))
        ways = tuple({offer.way: offer for offer in meant}.values())
        refused: list[CallError] = []
        for offer in ways[:_MOST_TRIED]:
            try:
                return _checked(offer, given)
            except CallError as error:
                refused.append(error)
        raise _refusal(refused[0].slips) if refused[0].slips else refused[0]

    def _strange(self, given: Mapping[str, Any]) -> tuple[Slip, ...]:
        """What is wrong with a payload whose author nobody is."""
        keys: dict[str, dict[bytes, Any]] = {}
        for offer in self.offers:
            for key, value in offer.payload.items():
                keys.setdefault(key, {})[orjson.dumps(value)] = value
        choices = {key: {"enum": list(values.values())} for key, values in keys.items()}
        known = {key: value for key, value in given.items() if key in choices}
        try:
            schema = payload_schema(choices, (), submitted=False)
            compile_schema(schema, limits=_LIMITS).check(known, strict=True)
        except CallError as error:
            return error.slips
        expected = "values that stand together in the widget"
        return (Slip(path="", expected=expected, got="another combination of them"),)


def actions_of(tree: Mapping[str, Any]) -> dict[str, Offered]:
    """Exactly the actions that `tree` offers, by type, in the order of the tree."""
    found: dict[str, list[Offer]] = {}
    for offer in offers(tree):
        found.setdefault(offer.type, []).append(offer)
    return {name: Offered(type=name, offers=tuple(places)) for name, places in found.items()}


def _schema(offer: Offer) -> dict[str, Any]:
    keys = {key: exactly(value) for key, value in offer.payload.items()}
    return payload_schema(keys, offer.sent, submitted=offer.submits)


def _is_meant(offer: Offer, given: Mapping[str, Any]) -> bool:
    """Whether everything that the author sends along has come back."""
    return all(
        key in given and as_browser(given[key]) == as_browser(value)
        for key, value in offer.payload.items()
    )


def _checked(offer: Offer, given: Mapping[str, Any]) -> dict[str, Any]:
    added = {key: value for key, value in given.items() if key not in offer.payload}
    if offer.submits:
        added = _with_places(added, offer.sent)
    schema = payload_schema({}, offer.sent, submitted=offer.submits)
    secret = tuple(field.name for field in offer.sent if field.secret)
    checked = compile_schema(schema, limits=_LIMITS).check(added, sensitive=secret)
    return {**checked.arguments, **offer.payload}


def _with_places(added: dict[str, Any], fields: tuple[Field, ...]) -> dict[str, Any]:
    """`added` with an object around each required field, so that the field itself is missed."""
    for field in fields:
        inner, path = added, field.path[:-1] if field.required else ()
        for part in path:
            here = inner.get(part, {})
            if not isinstance(here, dict):
                break
            inner[part] = dict(here)
            inner = inner[part]
    return added


def _refusal(slips: tuple[Slip, ...]) -> CallError:
    """A payload that is not offered (W2404), as the sentence that a caller reads."""
    told = [
        str(Slip(path=_within_payload(slip.path), expected=slip.expected, got=slip.got))
        for slip in slips
    ]
    path = _within_payload(slips[0].path) if len(slips) == 1 else "payload"
    return CallError("W2404", "; ".join(told), path=path, slips=slips)


def _within_payload(path: str) -> str:
    return f"payload.{path}" if path else "payload"
