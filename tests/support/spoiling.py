"""Spoil `.widget` files as mistakes, bad tools and attackers do; strategies for hypothesis.

Bytes are overwritten, values of the JSON and parts of the template are replaced, and
two files are spliced into one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, "", "x", [], {}, [[]], [None], ["a", 1]),
        *("{{ x }}", "{% if x %}", "\u200ba", "a" * 3000, "(none)", 10**30, 1e308, "\ud7ff"),
        *({"type": "Card"}, {"type": 7}, {"$ref": "#"}, {"type": "array"}, {"a/b~c": {}}),
        *({"not": {}}, {"enum": []}, {"pattern": "("}, {"$ref": "#/$defs/a"}, {"anyOf": [{}, {}]}),
        *({"type": ["string", "null"]}, {"const": 1e400}, {"minimum": 5, "maximum": 1}),
    ]
)
CUTS = st.sampled_from(
    [
        *("", '"', "}}", "{{ x }}", "{%", "{", "[", ",", "none", "(none)", "\\", "é"),
        *("{% for x in y %}", "{% endfor %}", "{% if x %}", "{% endif %}", "{% else %}"),
        *(
            "| tojson",
            "| join(',')",
            " ~ ",
            "not ",
            "loop.index",
            "{% set x = y %}",
            "*",
            "**",
            "9",
        ),
    ]
)

Path = tuple[Any, ...]


def spoilt_files(files: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy of spoilt files.

    Args:
        files: Originals, each a JSON object.
    """
    # By index, because hypothesis prints strategies when they fail.
    contents = st.integers(0, len(files) - 1).map(files.__getitem__)
    documents = contents.map(json.loads)
    return st.one_of(
        edit_documents(documents),
        edit_documents(documents),
        flip_bytes(contents),
        st.builds(_splice, contents, contents, st.floats(0, 1), st.floats(0, 1)),
    )


@st.composite
def edit_documents(draw: st.DrawFn, documents: st.SearchStrategy[Any]) -> bytes:
    """Draw a document with other values, another template, and sometimes a cut text."""
    document = json.loads(json.dumps(draw(documents)))
    if draw(st.booleans()):
        donor = draw(documents)
        for key in draw(st.sets(st.sampled_from(sorted(donor)), max_size=2)):
            document[key] = donor[key]
    for _ in range(draw(st.integers(0, 3))):
        replace_at(document, draw(st.sampled_from(list_paths(document))), copy.deepcopy(draw(JUNK)))
    if draw(st.booleans()) and isinstance(document.get("template"), str):
        document["template"] = cut(draw, document["template"])
    text = json.dumps(document)
    return (cut(draw, text) if draw(st.integers(0, 4)) == 0 else text).encode()


@st.composite
def flip_bytes(draw: st.DrawFn, contents: st.SearchStrategy[bytes]) -> bytes:
    """Draw a file with some bytes overwritten."""
    content = bytearray(draw(contents))
    for _ in range(draw(st.integers(1, 8))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


def _splice(one: bytes, other: bytes, head: float, tail: float) -> bytes:
    return one[: int(len(one) * head)] + other[int(len(other) * tail) :]


def cut(draw: st.DrawFn, text: str) -> str:
    """Replace a few characters by a token of templates or of JSON."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    return text[:start] + draw(CUTS) + text[end:]


def list_paths(value: Any, path: Path = ()) -> list[Path]:
    """Return the path of every value in a document, as keys and indexes."""
    inner: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    places = [place for key, one in inner for place in list_paths(one, (*path, key))]
    return [path, *places] if path else places


def replace_at(document: Any, place: Path, value: Any) -> None:
    """Replace the value at a path."""
    *around, last = place
    for key in around:
        document = document[key]
    document[last] = value
