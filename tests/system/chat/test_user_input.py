"""User input leaves through one function: a marker in each field, searched in all outputs."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.support.routes import STREAMS
from tests.system.chat.user_input import ERAS, HELD, NAME, PAYLOAD, SECRETS, outputs_after_input
from tests.system.daemon.collecting import HAS_SDK
from widgetd.core.widget.actions import find_tree_actions
from widgetd.core.widget.actions.user_input import readable_input
from widgetd.daemon.wings import ROWS

IN_A_BROWSER = {"pictures", "sessions"}
"""Toolsets whose outputs `tests/field/author/browser/test_user_input.py` searches."""


def readable_by_others(folder: Path) -> list[Path]:
    return [one for one in (folder, *folder.rglob("*")) if one.stat().st_mode & 0o077]


async def test_passwords_and_sensitive_fields_reach_only_the_reader_that_awaits_the_action(
    tmp_path: Path,
) -> None:
    toolsets = {tool.toolset for tool in ROWS} - IN_A_BROWSER
    outputs = await outputs_after_input(tmp_path, toolsets)
    leaks = {
        (name, one) for name, text in outputs.texts().items() for one in SECRETS if one in text
    }
    outputs_read = {**outputs.read_by_models, **outputs.files}

    assert leaks == set()
    assert PAYLOAD in outputs.awaited_payloads
    assert all(
        payload == PAYLOAD for payload in (*outputs.awaited_payloads, *outputs.webhook_payloads)
    )
    assert len(outputs.webhook_payloads) >= 3, "of the chat, a tool and a page"
    assert NAME in outputs.model_requests[-1], "the agent reads what else the user entered"
    assert "await_widget_action" not in {
        one["function"]["name"] for one in json.loads(outputs.model_requests[0])["tools"]
    }
    assert [name for name, text in outputs_read.items() if HELD in text] == []
    assert HELD in outputs.responses["GET /chat/widgets/{thread}/{item}"], (
        "its user sees the widget"
    )
    for path in STREAMS:
        assert "event: render" in outputs.responses[f"GET {path}"], "of the replaced render"
    for era in ERAS:
        assert "ListChanged" in outputs.responses[f"notices, {era}"], "of the saved widget"
    assert readable_by_others(tmp_path / "state") == []
    assert any(name.endswith("chat.sqlite3") for name in outputs.files)
    assert "request.answered" in outputs.files[str(tmp_path / "log")]
    assert (b"tools/call" in outputs.spans) == HAS_SDK


FIELDS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.booleans(), st.booleans()),
    min_size=1,
    max_size=6,
)


@given(FIELDS)
def test_readable_input_holds_exactly_the_values_of_open_fields(
    fields: list[tuple[str, str, bool, bool]],
) -> None:
    # Two levels of names that cannot be each other's parent.
    named = {f"{outer}.{inner}x": kinds for outer, inner, *kinds in fields}
    tree = {
        "type": "Form",
        "onSubmitAction": {"type": "send", "payload": {}},
        "children": [
            {"type": "Input", "name": name, "inputType": "password" if secret else "text"}
            for name, (secret, _) in named.items()
        ],
    }
    sensitive = [name for name, (_, private) in named.items() if private]
    payload: dict[str, dict[str, str]] = {}
    for name in named:
        outer, inner = name.split(".")
        payload.setdefault(outer, {})[inner] = f"value of {name}"
    action = find_tree_actions(tree)["send"]
    text = json.dumps(readable_input(tree, action, action.accept(payload), sensitive))

    for name, (secret, private) in named.items():
        assert (f"value of {name}" in text) == (not secret and not private)
