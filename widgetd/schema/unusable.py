"""Say what is wrong with a schema that no validator can be made of, and what was meant.

It refuses to know the validator: it is given what that says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from widgetd.errors import WidgetError, nearest
from widgetd.schema.describe import TYPES, shown, types
from widgetd.schema.document import Document
from widgetd.schema.references import fault
from widgetd.schema.subschemas import Json, pointer

# What authors mean by keywords that are not written so, in this draft or in any.
ADVICE: Mapping[str, str] = {
    "items": "write 'prefixItems' for a list of schemas, one for each place",
    "required": "write it as a list of names, beside 'properties'",
}


def bad_keyword(path: Sequence[str | int], said: Json, complaint: str) -> WidgetError:
    """The fault of a keyword at `path` that says `said`, of which the validator complains."""
    keyword, at = path[-1] if path else "", pointer(*path)
    if keyword == "type":
        return _no_type(at, said)
    advice = ADVICE.get(str(keyword), "write the keyword as JSON Schema wants it")
    return fault("W1201", at, _first_line(complaint), advice)


def _no_type(at: str, said: Json) -> WidgetError:
    named = said if isinstance(said, list) else [said]
    wrong = next((name for name in named if not isinstance(name, str) or name not in TYPES), said)
    meant = nearest(wrong, tuple(TYPES)) if isinstance(wrong, str) else None
    advice = f"did you mean '{meant}'?" if meant else f"write one of {', '.join(TYPES)}"
    problem = f"'{wrong}' is no type" if isinstance(wrong, str) else f"{shown(wrong)} is no type"
    return fault("W1201", at, problem, advice)


def no_uri(complaint: str) -> WidgetError:
    """The fault of a reference that the validator cannot read."""
    problem = f"a reference is no URI ({_first_line(complaint)})"
    return fault("W1201", "", problem, "write %20 for a space and %25 for a percent sign")


def unknown_draft(schema: Mapping[str, Json]) -> WidgetError:
    """The fault of a schema whose `$schema` is none that is known."""
    problem = f"{shown(schema.get('$schema'))} is no known draft of JSON Schema"
    advice = 'write "https://json-schema.org/draft/2020-12/schema", or leave it out'
    return fault("W1201", "/$schema", problem, advice)


def refuse_no_object(document: Document) -> None:
    """Refuse a schema of anything but objects.

    Raises:
        WidgetError: It is one (W1204).
    """
    root = document.root
    named = types(root)
    if named and named != ("object",):
        said = shown(root["type"], 80)
        advice = 'write "type": "object", and what is wanted as one of its properties'
        raise fault("W1204", "/type", f"the arguments are said to be {said}", advice)


def _first_line(complaint: str) -> str:
    return complaint.partition("\n")[0][:200]
