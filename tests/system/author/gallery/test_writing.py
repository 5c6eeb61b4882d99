"""Writing into the folder: permissions of tokens, and answers without hidden names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.mcp.test_access import list_names
from tests.system.server.web.asking import ask, put
from widgetd.author.uploads import uploads
from widgetd.daemon.access_policy import access_policy
from widgetd.server.access.principal import LOCAL, WRITE
from widgetd.server.catalog.limits import LIMITS, CatalogLimits
from widgetd.settings import Settings

SOME, EVERY, LOOKER = "some-some-some-some", "every-every-every", "looker-looker-looker"
ELEVATED = 'permission = "elevated"\n'
HIDDEN = {
    "elevated": {"NAME.widget": widget_file("NAME"), "NAME.widget.toml": ELEVATED},
    "elevated, below": {
        "deep/below/X.widget": widget_file("NAME"),
        "deep/below/X.widget.toml": ELEVATED,
    },
    "elevated, broken": {"NAME.widget": "{", "NAME.widget.toml": ELEVATED},
    "a sidecar alone": {"NAME.widget.toml": ELEVATED},
    "tagged": {"NAME.widget": widget_file("NAME"), "NAME.widget.toml": 'tags = ["secret"]\n'},
}
"""What may be hidden, by kind; NAME is its name."""

NAME = "Payroll"
TRIES: dict[str, Mapping[str, str]] = {
    "its file": {f"{NAME}.widget": widget_file("Mine")},
    "its file and name": {f"{NAME}.widget": widget_file(NAME)},
    "its sidecar": {f"{NAME}.widget.toml": 'permission = "read"\n'},
    "its sidecar, broken": {f"{NAME}.widget.toml": "permission = \n"},
    "both": {f"{NAME}.widget": widget_file(NAME), f"{NAME}.widget.toml": "tags = []\n"},
    "both, elevated": {f"{NAME}.widget": widget_file(NAME), f"{NAME}.widget.toml": ELEVATED},
    "a broken file": {f"{NAME}.widget": "{"},
    "its name in another file": {"A.widget": widget_file(NAME)},
    "its name in a numbered file": {f"{NAME} (1).widget": widget_file(NAME)},
    "its name in a file that is seen": {"Open.widget": widget_file(NAME)},
    "its name through a nameless file": {f"{NAME}.widget": widget_file("Untitled widget")},
    "its file in other letters": {f"{NAME.upper()}.widget": widget_file("Mine")},
    "its name in other letters": {"Z.widget": widget_file(NAME.upper())},
}
"""What a writer may try on it, by kind."""

TOKENS = f"""
some   {SOME}   gallery write widgets:read exclude=secret
every  {EVERY}  gallery write widgets:read widgets:elevated
looker {LOOKER} gallery widgets:read widgets:elevated admin
"""


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def fill(folder: Path, name: str, files: Mapping[str, str]) -> dict[str, bytes]:
    """Write a widget that every caller sees, and `files`; return all contents."""
    for path, text in {"Open.widget": widget_file("Open"), **files}.items():
        file = folder / path.replace("NAME", name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("NAME", name))
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


async def answers(folder: Path, name: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers to each of `TRIES` beside `files`, and assert that none changes them."""
    widgets, tokens = folder / "widgets", folder / "tokens"
    widgets.mkdir(parents=True)
    before = fill(widgets, name, files)
    tokens.write_text(TOKENS)
    responses = {}
    async with serving(widgets, gallery=True, allow_upload=True, token_file=tokens) as url:
        was = await list_names(url, EVERY)
        for file_name, bodies in TRIES.items():
            for query in ("", "?replace=1"):
                answer = await put(url, bodies, query, **bearer(SOME))
                responses[file_name + query] = answer.status_code, answer.text
        assert await list_names(url, EVERY) == was
    assert contents(widgets) == before
    return responses


@pytest.mark.parametrize("hidden", HIDDEN)
async def test_answers_to_writers_reveal_no_hidden_name(tmp_path: Path, hidden: str) -> None:
    there = await answers(tmp_path / "there", NAME, HIDDEN[hidden])
    elsewhere = await answers(tmp_path / "elsewhere", "Zebra", HIDDEN[hidden])

    assert there == elsewhere
    assert {status for status, _ in there.values()} == {403}


@pytest.mark.parametrize("hidden", HIDDEN)
async def test_writer_with_a_limited_view_replaces_only_visible_files(
    tmp_path: Path, hidden: str
) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    before = fill(widgets, NAME, HIDDEN[hidden])
    tokens.write_text(TOKENS)
    better = widget_file("Open", text="Better")
    async with serving(widgets, gallery=True, allow_upload=True, token_file=tokens) as url:
        first = await put(url, {"Open.widget": better}, **bearer(SOME))
        done = await put(url, {"Open.widget": better}, "?replace=1", **bearer(SOME))
        beside = await put(url, {"Open.widget.toml": 'title = "A"\n'}, **bearer(SOME))
        away = await put(url, {"Open.widget.toml": ELEVATED}, "?replace=1", **bearer(SOME))
        tagged = 'tags = ["secret"]\n'
        out = await put(url, {"Open.widget.toml": tagged}, "?replace=1", **bearer(SOME))

    assert [each.status_code for each in (first, done, beside, away, out)] == [
        *(409, 201, 201, 403, 403)
    ]
    assert first.json()["replaceable"]
    assert away.json()["problem"] == "this token would not see the widget that it makes"
    assert contents(widgets) == {
        **before,
        "Open.widget": better.encode(),
        "Open.widget.toml": b'title = "A"\n',
    }


