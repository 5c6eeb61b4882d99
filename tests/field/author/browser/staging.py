"""A stage for tests, with a widget on it that has one of each control."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.widgets import widget_file
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.keywords import find_keyword
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import perform
from widgetd.author.testing.widgets import server_over
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.server import Server

STEP_S = 5

CONTROLS: dict[str, Any] = {
    "type": "Card",
    "asForm": True,
    "confirm": {"label": "Send", "action": {"type": "form.send", "payload": {"id": 7}}},
    "children": [
        {"type": "Title", "value": "WHO"},
        {"type": "Label", "value": "Email", "fieldName": "customer.email"},
        {"type": "Input", "name": "customer.email", "defaultValue": "a@b.example"},
        {"type": "Textarea", "name": "note"},
        {"type": "Checkbox", "name": "terms", "label": "Terms", "defaultChecked": True},
        {"type": "Checkbox", "name": "news", "label": "News"},
        {
            "type": "Select",
            "name": "size",
            "clearable": True,
            "options": [{"value": "s", "label": "Small"}, {"value": "l", "label": "Large"}],
        },
        {
            "type": "Select",
            "name": "town",
            "searchable": True,
            "options": [{"value": "b", "label": "Bergen"}, {"value": "o", "label": "Oslo"}],
        },
        {
            "type": "RadioGroup",
            "name": "way",
            "ariaLabel": "Way",
            "options": [{"value": "air", "label": "By air"}, {"value": "sea", "label": "By sea"}],
        },
        {"type": "DatePicker", "name": "day"},
        {"type": "Badge", "label": "New"},
        {"type": "Badge", "label": "Hot"},
        {"type": "Button", "label": "Track", "onClickAction": {"type": "track", "payload": {}}},
        {
            "type": "Button",
            "label": "Track later",
            "disabled": True,
            "onClickAction": {"type": "later"},
        },
        {
            "type": "Button",
            "label": "Read more",
            "onClickAction": {
                "type": "open_url",
                "handler": "client",
                "payload": {"url": "https://read.example/more"},
            },
        },
    ],
}


def controls_file(**tree: Any) -> str:
    """Return the `.widget` file `Controls`, which has one control of each kind."""
    template = json.dumps({**CONTROLS, **tree}).replace('"WHO"', '{{ ("Hello, " ~ who) | tojson }}')
    return widget_file("Controls", template=template)


@asynccontextmanager
async def staged(chromium: Chromium, server: Server, **options: Any) -> AsyncIterator[Stage]:
    """Yield a stage in `chromium`, with nothing on it."""
    caller = Caller(snapshot=server.registry.current, registry=server.registry)
    stage = await Stage.open(await chromium.browser(), server, caller, **options)
    try:
        yield stage
    finally:
        await stage.close()


async def do(stage: Stage, name: str, timeout_s: float = STEP_S, /, **arguments: Any) -> Any:
    """One step, as a session does it."""
    row = find_keyword(name)
    return await perform(stage, row, row.parse(arguments), timeout_s=timeout_s)


def controls_server(folder: Path) -> Server:
    """Return a server of the widget `controls`."""
    (folder / "Controls.widget").write_text(controls_file())
    return server_over(folder)
