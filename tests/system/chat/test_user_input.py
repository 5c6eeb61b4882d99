"""What users enter leaves through one function: a marker in each field, searched everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clients import connected
from tests.support.daemons import serving
from tests.support.logs import captured_logs
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import calls, endpoint, says
from tests.system.chat.talking import Talker, widgets
from tests.system.store.receiver import receiving
from widgetd.widget.actions import find_tree_actions
from widgetd.widget.actions.user_input import readable_input

PIN, PASSPORT, HELD, NAME = (f"MARKER-{name}-7f3a" for name in ("pin", "passport", "held", "name"))

TEMPLATE = """
{"type":"Card","asForm":true,
 "confirm":{"label":"Send","action":{"type":"trip.book","payload":{"ref":{{ held | tojson }}}}},
 "children":[
  {"type":"Input","name":"who.name","required":true},
  {"type":"Input","name":"who.pin","inputType":"password"},
  {"type":"Input","name":"passport","pattern":"MARKER.*"},
  {"type":"Text","value":{{ held | tojson }}}
 ]}
"""
SIDECAR = """
sensitive = ["held", "passport"]
[[examples]]
name = "one"
[examples.arguments]
held = "an example"
"""
PAYLOAD = {"ref": HELD, "who": {"name": NAME, "pin": PIN}, "passport": PASSPORT}
SECRETS = (PIN, PASSPORT)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    served = tmp_path / "served"
    served.mkdir()
    schema = {
        "type": "object",
        "properties": {"held": {"type": "string"}},
        "required": ["held"],
        "additionalProperties": False,
    }
    (served / "Trip.widget").write_text(widget_file("Trip", schema=schema, template=TEMPLATE))
    (served / "Trip.widget.toml").write_text(SIDECAR)
    return served


async def submit(talker: Talker, item: str, kind: str, payload: dict[str, Any]) -> str:
    """Everything that the chat answers to an action."""
    action = {"type": "trip.book", "payload": payload}
    params = {"thread_id": talker.thread, "item_id": item, "action": action}
    return (await talker.post(kind, **params)).text


def files_in(parent: Path, *, besides: Path) -> list[Path]:
    return [file for file in parent.rglob("*") if file.is_file() and besides not in file.parents]


def readable_by_others(folder: Path) -> list[Path]:
    return [one for one in (folder, *folder.rglob("*")) if one.stat().st_mode & 0o077]


async def test_passwords_and_sensitive_fields_reach_only_the_reader_that_awaits_the_action(
    folder: Path, tmp_path: Path
) -> None:
    state, audit = tmp_path / "state", tmp_path / "audit.jsonl"
    secret = "a secret of some length, at least"
    async with (
        receiving() as receiver,
        endpoint(calls("trip", {"held": HELD}), says("Fill it in."), says("Thank you.")) as model,
        serving(
            folder,
            chat=True,
            chat_model="m",
            chat_url=model.url,
            state_dir=state,
            audit=audit,
            webhook=receiver.url,
            webhook_secret=secret,
            webhook_private=True,
        ) as url,
        connected(url, "modern") as awaiting,
    ):
        with captured_logs() as log:
            talker = Talker(url)
            events = await talker.say("Book it")
            [shown] = widgets(events)
            path = f"/chat/widgets/{talker.thread}/{shown['id']}"
            drawn = (await talker.get(path)).json()
            render = drawn["result"]["_meta"]["widgetd/render"]["id"]
            misfit = {**PAYLOAD, "passport": f"no {PASSPORT}"}
            other = {**PAYLOAD, "ref": f"no {HELD}"}
            outputs = [
                await submit(talker, shown["id"], kind, payload)
                for payload in (misfit, other, PAYLOAD)
                for kind in ("threads.custom_action", "threads.sync_custom_action")
            ]
            read = await awaiting.call("await_widget_action", render_id=render)
            await receiver.heard(2)
            pages = (f"/chat/seen/{talker.thread}", path, "/metrics", "/status", "/chat/state")
            outputs += [(await talker.get(page)).text for page in pages]
            outputs.append(json.dumps(await talker.items()))
        asked = [json.dumps(one.body) for one in model.asked]
    files = files_in(tmp_path, besides=folder)
    texts = {
        **{f"output {at}": text for at, text in enumerate(outputs)},
        **{f"request {at}": text for at, text in enumerate(asked)},
        **{str(file): file.read_bytes().decode(errors="replace") for file in files},
        "log": json.dumps(log.all, default=str),
    }
    found = {(name, one) for name, text in texts.items() for one in SECRETS if one in text}
    awaited = [one["payload"] for one in (read.structured_content or {})["actions"]]

    assert found == set()
    assert awaited == [PAYLOAD, PAYLOAD]
    assert [one.message["data"]["payload"] for one in receiver.told] == [PAYLOAD, PAYLOAD]
    assert NAME in asked[-1], "the agent reads what else the user entered"
    assert "await_widget_action" not in {
        one["function"]["name"] for one in json.loads(asked[0])["tools"]
    }
    assert [str(file) for file in files if HELD in texts[str(file)]] == []
    assert HELD in json.dumps(drawn), "its user sees the widget all the same"
    assert readable_by_others(state) == []
    assert any(file.name == "chat.sqlite3" for file in files)


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
