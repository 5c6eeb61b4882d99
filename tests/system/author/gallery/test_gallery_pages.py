"""The gallery's pages over HTTP: their content, their readers and their refusals."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file

SOUND = "Greet one person by name. Use when somebody arrives and wants to be seen."
UNDECLARED = '{"type":"Card","children":[{"type":"Text","value":{{ nobody | tojson }}}]}'
EVIL = '<script>alert("x")</script>'


OURS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


def page_client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url.removesuffix("/mcp"), timeout=PATIENCE_S)


async def test_content_of_files_is_escaped_on_the_page(tmp_path: Path) -> None:
    schema = {"type": "object", "description": EVIL, "properties": {"who": {"default": EVIL}}}
    text = widget_file("Evil", schema=schema, title=EVIL)
    (tmp_path / "Evil.widget").write_text(text)
    (tmp_path / "Evil.widget.toml").write_text(f"title = '{EVIL}'\ntags = ['{EVIL}']\n")
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        pages = [(await asking.get(path)).text for path in ("/", "/w/evil", "/w/evil/problems")]
        missing = await asking.get(f"/w/{EVIL.replace('/', '')}")

    assert all("alert(" not in page or "<script>alert" not in page for page in pages)
    assert "&lt;script&gt;alert" in pages[0]
    assert missing.status_code == 404
    assert "<script>alert" not in missing.text


async def test_embedded_json_cannot_end_its_script_element(tmp_path: Path) -> None:
    ending = "</script><script>alert('x')</script>"
    schema = {"type": "object", "properties": {"who": {"type": "string", "default": ending}}}
    (tmp_path / "Evil.widget").write_text(widget_file("Evil", schema=schema))
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        page = (await asking.get("/w/evil")).text

    _, _, rest = page.partition('<script type="application/json" id="shown">')
    block, _, _ = rest.partition("</script>")
    assert json.loads(block)["schema"]["properties"]["who"]["default"] == ending
    assert not set("<>&'").intersection(block)


async def test_page_runs_only_our_own_scripts(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        policies = [
            (await asking.get(path)).headers["content-security-policy"]
            for path in ("/", "/w/a", "/index.json", "/gallery/static/ui.js")
        ]
        frame = await asking.get("/gallery/frame/a")

    assert set(policies) == {OURS}
    assert "connect-src 'none'" in frame.headers["content-security-policy"]
    assert "sandbox allow-scripts allow-forms" in frame.headers["content-security-policy"]


async def test_file_that_the_client_has_is_not_sent_again(tmp_path: Path) -> None:
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        first = await asking.get("/gallery/static/ui.js")
        tag = first.headers["etag"]
        answers = [
            await asking.get("/gallery/static/ui.js", headers={"if-none-match": known})
            for known in (tag, f'"other", W/{tag}', '"other"')
        ]

    assert first.headers["cache-control"] == "no-cache"
    assert [answer.status_code for answer in answers] == [304, 304, 200]
    assert [answer.content for answer in answers] == [b"", b"", first.content]


async def test_frame_loads_images_only_from_origins_in_its_template(tmp_path: Path) -> None:
    template = '{"type":"Card","children":[{"type":"Image","src":"https://img.example/a.png"}]}'
    (tmp_path / "A.widget").write_text(widget_file("A", template=template))
    daemon = serving(tmp_path, gallery=True, image_origin=("https://more.example",))
    async with daemon as url, page_client(url) as asking:
        frame = await asking.get("/gallery/frame/a")

    policy = frame.headers["content-security-policy"]
    assert "img-src data: https://img.example https://more.example;" in policy


@pytest.mark.parametrize(
    ("in_dev", "allowed"), [(False, "https://own.test"), (True, "https://i.test https://own.test")]
)
async def test_frame_loads_images_of_the_sample_only_in_dev(
    tmp_path: Path, allowed: str, *, in_dev: bool
) -> None:
    template = '{"type":"Card","children":[{"type":"Image","src":{{ who | tojson }}}]}'
    (tmp_path / "A.widget").write_text(widget_file("A", template=template))
    (tmp_path / "A.widget.toml").write_text(
        'image_origins = ["https://own.test"]\n'
        '[[examples]]\narguments = { who = "https://i.test/a.png" }\n'
    )
    daemon = serving(tmp_path, gallery=True, sample_images=in_dev)
    async with daemon as url, page_client(url) as asking:
        frame = await asking.get("/gallery/frame/a")
        tile = (await asking.get("/w/a.json")).json()

    assert f"img-src data: {allowed};" in frame.headers["content-security-policy"]
    assert tile["images"] == allowed.split()


async def test_widget_is_downloaded_as_a_file_for_studio(tmp_path: Path) -> None:
    (tmp_path / "Añadir.widget").write_text(widget_file("Anadir"))
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        page = (await asking.get("/w/anadir")).text
        file = await asking.get("/w/anadir/studio.widget")

    assert 'href="/w/anadir/studio.widget" download="Añadir.widget"' in page
    assert file.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''A%C3%B1adir.widget"
    )
    assert {"template", "jsonSchema", "outputJsonPreview", "encodedWidget"} <= set(file.json())


async def test_each_page_has_a_twin_for_programs(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    (tmp_path / "Broken.widget").write_text("{")
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        index = (await asking.get("/index.json")).json()
        widget = (await asking.get("/w/a.json")).json()
        document = (await asking.post("/w/a.json", json={"who": "Ada"})).json()
        refused = (await asking.post("/w/a.json", json={"who": 5, "more": 1})).json()

    assert [row["name"] for row in index["widgets"]] == ["a"]
    assert [row["path"] for row in index["refused"]] == ["Broken.widget"]
    assert widget["states"][0] == {"key": "sample", "label": "Sample"}
    assert widget["toolTokens"] > 20
    assert document["result"]["_meta"]["widgetd/widget"] == greeting("Hello", "Ada")
    assert refused["result"] is None
    assert refused["error"]["code"] == "W2002"


@pytest.mark.parametrize(
    ("query", "tools"),
    [("", ["a", "b"]), ("?q=beta", ["b"]), ("?tag=one", ["a"]), ("?problems=fault", ["b"])],
)
async def test_index_shows_matches_of_the_query(
    tmp_path: Path, query: str, tools: list[str]
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "A.widget").write_text(widget_file("A"))
    later = tmp_path / "B.widget"
    later.write_text(widget_file("B", description="The beta one."))
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        if "problems" in query:
            later.write_text("{")
            with anyio.fail_after(PATIENCE_S):
                while not (await asking.get("/readyz")).json()["stale"]:  # noqa: ASYNC110 - a probe tells nobody
                    await anyio.sleep(0.01)
        rows = (await asking.get(f"/index.json{query}")).json()["widgets"]

    assert [row["name"] for row in rows] == tools


@pytest.mark.parametrize(
    ("query", "tools", "refused"),
    [
        ("?problems=fault", [], ["Broken.widget"]),
        ("?problems=warning", ["open"], []),
        ("?problems=none", ["sound"], []),
        ("?problems=nonsense", ["open", "sound"], ["Broken.widget"]),
    ],
)
async def test_index_separates_good_doubtful_and_broken_widgets(
    tmp_path: Path, query: str, tools: list[str], refused: list[str]
) -> None:
    (tmp_path / "Sound.widget").write_text(widget_file("Sound", description=SOUND))
    (tmp_path / "Sound.widget.toml").write_text(f"description = '{SOUND}'\n")
    (tmp_path / "Open.widget").write_text(widget_file("Open", template=UNDECLARED))
    (tmp_path / "Broken.widget").write_text("{")
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        answer = (await asking.get(f"/index.json{query}")).json()
        page = (await asking.get(f"/{query}")).text

    assert [row["name"] for row in answer["widgets"]] == tools
    assert [row["path"] for row in answer["refused"]] == refused
    assert [name for name in ("open", "sound") if f'data-tool="{name}"' in page] == tools


async def test_there_is_no_gallery_unless_it_is_asked_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as url, page_client(url) as asking:
        assert (await asking.get("/")).status_code == 404


async def test_open_streams_do_not_hold_up_the_end(tmp_path: Path) -> None:
    opened = anyio.Event()

    async def listen(url: str) -> None:
        async with page_client(url) as asking, asking.stream("GET", "/gallery/live") as stream:
            async for _ in stream.aiter_lines():
                opened.set()

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks, serving(tmp_path, gallery=True) as url:
            tasks.start_soon(listen, url)
            await opened.wait()


async def test_changes_since_the_previous_version_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "A.widget"
    file.write_text(widget_file("A"))
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        before = (await asking.get("/w/a?tab=source")).text
        digest = (await asking.get("/w/a.json")).json()["digest"]
        file.write_text(widget_file("A", text="Bye"))
        with anyio.fail_after(PATIENCE_S):
            while (await asking.get("/w/a.json")).json()["digest"] == digest:  # noqa: ASYNC110 - a page tells nobody
                await anyio.sleep(0.01)
        after = (await asking.get("/w/a?tab=source")).text

    assert "Not changed since widgetd started." in before
    assert "<ins>+" in after
    assert "Bye, " in after
