"""A session becomes a test file, which is saved beside its widget if it passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.field.server.web.browsing import needs_browser
from tests.support.clients import connect_client
from tests.support.daemons import serving

JSX = """const schema = {
  type: "object",
  properties: { who: { type: "string" } },
  required: ["who"],
};
const sample = { who: "Ada" };

<Card>
  <Title value={`Hello, ${who}`} />
  <Form onSubmitAction={{ type: "note.send" }}>
    <Input name="note" />
    <Button submit label="Send" />
  </Form>
</Card>
"""
SETTINGS = {"toolset": ("author", "sessions"), "allow_upload": True, "allow_unasked": True}


@needs_browser
async def test_session_is_saved_as_a_test_that_must_pass(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget.jsx").write_text(JSX)
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await connection.client.call_tool(tool, arguments)
            error = {"error": str(answer.content)} if answer.is_error else {}
            return {**error, **(answer.structured_content or {})}

        begun = await call("start_session", widget="greeting", arguments={"who": "Bo"})
        steps = [
            {"keyword": "Enter Text", "target": "field=note", "text": "Two cabins"},
            {"keyword": "Press", "target": "text=Send"},
            {"keyword": "Expect Action", "type": "note.send", "payload": {"note": "Two cabins"}},
            {"keyword": "Expect Text", "target": "component=Title", "equals": "Hello, Bo"},
        ]
        done = await call("do_in_session", session_id=begun["sessionId"], steps=steps)
        ended = await call("end_session", session_id=begun["sessionId"], as_test=True)
        first = (await call("read_widget", names=["greeting"]))["items"][0]
        saving = {"file": "Greeting", "replaces": first["digest"], "tests": ended["test"]}
        broken = await call("save_widget", **saving, jsx=JSX.replace("Hello", "Goodbye"))
        beside = tmp_path / "Greeting.test.yaml"
        assert not beside.exists()
        saved = await call("save_widget", **saving, jsx=JSX)

    assert done["status"] == "done"
    assert ended["test"].splitlines() == [
        "widget: greeting",
        "tests:",
        "  - name: as in the session",
        "    steps:",
        '      - Show Widget: {"arguments":{"who":"Bo"}}',
        '      - Enter Text: {"target":"field=note","text":"Two cabins"}',
        '      - Press: {"target":"text=Send"}',
        '      - Expect Action: {"type":"note.send","payload":{"note":"Two cabins"}}',
        '      - Expect Text: {"target":"component=Title","equals":"Hello, Bo"}',
    ]
    assert "its tests do not pass, so nothing was saved" in broken["error"]
    assert saved["tool"] == "greeting"
    assert beside.read_text() == ended["test"]
    assert "Goodbye" not in (tmp_path / "Greeting.widget.jsx").read_text()
