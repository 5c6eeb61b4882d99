"""Tools of keywords can be called as their schemas say."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.widgets import snapshot_of
from widgetd.author.browser.keywords import KEYWORDS, Keyword
from widgetd.author.browser.toolset import KEYWORD_PREFIX, keyword_tools
from widgetd.base.errors import CallError
from widgetd.server.access.principal import Caller, Principal
from widgetd.server.mcp.builtin.table import BuiltinTools

VALUES: dict[str, Any] = {
    "count": 1,
    "date": "2026-03-31",
    "equals": "x",
    "key": "Enter",
    "locale": "de",
    "option": "x",
    "path": "type",
    "target": "text=A",
    "text": "x",
    "theme": "dark",
    "tree": {},
    "type": "x",
    "url": "x",
    "width": 400,
}
"""A good value of each required argument, whichever keyword has it."""


SLUGS = [slug for slug, row in KEYWORDS.items() if row.is_tool]


@dataclass
class FakeSessions:
    """Sessions that note the steps of a call and do none."""

    steps: list[tuple[Keyword, dict[str, Any]]] = field(default_factory=list)

    def get(self, _session_id: str, _owner: str) -> Any:
        return SimpleNamespace(stage=SimpleNamespace(seq=0, events=[]))

    async def do(self, _session: object, steps: list[Any], *_limits: object) -> None:
        self.steps += steps
        raise CallError("W4003", "the browser ended")


async def parse_call(slug: str, **arguments: Any) -> dict[str, Any]:
    """Call a keyword's tool, and return the arguments that its keyword is done with."""
    tools = BuiltinTools(keyword_tools(["all"]), frozenset({"sessions"}))
    sessions, caller = FakeSessions(), Caller(snapshot=snapshot_of(), principal=Principal())
    context: Any = SimpleNamespace(services=sessions, caller=caller, of=lambda _name: context)
    result = await tools.call(KEYWORD_PREFIX + slug, {"session_id": "s_1", **arguments}, context)

    assert result.code == "W4003", result
    [(keyword, parameters)] = sessions.steps
    assert keyword.slug == slug
    return parameters


@pytest.mark.parametrize("slug", SLUGS)
async def test_tool_can_be_called_with_its_required_arguments_alone(slug: str) -> None:
    keyword = KEYWORDS[slug]
    required = {name: VALUES[name] for name in keyword.schema.get("required", ())}

    assert await parse_call(slug, **required) == keyword.parse(required)


@pytest.mark.parametrize("slug", SLUGS)
async def test_tool_accepts_every_default_in_its_schema(slug: str) -> None:
    keyword = KEYWORDS[slug]
    required = {name: VALUES[name] for name in keyword.schema.get("required", ())}
    parts = keyword.schema["properties"].items()
    defaults = {name: part["default"] for name, part in parts if "default" in part}

    assert await parse_call(slug, **required, **defaults) == keyword.parse(required)


@pytest.mark.parametrize(
    "slug", [slug for slug in SLUGS if "target" in KEYWORDS[slug].schema["properties"]]
)
@pytest.mark.parametrize("target", [["text=A", "css=.a"], '["text=A", "css=.a"]'], ids=str)
async def test_tool_takes_a_list_of_targets(slug: str, target: object) -> None:
    required = {name: VALUES[name] for name in KEYWORDS[slug].schema.get("required", ())}

    parameters = await parse_call(slug, **{**required, "target": target})

    assert parameters["target"].texts == ("text=A", "css=.a")
