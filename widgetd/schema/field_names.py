"""Give every property a field name that Python and pydantic can live with.

A property keeps its name where it can; where it cannot, it keeps it as an alias.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from anyascii import anyascii
from pydantic import BaseModel


def field_names(properties: Iterable[str]) -> dict[str, str]:
    """The field name of each property: `from` → `from_`, `_x` → `x`, `a-b` → `a_b`."""
    properties = list(properties)
    # A property that can keep its name has the better right to it.
    names = {name: name for name in properties if _is_usable(name)}
    taken = set(names.values())
    for name in properties:
        if name not in names:
            names[name] = _free(_usable(name), taken)
            taken.add(names[name])
    return {name: names[name] for name in properties}


def is_parameter(name: str) -> bool:
    """Whether a function can have a parameter called `name`."""
    return name.isidentifier() and not keyword.iskeyword(name)


def camel_case(text: str) -> str:
    """`text` as part of a class name: `flight_tracker` and `flight-tracker` → `FlightTracker`."""
    words = re.findall(r"[A-Za-z0-9]+", anyascii(text))
    joined = "".join(word[0].upper() + word[1:] for word in words)
    return "_" + joined if joined[:1].isdigit() else joined


def class_name(parent: str, name: str, taken: Iterable[str]) -> str:
    """The name of the model of the property `name` of the model `parent`."""
    taken = set(taken)
    wanted = parent + (camel_case(name) or "Part")
    number = 2
    chosen = wanted
    while chosen in taken:
        chosen, number = f"{wanted}{number}", number + 1
    return chosen


def _is_usable(name: str) -> bool:
    return is_parameter(name) and not name.startswith("_") and not hasattr(BaseModel, name)


def _usable(name: str) -> str:
    made = re.sub(r"\W", "_", name).strip("_") or "field"
    if not made.isidentifier():
        made = f"field_{made}"
    return made if _is_usable(made) else f"{made}_"


def _free(name: str, taken: set[str]) -> str:
    while name in taken or not _is_usable(name):
        name += "_"
    return name
