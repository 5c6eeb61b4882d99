"""One folder for three teams: none is affected by another."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import anyio

from tests.support.clients import Connection, connect_client
from tests.support.daemons import PATIENCE_S, serving
from tests.support.widgets import widget_file

TEAMS = ("shop", "travel", "support")
CALLS = 200
LIMIT = 50
"""Burst of each token; the flood has four times as many calls."""


def write_teams(folder: Path) -> None:
    for team in TEAMS:
        (folder / team).mkdir(parents=True)
        (folder / team / "Card.widget").write_text(widget_file(f"{team} card"))


async def test_each_team_sees_its_widgets_and_is_unaffected_by_faults_and_floods_of_another(
    tmp_path: Path,
) -> None:
    folder, tokens = tmp_path / "widgets", tmp_path / "tokens"
    write_teams(folder)
    grants = {team: f"{team}-token-of-enough-letters" for team in TEAMS}
    tokens.write_text("".join(f"{team} {grants[team]} include={team}\n" for team in TEAMS))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(
            serving(folder, token_file=tokens, rate=0.01, burst=LIMIT)
        )
        clients: dict[str, Connection] = {}
        for team in TEAMS:
            clients[team] = await stack.enter_async_context(
                connect_client(url, "modern", token=grants[team])
            )
        with anyio.fail_after(PATIENCE_S):
            tools = {team: await client.tools() for team, client in clients.items()}
            notices = {team: client.notifications for team, client in clients.items()}

            (folder / "shop" / "Card.widget").write_text("{")
            flood = [await clients["shop"].call("shop_card", who="Ada") for _ in range(CALLS)]
            (folder / "shop" / "New.widget").write_text(widget_file("New"))
            await clients["shop"].wait_for_more_than(notices["shop"])
            others = {
                team: [await clients[team].call(f"{team}_card", who="Ada") for _ in range(5)]
                for team in TEAMS[1:]
            }
            hidden = await clients["travel"].call("shop_card", who="Ada")

    for team in TEAMS:
        assert {f"{other}_card" for other in TEAMS} & tools[team] == {f"{team}_card"}
    assert sum(result.is_error for result in flood) >= CALLS - LIMIT
    assert not any(result.is_error for results in others.values() for result in results)
    assert hidden.is_error
    assert {team: clients[team].notifications for team in TEAMS[1:]} == {
        team: notices[team] for team in TEAMS[1:]
    }
