"""Sidecars are rewritten with other values, and unchanged parts stay as written."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.core.widget.sidecar import read_sidecar
from widgetd.core.widget.sidecar_text import set_values

WRITTEN = """\
#:schema ./.schemas/sidecar.json
# What it shows.
description = \"\"\"
Show a heading
with text.\"\"\"
tags = [
  "a",  # first
]

# One of several.
[[examples]]
name = "sample"
arguments = { a = 1 }
"""


def test_unedited_keys_keep_their_comments() -> None:
    text = set_values(WRITTEN, {"description": "Show it.", "tags": ["a"], "keywords": ["b", "c"]})

    assert text == WRITTEN.replace('"""\nShow a heading\nwith text."""', '"Show it."').replace(
        "sidecar.json\n", 'sidecar.json\nkeywords = ["b", "c"]\n'
    )


def test_empty_value_deletes_its_key_and_a_missing_file_is_created() -> None:
    assert "tags" not in set_values(WRITTEN, {"tags": []})
    assert set_values("", {"summary": "{{ a }}", "tags": ""}) == 'summary = "{{ a }}"\n'
    assert set_values("", {}) == ""


def test_unreadable_sidecar_is_not_rewritten() -> None:
    with pytest.raises(WidgetError) as raised:
        set_values("description = ", {"description": "a"})

    assert raised.value.finding.code == "W1111"


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
ORIGINS = st.sampled_from(["https://a.example", "http://b.example:8080"])
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("description", "summary"), TEXTS),
        **dict.fromkeys(("tags", "keywords"), st.lists(TEXTS)),
        "image_origins": st.lists(ORIGINS),
    },
)


@given(VALUES, VALUES)
def test_typed_text_is_written_to_the_sidecar_without_other_changes(
    first: dict[str, str | list[str]], second: dict[str, str | list[str]]
) -> None:
    text = set_values(set_values(WRITTEN, first), second)

    wanted = {**tomllib.loads(WRITTEN), **first, **second}
    assert tomllib.loads(text) == {key: value for key, value in wanted.items() if value}
    assert read_sidecar(Source.of("a.toml", text.encode())).examples
