from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.schema.json_location import excerpt, line_and_column, locate, places
from widgetd.schema.json_values import pointer

TEXT = """{
  "name": "Parcel",
  "jsonSchema": {"properties": {"a/b": {"enum": [1, "]", {"~": null}]}}},
  "empty": {}, "list": [[], true]
}"""


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("", (1, 1)),
        ("/name", (2, 3)),
        ("/jsonSchema/properties/a~1b", (3, 33)),
        ("/jsonSchema/properties/a~1b/enum/1", (3, 53)),
        ("/jsonSchema/properties/a~1b/enum/2/~0", (3, 59)),
        ("/list/0", (4, 25)),
        ("/list/1", (4, 29)),
        ("/nowhere", None),
    ],
)
def test_a_pointer_leads_to_the_line_and_column_of_its_key(
    at: str, place: tuple[int, int] | None
) -> None:
    assert locate(TEXT, at) == place


def test_of_a_key_that_stands_twice_the_last_is_found() -> None:
    assert locate('{"a": 1, "a": 2}', "/a") == (1, 10)


def test_an_escaped_key_is_found_under_the_name_it_stands_for() -> None:
    assert locate('{"\\u00e9": 1}', "/é") == (1, 2)


@pytest.mark.parametrize(
    "text", ["", "}", "]]", "{]", '{"a"', ":,", '{"a": [1, }', "{,}", '{"a" 1 "b"}']
)
def test_text_that_is_no_json_is_walked_all_the_same(text: str) -> None:
    assert isinstance(list(places(text)), list)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_every_value_has_one_place_and_it_begins_there(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    found = {place.pointer: place for place in places(text)}

    assert found.keys() == set(_pointers(value, ()))
    for at, place in found.items():
        decoded, _ = json.JSONDecoder().raw_decode(text, place.offset)
        assert decoded == _at(value, at)
        assert place.depth == at.count("/")


def _pointers(value: Any, path: tuple[str | int, ...]) -> list[str]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [pointer(*path), *(p for key, one in inner for p in _pointers(one, (*path, key)))]


def _at(value: Any, at: str) -> Any:
    for part in at.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def test_an_excerpt_is_one_short_line_with_the_place_marked() -> None:
    assert excerpt("abc", 1) == "a▸bc"
    assert (
        excerpt("x" * 50 + "\n  y" + "z" * 50, 51) == "…xxxxxxxxxxxxxxxxxxx ▸ yzzzzzzzzzzzzzzzzz…"
    )


def test_lines_and_columns_count_from_one() -> None:
    assert line_and_column("a\nb", 0) == (1, 1)
    assert line_and_column("a\nb", 2) == (2, 1)
