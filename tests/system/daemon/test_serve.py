"""The daemon as its clients see it: real files, real connections, both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.support.clients import Connection, Era, connect_client, over_stdio
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file

WHO = {"who": "Ada"}


@asynccontextmanager
async def client_of(folder: Path, transport: str, era: Era) -> AsyncIterator[Connection]:
    if transport == "stdio":
        async with connect_client(over_stdio(folder), era) as client:
            yield client
    else:
        async with serving(folder) as url, connect_client(url, era) as client:
            yield client


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_client_sees_a_file_added_changed_broken_fixed_and_deleted(
    tmp_path: Path, transport: str, era: Era
) -> None:
    file = tmp_path / "Greeting.widget"
    async with client_of(tmp_path, transport, era) as client:
        assert "greeting" not in await client.tools()

        file.write_text(widget_file(text="Hello"))
        await client.lists("greeting")
        assert (await client.call("greeting", **WHO)).structured_content == greeting("Hello", "Ada")

        file.write_text(widget_file(text="Goodbye"))
        await client.answers("greeting", WHO, greeting("Goodbye", "Ada"))

        file.write_text(widget_file(template="{% if %}"))
        await problems(client, "greeting", some=True)
        assert (await client.call("greeting", **WHO)).structured_content == greeting(
            "Goodbye", "Ada"
        )

        file.write_text(widget_file(text="Welcome"))
        await client.answers("greeting", WHO, greeting("Welcome", "Ada"))
        await problems(client, "greeting", some=False)

        file.unlink()
        await client.lists("greeting", present=False)
        failure = await client.call("greeting", **WHO)
        assert failure.is_error
        assert failure.content[0].text == (  # type: ignore[union-attr]  # it is a text
            "[W2001] name: there is no widget 'greeting'; "
            "search_widgets finds what there is (correct this and call again)"
        )


async def problems(client: Connection, name: str, *, some: bool) -> None:
    """Wait until the widget has, or has no, problems of its own."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            details = await client.call("get_widget_details", names=[name])
            assert details.structured_content is not None
            if ("problems" in details.structured_content["items"][0]) == some:
                return


async def test_template_edit_changes_the_page_and_announces_the_list(tmp_path: Path) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file(text="Hello"))
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        before = await metadata(client, "greeting")
        file.write_text(widget_file(text="Goodbye"))
        await client.wait_for_more_than(0)

        assert await metadata(client, "greeting") != before


async def metadata(client: Connection, tool: str) -> object:
    tools = (await client.client.list_tools()).tools
    return next(each.meta for each in tools if each.name == tool)


async def test_template_edit_without_a_program_announces_no_list(tmp_path: Path) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file(text="Hello"))
    (tmp_path / "Greeting.widget.toml").write_text("program = false")
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        file.write_text(widget_file(text="Goodbye"))
        await client.answers("greeting", WHO, greeting("Goodbye", "Ada"))

        (tmp_path / "Other.widget").write_text(widget_file("Other"))
        await client.lists("other")
        await client.wait_for_more_than(0)

    assert client.notifications == 1


async def test_touch_changes_nothing_and_sends_no_notification(tmp_path: Path) -> None:
    file = tmp_path / "Greeting.widget"
    file.write_text(widget_file())
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        file.touch()
        (tmp_path / "Other.widget").write_text(widget_file("Other"))
        await client.lists("other")
        await client.wait_for_more_than(0)

    assert client.notifications == 1