async def test_sidecar_hiding_a_widget_applies_before_the_next_scan(tmp_path: Path) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    fill(widgets, NAME, {})
    tokens.write_text(TOKENS)
    settings: dict[str, Any] = {"gallery": True, "allow_upload": True, "poll": 60}
    async with serving(widgets, token_file=tokens, **settings) as url:
        (widgets / "Open.widget.toml").write_text(ELEVATED)
        names = await list_names(url, SOME)
        response = await put(url, {"Open.widget.toml": "tags = []\n"}, "?replace=1", **bearer(SOME))

    assert "open" in names
    assert response.status_code == 403
    assert (widgets / "Open.widget.toml").read_text() == ELEVATED


async def test_writer_with_a_full_view_adds_only_visible_files(tmp_path: Path) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    fill(widgets, NAME, {})
    tokens.write_text(TOKENS)
    async with serving(widgets, gallery=True, allow_upload=True, token_file=tokens) as url:
        added = [
            await put(url, {f"{name}.widget": widget_file(name)}, **bearer(SOME))
            for name in ("New", "Newer")
        ]
        elevated = {"E.widget": widget_file("E"), "E.widget.toml": ELEVATED}
        unseen = await put(url, elevated, **bearer(SOME))
        secret = await put(url, elevated, **bearer(EVERY))
        after = await put(url, {"Newest.widget": widget_file("Newest")}, **bearer(SOME))

    assert [each.status_code for each in added] == [201, 201]
    assert (unseen.status_code, secret.status_code, after.status_code) == (403, 201, 403)


async def test_writing_needs_a_scope_that_no_other_scope_implies(tmp_path: Path) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    tokens.write_text(TOKENS)
    async with serving(widgets, gallery=True, allow_upload=True, token_file=tokens) as url:
        looked = await put(url, {"A.widget": widget_file("A")}, **bearer(LOOKER))
        index = await ask(url, "/", **bearer(LOOKER))
        writes = await ask(url, "/", **bearer(EVERY))

    assert (looked.status_code, contents(widgets)) == (403, {})
    assert "data-upload" not in index.text
    assert "data-upload" in writes.text


def test_anonymous_callers_write_on_this_machine_and_not_at_an_open_address() -> None:
    stranger = access_policy(Settings(host="0.0.0.0", insecure=True)).anonymous

    assert stranger.scopes == {"widgets:read", "widgets:call", "gallery", "metrics"}
    assert WRITE in access_policy(Settings()).anonymous.scopes
    assert WRITE in LOCAL.scopes


async def test_uploads_are_logged_and_counted(tmp_path: Path) -> None:
    widgets, audit = tmp_path / "widgets", tmp_path / "audit.jsonl"
    widgets.mkdir()
    settings: dict[str, Any] = {"gallery": True, "allow_upload": True, "audit": audit}
    both = {"A.widget": widget_file("A"), "A.widget.toml": 'title = "An A"\n'}
    async with serving(widgets, **settings) as url:
        await put(url, both)
        await put(url, {"A.widget": "{"}, "?replace=1")
        await put(url, {"../out.widget": widget_file("A")})
        numbers = (await ask(url, "/metrics")).text

    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    uploads_logged = [
        {key: line[key] for key in ("path", "tool", "outcome", "code", "bytes_in")}
        for line in lines
        if line["event"] == "upload"
    ]
    size = sum(map(len, both.values()))
    assert uploads_logged == [
        {"path": "A.widget", "tool": "a", "outcome": "ok", "code": "", "bytes_in": size},
        {"path": "A.widget", "tool": "", "outcome": "error", "code": "W1101", "bytes_in": 1},
        {
            "path": "",
            "tool": "",
            "outcome": "error",
            "code": "W1006",
            "bytes_in": len(widget_file("A")),
        },
    ]
    assert 'widgetd_uploads_total{outcome="ok"} 1.0' in numbers
    assert 'widgetd_uploads_total{outcome="error"} 2.0' in numbers


async def test_writer_above_the_rate_gets_a_retry_time(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKENS)
    settings: dict[str, Any] = {"gallery": True, "allow_upload": True, "token_file": tokens}
    async with serving(tmp_path, **settings) as url:
        attempts = 0
        while (response := await put(url, {"no name": ""}, **bearer(SOME))).status_code == 400:
            attempts += 1
        other = await put(url, {"no name": ""}, **bearer(EVERY))

    assert attempts >= LIMITS.upload_burst
    assert (response.status_code, response.json()["code"]) == (429, "W2201")
    assert int(response.headers["retry-after"]) == 1
    assert other.status_code == 400


async def test_full_folder_accepts_only_replacements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LIMITS", CatalogLimits(folder_files=1))
    fill(tmp_path, NAME, {})
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        new = await put(url, {"New.widget": widget_file("New")})
        old = await put(url, {"Open.widget": widget_file("Other")}, "?replace=1")

    assert (new.status_code, new.json()["code"]) == (507, "W1011")
    assert new.json()["problem"] == "the folder holds 1 widgets, and uploads add no more"
    assert old.json()["tool"] == "other"
    assert list(contents(tmp_path)) == ["Open.widget"]


async def test_answer_waits_until_the_upload_is_served(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"gallery": True, "allow_upload": True, "poll": 60}
    async with serving(tmp_path, **settings) as url:
        answer = await put(url, {"A.widget": widget_file("A")})
        page = await ask(url, answer.json()["page"])

    assert page.status_code == 200
