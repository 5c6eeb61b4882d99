"""The toolset `author`, as an agent uses it over HTTP: search, try, correct, save, call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult, TextResourceContents

from tests.support.answers import text
from tests.support.clients import Era, connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.mcp.test_access import list_names, send_request
from tests.unit.base.files.privilege import stopped_by_permissions
from widgetd.author.guide.guide import ORDER
from widgetd.author.guide.toolset import TOOLS
from widgetd.cli import main

ERAS: tuple[Era, ...] = ("legacy", "modern")
NAMES = {tool.name for tool in TOOLS}
SETTINGS: dict[str, Any] = {"toolset": "author", "allow_upload": True, "allow_unasked": True}
PARCEL: dict[str, Any] = {
    "version": "1.0",
    "name": "Parcel",
    "template": '{"type": "Card", "children": [{"type": "Text", "value": {{ status | tojson }}}]}',
    "jsonSchema": {
        "type": "object",
        "properties": {"status": {"type": "string", "description": "Where it is."}},
        "required": ["status"],
        "additionalProperties": False,
    },
}
SIDECAR = (
    'description = "Show where a parcel is. Use it when the user asks about a delivery."\n'
    'summary = "Parcel: {{ status }}"\n'
)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    with anyio.fail_after(PATIENCE_S):
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return dict(result.structured_content or {})


async def call_refused(client: Client, tool: str, **arguments: Any) -> str:
    with anyio.fail_after(PATIENCE_S):
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text(result)


def nothing_in(folder: Path) -> bool:
    return not list(folder.iterdir())


async def test_search_for_tests_finds_those_of_the_folder_with_their_lines(tmp_path: Path) -> None:
    steps = "    steps:\n      - Show Widget\n      - Expect Text: {contains: Here}\n"
    tests = f"widget: parcel\ntests:\n  - name: waits\n{steps}  - name: says where it is\n{steps}"
    (tmp_path / "Parcel.widget").write_text(json.dumps(PARCEL))
    (tmp_path / "Parcel.test.yaml").write_text(tests)
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        client = connection.client
        result = await ask(client, "search_reference", query="says where", kinds=["test"])
        bundled = await ask(client, "search_reference", query="ferry cabins", kinds=["test"])

    first = result["items"][0]
    assert (first["name"], first["title"]) == ("Parcel.test.yaml", "Parcel: says where it is")
    assert first["at"] == "Parcel.test.yaml line 7"
    assert first["snippet"].startswith("- name: says where it is")
    assert "Create Task.test.yaml" in {item["name"] for item in bundled["items"]}


def apply_advice(widget: dict[str, Any], findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the draft with each wrong name replaced by the one that its finding advises."""
    template = widget["template"]
    for finding in findings:
        [wrong, *_] = re.findall(r"'(\w+)'", finding["problem"])
        [right] = re.findall(r"'(\w+)'", finding["advice"])
        template = template.replace(wrong, right)
    return {**widget, "template": template}


