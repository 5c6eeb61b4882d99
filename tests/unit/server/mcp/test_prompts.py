"""The prompt that shows data names the widgets that fit, and asks for one call."""

from __future__ import annotations

import re

import pytest
from mcp import Client
from mcp_types import TextContent

from tests.support.widgets import bundled_widgets

FLIGHT = '{"airline": "PA", "departure": {"city": "Rome"}, "arrival": {"city": "Oslo"}}'


pytestmark = pytest.mark.serves(*bundled_widgets())


async def ask_for_data(client: Client, **arguments: str) -> str:
    got = await client.get_prompt("show_data", arguments)
    (message,) = got.messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


def prompt_names(text: str) -> list[str]:
    return re.findall(r"^- (\w+): ", text, re.MULTILINE)


async def test_one_prompt_is_offered(client: Client) -> None:
    (prompt,) = (await client.list_prompts()).prompts

    assert (prompt.name, prompt.title) == ("show_data", "Show data")
    assert [(one.name, one.required) for one in prompt.arguments or ()] == [
        ("data", True),
        ("wish", False),
    ]


async def test_prompt_lists_the_best_matching_widgets_first(client: Client) -> None:
    text = await ask_for_data(client, data=FLIGHT, wish="compare them in a table")

    assert len(prompt_names(text)) == 3
    assert prompt_names(text)[0] == "table"
    assert "flight_tracker" in prompt_names(text)
    assert FLIGHT in text


async def test_without_a_wish_the_names_in_the_data_decide(client: Client) -> None:
    assert prompt_names(await ask_for_data(client, data=FLIGHT))[0] == "flight_tracker"


async def test_prompt_without_a_match_advises_to_search(client: Client) -> None:
    text = await ask_for_data(client, data="42")

    assert prompt_names(text) == []
    assert "search_widgets" in text
