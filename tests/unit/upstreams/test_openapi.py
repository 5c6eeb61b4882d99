"""An OpenAPI document is reduced to what calling its operations takes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.system.upstreams.servers import large_document
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.openapi import document_of_endpoints, parse_document, reduce_document
from widgetd.upstreams.tables import Endpoint

REFERENCED: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "x", "version": "1"},
    "paths": {
        "/a": {
            "summary": "left out",
            "parameters": [{"$ref": "#/components/parameters/page"}],
            "get": {
                "operationId": "list_a",
                "parameters": [{"$ref": "#/components/parameters/of~1a"}],
                "responses": {"200": {"$ref": "#/components/responses/many"}, "404": {}},
                "security": [{"key": []}],
            },
            "post": {
                "requestBody": {"content": {"x": {"schema": {"$ref": "#/components/schemas/a"}}}},
                "responses": {"201": {"content": {"x": {"schema": {}}}}},
            },
        },
        "/b": {"delete": {"operationId": "drop_b"}},
        "/c": 7,
    },
    "components": {
        "parameters": {
            "page": {"name": "page", "in": "query", "schema": {"$ref": "#/components/schemas/n"}},
            "of/a": {"name": "of", "in": "query"},
        },
        "responses": {
            "many": {"content": {"x": {"schema": {"$ref": "#/components/schemas/many"}}}}
        },
        "schemas": {
            "n": {"type": "integer"},
            "many": {"type": "array", "items": {"$ref": "#/components/schemas/a"}},
            "a": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/a"}}},
            "unused": {"type": "object"},
        },
    },
}


def test_reading_operations_keep_their_parameters_and_the_kind_of_their_answer() -> None:
    reduced = reduce_document(REFERENCED, only_reading=True)

    assert reduced["paths"] == {
        "/a": {
            "parameters": [{"$ref": "#/components/parameters/page"}],
            "get": {
                "operationId": "list_a",
                "parameters": [{"$ref": "#/components/parameters/of~1a"}],
                "responses": {
                    "200": {"description": "", "content": {"x": {"schema": {"type": "array"}}}}
                },
            },
        }
    }
    assert set(reduced["components"]) == {"parameters", "schemas"}
    assert set(reduced["components"]["parameters"]) == {"page", "of/a"}
    assert set(reduced["components"]["schemas"]) == {"n"}


def test_all_operations_keep_the_schemas_of_their_bodies() -> None:
    reduced = reduce_document(REFERENCED, only_reading=False)

    assert {path: set(item) - {"parameters"} for path, item in reduced["paths"].items()} == {
        "/a": {"get", "post"},
        "/b": {"delete"},
    }
    assert set(reduced["components"]["schemas"]) == {"n", "a"}
    assert reduced["paths"]["/b"]["delete"]["responses"] == {"200": {"description": ""}}


def test_large_document_is_reduced_to_its_parameters() -> None:
    text = large_document()
    document = parse_document(text)

    assert 6_000_000 < len(text) <= LIMITS.file_bytes
    assert document is not None
    reduced = reduce_document(document, only_reading=True)
    assert len(reduced["paths"]) == 400
    assert len(orjson.dumps(reduced)) < len(text) / 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "openapi: 3.1.0",
        "[]",
        '{"paths": []}',
        '{"paths": {}, "x": ' + "[" * 200 + "]" * 200 + "}",
    ],
)
def test_text_other_than_a_document_is_ignored(text: str) -> None:
    assert parse_document(text) is None


def test_endpoints_become_a_document() -> None:
    document = document_of_endpoints(
        "rates", {"latest": Endpoint(get="/latest/{base}", query=("symbols",))}
    )

    operation = document["paths"]["/latest/{base}"]["get"]
    assert operation["operationId"] == "latest"
    assert [(p["name"], p["in"], p["required"]) for p in operation["parameters"]] == [
        ("base", "path", True),
        ("symbols", "query", False),
    ]
