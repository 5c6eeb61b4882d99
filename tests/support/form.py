"""A widget with a form, for tests of what users do in it."""

from __future__ import annotations

from typing import Any

from mcp import Client
from mcp_types import CallToolResult

from tests.support.widgets import build_widget, widget_file
from widgetd.core.widget.widget import Widget

FORM = """
{"type":"Card","asForm":true,
 "confirm":{"label":"Send","action":{"type":"order.send","payload":{"order":{{ order | tojson }}}}},
 "cancel":{"label":"Stop","action":{"type":"order.stop","payload":{"order":{{ order | tojson }}}}},
 "children":[
  {"type":"Input","name":"buyer.email","inputType":"email","required":true},
  {"type":"Input","name":"buyer.pin","inputType":"password"},
  {"type":"Input","name":"count","inputType":"number"},
  {"type":"Select","name":"size","options":[{"value":"S","label":"S"},{"value":"M","label":"M"}]}
  {%- for line in lines -%}
  ,{"type":"Button","label":{{ line | tojson }},"onClickAction":{
    "type":"line.drop","payload":{"order":{{ order | tojson }},"line":{{ line | tojson }}}}}
  {%- endfor -%}
 ]}
"""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["order"],
    "additionalProperties": False,
}

ARGUMENTS = {"order": "o1", "lines": ["tea", "cake"]}

GIVEN = {"order": "o1", "buyer": {"email": "ada@example.com"}}
"""A payload that the form sends."""


def order_file() -> str:
    """Return the text of the widget's file."""
    return widget_file("Order", schema=SCHEMA, template=FORM)


def order(sidecar: str = 'summary = "Order {{ order }}"') -> Widget:
    """Return the widget."""
    return build_widget("Order", schema=SCHEMA, template=FORM, sidecar=sidecar)


async def act(
    client: Client, render_id: str, payload: Any, *, action: str = "order.send", key: str = "k1"
) -> CallToolResult:
    """Press a button of the widget."""
    arguments = {
        "render_id": render_id,
        "action": action,
        "payload": payload,
        "idempotency_key": key,
    }
    return await client.call_tool("widget_action", arguments)
