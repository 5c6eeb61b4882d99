from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.errors import WidgetError
from widgetd.base.limits import Limits
from widgetd.core.schema.json_text import (
    excerpt,
    find_key_offsets,
    iterate_places,
    line_and_column,
    parse_file,
)
from widgetd.core.schema.json_values import pointer

LIMITS = Limits(file_bytes=1000, json_depth=4)


def fault(content: bytes, limits: Limits = LIMITS) -> tuple[str, str, int | None, int | None]:
    with pytest.raises(WidgetError) as caught:
        parse_file(content, limits)
    finding = caught.value.finding
    return finding.code, finding.problem, finding.line, finding.column


@pytest.mark.parametrize(
    ("content", "code", "problem", "line", "column"),
    [
        (b"", "W1101", "there is no JSON, only space", None, None),
        (b'{"a":1,\n}', "W1101", "a comma stands before a closing bracket at '{\"a\":1▸, }'", 1, 7),
        (b"[1,]", "W1101", "a comma stands before a closing bracket at '[1▸,]'", 1, 3),
        (b'{"a" 1}', "W1101", "a colon is missing after the key at '{\"a\" ▸1}'", 1, 6),
        (b"{'a':1}", "W1101", "a key in double quotes is missing at '{▸'a':1}'", 1, 2),
        (
            b'{"a":1\n"b":2}',
            "W1101",
            'a comma or a closing bracket is missing at \'{"a":1 ▸"b":2}\'',
            2,
            1,
        ),
        (b'{"a":}', "W1101", "a value is missing at '{\"a\":▸}'", 1, 6),
        (b'{"a":"\\x"}', "W1101", 'a backslash does not escape anything at \'{"a":"▸\\x"}\'', 1, 7),
        (b'{"a":"', "W1101", 'a string has no end at \'{"a":▸"\'', 1, 6),
        (b'{"a":', "W1101", "the text ends before its JSON does", 1, 6),
        (b"{}\n{}", "W1101", "more text follows the end of the JSON at '{} ▸{}'", 2, 1),
        (b'{"a":{"b":1,"b":2}}', "W1102", "the key already stands at line 1, column 7", 1, 13),
        (b'{"\\u0061":1,"a":2}', "W1102", "the key already stands at line 1, column 2", 1, 13),
        (b'{"a":[[[[1]]]]}', "W1103", "the JSON nests more than 4 levels deep here", 1, 9),
        (b"[" * 999, "W1103", "the JSON nests more than 4 levels deep here", 1, 5),
        (b'{"a":[1,-Infinity]}', "W1104", "-Infinity is not a number in JSON", 1, 9),
        (b'{"a":1e999}', "W1104", "1e999 is not a number in JSON", 1, 6),
        (b'{"a":"\\ud83d!"}', "W1104", "\\ud83d is half a character", 1, 7),
        (b'{"a":"\\\\ud83d\\ude00"}', "W1104", "\\ude00 is half a character", 1, 14),
        (b'{"a":"\xff"}', "W1104", "the byte 0xff is not UTF-8", 1, 7),
        (b"\xff\xfe{\x00}\x00", "W1104", "the byte 0xff is not UTF-8", 1, 1),
        (b"[]", "W1106", "the file holds an array, not an object", None, None),
        (b"7", "W1106", "the file holds an integer, not an object", None, None),
        (b" " * 1001, "W1002", "it is longer than 1,000 bytes", None, None),
    ],
)
def test_invalid_json_is_refused_at_its_place(
    content: bytes, code: str, problem: str, line: int | None, column: int | None
) -> None:
    assert fault(content) == (code, problem, line, column)


def test_number_with_too_many_digits_is_refused_at_its_place() -> None:
    content = b'{"a":1,"b":-' + b"9" * 5_000 + b"}"
    problem = f"-{'9' * 39} is not a number in JSON"

    assert fault(content, Limits()) == ("W1104", problem, 1, 12)
    code, problem, line, column = fault(b"9" * 5_000 + b"x", Limits())
    assert problem.startswith("more text follows the end of the JSON at ")
    assert (code, line, column) == ("W1101", 1, 5_001)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        (b'{"a":"\\\\ud83d"}', {"a": "\\ud83d"}),
        (b'{"a":[[[1]]]}', {"a": [[[1]]]}),
        (b'{"a":{"b":1},"b":{"b":2}}', {"a": {"b": 1}, "b": {"b": 2}}),
    ],
)
def test_strict_json_is_read(content: bytes, value: dict[str, Any]) -> None:
    assert parse_file(content, LIMITS) == value


FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.booleans())
def test_any_json_is_read_as_it_was_written(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert parse_file(text, Limits()) == value


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    code = ""
    try:
        assert isinstance(parse_file(content, Limits()), dict)
    except WidgetError as error:
        code = error.finding.code

    assert code in {"", "W1101", "W1102", "W1103", "W1104", "W1106"}


def test_depth_limit_counts_objects_and_lists() -> None:
    assert parse_file(b'{"a":[{"b":[1]}]}', LIMITS) == {"a": [{"b": [1]}]}
    assert fault(b'{"a":[{"b":[{}]}]}')[0] == "W1103"
    assert math.isfinite(parse_file(b'{"a":1e300}', LIMITS)["a"])


TEXT = """{
  "name": "Parcel",
  "jsonSchema": {"properties": {"a/b": {"enum": [1, "]", {"~": null}]}}},
  "empty": {}, "list": [[], true]
}"""


def locate(text: str, at: str) -> tuple[int, int] | None:
    offset = find_key_offsets(text).get(at)
    return None if offset is None else line_and_column(text, offset)


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
def test_pointer_resolves_to_the_line_and_column_of_its_key(
    at: str, place: tuple[int, int] | None
) -> None:
    assert locate(TEXT, at) == place


def test_last_of_two_equal_keys_is_found() -> None:
    assert locate('{"a": 1, "a": 2}', "/a") == (1, 10)


def test_escaped_key_is_found_under_its_unescaped_name() -> None:
    assert locate('{"\\u00e9": 1}', "/é") == (1, 2)


@pytest.mark.parametrize(
    "text", ["", "}", "]]", "{]", '{"a"', ":,", '{"a": [1, }', "{,}", '{"a" 1 "b"}']
)
def test_invalid_json_is_walked(text: str) -> None:
    assert isinstance(list(iterate_places(text)), list)


SMALL_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(SMALL_JSON, st.booleans())
def test_every_value_has_one_place_and_it_begins_there(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    places = {place.pointer: place for place in iterate_places(text)}

    assert places.keys() == set(_pointers(value, ()))
    for at, place in places.items():
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


def test_excerpt_is_one_short_line_with_the_place_marked() -> None:
    assert excerpt("abc", 1) == "a▸bc"
    assert (
        excerpt("x" * 50 + "\n  y" + "z" * 50, 51) == "…xxxxxxxxxxxxxxxxxxx ▸ yzzzzzzzzzzzzzzzzz…"
    )


def test_lines_and_columns_count_from_one() -> None:
    assert line_and_column("a\nb", 0) == (1, 1)
    assert line_and_column("a\nb", 2) == (2, 1)
