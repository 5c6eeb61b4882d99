from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.corpus import CORPUS, corpus_files, needs_corpus
from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.schema.validator import Schema, compile_schema
from widgetd.core.widget.definition import Definition, define
from widgetd.core.widget.description import describe
from widgetd.core.widget.limits import LIMITS


def describe_file(toml: str = "", **keys: Any) -> str:
    file = {"version": "1.0", "name": "Parcel", "template": '{"type":"Card"}', **keys}
    source = Source(path="parcel.widget", content=json.dumps(file).encode(), digest="a")
    sidecar = Source(path="parcel.widget.toml", content=toml.encode(), digest="b")
    definition = define(source, sidecar)
    return describe(definition, schema_of(definition))


def schema_of(definition: Definition) -> Schema:
    return compile_schema(definition.schema or {}, limits=Limits())


PARCEL = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where it is now. May be a depot."},
        "status": {"enum": ["on its way", "delivered"]},
        "sender": {"type": "object", "properties": {"name": {}, "phone": {}}},
        "stops": {"type": "array", "items": {"type": "object", "properties": {"at": {}}}},
        "weight": {"type": "number"},
    },
    "required": ["city", "status"],
}


def test_authors_description_comes_first() -> None:
    assert describe_file('description = "Show where a parcel is."', jsonSchema=PARCEL) == (
        "Show where a parcel is."
    )


def test_generated_description_names_shown_and_required_fields() -> None:
    assert describe_file(jsonSchema=PARCEL) == (
        "Show the Parcel card. Needs city (where it is now) and status (on its way | delivered). "
        "Optional: sender (name, phone), stops (list of at) and weight. "
        'For example {"city":"Lisbon","status":"on its way"}'
    )


def test_authors_example_comes_before_a_generated_one() -> None:
    sidecar = '[[examples]]\narguments = { city = "Oslo", status = "delivered" }'

    assert describe_file(sidecar, jsonSchema=PARCEL).endswith(
        'For example {"city":"Oslo","status":"delivered"}'
    )


def test_example_of_an_empty_state_comes_after_all_others() -> None:
    sidecar = """
[[examples]]
arguments = { city = "Oslo", status = "delivered", stops = [] }
[[examples]]
arguments = { city = "Oslo", status = "on its way", stops = [{ at = "Lier" }] }"""

    assert describe_file(sidecar, jsonSchema=PARCEL).endswith(
        'For example {"city":"Oslo","status":"on its way","stops":[{"at":"Lier"}]}'
    )


def test_generated_example_has_an_element_of_each_list_or_is_omitted_if_too_long() -> None:
    def example(length: int) -> str:
        stops = {"type": "array", "items": {"type": "string", "minLength": length}}
        schema = {"type": "object", "properties": {"stops": stops}, "required": ["stops"]}
        return describe_file(jsonSchema=schema).partition("For example ")[2]

    assert len(json.loads(example(2))["stops"]) == 1
    assert example(LIMITS.description_chars) == ""


def test_invalid_example_is_omitted() -> None:
    sidecar = '[[examples]]\narguments = { city = 7, status = "delivered" }'

    assert describe_file(sidecar, jsonSchema=PARCEL).endswith(
        'For example {"city":"Lisbon","status":"on its way"}'
    )


def test_example_is_omitted_where_a_field_is_secret() -> None:
    assert "For example" not in describe_file('sensitive = ["city"]', jsonSchema=PARCEL)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"name": "Player Card"}, "Show the Player Card."),
        ({"name": "Playlist", "template": '{"type":"ListView"}'}, "Show the Playlist."),
        ({"name": "article_list", "template": '{"type":"ListView"}'}, "Show the article list."),
        ({"name": "Quiz (copy)"}, "Show the Quiz card."),
        ({"name": "Map", "outputJsonPreview": {"type": "Basic"}}, "Show the Map widget."),
        ({"name": "Map", "template": "{% if a %}"}, "Show the Map widget."),
    ],
)
def test_widget_is_named_with_its_kind(keys: dict[str, Any], text: str) -> None:
    assert describe_file(**keys) == text


def test_hidden_characters_do_not_come_in_through_a_field() -> None:
    schema = {"properties": {"city": {"description": "Where.\U000e0041"}}}

    assert describe_file(jsonSchema=schema) == "Show the Parcel card. Takes city (where)."


def test_deprecated_widget_names_its_replacement() -> None:
    guide = 'deprecated = true\nmigration_guide = "https://example.com/new"'

    assert describe_file("deprecated = true") == "Show the Parcel card. Deprecated."
    assert describe_file(guide, description="Show it.") == (
        "Show it. Deprecated; see https://example.com/new"
    )


def test_description_lists_as_many_fields_as_fit() -> None:
    fields: dict[str, Any] = {f"a_rather_long_name_{number}": {} for number in range(40)}
    schema = {"properties": fields, "required": list(fields)}

    assert describe_file(jsonSchema=schema) == (
        "Show the Parcel card. Needs a_rather_long_name_0, a_rather_long_name_1, "
        "a_rather_long_name_2, a_rather_long_name_3, a_rather_long_name_4, a_rather_long_name_5, "
        "a_rather_long_name_6, a_rather_long_name_7 and 32 more."
    )


@needs_corpus
def test_every_generated_description_is_short_with_a_valid_example() -> None:
    exemplified = 0
    for path in corpus_files():
        relative = path.relative_to(CORPUS).as_posix()
        source = Source(path=relative, content=path.read_bytes(), digest="")
        try:
            definition = define(source)
        except WidgetError:
            continue
        schema = schema_of(definition)
        text, _, example = describe(definition, schema).partition("For example ")
        assert text.startswith("Show the ")
        assert len(text) + len(example) < LIMITS.description_chars
        if example:
            exemplified += 1
            assert schema.admits(json.loads(example))

    assert exemplified > 35
