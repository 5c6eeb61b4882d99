"""Audit of calls, by a daemon over a real port."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import Implementation, TextContent

from tests.support.clients import Era, connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.base.errors import ConfigError
from widgetd.server.observe.audit import Audit
from widgetd.server.observe.audit_report import errors, read_calls, slow, top
from widgetd.server.observe.limits import LIMITS as OBSERVE_LIMITS
from widgetd.server.observe.observer import CallRecord, Upload
from widgetd.settings import Settings

SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "ages": {"type": "array"}},
    "required": ["who"],
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_call_is_one_line_with_the_shape_of_its_arguments_and_none_of_their_values(
    tmp_path: Path,
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", schema=SCHEMA))
    audit = tmp_path / "log" / "audit.jsonl"
    async with serving(tmp_path, audit=audit) as url, connect_client(url, "modern") as client:
        await client.call("a", who="Ada Lovelace", ages=[987654321, 1], passport_P123="P456")
        await client.call("a", who=True)
        await client.call("tool_named_P789")

    start, good, bad, unknown = lines(audit)
    assert start["event"] == "audit.started"
    assert (good["tool"], good["widget"], good["outcome"], good["code"]) == ("a", "a", "ok", "")
    assert good["shape"] == {"who": "string", "ages": "array 2", "+": "others 1"}
    assert good["bytes_out"] > good["bytes_in"] > 0
    assert (bad["outcome"], bad["code"], bad["shape"]) == ("error", "W2002", {"who": "boolean"})
    assert (unknown["tool"], unknown["widget"], unknown["code"]) == ("", "", "W2001")
    for secret in ("Lovelace", "P123", "P456", "P789", "987654321"):
        assert secret not in audit.read_text()


@pytest.mark.parametrize(
    "arguments",
    [{"name": "a", "arguments": {"who": "Ada"}}, {"tool": "a", "args": {"who": "Ada"}}],
    ids=["as listed", "as models write it"],
)
async def test_line_of_render_widget_names_the_widget_and_its_arguments(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", schema=SCHEMA))
    audit = tmp_path / "log" / "audit.jsonl"
    async with serving(tmp_path, audit=audit) as url, connect_client(url, "modern") as client:
        await client.call("render_widget", **arguments)

    _, line = lines(audit)
    assert (line["tool"], line["widget"], line["outcome"]) == ("render_widget", "a", "ok")
    assert line["shape"] == {"who": "string"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_line_names_the_client_and_its_version_up_to_a_limit(
    tmp_path: Path, mode: Any
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", schema=SCHEMA))
    audit = tmp_path / "audit.jsonl"
    async with serving(tmp_path, audit=audit) as url:
        for name in ("google-adk", "n" * 1000):
            info = Implementation(name=name, version="1.2.3")
            with anyio.fail_after(PATIENCE_S):
                async with Client(url, mode=mode, client_info=info) as client:
                    await client.call_tool("a", {"who": "Ada"})

    named = [(line["client"], line["client_version"]) for line in lines(audit)[1:]]
    assert named == [("google-adk", "1.2.3"), ("n" * 80, "1.2.3")]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_integer_beyond_64_bits_is_refused_and_recorded(tmp_path: Path, era: Era) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", schema=SCHEMA))
    audit = tmp_path / "log" / "audit.jsonl"
    async with serving(tmp_path, audit=audit) as url, connect_client(url, era) as client:
        refused = await client.call("a", who="Ada", ages=[2**64])

    [content] = refused.content
    assert isinstance(content, TextContent)
    assert content.text.startswith(
        "[W2002] ages[0]: expected a JSON value, got an integer of more than 64 bits"
    )
    assert [line.get("code") for line in lines(audit)] == [None, "W2002"]


async def test_principal_is_recorded_as_a_stable_hash(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=10_000)
    for name in ("ada", "ada", "bob", ""):
        audit.on_call(call_record(name))
    await write_waiting(audit)

    first, second, other, nobody = (
        line["principal"] for line in lines(tmp_path / "audit.jsonl")[1:]
    )
    assert first == second != other
    assert "ada" not in first
    assert nobody == ""


def call_record(principal: str = "", **value: Any) -> CallRecord:
    whole: dict[str, Any] = {
        "tool": "a",
        "widget": None,
        "outcome": "ok",
        "code": "",
        "seconds": 0.001,
        "principal": principal,
        "arguments": {},
        "answer": {},
    }
    return CallRecord(**whole | value)


async def write_waiting(audit: Audit) -> None:
    """Let `audit` write its queue, as at the end of a daemon."""
    with audit.running():
        await anyio.lowlevel.checkpoint()


class Read(dict[str, Any]):
    """Arguments that record whether they were read."""

    looked = False

    def items(self) -> Any:
        self.looked = True
        return super().items()


async def test_line_is_written_after_the_answer_in_order(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=10_000)
    arguments = Read()
    upload = Upload(uploader="ada", path="B.widget", tool="b", code="", size_bytes=2)

    audit.on_call(call_record(arguments=arguments))
    looked_at_once = arguments.looked
    await anyio.lowlevel.checkpoint()
    assert (looked_at_once, arguments.looked) == (False, True)

    audit.on_call(call_record(tool="c"))
    audit.on_upload(upload)
    audit.on_call(call_record(tool="d"))
    await write_waiting(audit)
    assert [line.get("tool") for line in lines(tmp_path / "audit.jsonl")[1:]] == list("acbd")


async def test_full_file_is_rotated_and_the_oldest_deleted(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = Audit(path, most_bytes=1)
    for _ in range(OBSERVE_LIMITS.rotated_files + 3):
        audit.on_call(call_record())
        await write_waiting(audit)

    names = sorted(os.listdir(tmp_path))  # noqa: PTH208 - a folder of a few files
    assert names == [
        "audit.jsonl",
        *(f"audit.jsonl.{number}" for number in range(1, OBSERVE_LIMITS.rotated_files + 1)),
    ]
    assert [line["event"] for line in lines(path)] == ["audit.started", "call"]


async def test_dropped_calls_are_recorded_as_a_count(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=100_000_000)
    calls = OBSERVE_LIMITS.audit_bytes // 100
    for _ in range(calls):
        audit.on_call(call_record())
    await anyio.lowlevel.checkpoint()
    await write_waiting(audit)

    _, *written, last = lines(tmp_path / "audit.jsonl")
    assert audit.lines.lost > 0
    assert (last["event"], last["calls"]) == ("audit.lost", audit.lines.lost)
    assert len(written) + audit.lines.lost == calls


def test_unwritable_file_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        Audit(tmp_path, most_bytes=1)

    assert str(raised.value) == (
        f"the audit file {tmp_path} cannot be written (Is a directory); name another with --audit"
    )
    assert Settings(audit="~/x").audit == Path.home() / "x"  # type: ignore[arg-type]  # as a flag says it


async def test_usage_report_lists_calls_failures_and_slow_tools(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl", most_bytes=10_000)
    record = partial(call_record, "ada")
    for call in (record(), record(seconds=0.2), record(tool="b", outcome="error", code="W2002")):
        audit.on_call(call)
    await write_waiting(audit)
    with (tmp_path / "audit.jsonl").open("ab") as file:
        file.write(b'{"event": "call"}\n\xff\n[]\n{"event": "call", "cut sho')

    calls = list(read_calls(tmp_path / "audit.jsonl"))

    assert top(calls) == [
        {"widget": "a", "calls": 2, "errors": 0, "callers": 1},
        {"widget": "b", "calls": 1, "errors": 1, "callers": 1},
    ]
    assert [(row["widget"], row["code"], row["calls"]) for row in errors(calls)] == [
        ("b", "W2002", 1)
    ]
    assert [(row["widget"], row["p99_ms"]) for row in slow(calls)] == [("a", 200.0), ("b", 1.0)]
