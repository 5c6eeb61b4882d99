"""Resources of widgets, read by clients of both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastmcp.resources.base import Resource, ResourceResult
from mcp import Client, MCPError
from mcp_types import ResourceTemplateReference, TextResourceContents

from tests.support.widgets import build_widget, snapshot_of
from widgetd.core.widget.page_program import page_program, program_digest
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.render import entry
from widgetd.server.render.entry import page_meta, view_uri
from widgetd.server.store.factory import local_store

PICTURE = (
    '{"type":"Card","children":[{"type":"Image","src":"https://images.example.com/a.png"},'
    '{"type":"Text","value":{{ who | tojson }}}]}'
)


pytestmark = pytest.mark.serves(
    build_widget(template=PICTURE, encodedWidget="bm9uZQ", sidecar='ui_type = "hello-card"'),
    build_widget("Other"),
    options=ServerOptions(resources=Resources("<!doctype html>page")),
)


async def read(client: Client, uri: str) -> TextResourceContents:
    item = (await client.read_resource(uri)).contents[0]
    assert isinstance(item, TextResourceContents)
    return item


async def text_of(resource: Resource) -> str:
    result = await resource.read()
    assert isinstance(result, ResourceResult)
    return str(result.contents[0].content)


def page_uri(registry: Registry, tool: str) -> str:
    return view_uri(tool, registry.current.widgets[tool].page_digest)


async def read_json(client: Client, uri: str) -> Any:
    return json.loads((await read(client, uri)).text)


async def test_list_names_templates_and_packages_of_widgets_and_their_pages(
    client: Client, registry: Registry
) -> None:
    listed = (await client.list_resources()).resources

    pages = [resource for resource in listed if resource.uri.startswith("ui:")]
    assert all(page.description for page in pages)
    assert {resource.name: resource.uri for resource in listed} == {
        "greeting_template": "widget://greeting/template",
        "greeting_encoded": "widget://greeting/encoded",
        "greeting_page": page_uri(registry, "greeting"),
        "other_template": "widget://other/template",
        "other_page": page_uri(registry, "other"),
        "ui_types": "widgetd://ui-types",
        "result_schema": "widgetd://schemas/result",
    }


async def test_list_of_resources_comes_in_pages_and_names_those_of_the_listed_widgets() -> None:
    crowd = (build_widget(f"Widget {number}") for number in range(5))
    served = snapshot_of(*crowd, build_widget("Pinned", sidecar='tags = ["pinned"]'))
    options = ServerOptions(
        resources=Resources("<!doctype html>page"), page_size=3, list_tokens=200
    )
    server = build(Registry(served), local_store(), options)

    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)

    pinned = served.widgets["pinned"]
    assert [resource.uri for resource in (*first.resources, *second.resources)] == [
        view_uri("pinned", pinned.page_digest),
        "widget://pinned/template",
        "widgetd://schemas/result",
        "widgetd://ui-types",
    ]
    assert second.next_cursor is None


async def test_resource_list_agrees_with_reading(client: Client) -> None:
    for resource in (await client.list_resources()).resources:
        content = await read(client, resource.uri)

        assert (content.uri, content.mime_type, content.meta) == (
            resource.uri,
            resource.mime_type,
            resource.meta,
        )


async def test_every_part_of_a_widget_can_be_read(client: Client, registry: Registry) -> None:
    widget = registry.current.widgets["greeting"]
    overview = await read_json(client, "widget://greeting")

    assert overview["parts"][0] == "widget://greeting/template"
    assert (await read(client, "widget://greeting/template")).text == PICTURE
    assert (await read(client, "widget://greeting/encoded")).text == "bm9uZQ"
    assert await read_json(client, "widget://greeting/schema") == widget.schema.advertised
    assert await read_json(client, "widget://greeting/example") == widget.example
    assert (await read_json(client, "widget://greeting/source"))["name"] == "Greeting"
    assert isinstance(await read_json(client, "widget://greeting/problems"), list)


@pytest.mark.parametrize(
    "uri",
    [
        "widget://nobody",
        "widget://nobody/template",
        "widget://other/encoded",
        "widget://other/secret",
        "widgetd://renders/r_0",
        "ui://widgetd/nobody.html",
    ],
)
async def test_missing_resource_is_a_protocol_error(client: Client, uri: str) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)

    assert caught.value.error.message == f"Resource not found: '{uri}'"


async def test_tool_names_its_page_and_the_page_names_its_images(
    client: Client, registry: Registry
) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    uri = page_uri(registry, "greeting")
    page = await read(client, uri)

    assert tools["greeting"].meta == page_meta(uri)
    assert page.mime_type == "text/html;profile=mcp-app"
    assert page.text == "<!doctype html>page"
    assert page.meta is not None
    assert page.meta["ui"]["csp"] == {
        "connectDomains": [],
        "resourceDomains": ["https://images.example.com"],
    }


async def test_page_holds_the_program_of_its_widget(registry: Registry) -> None:
    resources = Resources("<html><head></head></html>")
    widget = registry.current.widgets["greeting"]
    resource = resources.find(page_uri(registry, "greeting"), registry.current)
    assert resource is not None
    page = await text_of(resource)

    digest = program_digest(page_program(widget))
    start = '<html><head><script type="application/json" id="widgetd-program"'
    start += f' data-digest="{digest}">'
    assert page.startswith(start)
    program = json.loads(page.removeprefix(start).partition("</script>")[0])
    assert program == json.loads(page_program(widget))
    assert program["a"] == {"who": 1}


@pytest.mark.parametrize("sidecar", ["program = false", 'permission = "elevated"'])
async def test_page_without_a_program_is_the_view_as_it_is(sidecar: str) -> None:
    snapshot = snapshot_of(build_widget(template=PICTURE, sidecar=sidecar))
    resource = Resources("<head>").find("ui://widgetd/greeting.html", snapshot)
    assert resource is not None

    assert str(resource.uri) == view_uri("greeting", snapshot.widgets["greeting"].page_digest)
    assert await text_of(resource) == "<head>"


async def test_widget_with_an_operator_missing_in_the_page_is_drawn_by_the_server() -> None:
    template = '{"type":"Card","children":[{"type":"Text","value":{{ who|wordwrap(4)|tojson }}}]}'
    snapshot = snapshot_of(build_widget(template=template))
    resource = Resources("<head>").find("ui://widgetd/greeting.html", snapshot)
    assert resource is not None

    assert await text_of(resource) == "<head>"
    tree = snapshot.widgets["greeting"].call({"who": "Ada Bee"}).tree
    assert tree["children"] == [{"type": "Text", "value": "Ada\nBee"}]


def test_uri_of_a_page_changes_with_its_program_and_its_image_origins() -> None:
    images = 'image_origins = ["https://img.example.com"]'
    sidecars = ("", "program = false", images, f"program = false\n{images}")
    digests = [build_widget(sidecar=sidecar).page_digest for sidecar in sidecars]

    assert len(set(digests)) == len(digests)
    assert build_widget().page_digest == build_widget().page_digest


async def test_render_can_be_read_again_by_its_id(client: Client) -> None:
    result = await client.call_tool("greeting", {"who": "Ada"})
    assert result.meta is not None
    render_id = result.meta["widgetd/render"]["id"]

    content = await read_json(client, f"widgetd://renders/{render_id}")
    shown = await client.call_tool("show_render", {"render_id": render_id})

    assert content["tree"] == result.structured_content == shown.structured_content
    assert content["ui"]["uiType"] == "hello-card"


async def test_every_served_type_of_response_is_listed(client: Client) -> None:
    types = await read_json(client, "widgetd://ui-types")

    assert [(row["uiType"], row["widget"], row["component"]) for row in types] == [
        ("hello-card", "greeting", "Greeting"),
        ("other", "other", "Other"),
    ]
    assert types[0].keys() == {"uiType", "widget", "component", "version", "deprecated"}


async def test_result_schema_admits_every_result(client: Client) -> None:
    schema = await read_json(client, "widgetd://schemas/result")

    assert schema["properties"].keys() == {
        "widgetd/ui",
        "widgetd/render",
        "widgetd/widget",
        "widgetd/error",
        "widgetd/icons",
        "widgetd/palette",
        "widgetd/feed",
    }


async def test_result_schema_requires_what_is_always_present(client: Client) -> None:
    [content] = (await client.read_resource("widgetd://schemas/result")).contents

    assert isinstance(content, TextResourceContents)
    metadata = json.loads(content.text)["$defs"]["UiMetadata"]
    assert metadata["required"] == ["component", "version", "priority", "renderMode"]
    assert metadata["properties"]["provider"] == {"type": "string"}


async def test_tool_names_are_completed(client: Client) -> None:
    reference = ResourceTemplateReference(type="ref/resource", uri="widget://{tool}")
    completed = await client.complete(reference, {"name": "tool", "value": "gr"})

    assert completed.completion.values == ["greeting"]


def test_uri_of_a_page_differs_where_the_operators_image_origins_do() -> None:
    widget = build_widget()
    uris = {
        entry.page_uri(widget, origins)
        for origins in ((), ("https://a.example",), ("https://b.example",))
    }

    assert len(uris) == 3
    assert entry.page_uri(widget) == view_uri(widget.tool, widget.page_digest)
