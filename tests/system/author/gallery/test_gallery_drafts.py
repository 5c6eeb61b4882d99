"""Drafts of the editor over HTTP: parts of files, their drawings, and saves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.server.catalog.loader import load

SERVED: dict[str, Any] = {"gallery": True, "allow_upload": True}
JSX = """const schema = {"type": "object", "properties": {"who": {"type": "string"}}};
const sample = {"who": "Ann"};
<Card>
  <Text value={who} />
  {[1, 2].map((n) => <Caption value={`${n}`} />)}
</Card>
"""

VALE = "<Card>\n  <Text vale={1} />\n</Card>"


def draft_client(url: str) -> httpx2.AsyncClient:
    site = url.removesuffix("/mcp")
    return httpx2.AsyncClient(base_url=site, timeout=6 * PATIENCE_S, headers={"origin": site})


def folder_of(folder: Path) -> Path:
    (folder / "A.widget.jsx").write_text(JSX)
    (folder / "B.widget").write_text(widget_file("B"))
    name = "Flight Tracker.widget"
    (folder / name).write_bytes((bundled_folder() / name).read_bytes())
    return folder


async def test_parts_of_files_are_those_on_disk(tmp_path: Path) -> None:
    folder_of(tmp_path)
    (tmp_path / "A.widget.jsx.toml").write_text('title = "Ay"\n')
    async with serving(tmp_path, **SERVED) as url, draft_client(url) as asking:
        of_jsx = (await asking.get("/gallery/edit/a")).json()
        of_file = (await asking.get("/gallery/edit/b")).json()
        exported = (await asking.get("/gallery/edit/flight_tracker")).json()
        (tmp_path / "B.widget").write_text("{")
        broken = (await asking.get("/gallery/edit/b")).json()

    assert of_jsx["parts"] == {"jsx": JSX, "sidecar": 'title = "Ay"\n'}
    assert (of_jsx["path"], of_jsx["drawn"], of_jsx["previous"]) == ("A.widget.jsx", "jsx", False)
    assert list(of_file["parts"]) == ["template", "schema", "sidecar"]
    assert list(exported["parts"]) == ["jsx", "template", "schema", "sidecar"]
    assert broken["parts"] == {"file": "{", "sidecar": ""}


async def test_draft_is_drawn_with_the_place_of_each_component(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:

        async def attempt(**body: Any) -> dict[str, Any]:
            return dict((await asking.post("/gallery/draft/trial", json=body)).json())

        answer = await attempt(tool="a", parts={"jsx": JSX}, arguments={"who": "Eve"})
        new = await attempt(file="New.widget.jsx", parts={"jsx": VALE})
        bad = await attempt(tool="a", parts={"jsx": "<Card>\n  <Text\n</Card>"})
        exported = (await asking.get("/gallery/edit/flight_tracker")).json()["parts"]
        whole = await attempt(tool="flight_tracker", parts=exported)

    children = answer["result"]["_meta"]["widgetd/widget"]["children"]
    assert [child["value"] for child in children] == ["Eve", "1", "2"]
    assert answer["places"] == {
        "": JSX.index("<Card"),
        "/children/0": JSX.index("<Text"),
        "/children/1": JSX.index("<Caption"),
        "/children/2": JSX.index("<Caption"),
    }
    unknown = next(row for row in new["findings"] if row["code"] == "W1402")
    assert [unknown[key] for key in ("part", "line", "column")] == ["jsx", 2, 3]
    described = next(row for row in new["findings"] if row["code"] == "W1116")
    assert "New.widget.jsx.toml" in described["advice"]
    assert (bad["result"], bad["findings"][0]["line"]) == (None, 2)
    assert whole["places"]["/children/0"] == exported["jsx"].index("<Row")


@pytest.mark.parametrize("tool", ["a", "flight_tracker", "b"])
async def test_draft_is_saved_unless_the_file_changed(tool: str, tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:
        read = (await asking.get(f"/gallery/edit/{tool}")).json()
        part = "jsx" if "jsx" in read["parts"] else "template"
        text = read["parts"][part].replace("<Card", '<Card padding="7px"', 1)
        text = text.replace('"type":"Card"', '"type":"Card","padding":"7px"', 1)
        parts = {**read["parts"], part: text}
        body = {"tool": tool, "parts": parts, "digest": read["digest"]}
        saved = await asking.post("/gallery/draft", json=body)
        again = await asking.post("/gallery/draft", json=body)
        document = (await asking.get(f"/w/{tool}.json")).json()
        before = (await asking.get(f"/gallery/edit/{tool}/previous")).json()

    assert (saved.status_code, saved.json()["tool"]) == (200, tool)
    assert saved.json()["digest"] == document["digest"]
    assert (again.status_code, again.json()["code"]) == (409, "W3005")
    assert document["result"]["_meta"]["widgetd/widget"]["padding"] == "7px"
    assert before["parts"][part] == read["parts"][part]
    assert "padding" not in before["before"]["_meta"]["widgetd/widget"]
    assert before["now"]["_meta"]["widgetd/widget"]["padding"] == "7px"
    # The file is complete: its template draws the same, and its preview is the new one.
    file = tmp_path / read["path"]
    widget = load(Source.of(read["path"], file.read_bytes()), None, limits=Limits())
    if tool != "a":
        assert widget.source in {"template", ""}
        assert json.loads(file.read_text())["outputJsonPreview"]["padding"] == "7px"


async def test_new_widget_is_saved_once(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:
        body = {"file": "New.widget.jsx", "parts": {"jsx": "<Card />\n"}, "digest": ""}
        saved = await asking.post("/gallery/draft", json=body)
        again = await asking.post("/gallery/draft", json=body)

    assert saved.json()["page"] == "/w/new"
    assert (tmp_path / "New.widget.jsx").read_text() == "<Card />\n"
    assert not (tmp_path / "New.widget.jsx.toml").exists()
    assert again.status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        {"file": "../Up.widget.jsx", "parts": {"jsx": "<Card />"}, "digest": ""},
        {"file": "A.toml", "parts": {"jsx": "<Card />"}, "digest": ""},
        {"tool": "a", "parts": {"sidecar": ""}, "digest": "0"},
        {"tool": "a", "parts": {"jsx": 1}, "digest": "0"},
        {"tool": "a", "parts": {"jsx": "", "secret": ""}, "digest": "0"},
        {"tool": "a", "parts": {"jsx": "<Card />"}},
        {"tool": "a", "parts": {"jsx": "<Card />"}, "digest": ""},
        {"tool": ["a"], "parts": {"jsx": "<Card />"}, "digest": "0"},
    ],
)
async def test_body_other_than_a_draft_is_refused(body: dict[str, Any], tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:
        refused = await asking.post("/gallery/draft", json=body)

    assert refused.status_code == 400
    assert (tmp_path / "A.widget.jsx").read_text() == JSX


async def test_drafts_take_the_proof_of_uploads(tmp_path: Path) -> None:
    body = {"tool": "a", "parts": {"jsx": "<Card />"}, "digest": "0"}
    other = {"origin": "http://127.0.0.1:1"}
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:
        opened = (await asking.get("/w/a")).text
        foreign = [
            (await asking.post(path, json=body, headers=other)).status_code
            for path in ("/gallery/draft", "/gallery/draft/trial")
        ]
    async with serving(tmp_path, gallery=True) as url, draft_client(url) as asking:
        page = (await asking.get("/w/a")).text
        closed = [
            (await asking.post("/gallery/draft", json=body)).status_code,
            (await asking.get("/gallery/edit/a")).status_code,
            (await asking.get("/gallery/editor/editor.js")).status_code,
        ]

    assert foreign == [403, 403]
    assert 'id="tab-edit"' in opened
    assert 'id="tab-edit"' not in page
    assert closed == [404, 404, 404]


async def test_edit_of_the_jsx_reports_its_own_fault_alone(tmp_path: Path) -> None:
    async with serving(folder_of(tmp_path), **SERVED) as url, draft_client(url) as asking:
        parts = (await asking.get("/gallery/edit/flight_tracker")).json()["parts"]
        parts["sidecar"] = (bundled_folder() / "Flight Tracker.widget.toml").read_text()

        async def attempt(jsx: str) -> list[str]:
            body = {"tool": "flight_tracker", "parts": {**parts, "jsx": jsx}}
            answer = (await asking.post("/gallery/draft/trial", json=body)).json()
            return [finding["code"] for finding in answer["findings"]]

        edited = await attempt(parts["jsx"].replace("<Caption", '<Caption weight="bold"', 1))
        faulty = await attempt(parts["jsx"].replace("<Caption", '<Caption sise="sm"', 1))

    assert edited == []
    assert faulty == ["W1402"]
