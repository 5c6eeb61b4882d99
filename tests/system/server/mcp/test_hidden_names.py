"""Names that a token may not see reach it by no page, and renders stay hidden with their widget."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.mcp.test_access import call, code_of, list_names, send_request
from tests.system.server.web.asking import ask
from widgetd.daemon import assembly
from widgetd.server.store.contract import Bounds

METER, ADMIN, CHIEF, SOME = (
    "meter-meter-meter",
    "admin-admin-admin",
    "chief-chief-chief",
    "some-" * 4,
)
PLAIN = "plain-plain-plain"
TOKENS = f"""
meter  {METER}  metrics
admin  {ADMIN}  admin
chief  {CHIEF}  widgets:read widgets:call widgets:elevated metrics admin
some   {SOME}   widgets:read widgets:call exclude=secret
plain  {PLAIN}  widgets:read widgets:call
"""
HIDING = {"elevated": 'permission = "elevated"\n', "tagged": 'tags = ["secret"]\n'}
ACTING = (
    '{"type":"Card","children":[{"type":"Button","label":"Go",'
    '"onClickAction":{"type":"go","payload":{}}}]}'
)


def fill(folder: Path, sidecar: str) -> tuple[Path, Path]:
    widgets, tokens = folder / "widgets", folder / "tokens"
    widgets.mkdir()
    tokens.write_text(TOKENS)
    (widgets / "Open.widget").write_text(widget_file("Open"))
    (widgets / "Payroll.widget").write_text(widget_file("Payroll", template=ACTING))
    (widgets / "Payroll.widget.toml").write_text(sidecar)
    return widgets, tokens


@pytest.mark.parametrize("token", [METER, ADMIN])
async def test_metrics_of_a_hidden_widget_have_an_opaque_label(tmp_path: Path, token: str) -> None:
    widgets, tokens = fill(tmp_path, HIDING["elevated"])
    async with serving(widgets, token_file=tokens) as url:
        for tool in ("payroll", "payroll", "open", "search_widgets"):
            await call(url, CHIEF, tool, who="Ada")
        some = (await ask(url, "/metrics", authorization=f"Bearer {token}")).text
        again = (await ask(url, "/metrics", authorization=f"Bearer {token}")).text
        every = (await ask(url, "/metrics", authorization=f"Bearer {CHIEF}")).text

    counted = [line for line in every.splitlines() if line.startswith("widgetd_calls_total")]
    masked = [line for line in some.splitlines() if line.startswith("widgetd_calls_total")]
    assert 'widgetd_calls_total{outcome="ok",widget="payroll"} 2.0' in counted
    assert "payroll" not in some.lower()
    assert {line for line in masked if "hidden_" not in line} == {
        line for line in counted if "payroll" not in line
    }
    [hidden] = [line for line in masked if "hidden_" in line]
    assert hidden.endswith(" 2.0")
    assert hidden in again


async def test_metrics_port_without_a_token_names_nothing_hidden(tmp_path: Path) -> None:
    widgets, tokens = fill(tmp_path, HIDING["elevated"])
    with anyio.fail_after(PATIENCE_S):
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as free:
            port = free.extra(anyio.abc.SocketAttribute.local_port)
    async with serving(widgets, token_file=tokens, metrics_port=port) as url:
        await call(url, CHIEF, "payroll", who="Ada")
        await call(url, CHIEF, "open", who="Ada")
        numbers = (await ask(f"http://127.0.0.1:{port}", "/metrics")).text

    assert 'widget="open"' in numbers
    assert "payroll" not in numbers


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
async def test_fault_of_a_hidden_file_is_counted_and_not_named(tmp_path: Path, accept: str) -> None:
    widgets, tokens = fill(tmp_path, HIDING["elevated"])
    (widgets / "Broken.widget").write_text("{")
    for name in ("Payslip", "Payday"):
        (widgets / f"{name}.widget.toml").write_text(HIDING["elevated"])
        (widgets / f"{name}.widget").write_text("{" if name == "Payslip" else widget_file("Open"))
    async with serving(widgets, token_file=tokens) as url:
        some = await ask(url, "/status", authorization=f"Bearer {ADMIN}", accept=accept)
        every = await ask(url, "/status", authorization=f"Bearer {CHIEF}", accept=accept)

    assert "Broken.widget" in some.text
    assert "Payslip" in every.text
    assert "Payday" in every.text
    assert "Pay" not in some.text
    if accept == "application/json":
        codes = [sorted(fault["code"] for fault in each.json()["faults"]) for each in (some, every)]
        assert codes[0] == codes[1]


@pytest.mark.parametrize("sidecar", HIDING.values(), ids=HIDING)
async def test_render_stays_hidden_after_its_widget_is_removed(
    tmp_path: Path, sidecar: str
) -> None:
    widgets, tokens = fill(tmp_path, sidecar)
    async with serving(widgets, token_file=tokens) as url:
        rendered = await call(url, CHIEF, "payroll", who="Ada")
        render = rendered["_meta"]["widgetd/render"]["id"]
        act = {"render_id": render, "action": "go", "idempotency_key": "once", "payload": {}}
        assert code_of(await call(url, CHIEF, "widget_action", **act)) == ""
        (widgets / "Payroll.widget").unlink()
        with anyio.fail_after(PATIENCE_S):
            while "payroll" in await list_names(url, CHIEF):  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)

        uri = f"widgetd://renders/{render}"
        _, mine = await send_request(url, CHIEF, "resources/read", {"uri": uri}, name=uri)
        _, others = await send_request(url, SOME, "resources/read", {"uri": uri}, name=uri)
        shown = await call(url, CHIEF, "show_render", render_id=render)
        hidden = await call(url, SOME, "show_render", render_id=render)
        same = await call(url, SOME, "widget_action", **act)
        other = await call(url, SOME, "widget_action", **{**act, "idempotency_key": "again"})
        waited = await call(url, SOME, "await_widget_action", render_id=render, timeout_s=0)
        result = await call(url, CHIEF, "await_widget_action", render_id=render, timeout_s=0)

    assert "result" in mine
    assert "error" in others
    assert code_of(shown) == ""
    assert [code_of(each) for each in (hidden, same, other)] == ["W2007"] * 3
    assert waited["structuredContent"]["status"] == "expired"
    assert [one["action"] for one in result["structuredContent"]["actions"]] == ["go"]
    assert "Payroll" not in json.dumps([others, hidden, same, other, waited])


@pytest.mark.parametrize("sidecar", HIDING.values(), ids=HIDING)
async def test_actions_stay_hidden_when_their_render_and_its_widget_have_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sidecar: str
) -> None:
    monkeypatch.setattr(assembly, "Bounds", partial(Bounds, renders=1))
    widgets, tokens = fill(tmp_path, sidecar)
    async with serving(widgets, token_file=tokens) as url:
        rendered = await call(url, CHIEF, "payroll", who="Ada")
        render = rendered["_meta"]["widgetd/render"]["id"]
        act = {"render_id": render, "action": "go", "idempotency_key": "once", "payload": {}}
        assert code_of(await call(url, CHIEF, "widget_action", **act)) == ""
        await call(url, CHIEF, "payroll", who="Bob")
        assert code_of(await call(url, CHIEF, "show_render", render_id=render)) == "W2007"
        (widgets / "Payroll.widget").unlink()
        with anyio.fail_after(PATIENCE_S):
            while "payroll" in await list_names(url, CHIEF):  # noqa: ASYNC110 - no event reports it
                await anyio.sleep(0.01)

        query = {"render_id": render, "timeout_s": 0}
        hidden = await call(url, SOME, "await_widget_action", **query)
        acknowledging = await call(url, SOME, "await_widget_action", **query, after=1)
        result = await call(url, CHIEF, "await_widget_action", **query)

    for each in (hidden, acknowledging):
        assert each["structuredContent"]["status"] == "expired"
        assert each["structuredContent"]["actions"] == []
    assert [one["action"] for one in result["structuredContent"]["actions"]] == ["go"]


async def test_argument_headers_reveal_no_hidden_widget(tmp_path: Path) -> None:
    widgets, tokens = fill(tmp_path, HIDING["elevated"])
    schema = {"type": "object", "properties": {"who": {"type": "string", "x-mcp-header": "Who"}}}
    (widgets / "Payroll.widget").write_text(widget_file("Payroll", schema=schema))
    async with serving(widgets, token_file=tokens) as url:
        arguments = {"who": "Ada"}
        there, nowhere = [
            await send_request(
                url, PLAIN, "tools/call", {"name": name, "arguments": arguments}, name=name
            )
            for name in ("payroll", "tax_roll")
        ]
        _, mine = await send_request(
            url, CHIEF, "tools/call", {"name": "payroll", "arguments": arguments}, name="payroll"
        )

    assert there[0] == nowhere[0]
    assert there[1].keys() == nowhere[1].keys()
    assert "error" in mine
