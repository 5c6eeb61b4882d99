"""Built-in tools answer in the shapes that `widgetd types` declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.answers import check_answer
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.upstreams.servers import json_reply, raw
from widgetd.author.declarations.answers import ANSWERS
from widgetd.daemon.wings import ROWS

FORM = """{"type":"Card","children":[{"type":"Text","value":{{ who | tojson }}},
{"type":"Button","label":"Go","onClickAction":{"type":"go"}}]}"""
UPSTREAMS = '[rates]\nbase = "http://127.0.0.1:{port}"\n[rates.endpoints.all]\nget = "/all"\n'
DRAFT = {"version": "1.0", "name": "Draft", "template": '{"type":"Card","children":[]}'}


def test_every_built_in_tool_has_a_declared_answer() -> None:
    assert ANSWERS.keys() == {tool.name for tool in ROWS}


async def test_answers_of_tools_are_as_declared(tmp_path: Path) -> None:
    widgets, upstreams = tmp_path / "widgets", tmp_path / "upstreams.toml"
    widgets.mkdir()
    (widgets / "Form.widget").write_text(widget_file("Form", template=FORM))
    (widgets / "Broken.widget").write_text("{")
    settings: dict[str, Any] = {
        "toolset": ("author", "operate", "upstreams"),
        "audit": tmp_path / "audit",
        "allow_upload": True,
        "allow_unasked": True,
        "state_dir": tmp_path / "state",
    }
    async with raw(json_reply({"rows": list(range(900))})) as port:
        upstreams.write_text(UPSTREAMS.format(port=port))
        async with (
            serving(widgets, upstreams=upstreams, **settings) as url,
            connect_client(url, "modern") as client,
        ):

            async def ask(question: str, **arguments: Any) -> Any:
                return check_answer(question, await client.client.call_tool(question, arguments))

            await ask("search_widgets", query="form")
            await ask("search_widgets", query="zzz", tags=["none"])
            await ask("get_widget_details")
            await ask("get_widget_details", names=["form", "absent"])
            result = await client.call("form", who="Ada")
            assert result.meta is not None
            render = result.meta["widgetd/render"]["id"]
            await ask("render_widget", name="form", arguments={"who": "Ada"})
            await ask("show_render", render_id=render)
            action = {"render_id": render, "action": "go", "idempotency_key": "once"}
            await ask("widget_action", **action)
            await ask("widget_action", **action)
            await ask("await_widget_action", render_id=render, timeout_s=0)
            await ask("update_render", render_id=render, arguments={"who": "Bob"})
            await ask("follow_render", render_id=render)
            await ask("get_status")
            await ask("get_logs")
            for report in ("top", "errors", "slow"):
                await ask("get_usage", report=report)
            await ask("get_guide")
            await ask("get_guide", names=["start", "absent"])
            await ask("search_reference", query="button")
            await ask("get_component_details")
            await ask("get_component_details", names=["Button", "Absent"])
            await ask("read_widget", names=["form", "absent"], parts=["template", "history"])
            await ask("try_widget", widget=DRAFT, trace=True)
            await ask("try_widget", widget={"name": "Draft"})
            await ask("save_widget", file="Draft", widget=DRAFT)
            await ask("get_upstreams", names=["rates"])
            page = await ask("call_upstream", name="rates", tool="all", most_bytes=2000)
            assert page["next"]
