"""Answers of `/status` and the probes, and secrets that they never hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask


async def test_status_names_each_fault_and_whether_a_good_version_is_served(tmp_path: Path) -> None:
    (tmp_path / "Good.widget").write_text(widget_file("Good"))
    (tmp_path / "Never.widget").write_text("{")
    async with serving(tmp_path) as url, connect_client(url, "modern") as client:
        (tmp_path / "Good.widget").write_text("[]")
        (tmp_path / "New.widget").write_text(widget_file("New"))
        await client.lists("new")
        report = (await ask(url, "/status")).json()

    assert (report["ready"], report["widgets"], report["stale"], report["refused"]) == (
        True,
        2,
        1,
        1,
    )
    assert [(fault["path"], fault["state"]) for fault in report["faults"]] == [
        ("Good.widget", "stale"),
        ("Never.widget", "refused"),
    ]
    assert report["faults"][1]["problem"].startswith("Never.widget: ")


async def test_browser_gets_a_page_with_escaped_file_names(tmp_path: Path) -> None:
    (tmp_path / "<img src=x>.widget").write_text("{")
    async with serving(tmp_path) as url:
        answer = await ask(url, "/status", accept="text/html,*/*")

    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>ready · widgets: 0 · faults: 1</h1>" in answer.text
    assert "&lt;img src=x&gt;.widget" in answer.text
    assert '<code class="code">W1101</code>' in answer.text
    assert ".status code { white-space: nowrap; }" in answer.text
    assert "<img" not in answer.text


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/status"])
async def test_probes_answer_get_and_head_alone(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as url:
        head = await ask(url, path, method="HEAD")
        post = await ask(url, path, method="POST")

    assert (head.status_code, head.content) == (200, b"")
    assert post.status_code == 405


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/status"])
async def test_probes_reveal_no_paths(tmp_path: Path, path: str) -> None:
    (tmp_path / "Broken.widget").write_text("{")
    (tmp_path / "Out.widget").symlink_to("/etc/hostname")
    async with serving(tmp_path) as url:
        answer = await ask(url, path)

    assert str(tmp_path) not in answer.text
    assert "/etc" not in answer.text
