from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.core.widget.sidecar import ActionNote, Sidecar, SidecarExample, find_line, read_sidecar
from widgetd.core.widget.sidecar_text import set_values

EVERYTHING = """
description = "Show where a parcel is."
title = "Parcel"
tags = ["post", "pinned"]
ui_type = "parcel-tracker"
summary = "{{ city }}"
summary_fields = ["city"]
sensitive = ["code"]
permission = "elevated"
version = "1.2.0"
provider = "post"
priority = "high"
render_mode = "lazy"
preload = true
min_client_version = "1.5.0"
deprecated = true
migration_guide = "https://example.com/moved"
cache = "session"
profile = "split"
[summary_data]
totalCount = "stops | length"
[[examples]]
name = "on time"
arguments = { city = "Bergen", day = 2026-01-31, stops = [1, 2.5, true] }
[actions."parcel.track"]
description = "Follow it."
"""


def read_text(text: str) -> Sidecar:
    return read_sidecar(Source(path="a.widget.toml", content=text.encode(), digest=""))


def test_sidecar_adds_what_the_file_cannot_hold() -> None:
    assert read_text(EVERYTHING) == Sidecar(
        description="Show where a parcel is.",
        title="Parcel",
        tags=("post", "pinned"),
        ui_type="parcel-tracker",
        summary="{{ city }}",
        summary_fields=("city",),
        sensitive=("code",),
        permission="elevated",
        version="1.2.0",
        provider="post",
        priority="high",
        render_mode="lazy",
        preload=True,
        min_client_version="1.5.0",
        deprecated=True,
        migration_guide="https://example.com/moved",
        cache="session",
        profile="split",
        summary_data={"totalCount": "stops | length"},
        examples=(
            SidecarExample(
                name="on time",
                arguments={"city": "Bergen", "day": "2026-01-31", "stops": [1, 2.5, True]},
            ),
        ),
        actions={"parcel.track": ActionNote(description="Follow it.")},
    )


def test_missing_and_empty_sidecars_are_equal() -> None:
    assert read_sidecar(None) == read_text("") == read_text("# nothing\n") == Sidecar()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'descripton = "x"',
            "line 1: the key 'descripton' is unknown; did you mean 'description'?",
        ),
        (
            'title = """\npriorty = 1\n"""\n\npriorty = "high"',
            "line 5: the key 'priorty' is unknown; did you mean 'priority'?",
        ),
        (
            '[actions."a.b"]\ndescription = "x"\n[actions.c]\ndescriptoin = "y"',
            "line 4: the key 'actions.c.descriptoin' is unknown; did you mean 'description'?",
        ),
        (
            '[[examples]]\narguments = {}\n[[examples]]\narguments = {}\nnam = "two"',
            "line 5: the key 'examples.2.nam' is unknown; did you mean 'name'?",
        ),
        (
            "zzz = 1",
            (
                "line 1: the key 'zzz' is unknown; known are description, title, tags, keywords, "
                "wishes, never, "
                "ui_type, summary, summary_fields, sensitive, permission, version, provider, "
                "priority, render_mode, preload, min_client_version, deprecated, migration_guide, "
                "cache, profile, text, image_origins, ids, derived, source, program, schema, "
                "summary_data, examples, actions, state, local, feed"
            ),
        ),
        ("tags = 'x'", "line 1: 'tags' cannot be 'x'; write a list"),
        ("\ntags = [\n  'x',\n  7,\n]", "line 2: 'tags.2' cannot be an integer; write a string"),
        ("deprecated = 'yes'", "line 1: 'deprecated' cannot be 'yes'; write true or false"),
        (
            "cache = 'forever'",
            "line 1: 'cache' cannot be 'forever'; write 'none', 'session' or 'persistent'",
        ),
        (
            "ui_type = 'Parcel Tracker'",
            (
                "line 1: 'ui_type' cannot be 'Parcel Tracker'; "
                "write words in lower case joined by hyphens, as in 'flight-tracker'"
            ),
        ),
        (
            "\nmin_client_version = 'two'",
            (
                "line 2: 'min_client_version' cannot be 'two'; "
                "write numbers joined by dots, as in '1.5.0'"
            ),
        ),
        (
            "image_origins = ['https://a.example/x;']",
            (
                "line 1: 'image_origins.1' cannot be 'https://a.example/x;'; "
                "write an origin in lower case, as in 'https://images.example.com'"
            ),
        ),
        ("[[examples]]\nname = 'a'", "line 1: the key 'examples.1.arguments' is missing; write it"),
        ("actions = { go = 1 }", "line 1: 'actions.go' cannot be an integer; write a table"),
        ("summary_data = ['a']", "line 1: 'summary_data' cannot be an array; write a table"),
        (
            "[[examples]]\narguments = { n = 99999999999999999999 }",
            (
                "it holds a number of more than 64 bits, or nests too deeply; "
                "write the number as text, or nest less"
            ),
        ),
        *(
            (
                f"tags = []\n[[examples]]\narguments = {{ a = 1, n = {number} }}",
                f"line 3: {number} is no number that JSON has; write a finite number",
            )
            for number in ("nan", "-inf", "+inf", "1e999")
        ),
        (
            "tags = " + "[" * 9000 + "]" * 9000,
            (
                "it holds a number of more than 64 bits, or nests too deeply; "
                "write the number as text, or nest less"
            ),
        ),
        (
            "title = 'a'\ntitle = Parcel",
            (
                "line 2: this is not TOML (invalid value); "
                "write it as `key = value`, with text in double quotes"
            ),
        ),
        (
            "title = 'a'\ntitle = 'b'\n",
            (
                "line 2: this is not TOML (cannot overwrite a value); "
                "write it as `key = value`, with text in double quotes"
            ),
        ),
    ],
)
def test_invalid_sidecar_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(WidgetError) as caught:
        read_text(text)

    assert str(caught.value) == f"a.widget.toml: {message}"


@pytest.mark.parametrize("line", [" " * 100_000, "[" + " " * 100_000, "a" * 100_000, "# " * 50_000])
def test_long_line_is_scanned_once(line: str) -> None:
    """Hours, where a line is tried in every way; so the time limit tells."""
    with pytest.raises(WidgetError) as caught:
        read_text(f"{'#' if line[0] in '[a' else ''}{line}\n \ttitle  = 5\n")

    assert (
        str(caught.value) == "a.widget.toml: line 2: 'title' cannot be an integer; write a string"
    )
    assert find_line(f"{line}\ntitle = 5", "/title") == 2


def test_sidecar_outside_utf_8_is_refused() -> None:
    with pytest.raises(WidgetError) as caught:
        read_sidecar(Source(path="a.widget.toml", content=b'title = "\xff"', digest=""))

    assert str(caught.value) == (
        "a.widget.toml: line 1: the byte 0xff is not UTF-8; save the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("at", "line"),
    [
        ("/title", 3),
        ("/summary_data/totalCount", 21),
        ("/examples/0", 22),
        ("/examples/0/arguments/city", 24),
        ("/actions/parcel.track", 25),
        ("/nowhere", None),
    ],
)
def test_pointer_resolves_to_a_line_of_the_sidecar(at: str, line: int | None) -> None:
    assert find_line(EVERYTHING, at) == line


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
