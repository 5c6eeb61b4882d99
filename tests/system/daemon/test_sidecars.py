"""Sidecars add to their files and are followed like them, over a real connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import TextContent

from tests.support.clients import Connection, Era, connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import status

PRODUCTS = {
    "type": "object",
    "properties": {
        "shop": {"type": "string", "description": "Whose products these are."},
        "products": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"price": {"type": "number"}, "secret": {"type": "string"}},
            },
        },
    },
    "required": ["shop", "products"],
}
TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ shop | tojson }}}]}'

SIDECAR = """
description = "Show products. Use when the user wants to buy something."
summary = "{{ products | length }} products of {{ shop }}"
summary_fields = ["shop"]
sensitive = ["products.secret"]
[summary_data]
totalCount = "products | length"
priceRange = "{'min': products | map(attribute='price') | min}"
told = "products"
"""

ARGUMENTS = {"shop": "Nord", "products": [{"price": 3, "secret": "x"}, {"price": 2}]}

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture
def products_folder(tmp_path: Path) -> Path:
    file = widget_file("Products", schema=PRODUCTS, template=TEMPLATE)
    (tmp_path / "Products.widget").write_text(file)
    return tmp_path


async def read_description(client: Connection) -> str:
    """Return the description by which models choose the tool."""
    tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
    return tools["products"].description or ""


async def wait_for_description(client: Connection, description: str) -> None:
    """Wait for this description of the tool, and list only after a notification."""
    notifications = client.notifications
    while await read_description(client) != description:
        await client.wait_for_more_than(notifications)
        notifications = client.notifications


async def read_result(client: Connection) -> tuple[str, dict[str, Any]]:
    """Call the tool and return the text and the structured content for a model."""
    result = await client.call("products", **ARGUMENTS)
    [text] = result.content
    assert isinstance(text, TextContent)
    assert result.structured_content is not None
    return text.text, result.structured_content


@both_eras
async def test_saved_sidecar_is_announced_and_used(products_folder: Path, era: Era) -> None:
    async with serving(products_folder, profile="split") as url, connect_client(url, era) as client:
        assert await read_description(client) == (
            "Show the Products card. Needs shop (whose products these are) and products (list of "
            'price, secret). For example {"shop":"Example","products":[{}]}'
        )
        assert await read_result(client) == (
            "Products: shop Nord",
            {"uiType": "products", "summary": "Products: shop Nord"},
        )

        (products_folder / "Products.widget.toml").write_text(SIDECAR)
        await wait_for_description(
            client, "Show products. Use when the user wants to buy something."
        )

        assert await read_result(client) == (
            "2 products of Nord",
            {
                "uiType": "products",
                "summary": "2 products of Nord",
                "shop": "Nord",
                "totalCount": 2,
                "priceRange": {"min": 2},
                "told": [{"price": 3}, {"price": 2}],
            },
        )


@both_eras
async def test_bad_sidecar_keeps_the_last_good_one_and_its_fault_has_the_place(
    products_folder: Path, era: Era
) -> None:
    sidecar = products_folder / "Products.widget.toml"
    sidecar.write_text(SIDECAR)
    async with serving(products_folder) as url, connect_client(url, era) as client:
        sidecar.write_text(SIDECAR.replace("summary_fields", "sumary_fields"))
        with anyio.fail_after(PATIENCE_S):
            while (await status(url))["stale"] != 1:  # noqa: ASYNC110 - a fault notifies no client
                await anyio.sleep(0.01)

        [fault] = (await status(url))["faults"]
        assert fault["state"] == "stale"
        assert fault["problem"] == (
            "Products.widget.toml: line 4: the key 'sumary_fields' is unknown; "
            "did you mean 'summary_fields'?"
        )
        assert (await read_result(client))[0] == "2 products of Nord"

        sidecar.write_text('description = "Show what is for sale."')
        await wait_for_description(client, "Show what is for sale.")


@both_eras
async def test_export_over_the_file_preserves_the_effect_of_its_sidecar(
    products_folder: Path, era: Era
) -> None:
    (products_folder / "Products.widget.toml").write_text(SIDECAR)
    async with serving(products_folder) as url, connect_client(url, era) as client:
        before = await read_description(client)
        exported = TEMPLATE.replace("{{ shop", '{{ ("New " ~ shop)')
        (products_folder / "Products.widget").write_text(
            widget_file("Products", schema=PRODUCTS, template=exported)
        )
        tree = {"type": "Card", "children": [{"type": "Text", "value": "New Nord"}]}
        await client.answers("products", ARGUMENTS, tree)

        assert await read_description(client) == before
        assert (await read_result(client))[0] == "2 products of Nord"
