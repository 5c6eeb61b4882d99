"""Everything in the guide is true: its code blocks load and render, its names exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from widgetd.author.guide.drafts import Drafts
from widgetd.author.guide.guide import ORDER, Page, page, pages, render_blocks
from widgetd.author.testing.suite import resolve_cases
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.errors import CODES, CallError
from widgetd.cli import app
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.components import check_tree, load_vocabulary
from widgetd.daemon.wings import NAMES, admit
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.settings import Settings

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PLAIN: dict[str, Any] = {
    "version": "1.0",
    "name": "Plain",
    "template": '{"type": "Card", "children": [{"type": "Text", "value": {{ a | tojson }}}]}',
    "jsonSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
}


def blocks() -> Iterator[Any]:
    for each in pages().values():
        matches = _BLOCK.findall(each.text)
        for number, (kind, text) in enumerate(matches):
            beside = matches[number + 1][1] if matches[number + 1 :] else ""
            yield pytest.param(kind, text, beside, id=f"{each.name}-{number}-{kind}")


def try_block(widget: dict[str, Any] | str, sidecar: str = "") -> list[dict[str, Any]]:
    return Drafts(admit).check(widget, sidecar).rows()


@pytest.mark.parametrize(("kind", "text", "beside"), list(blocks()))
def test_every_code_block_of_the_guide_is_valid(
    kind: str, text: str, beside: str, tmp_path: Path
) -> None:
    match kind:
        case "widget":
            assert try_block(json.loads(text), beside) == []
        case "jsx":
            rows = try_block(text, 'description = "Show a parcel. Use it for deliveries."')
            assert [row for row in rows if row["code"] != "W1214"] == []
        case "sidecar":
            rows = try_block(_PLAIN, text)
            assert [row for row in rows if row["level"] == "fault"] == []
        case "schema":
            checked = compile_schema(json.loads(text)).check({"number": "1", "status": "Delayed"})
            assert checked.arguments["status"] == "delayed"
        case "tree":
            assert list(check_tree(json.loads(text))) == []
        case "template":
            inner = f'{{"type": "Card", "children": [{text.strip()}]}}'
            arguments = json.loads(beside)
            findings = Drafts(admit).check(
                {**_PLAIN, "template": inner, "jsonSchema": {"type": "object"}}, ""
            )
            assert findings.widget is not None, findings.rows()
            assert list(check_tree(findings.widget.tree(arguments))) == []
        case "arguments":
            assert isinstance(json.loads(text), dict)
        case "test":
            (tmp_path / "a.test.yaml").write_text(text)
            suite = read_suite(tmp_path / "a.test.yaml")
            (light, dark), faults = resolve_cases(suite, Snapshot.empty())
            assert {fault.code for fault in faults} <= {"W2001"}  # there are no widgets here
            assert len(light.steps) == len(dark.steps) == text.count("      - ")
        case _:
            pytest.fail(f"a block of {kind} is held to nothing")


WITHOUT = """
from pathlib import Path
from tempfile import TemporaryDirectory

from chatkit import widgets
from pydantic import create_model

kept = {name: field for name, field in widgets.Text.model_fields.items() if name != "LEFT OUT"}
fields = {name: (field.annotation, field) for name, field in kept.items()}
text = create_model("Text", __base__=widgets.WidgetComponentBase, **fields)

from widgetd.core.widget.components import load_vocabulary

known = load_vocabulary()
object.__setattr__(known.components["Text"], "model", text)

from tests.unit.author.guide.test_guide import blocks
from tests.unit.author.guide.test_guide import test_every_code_block_of_the_guide_is_valid as holds

failed = 0
for block in blocks():
    try:
        with TemporaryDirectory() as folder:
            holds(*block.values, Path(folder))
    except AssertionError:
        failed += 1
print(failed)
"""


@pytest.mark.parametrize(("left_out", "fails"), [("value", True), ("nothing", False)])
def test_removed_property_of_chatkit_fails_the_guide(left_out: str, fails: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT.replace("LEFT OUT", left_out)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert (int(done.stdout) > 0) == fails


def test_names_on_the_pages_exist() -> None:
    text = "\n".join(each.text for each in pages().values())
    prose = _BLOCK.sub("", text)
    commands = set(re.findall(r"`widgetd ([a-z-]+)", prose))
    tools = set(re.findall(r"`([a-z]+_[a-z_]+)`", prose)) - _WORDS
    flags = set(re.findall(r"`--([a-z-]+)", prose)) - {"tokens", "update"}

    assert set(re.findall(r"\bW\d{4}\b", text)) <= CODES.keys()
    assert commands <= set(app)
    assert {tool for tool in tools if tool not in NAMES} == set()
    assert {flag.replace("-", "_") for flag in flags} <= Settings.model_fields.keys()
    assert set(re.findall(r"`([A-Z][A-Za-z]+)`", prose)) - {"NAME", "FILE"} <= (
        load_vocabulary().components.keys() | {"Parcel"}
    )


_WORDS = {
    *("summary_fields", "summary_data", "min_client_version", "migration_guide"),
    *("ui_type", "render_mode", "keep_s", "stale_s"),
}
"""Keys of the sidecar, which look like tools."""


def test_pages_are_short_and_say_when_to_read_them() -> None:
    assert list(pages()) == list(ORDER)
    for each in pages().values():
        assert 1_000 <= len(each.text) <= 4_096, each.name
        assert each.title
        assert 10 < len(each.use_when) < 120


def test_missing_page_names_the_nearest() -> None:
    with pytest.raises(CallError) as raised:
        page("tempalte")

    assert raised.value.code == "W3001"
    assert str(raised.value) == "the guide has no page 'tempalte'; did you mean 'template'?"


def test_code_block_is_separate_from_the_prose_before_it() -> None:
    text = (
        "# Title\n\nOne\ntwo.\n\n- a\n  more\n- b\n\n1. c\n2. d\n```toml\n# x\n\n- y\n```\n## End"
    )

    prose = (
        "<h1>Title</h1>\n<p>One\ntwo.</p>\n<ul>\n<li>a\nmore</li>\n<li>b</li>\n</ul>\n"
        "<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n"
    )
    assert list(render_blocks(text)) == [(prose, "# x\n\n- y"), ("<h2>End</h2>\n", "")]


def test_spans_are_html_and_tags_in_the_text_are_not() -> None:
    [(html, _)] = render_blocks("a `b*c*` *d* **e** [f](/g) <i>")

    assert html == (
        '<p>a <code>b*c*</code> <em>d</em> <strong>e</strong> <a href="/g">f</a> &lt;i&gt;</p>\n'
    )


@pytest.mark.parametrize("page", pages().values(), ids=pages())
def test_no_word_of_a_page_is_lost_and_no_markup_remains(page: Page) -> None:
    parts = list(render_blocks(page.text))
    text = " ".join(f"{re.sub('<[^>]+>', ' ', prose)} {code}" for prose, code in parts)
    fenced = re.sub(r"^```\w*$", "", page.text, flags=re.MULTILINE)

    assert re.findall(r"\w+", unescape(text)) == [
        word
        for line in fenced.splitlines()
        for word in re.findall(r"\w+", re.sub(r"^\d+\. ", "", line))
    ]
    plain = " ".join(re.sub("<code>.*?</code>|<[^>]+>", " ", prose) for prose, _ in parts)
    assert not any(mark in plain for mark in ("`", "**", "](", "# "))