async def test_following_the_advice_turns_a_bad_draft_into_a_valid_widget(tmp_path: Path) -> None:
    wrong = PARCEL["template"].replace('"Text"', '"Txt"').replace("status |", "statsu |")
    draft = {**PARCEL, "template": wrong}
    calls: list[str] = []
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            calls.append(tool)
            return await ask(connection.client, tool, **arguments)

        await call("get_guide", names=["start"])
        await call("get_component_details", names=["Text"])
        trial = await call("try_widget", widget=draft, sidecar=SIDECAR)
        while trial["findings"] and len(calls) < 10:
            draft = apply_advice(draft, trial["findings"])
            trial = await call("try_widget", widget=draft, sidecar=SIDECAR)
        notifications = connection.notifications
        await call("save_widget", file="Parcel.widget", widget=draft, sidecar=SIDECAR)
        await connection.wait_for_more_than(notifications)
        result = await call("parcel", status="Here")

    assert len(calls) <= 10
    assert result["children"][0]["value"] == "Here"
    assert await to_thread.run_sync(main, ["check", "--strict", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("tool", "name", "values", "more"),
    [
        ("get_guide", "names", ["start", "schema"], {}),
        ("get_component_details", "names", ["Text", "Button.variant"], {}),
        ("search_reference", "kinds", ["component", "guide"], {"query": "button"}),
        ("read_widget", "names", ["a", "b"], {}),
        ("read_widget", "parts", ["template", "source"], {"names": ["a"]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_lists_are_accepted_as_array_json_text_and_comma_list(
    tmp_path: Path, tool: str, name: str, values: list[str], more: dict[str, Any]
) -> None:
    for each in ("A", "B"):
        (tmp_path / f"{each}.widget").write_text(widget_file(each))
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        several = [
            await ask(connection.client, tool, **{**more, name: form})
            for form in (values, json.dumps(values), ",".join(values))
        ]
        single = [
            await ask(connection.client, tool, **{**more, name: form})
            for form in (values[:1], values[0])
        ]

    assert several[0] == several[1] == several[2]
    assert single[0] == single[1] != several[0]


async def test_draft_leaves_no_trace(tmp_path: Path) -> None:
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        client = connection.client
        before = await connection.tools(), await client.list_resources()
        await ask(client, "try_widget", widget=PARCEL)
        result = await ask(client, "search_widgets", query="parcel")
        shown = await ask(client, "search_reference", query="parcel", kinds="example")

        assert (await connection.tools(), await client.list_resources()) == before
    assert shown["items"] == []
    assert result["items"] == []
    assert nothing_in(tmp_path)


@pytest.mark.parametrize(
    ("allowed", "codes"), [((), ["W1410"]), (("https://cdn.parcels.dev",), [])]
)
async def test_draft_is_checked_by_the_settings_of_the_daemon(
    tmp_path: Path, allowed: tuple[str, ...], codes: list[str]
) -> None:
    template = '{"type": "Card", "children": [{"type": "Image", "src": {{ status | tojson }}}]}'
    example = '[[examples]]\nname = "a"\narguments = {status = "https://cdn.parcels.dev/a.png"}\n'
    draft = {"widget": {**PARCEL, "template": template}, "sidecar": SIDECAR + example}
    served = {**SETTINGS, "image_origin": allowed}
    async with serving(tmp_path, **served) as url, connect_client(url, "modern") as connection:
        report = await ask(connection.client, "try_widget", **draft)

    assert [one["code"] for one in report["findings"] if one["code"] == "W1410"] == codes


@pytest.mark.parametrize(
    ("allowed", "codes"), [((), {"W1410"}), (("https://cdn.parcels.dev",), set())]
)
async def test_problems_of_a_widget_are_those_by_the_settings_of_the_daemon(
    tmp_path: Path, allowed: tuple[str, ...], codes: set[str]
) -> None:
    template = '{"type": "Card", "children": [{"type": "Image", "src": {{ who | tojson }}}]}'
    example = 'examples = [{name = "a", arguments = {who = "https://cdn.parcels.dev/a.png"}}]'
    (tmp_path / "A.widget").write_text(widget_file("A", template=template))
    (tmp_path / "A.widget.toml").write_text(example)
    served = {**SETTINGS, "image_origin": allowed}
    async with serving(tmp_path, **served) as url, connect_client(url, "modern") as connection:
        [item] = (await ask(connection.client, "read_widget", names="a", parts="problems"))["items"]
        [resource] = (await connection.client.read_resource("widget://a/problems")).contents

    assert isinstance(resource, TextResourceContents)
    read = json.loads(resource.text)
    for problems in (item["parts"].get("problems", []), read):
        assert {one["code"] for one in problems if one["code"] == "W1410"} == codes


async def test_each_value_of_a_draft_is_traced_to_its_expression(tmp_path: Path) -> None:
    template = (
        '{"type": "Card", "children": [{% for one in legs %}'
        '{"type": "Text", "value": {{ one | tojson }}},\n'
        '{"type": "Text", "value": "at {{ loop.index }}"}{{ "," if not loop.last }}{% endfor %}]}'
    )
    legs = {"type": "array", "items": {"type": "string"}}
    draft = {
        **PARCEL,
        "template": template,
        "jsonSchema": {"type": "object", "properties": {"legs": legs}},
    }
    asking = {"widget": draft, "arguments": {"legs": ["Oslo", "Bonn"]}}
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        plain = await ask(connection.client, "try_widget", **asking)
        traced = (await ask(connection.client, "try_widget", **asking, trace=True))["trace"]

    assert "trace" not in plain
    assert [(row["expression"], row["value"]) for row in traced] == [
        ("one | tojson", "Oslo"),
        ("loop.index", 1),
        ('"," if not loop.last', ","),
        ("one | tojson", "Bonn"),
        ("loop.index", 2),
        ('"," if not loop.last', ""),
    ]
    assert {(row["at"], row["line"]) for row in traced} == {("/template", 1), ("/template", 2)}
    first = template.index("one | tojson") + 1
    assert traced[0]["column"] == first


async def test_save_needs_the_digest_of_the_served_widget(tmp_path: Path) -> None:
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:
        client = connection.client
        first = await ask(client, "save_widget", file="Parcel.widget", widget=PARCEL)
        read = await ask(
            client, "read_widget", names=["parcel", "parcle"], parts="source,dependencies,sidecar"
        )
        other = {**PARCEL, "description": "Another."}
        blind = await call_refused(client, "save_widget", file="Parcel.widget", widget=other)
        digest = read["items"][0]["digest"]
        second = await ask(
            client, "save_widget", file="Parcel.widget", widget=other, replaces=digest
        )
        [versions] = (await ask(client, "read_widget", names="parcel", parts="history"))["items"]
        late = await call_refused(
            client, "save_widget", file="Parcel.widget", widget=PARCEL, replaces=digest
        )
        message = await call_refused(
            client, "save_widget", file="Other.widget", widget=PARCEL, replaces=digest
        )

    assert first["digest"] == digest
    assert read["items"][0]["parts"]["dependencies"] == {
        "components": {"Card": 1, "Text": 1},
        "icons": [],
        "imageOrigins": [],
        "actions": [],
        "tests": [],
        "unusedFields": [],
        "undeclared": [],
        "unknownIcons": [],
        "collisions": [],
    }
    assert versions["parts"]["history"]["before"] == digest
    assert "Another." in versions["parts"]["history"]["parts"]["What the model reads"]
    assert read["items"][0]["missing"] == ["sidecar"]
    assert read["items"][1] == {"name": "parcle", "status": "not_found", "suggestions": ["parcel"]}
    assert blind.startswith(f"[W3005] the file there has the digest '{digest}'")
    assert second["digest"] != digest
    assert blind.endswith("(correct this and call again)")
    assert late.startswith(f"[W3005] the file there has the digest '{second['digest']}'")
    assert message.startswith(("[W1108]", "[W3005]"))
    assert json.loads((tmp_path / "Parcel.widget").read_text()) == other


async def test_feed_and_tests_are_parts_of_a_widget(tmp_path: Path) -> None:
    (tmp_path / "Parcel.widget").write_text(json.dumps(PARCEL))
    (tmp_path / "Parcel.test.yaml").write_text("tests: []\n")
    feed = 'upstream = "post"\ntool = "get_parcel"\nask = ["status"]\n'
    (tmp_path / "Parcel.widget.toml").write_text(f"{SIDECAR}[feed]\n{feed}")
    parts = ["feed", "tests", "dependencies"]
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        [item] = (await ask(connection.client, "read_widget", names="parcel", parts=parts))["items"]

    assert item["parts"]["feed"] == {"upstream": "post", "tool": "get_parcel", "ask": ["status"]}
    assert item["parts"]["tests"] == "tests: []\n"
    assert item["parts"]["dependencies"]["upstream"] == "post/get_parcel"
    assert item["parts"]["dependencies"]["tests"] == ["Parcel.test.yaml"]


@pytest.mark.parametrize("agrees", [True, False, None])
async def test_user_is_asked_before_a_save(tmp_path: Path, agrees: bool | None) -> None:
    questions: list[str] = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - as the client calls it
        questions.append(params.message)
        if agrees is None:
            return ElicitResult(action="cancel")
        return ElicitResult(action="accept", content={"confirmed": agrees})

    saving = {"file": "Parcel.widget", "widget": PARCEL}
    async with (
        serving(tmp_path, **SETTINGS) as url,
        Client(url, elicitation_callback=answer) as client,
    ):
        with anyio.fail_after(PATIENCE_S):
            saved = await client.call_tool("save_widget", saving)
            wrong = await client.call_tool("save_widget", {**saving, "file": "../x.widget"})

    assert questions == ["Save a new widget as 'Parcel.widget'?"]
    assert text(wrong).startswith("[W1006]")
    assert saved.is_error != bool(agrees)
    assert (tmp_path / "Parcel.widget").exists() == bool(agrees)
    if not agrees:
        assert text(saved).startswith("[W3006] this was not confirmed, so nothing was done")


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_client_that_cannot_ask_its_user_saves_nothing(tmp_path: Path, era: Era) -> None:
    settings = {**SETTINGS, "allow_unasked": False}
    async with serving(tmp_path, **settings) as url, connect_client(url, era) as connection:
        message = await call_refused(
            connection.client, "save_widget", file="Parcel.widget", widget=PARCEL
        )

    assert message.startswith("[W3006] this changes something, and your client can neither ask")
    assert nothing_in(tmp_path)


async def test_save_returns_the_page_and_is_annotated_as_destructive(tmp_path: Path) -> None:
    served = {**SETTINGS, "gallery": True}
    async with serving(tmp_path, **served) as url, connect_client(url, "modern") as connection:
        saved = await ask(connection.client, "save_widget", file="Parcel.widget", widget=PARCEL)
        tools = {tool.name: tool for tool in (await connection.client.list_tools()).tools}

    assert saved["page"] == "/w/parcel"
    hints = {name: tool.annotations for name, tool in tools.items() if name in NAMES}
    changing = {name for name, hint in hints.items() if hint and hint.destructive_hint}
    assert changing == {"save_widget"}


@pytest.mark.parametrize(
    "file", ["../x.widget", "a/b.widget", ".x.widget", "x" * 200 + ".widget", "a\0b.widget", ""]
)
async def test_save_under_another_kind_of_name_changes_nothing(tmp_path: Path, file: str) -> None:
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:
        message = await call_refused(connection.client, "save_widget", file=file, widget=PARCEL)

    assert message.startswith("[W1006]")
    assert nothing_in(tmp_path)


JSX = """const schema = {
  type: "object",
  properties: { status: { type: "string", description: "Where it is." } },
  required: ["status"],
  additionalProperties: false,
};

<Card>
  <Text value={status} />
</Card>
"""


async def test_jsx_is_tried_and_saved_in_place_of_a_file(tmp_path: Path) -> None:
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        client = connection.client
        bad = await ask(client, "try_widget", jsx=JSX.replace("Text", "Txt"), sidecar=SIDECAR)
        good = await ask(
            client, "try_widget", jsx=JSX, sidecar=SIDECAR, arguments={"status": "Here"}
        )
        saved = await ask(client, "save_widget", file="Parcel", jsx=JSX, sidecar=SIDECAR)
        plain = await ask(client, "save_widget", file="Letter", widget={**PARCEL, "name": "Letter"})
        both = await call_refused(client, "try_widget", jsx=JSX, widget=PARCEL)
        none = await call_refused(client, "save_widget", file="None")
        tree = await ask(client, "parcel", status="Here")

    assert [(row["code"], row["line"]) for row in bad["findings"]] == [("W1401", 9)]
    assert good["findings"] == []
    assert good["tree"]["children"] == [{"type": "Text", "value": "Here"}]
    assert (saved["file"], saved["tool"]) == ("Parcel.widget.jsx", "parcel")
    assert (tmp_path / "Parcel.widget.jsx").read_text() == JSX
    assert (tmp_path / "Parcel.widget.jsx.toml").read_text() == SIDECAR
    assert plain["file"] == "Letter.widget"
    assert both.startswith("[W2002]")
    assert none.startswith("[W2002]")
    assert tree


async def test_draft_without_a_version_is_completed(tmp_path: Path) -> None:
    draft = {name: value for name, value in PARCEL.items() if name != "version"}
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "modern") as connection:
        trial = await ask(connection.client, "try_widget", widget=draft, sidecar=SIDECAR)
        await ask(connection.client, "save_widget", file="Parcel.widget", widget=draft)

    assert trial["findings"] == []
    assert json.loads((tmp_path / "Parcel.widget").read_bytes())["version"] == "1.0"


async def test_save_follows_no_link_out_of_the_folder(tmp_path: Path) -> None:
    widgets, outside = tmp_path / "widgets", tmp_path / "outside"
    widgets.mkdir()
    outside.write_text("mine")
    (widgets / "Parcel.widget").symlink_to(outside)
    async with serving(widgets, **SETTINGS) as url, connect_client(url, "legacy") as connection:
        message = await call_refused(
            connection.client, "save_widget", file="Parcel.widget", widget=PARCEL, replaces="x"
        )

    assert message.startswith("[W")
    assert outside.read_text() == "mine"
    assert (widgets / "Parcel.widget").is_symlink()


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    with stopped_by_permissions() as folder:
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


async def test_save_into_a_read_only_folder_changes_nothing(read_only_folder: Path) -> None:
    async with (
        serving(read_only_folder, **SETTINGS) as url,
        connect_client(url, "legacy") as connection,
    ):
        message = await call_refused(
            connection.client, "save_widget", file="Parcel.widget", widget=PARCEL
        )

    assert message.startswith("[W1006]")
    assert nothing_in(read_only_folder)


async def test_second_of_two_saves_of_a_new_file_is_refused(tmp_path: Path) -> None:
    outcomes: list[bool] = []
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:

        async def save(word: str) -> None:
            widget = {**PARCEL, "description": word}
            result = await connection.client.call_tool(
                "save_widget", {"file": "Parcel.widget", "widget": widget}
            )
            outcomes.append(result.is_error)

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(save, "one")
                tasks.start_soon(save, "two")

    assert sorted(outcomes) == [False, True]


async def test_saving_needs_uploads_and_a_list_needs_the_toolset(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, toolset="author") as url,
        connect_client(url, "legacy") as connection,
    ):
        message = await call_refused(
            connection.client, "save_widget", file="A.widget", widget=PARCEL
        )
        assert NAMES - await connection.tools() == {"save_widget"}
    async with serving(tmp_path) as url, connect_client(url, "legacy") as connection:
        assert NAMES.isdisjoint(await connection.tools())

    assert message.startswith("[W3004] nothing may be saved here")


async def test_tools_need_the_scopes_author_and_write(tmp_path: Path) -> None:
    widgets, tokens = tmp_path / "widgets", tmp_path / "tokens"
    widgets.mkdir()
    tokens.write_text(f"ada {'ada-' * 5} widgets:read author\nben {'ben-' * 5} widgets:read\n")
    results = {}
    async with serving(widgets, token_file=tokens, **SETTINGS) as url:
        for name in ("ada", "ben"):
            results[name] = await list_names(url, f"{name}-" * 5)
        saving = {"name": "save_widget", "arguments": {"file": "A.widget", "widget": PARCEL}}
        _, result = await send_request(url, "ada-" * 5, "tools/call", saving, name="save_widget")

    assert NAMES - results["ada"] == {"save_widget"}
    assert NAMES.isdisjoint(results["ben"])
    assert result["result"]["content"][0]["text"].startswith(
        "[W2301] this token has no scope 'write'"
    )


async def test_too_long_lists_and_unknown_parts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:
        client = connection.client
        none = [await ask(client, "get_guide"), await ask(client, "get_guide", names=None)]
        many = await call_refused(client, "read_widget", names=["a"] * 9)
        crowd = await call_refused(client, "get_component_details", names=["Button"] * 51)
        part = await call_refused(client, "read_widget", names=["a"], parts=["tempalte"])

    assert none[0] == none[1]
    assert "text" not in none[0]["items"][0]
    assert many.startswith("[W3003]")
    assert crowd.startswith("[W3003]")
    assert part.endswith("did you mean 'template'? (correct this and call again)")


async def test_omitted_parts_are_named_for_another_request(tmp_path: Path) -> None:
    for name in ("A", "B"):
        file = json.loads(widget_file(name))
        file["description"] = "x" * 40_000
        (tmp_path / f"{name}.widget").write_text(json.dumps(file))
    async with serving(tmp_path, **SETTINGS) as url, connect_client(url, "legacy") as connection:
        both = await ask(connection.client, "read_widget", names=["a", "b"], parts=["source"])
        rest = await ask(connection.client, "read_widget", names=["b"], parts=["source"])

    assert both["left"] == ["b/source"]
    assert len(both["items"][0]["parts"]["source"]["description"]) == 40_000
    assert len(rest["items"][0]["parts"]["source"]["description"]) == 40_000


async def test_guide_pages_are_resources_that_need_the_scope(tmp_path: Path) -> None:
    uri = "widgetd://guide/schema"
    for era in ERAS:
        async with serving(tmp_path, **SETTINGS) as url, connect_client(url, era) as connection:
            client = connection.client
            listed = {str(one.uri) for one in (await client.list_resources()).resources}
            templates = await client.list_resource_templates()
            [page] = (await client.read_resource(uri)).contents
            with pytest.raises(MCPError):
                await client.read_resource("widgetd://guide/nothing")
        async with serving(tmp_path) as url, connect_client(url, era) as connection:
            plain = {str(one.uri) for one in (await connection.client.list_resources()).resources}
            with pytest.raises(MCPError):
                await connection.client.read_resource(uri)

        assert listed - plain == {f"widgetd://guide/{name}" for name in ORDER}
        assert "widgetd://guide/{name}" in {
            each.uri_template for each in templates.resource_templates
        }
        assert isinstance(page, TextResourceContents)
        assert page.mime_type == "text/markdown"
        assert page.text.startswith("# Schema")
