from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.support.corpus import CORPUS, corpus_files, needs_corpus
from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.widget.definition import Definition, define
from widgetd.core.widget.document import KNOWN, decode_studio, read_document

STUDIO = {
    "id": "wig_1",
    "name": "Parcel",
    "view": "<Card/>",
    "defaultState": {"city": "Bergen?>"},
    "schema": "z.object({})",
    "states": [{"city": "Oslo"}],
    "jsonSchema": {"stale": True},
}


def define_file(
    path: str = "post/parcel.widget", toml: str | None = None, **keys: Any
) -> Definition:
    file = {"version": "1.0", "name": "Parcel", "template": '{"type":"Card"}', **keys}
    content = json.dumps({key: value for key, value in file.items() if value != ...}).encode()
    sidecar_source = None
    if toml is not None:
        sidecar_source = Source(path=f"{path}.toml", content=toml.encode(), digest="side")
    return define(Source(path=path, content=content, digest="digest"), sidecar_source)


def test_definition_has_the_values_of_the_file() -> None:
    schema = {"type": "object", "description": "Where it is."}
    definition = define_file(
        jsonSchema=schema, outputJsonPreview={"type": "Card"}, notes=["a"], encodedWidget=None
    )

    assert definition.path == "post/parcel.widget"
    assert definition.digest == "digest"
    assert definition.name == definition.title == definition.component == "Parcel"
    assert definition.tool == definition.ui_type == "parcel"
    assert definition.tags == ("post",)
    assert definition.schema == schema
    assert definition.template == '{"type":"Card"}'
    assert definition.document.preview == {"type": "Card"}
    assert definition.description == "Where it is."
    assert (definition.document.encoded_studio, definition.studio) == (None, None)
    assert definition.document.content.keys() - KNOWN == {"notes"}
    assert definition.document.content["notes"] == ["a"]


def test_sidecar_adds_to_the_file_and_changes_its_digest() -> None:
    definition = define_file(
        toml='title = "Post"\ntags = ["pinned", "post"]\nui_type = "post-parcel"',
        description="From the file.",
    )

    assert definition.title == "Post"
    assert definition.tags == ("pinned", "post")
    assert definition.ui_type == "post-parcel"
    assert definition.digest not in {"digest", "side"}
    assert len(definition.digest) == 32


@pytest.mark.parametrize(
    ("toml", "file", "schema", "description"),
    [
        ('description = "a"', "b", "c", "a"),
        ("", "b", "c", "b"),
        (None, " \n", "c", "c"),
        (None, ["b"], "c", "c"),
        (None, None, None, ""),
    ],
)
def test_description_is_the_sidecars_else_the_files_else_the_schemas(
    toml: str | None, file: Any, schema: str | None, description: str
) -> None:
    definition = define_file(toml=toml, description=file, jsonSchema={"description": schema})

    assert definition.description == description


def test_hidden_characters_are_not_served_in_names_and_descriptions() -> None:
    definition = define_file(
        name="Par\u200bcel\u202e",
        description="Where it is.\U000e0041",
        toml='title = "Par\u00adcel"',
    )

    assert (definition.name, definition.title) == ("Parcel", "Parcel")
    assert definition.description == "Where it is."


def test_hidden_characters_are_removed_from_a_schema_and_nothing_else() -> None:
    field = {"description": "City\u200b.", "enum": ["a\u200b"], "title": ["b\u200b"]}
    definition = define_file(jsonSchema={"properties": {"description": field}})

    assert definition.schema == {
        "properties": {
            "description": {"description": "City.", "enum": ["a\u200b"], "title": ["b\u200b"]}
        }
    }


@pytest.mark.parametrize("urlsafe", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_studio_packages_are_unpacked_in_every_encoding(urlsafe: bool, padded: bool) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    encoded = encode(json.dumps(STUDIO).encode()).decode()
    studio = define_file(encodedWidget=encoded if padded else encoded.rstrip("=")).studio

    assert studio is not None
    assert (studio.id, studio.name, studio.view) == ("wig_1", "Parcel", "<Card/>")
    assert studio.default_state == {"city": "Bergen?>"}
    assert studio.states == ({"city": "Oslo"},)


@pytest.mark.parametrize("encoded", ["", "%%%", "YQ", "e30=x", "bnVsbA==", "WzFd", "日本", "A"])
def test_other_data_is_no_studio_package(encoded: str) -> None:
    assert decode_studio(encoded) is None
    assert define_file(encodedWidget=encoded).studio is None


def test_package_at_the_top_is_read_as_an_encoded_package() -> None:
    package = {
        "name": "Plain",
        "view": "<Card><Text value={who} /></Card>",
        "jsonSchema": {"type": "object", "properties": {"who": {"type": "string"}}},
        "defaultState": {"who": "Ada"},
    }

    document = read_document(json.dumps(package).encode(), Limits())

    assert document.view == package["view"]
    assert document.studio is not None
    assert document.studio.samples == ({"who": "Ada"},)


def test_package_of_odd_parts_is_read_as_far_as_possible() -> None:
    packed = base64.b64encode(b'{"id":7,"defaultState":[],"states":[1,{"a":2}]}').decode()
    studio = decode_studio(packed)

    assert studio is not None
    assert (studio.id, studio.view, studio.default_state) == ("", "", {})
    assert studio.states == ({"a": 2},)


def test_fault_names_the_file_or_its_sidecar() -> None:
    with pytest.raises(WidgetError, match=r"^post/parcel\.widget#/name: this is an integer; "):
        define_file(name=7)
    with pytest.raises(WidgetError, match=r"^post/parcel\.widget\.toml: line 1: "):
        define_file(toml="titel = 'x'")


@needs_corpus
def test_every_real_file_with_a_template_has_a_definition() -> None:
    refused = {}
    for path in corpus_files():
        relative = path.relative_to(CORPUS).as_posix()
        try:
            define(Source(path=relative, content=path.read_bytes(), digest=""))
        except WidgetError as error:
            refused[path.name] = str(error).partition(": ")[2]

    missing = (
        "the key 'template' is missing, and no JSX is there in its place; "
        "add it: the Jinja text that Studio exports"
    )
    assert refused == {
        "article-list.widget": missing,
        "line-select.widget": missing,
        "name-suggestions.widget": missing,
        "小序-校园智序结果卡.widget": (
            "the template is empty, and no JSX is there in its place; "
            "export the widget from ChatKit Studio again"
        ),
    }
