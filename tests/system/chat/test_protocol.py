"""Requests of ChatKit's component: each is answered, or refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from tests.support.daemons import serving
from tests.system.chat.talking import Talker, shown_widgets

GIVEN = {"content": [{"type": "input_text", "text": "greeting"}], "inference_options": {}}
ORIGIN = {"origin": "https://shop.example"}


async def test_each_type_of_request_is_answered_or_refused_with_a_sentence(folder: Path) -> None:
    async with serving(folder, chat=True, cors_origin=(ORIGIN["origin"],)) as url:
        talker = Talker(url, ORIGIN)
        [card] = shown_widgets(await talker.say("greeting"))
        [first, *_] = await talker.items()
        item, thread = {"item_id": card["id"]}, {"thread_id": talker.thread}
        body = {**GIVEN, "attachments": []}
        attachment = {"name": "a", "size": 1, "mime_type": "text/plain"}
        action = {"action": {"type": "a", "payload": {}}}
        requests: dict[str, tuple[dict[str, Any], int]] = {
            "threads.get_by_id": (thread, 200),
            "threads.create": ({"input": body}, 200),
            "threads.list": ({}, 200),
            "threads.add_user_message": ({**thread, "input": body}, 200),
            "threads.add_client_tool_output": ({**thread, "result": 1}, 400),
            "threads.add_structured_input": ({**thread, **item, "input": {}}, 400),
            "threads.custom_action": ({**thread, **item, **action}, 200),
            "threads.sync_custom_action": ({**thread, **item, **action}, 200),
            "items.feedback": ({**thread, "item_ids": [first["id"]], "kind": "positive"}, 200),
            "attachments.create": (attachment, 501),
            "attachments.delete": ({"attachment_id": "a"}, 501),
            "input.transcribe": ({"audio_base64": "", "mime_type": "audio/wav"}, 501),
            "items.list": (thread, 200),
            "threads.update": ({**thread, "title": "Greetings"}, 200),
            "threads.retry_after_item": ({**thread, "item_id": first["id"]}, 200),
            "threads.delete": (thread, 200),
        }
        answers = {kind: await talker.post(kind, **what) for kind, (what, _) in requests.items()}
        # By now the daemon has imported it, without the warnings of its first import.
        from chatkit import types

    kinds = (*get_args(types.StreamingReq), *get_args(types.NonStreamingReq))
    assert {kind.model_fields["type"].default for kind in kinds} == requests.keys()
    statuses = {kind: answer.status_code for kind, answer in answers.items()}
    assert statuses == {kind: status for kind, (_, status) in requests.items()}
    assert all(one.json()["error"] for one in answers.values() if one.status_code != 200)
    allowed = {one.headers.get("access-control-allow-origin") for one in answers.values()}
    assert allowed == {ORIGIN["origin"]}


@pytest.mark.parametrize(
    ("kind", "params", "status"),
    [
        ("no.such", {}, 400),
        ("threads.get_by_id", {"thread_id": "thr_none"}, 404),
        ("items.list", {"thread_id": "thr_none"}, 404),
        (
            "threads.add_user_message",
            {"thread_id": "no", "input": {**GIVEN, "attachments": []}},
            404,
        ),
        ("threads.retry_after_item", {"thread_id": "no", "item_id": "no"}, 404),
    ],
)
async def test_invalid_request_is_refused_with_a_sentence(
    folder: Path, kind: str, params: dict[str, Any], status: int
) -> None:
    async with serving(folder, chat=True) as url:
        answer = await Talker(url).post(kind, **params)

    assert answer.status_code == status
    assert answer.json()["error"]


async def test_error_during_an_answer_is_an_event(folder: Path) -> None:
    async with serving(folder, chat=True) as url:
        events = await Talker(url).turn("threads.create", input={**GIVEN, "attachments": ["a"]})

    assert [event["type"] for event in events] == ["thread.created", "error"]
    assert events[-1]["message"] == "there is no a"
