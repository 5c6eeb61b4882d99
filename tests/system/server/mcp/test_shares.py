"""Each principal has a share of the cache of renders, independent of the others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.daemons import needs_wings, serving
from tests.support.widgets import widget_file
from tests.system.server.mcp.test_access import call, code_of
from tests.system.server.web.asking import ask
from tests.system.server.web.test_render import post
from widgetd.daemon import assembly
from widgetd.server.store.contract import Bounds

ANN, BOB = "a-token-of-ann-0123456789", "a-token-of-bob-0123456789"
TOKENS = f"""
ann {ANN} widgets:read widgets:call gallery
bob {BOB} widgets:read widgets:call gallery
"""
ACTING = (
    '{"type":"Card","children":[{"type":"Button","label":"Go",'
    '"onClickAction":{"type":"go","payload":{}}}]}'
)
MOST = 8


async def by_its_tool(url: str, token: str) -> str:
    answer = await call(url, token, "open", who="Ada")
    return str(answer["_meta"]["widgetd/render"]["id"])


async def by_render_widget(url: str, token: str) -> str:
    answer = await call(url, token, "render_widget", name="open", arguments={"who": "Ada"})
    return str(answer["_meta"]["widgetd/render"]["id"])


async def by_a_post(url: str, token: str) -> str:
    headers = {"authorization": f"Bearer {token}"}
    _, answer = await post(url, "/render/open", b'{"who":"Ada"}', headers)
    return str(answer["renderId"])


async def by_looking_at_its_page(url: str, token: str) -> str:
    answer = await ask(url, "/w/open.json", authorization=f"Bearer {token}")
    return str(answer.json()["renderId"])


WAYS = (by_its_tool, by_render_widget, by_a_post, by_looking_at_its_page)


@needs_wings
@pytest.mark.parametrize("make", WAYS)
async def test_flood_of_renders_displaces_none_of_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make: Callable[[str, str], Awaitable[str]]
) -> None:
    monkeypatch.setattr(assembly, "Bounds", partial(Bounds, renders=MOST))
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    tokens.write_text(TOKENS)
    (widgets / "Open.widget").write_text(widget_file("Open", template=ACTING))
    async with serving(widgets, token_file=tokens, gallery=True) as url:
        anns = [await make(url, ANN) for _ in range(MOST // 2)]
        bobs = [await make(url, BOB) for _ in range(2 * MOST)]
        results = [await call(url, ANN, "show_render", render_id=each) for each in anns + bobs]

    assert [code_of(each) for each in results] == [
        *[""] * (MOST // 2),
        *["W2007"] * (2 * MOST - MOST // 2),
        *[""] * (MOST // 2),
    ]
