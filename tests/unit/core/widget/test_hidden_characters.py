from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.core.widget.hidden_characters import escape_hidden, find_hidden, strip_hidden


@pytest.mark.parametrize(
    ("text", "expected", "hidden"),
    [
        ("Search\u200b docs", "Search docs", "U+200B zero width space"),
        ("a\u202eb", "ab", "U+202E right-to-left override"),
        ("Docs.\U000e0041", "Docs.", "U+E0041 tag latin capital letter a"),
        ("bell\x07", "bell", "U+0007 an unnamed character"),
        ("a\u200db", "ab", "U+200D zero width joiner"),
        ("日\u200d\u200d本", "日本", "U+200D zero width joiner"),
        ("\u3164x", "x", "U+3164 hangul filler"),
        ("x\U000e0100", "x", "U+E0100 variation selector-17"),
        ("soft\u00adhyphen", "softhyphen", "U+00AD soft hyphen"),
        ("\ue000", "", "U+E000 an unnamed character"),
    ],
)
def test_hidden_characters_are_found_and_removed(text: str, expected: str, hidden: str) -> None:
    assert strip_hidden(text) == expected
    assert next(iter(find_hidden(text)))[1] == hidden


@pytest.mark.parametrize(
    "text",
    ["Flight tracker", "line\nline\ttab", "日本語", "می\u200cخواهم", "👩\u200d🚀 ☀\ufe0f", "שלום"],
)
def test_visible_text_is_unchanged(text: str) -> None:
    assert strip_hidden(text) is text


@given(st.text())
def test_text_without_hidden_characters_is_visible(text: str) -> None:
    assert not list(find_hidden(strip_hidden(strip_hidden(text))))


def test_hidden_characters_are_escaped_in_json_and_nothing_else() -> None:
    text = orjson.dumps({"a\u202e": "é 😀 \u200b \U000e0041", "b": "👩\u200d🚀"}).decode()

    escaped = escape_hidden(text)

    assert escaped == '{"a\\u202e":"é 😀 \\u200b \\udb40\\udc41","b":"👩\u200d🚀"}'
    assert orjson.loads(escaped) == orjson.loads(text)
