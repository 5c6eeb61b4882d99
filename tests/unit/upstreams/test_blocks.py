"""The blocks of an answer as a feed's expressions see them, within bounds."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mcp_types import CallToolResult
from pydantic import TypeAdapter

from widgetd.base.errors import CallError
from widgetd.core.schema.json_text import parse_json
from widgetd.core.widget.query import compile_query
from widgetd.server.render.limits import LIMITS as IMAGES
from widgetd.upstreams.answers import content_size, to_answer, to_blocks
from widgetd.upstreams.limits import LIMITS

PNG = b"\x89PNG\r\n\x1a\n"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def result(*blocks: dict[str, Any], **fields: Any) -> Any:
    return TypeAdapter(CallToolResult).validate_python({"content": list(blocks), **fields})


def image(content: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    data = base64.b64encode(content).decode()
    return {"type": "image", "data": data, "mimeType": mime_type}


def blocks_of(answer: Any) -> Any:
    return parse_json(to_blocks(answer, "maps").content)


def uri_of(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def test_texts_pictures_and_resources_are_blocks_in_their_order() -> None:
    answer = result(
        {"type": "text", "text": '{"name": "Pier 7"}'},
        image(PNG + b"1"),
        {"type": "resource", "resource": {"uri": "map://1", "text": "a", "mimeType": "text/plain"}},
        {
            "type": "resource",
            "resource": {"uri": "map://2", "blob": image(PNG)["data"], "mimeType": "image/png"},
        },
        {"type": "resource_link", "uri": "map://3", "name": "far", "title": "Far"},
    )

    blocks = blocks_of(answer)

    assert blocks == {
        "value": {"name": "Pier 7"},
        "blocks": [
            {"type": "text", "text": '{"name": "Pier 7"}'},
            {"type": "image", "mime_type": "image/png", "bytes": 9, "data_url": uri_of(PNG + b"1")},
            {"type": "resource", "uri": "map://1", "mime_type": "text/plain", "text": "a"},
            {
                "type": "resource",
                "uri": "map://2",
                "mime_type": "image/png",
                "bytes": 8,
                "data_url": uri_of(PNG),
            },
            {"type": "resource_link", "uri": "map://3", "name": "far", "title": "Far"},
        ],
    }
    assert compile_query("blocks[?type=='image'].data_url | [0]").find(blocks) == uri_of(PNG + b"1")
    assert compile_query("blocks[0].text").find(blocks) == '{"name": "Pier 7"}'


def test_value_matches_the_view_of_expressions() -> None:
    structured = result(image(PNG), structuredContent={"a": 1})
    words = result({"type": "text", "text": "no JSON"})

    assert blocks_of(structured)["value"] == {"a": 1}
    assert to_answer(structured, "maps").value("maps") == {"a": 1}
    assert blocks_of(words)["value"] is None


@pytest.mark.parametrize(
    "content",
    [SVG, b"", b"\x00" * 100, PNG + bytes(IMAGES.image_bytes)],
    ids=["svg", "nothing", "bytes", "large"],
)
def test_other_than_a_small_raster_image_has_no_address(content: bytes) -> None:
    [block] = blocks_of(result(image(content)))["blocks"]

    assert block["data_url"] is None
    assert block["bytes"] == len(content)


def test_pictures_of_one_answer_stay_within_their_size() -> None:
    one = PNG + bytes(IMAGES.image_bytes - len(PNG))

    blocks = blocks_of(result(*[image(one)] * 5))["blocks"]

    addresses = [block["data_url"] for block in blocks]
    assert addresses == [uri_of(one)] * 2 + [None] * 3
    assert sum(map(len, filter(None, addresses))) <= IMAGES.images_bytes


def test_too_many_blocks_are_refused() -> None:
    answer = result(*[{"type": "text", "text": "x"}] * 10_000)

    with pytest.raises(CallError) as raised:
        to_blocks(answer, "maps")

    assert raised.value.code == "W5016"
    assert str(raised.value) == (
        "the answer of the upstream 'maps' has 10,000 blocks; 100 at most are read here"
    )
    assert content_size(answer) == 10_000


def test_answer_above_its_size_is_refused() -> None:
    half = "x" * (LIMITS.answer_bytes // 2)

    with pytest.raises(CallError) as raised:
        to_blocks(result(*[{"type": "text", "text": half}] * 2), "maps")

    assert raised.value.code == "W5008"


def test_bad_base64_is_not_mcp() -> None:
    with pytest.raises(CallError) as raised:
        to_blocks(result({"type": "image", "data": "%%%", "mimeType": "image/png"}), "maps")

    assert raised.value.code == "W5020"
