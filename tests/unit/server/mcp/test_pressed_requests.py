"""However a render changes, an upstream receives the request that the user saw, or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.support.booking import (
    GIVEN,
    SIDECAR,
    Airline,
    airport,
    answer_of,
    code_of,
    host,
    mark,
    press,
    shown,
)
from tests.support.failing_store import FailingServer
from widgetd.core.schema.json_text import parse_json
from widgetd.server.access.principal import LOCAL
from widgetd.server.mcp.http_calls import update_kept
from widgetd.server.mcp.server import Server
from widgetd.server.render.action_callers import ActionAnswer
from widgetd.server.store.contract import Bounds, StoredRender
from widgetd.server.store.factory import local_store
from widgetd.server.store.limits import LIMITS

SHOWN = {"flight": "PA 845", "seat": "12A"}
QUICK = Bounds(versions_per_s=1e6)


@dataclass
class Shown:
    """A render that a page shows, and the means to change it."""

    client: Client
    server: Server
    airline: Airline
    render: Mapping[str, Any]

    async def update(self, **changes: Any) -> None:
        """Change it as a model does."""
        arguments = {"render_id": self.render["id"], "arguments": {**GIVEN, **changes}}
        assert not (await self.client.call_tool("update_render", arguments)).is_error

    async def post(self, **changes: Any) -> None:
        """Change it as a backend does."""

        async def read() -> Mapping[str, Any]:
            return {"arguments": {**GIVEN, **changes}}

        answer = await update_kept(self.server, LOCAL, "seats", self.render["id"], read)
        assert "error" not in answer, answer

    async def feed(self, **changes: Any) -> None:
        """Change it as a live feed does."""
        server, standing = self.server, await self.server.store.renders.get(self.render["id"])
        assert standing is not None
        arguments = {**parse_json(standing.arguments), **changes}
        widget = server.registry.current.widgets["seats"]
        drawn = await server.rendering.compute(
            widget, arguments, "", owner=standing.owner, is_filled=True
        )

        def change(_newest: StoredRender) -> StoredRender:
            return drawn

        await server.store.renders.replace(standing.id, change, after=standing.version)

    async def press_other(self, **changes: Any) -> None:
        """Change it by the answer to another press."""
        self.airline.answer = ActionAnswer(is_done=True, value={"change": changes})
        confirms, self.airline.confirms = self.airline.confirms, False
        await press(self.client, self.render, payload={"seat": "1F"}, idempotency_key="other")
        self.airline.requests.clear()
        self.airline.confirms, self.airline.answer = confirms, None


WAYS = [Shown.update, Shown.post, Shown.feed, Shown.press_other]
Change = Callable[..., Awaitable[None]]

CHANGED = SIDECAR.replace(
    'booked = "seat.code"', 'booked = "change.booked"\nnumber = "change.number"'
)


@pytest.fixture(params=[False, True], ids=["alone", "shared"])
async def shown_page(request: pytest.FixtureRequest) -> AsyncIterator[Shown]:
    airline = Airline(confirms=True)
    store = FailingServer().open_replica(QUICK) if request.param else local_store(QUICK)
    server = airport(airline, store, sidecar=CHANGED)
    async with host(server) as client:
        yield Shown(client, server, airline, await shown(client))


def check_refusal(refused: CallToolResult) -> None:
    """Check that the page gets the newest version, and that the error says what has changed."""
    assert code_of(refused) == "W2406"
    assert refused.meta is not None
    assert "flight is XX 999 instead of PA 845" in refused.meta["widgetd/error"]["message"]
    assert mark(refused)["version"] > 1
    assert refused.meta["widgetd/widget"]["type"] == "Card"


@pytest.mark.parametrize("way", WAYS)
async def test_change_between_question_and_answer_sends_nothing(
    shown_page: Shown, way: Change
) -> None:
    again = partial(press, shown_page.client, shown_page.render, version=1, idempotency_key="k")
    question = answer_of(await again())
    await way(shown_page, number="XX 999")
    refused = await again(token=question["token"])

    check_refusal(refused)
    assert shown_page.airline.requests == []


@pytest.mark.parametrize("way", WAYS)
async def test_press_of_a_version_whose_request_has_changed_sends_nothing(
    shown_page: Shown, way: Change
) -> None:
    shown_page.airline.confirms = False
    await way(shown_page, number="XX 999")
    refused = await press(shown_page.client, shown_page.render, version=1)

    check_refusal(refused)
    assert shown_page.airline.requests == []


@pytest.mark.parametrize("way", WAYS)
async def test_change_of_other_values_does_not_disturb_a_press(
    shown_page: Shown, way: Change
) -> None:
    again = partial(press, shown_page.client, shown_page.render, version=1, idempotency_key="k")
    question = answer_of(await again())
    for number in range(2 * LIMITS.mapped_versions):
        await way(shown_page, booked=str(number))
        if way is Shown.press_other:
            break
    done = answer_of(await again(token=question["token"]))

    assert done["status"] == "done"
    assert shown_page.airline.requests == [(SHOWN, "")]


async def test_changed_value_that_only_the_question_shows_sends_nothing() -> None:
    sidecar = SIDECAR.replace("Book {{ payload.seat }}?", "Change {{ booked }}?")
    airline = Airline(confirms=True)
    server = airport(airline, sidecar=sidecar)
    async with host(server) as client:
        shown_page = Shown(client, server, airline, await shown(client))
        again = partial(press, client, shown_page.render, version=1)
        question = answer_of(await again())
        await shown_page.update(booked="7C")
        refused = await again(token=question["token"])

    assert code_of(refused) == "W2406"
    assert airline.requests == []


@pytest.mark.parametrize("changes", [LIMITS.mapped_versions - 1, LIMITS.mapped_versions])
async def test_only_recent_versions_can_be_pressed(shown_page: Shown, changes: int) -> None:
    shown_page.airline.confirms = False
    for number in range(changes - 1):
        await shown_page.feed(number=f"XX {number}")
    await shown_page.feed(number="PA 845")
    pressed = await press(shown_page.client, shown_page.render, version=1)

    if changes < LIMITS.mapped_versions:
        assert answer_of(pressed)["status"] == "done"
    else:
        assert code_of(pressed) == "W2406"
        assert shown_page.airline.requests == []
