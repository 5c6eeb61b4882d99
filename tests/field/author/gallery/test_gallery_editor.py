"""Widgets are edited on their page, in a real browser: typed, drawn, marked, saved and compared."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from tests.field.server.web.browsing import PATIENCE_MS, browsing, needs_browser
from tests.field.server.web.test_accessibility import AXE, violations
from tests.support.corpus import corpus_files, needs_corpus
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from widgetd.author.export.package import pack
from widgetd.author.gallery.drafts import split_files
from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.schema.json_text import parse_file
from widgetd.core.widget.document import WidgetDocument
from widgetd.server.catalog.loader import load

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Locator, Page, Route

pytestmark = needs_browser

CHARACTERS = "".join(map(chr, range(0x20, 0x7F))) + "éß€漢🙂"

TRIAL = "**/gallery/draft/trial"
SAVES = 4
"""Saves in a row of the test of what they leave on the page."""

JSX = """const schema = {
  "type": "object",
  "properties": { "who": { "type": "string", "description": "Whom to greet." } },
  "required": ["who"]
};
const sample = { "who": "Ann" };

<Card>
  <Text value={who} size="sm" />
</Card>
"""


@asynccontextmanager
async def editing(folder: Path, tool: str, **context: Any) -> AsyncIterator[Page]:
    """Open the tab Edit of a widget; a refusal by the page's policy fails the test."""
    async with serving(folder, gallery=True, allow_upload=True) as url, browsing(**context) as page:
        refused: list[str] = []

        def note(message: ConsoleMessage) -> None:
            if "Security Policy" in message.text:
                refused.append(f"{message.location}: {message.text}")

        page.on("console", note)
        site = url.removesuffix("/mcp")
        async with page.expect_response(TRIAL):
            await page.goto(f"{site}/w/{tool}?tab=edit")
        await page.locator(".cm-content").wait_for()
        yield page
        assert refused == []


async def editor_text(page: Page) -> str:
    lines = await page.locator(".cm-line").all_inner_texts()
    return "\n".join(line.rstrip("\n") for line in lines)


async def type_over(page: Page, text: str) -> None:
    """Replace the text of the editor by the keyboard, and wait until it is drawn."""
    await page.locator(".cm-content").focus()
    await page.keyboard.press("ControlOrMeta+a")
    # Chromium keeps the style of text that it replaces, as an attribute that the policy refuses.
    await page.keyboard.press("Delete")
    async with page.expect_response(TRIAL):
        await page.keyboard.insert_text(text)


async def test_text_is_drawn_marked_completed_and_saved_by_keyboard_alone(tmp_path: Path) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    async with editing(tmp_path, "a") as page:
        drawing = page.frame_locator("#frames iframe")
        await drawing.get_by_text("Ann").wait_for()
        await type_over(page, JSX.replace("value={who}", "value={`Hello ${who}`}"))
        await drawing.get_by_text("Hello Ann").wait_for()

        await type_over(page, JSX.replace("</Card>", ""))
        await page.locator(".cm-lint-marker-error").wait_for()
        finding = page.locator("#edit-findings [data-level=fault]")
        assert "W1327" in await finding.inner_text()
        await drawing.get_by_text("Hello Ann").wait_for()  # the last good one

        await type_over(page, JSX.replace("\n</Card>\n", "\n  <Di"))
        await page.keyboard.press("Control+Space")
        await page.locator(".cm-tooltip-autocomplete li", has_text="Divider").wait_for()
        await page.keyboard.press("Escape")

        await type_over(page, JSX.replace("value={who}", 'value="Saved"'))
        await page.keyboard.press("Control+s")
        await page.locator("#edit-said").get_by_text("Saved.").wait_for()
        assert 'value="Saved"' in file.read_text()

        await page.keyboard.press("Escape")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.closest('#edit-code') === null")


async def test_every_printable_character_is_typed_into_the_editor_saved_and_drawn(
    tmp_path: Path,
) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    # The editor closes a quotation mark: the second steps over the mark that it wrote.
    text = CHARACTERS.replace('"', '""').replace("'", "''")
    jsx = JSX.replace("Ann", text.replace("\\", "\\\\").replace('"', '\\"'))
    sidecar = f"description = '''{text}'''"
    async with editing(tmp_path, "a") as page:
        drawing = page.frame_locator("#frames iframe").locator("[data-component=Text]")
        content = page.locator(".cm-content")
        await content.get_by_text('"Ann"').dblclick()
        await page.keyboard.type(text.replace("\\", "\\\\").replace('"', '\\"'))
        assert await editor_text(page) == jsx
        await page.get_by_role("radio", name="Sidecar").check(force=True)
        await content.focus()
        await page.keyboard.type(sidecar)
        assert await editor_text(page) == sidecar
        await drawing.get_by_text(text, exact=True).wait_for()
        await page.keyboard.press("Control+s")
        await page.locator("#edit-said").get_by_text("Saved.").wait_for()
        assert (file.read_text(), (tmp_path / "A.widget.jsx.toml").read_text()) == (jsx, sidecar)
        for _ in ("saved", "loaded again"):
            assert await drawing.text_content() == text
            assert await page.locator("#edit-findings li").all_inner_texts() == []
            async with page.expect_response(TRIAL):
                await page.reload()


async def test_every_printable_character_is_typed_into_every_field(tmp_path: Path) -> None:
    (tmp_path / "A.widget.jsx").write_text(JSX)
    async with editing(tmp_path, "a", viewport={"width": 1280, "height": 900}) as page:

        async def type_into(*fields: Locator) -> None:
            for field in fields:
                await field.fill("")
                await field.press_sequentially(CHARACTERS, timeout=4 * PATIENCE_MS)
                assert await field.input_value() == CHARACTERS

        await page.frame_locator("#frames iframe").get_by_text("Ann").click()
        properties = page.get_by_role("region", name="Properties")
        await type_into(*await properties.get_by_role("textbox").all())
        await page.get_by_role("button", name="Back to the file").click()
        await page.get_by_role("tab", name="Arguments").click()
        await page.get_by_text("As JSON", exact=True).click()
        await type_into(*await page.get_by_role("tabpanel").get_by_role("textbox").all())
        await page.get_by_role("link", name="Guide", exact=True).click()
        await type_into(page.get_by_role("searchbox"))
        await page.goto(page.url.partition("/guide")[0])
        await type_into(page.get_by_role("searchbox"))
        await page.get_by_role("button", name="New widget").click()
        await type_into(page.get_by_label("Name, as people see it"))


async def parts_shown(page: Page) -> dict[str, str]:
    """Return the text of each part in the editor."""
    texts = {}
    for part in ("template", "schema", "sidecar", "jsx"):
        await page.locator(f"#edit-parts [value={part}]").check(force=True)
        texts[part] = await editor_text(page)
    return texts


async def test_drawing_findings_and_file_agree_after_each_save_and_reload(tmp_path: Path) -> None:
    file = tmp_path / "A.widget"
    file.write_bytes(pack(load(Source.of("A.widget.jsx", JSX.encode()))).content)
    sidecar = b'description = "Greet somebody."\n'
    (tmp_path / "A.widget.toml").write_bytes(sidecar)
    is_answered = anyio.Event()

    async def answer_later(route: Route) -> None:
        await is_answered.wait()
        await route.continue_()

    async with editing(tmp_path, "a") as page:
        drawing = page.frame_locator("#frames iframe").locator("[data-component=Text]")
        no_findings = page.locator("#edit-findings:not(:has(li))")
        jsx = (await parts_shown(page))["jsx"]
        await page.route(TRIAL, answer_later)
        for number in range(SAVES):
            is_answered, text = anyio.Event(), f"{number} Ann"
            await page.locator(".cm-content").focus()
            await page.keyboard.press("ControlOrMeta+a")
            await page.keyboard.press("Delete")
            # The save precedes the drawing of the draft, or overtakes it.
            is_drawn = page.expect_request(TRIAL) if number % 2 else nullcontext()
            async with is_drawn:
                await page.keyboard.insert_text(jsx.replace("{who}", f"{{`{number} ${{who}}`}}"))
            await page.keyboard.press("Control+s")
            await page.locator("#edit-said").get_by_text("Saved.").wait_for()
            async with page.expect_request_finished(lambda one: one.url.endswith("/trial")):
                is_answered.set()
            for _ in ("saved", "loaded again"):
                await drawing.get_by_text(text, exact=True).wait_for()
                await no_findings.wait_for(state="attached")
                assert await parts_shown(page) == split_files(file.name, file.read_bytes(), sidecar)
                async with page.expect_response(TRIAL):
                    await page.reload()


async def test_values_arguments_filters_and_keys_are_completed(tmp_path: Path) -> None:
    (tmp_path / "A.widget.jsx").write_text(JSX)
    (tmp_path / "B.widget").write_text(widget_file("B"))

    async def offers(page: Page, text: str, wanted: str) -> None:
        await type_over(page, text)
        await page.keyboard.press("Control+Space")
        option = page.locator(".cm-tooltip-autocomplete li .cm-completionLabel")
        await option.get_by_text(wanted, exact=True).wait_for()
        await page.keyboard.press("Escape")

    async with editing(tmp_path, "a") as page:
        head = JSX.partition("<Card>")[0]
        await offers(page, f'{head}<Card>\n  <Badge color="', "discovery")
        await offers(page, f'{head}<Card>\n  <Icon name="', "bolt")
        await offers(page, f"{head}<Card>\n  <Text ", "maxLines")
        await offers(page, f"{head}<Card>\n  <Text value={{", "who")
        await page.get_by_role("radio", name="Sidecar").check(force=True)
        await offers(page, "desc", "description")
        await page.close(run_before_unload=False)
    async with editing(tmp_path, "b") as page:
        await offers(page, '{"type":"Card","children":[{"type":"Te', "Text")
        await offers(page, '{"type":"Text","value":{{ w', "who")
        await offers(page, '{"type":"Text","value":{{ who | to', "tojson")
        await offers(page, '{"type":"Text","si', "size")
        await offers(page, '{"type":"Text","weight":"', "semibold")


MINE = JSX.replace("value={who}", 'value="Mine"')
THEIRS = JSX.replace("value={who}", 'value="Theirs"')


@pytest.mark.parametrize(
    ("answer", "left", "loaded"),
    [("Keep mine", MINE, "open"), ("Take theirs", THEIRS, "loaded again")],
    ids=["mine", "theirs"],
)
async def test_file_that_changed_during_an_edit_is_saved_over_only_by_a_decision(
    answer: str, left: str, loaded: str, tmp_path: Path
) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    async with editing(tmp_path, "a", viewport={"width": 1280, "height": 900}) as page:
        await type_over(page, MINE)
        file.write_text(THEIRS)
        await page.get_by_text("The file changed while you were editing.").wait_for()
        if loaded == "loaded again":
            async with page.expect_response(TRIAL):
                await page.reload()
            await page.get_by_text("The file changed while you were editing.").wait_for()
        await page.get_by_role("button", name="Save").click()
        assert file.read_text() == THEIRS

        await page.get_by_role("button", name="Show what differs").click()
        differences = page.locator(".differences")
        assert (await differences.locator("del").all_inner_texts()) == [
            '−   <Text value="Theirs" size="sm" />\n'
        ]
        assert (await differences.locator("ins").all_inner_texts()) == [
            '+   <Text value="Mine" size="sm" />\n'
        ]
        await page.locator("dialog").get_by_role("button", name=answer).click()
        said = "Saved." if answer == "Keep mine" else "undo brings your text back"
        await page.locator("#edit-said").get_by_text(said).wait_for()

        assert file.read_text() == left
        if answer == "Take theirs":
            await page.locator(".cm-content").focus()
            await page.keyboard.press("ControlOrMeta+z")
            assert await editor_text(page) == MINE.rstrip("\n") + "\n"


async def test_changes_of_widget_and_sidecar_do_not_collide(tmp_path: Path) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    async with editing(tmp_path, "a") as page:
        await type_over(page, MINE)
        (tmp_path / "A.widget.jsx.toml").write_text('description = "Theirs."\n')
        await page.get_by_text("The file changed; your changes stay.").wait_for()
        await page.get_by_role("button", name="Save").click()
        await page.locator("#edit-said").get_by_text("Saved.").wait_for()

    assert file.read_text() == MINE
    assert "Theirs." in (tmp_path / "A.widget.jsx.toml").read_text()


async def test_draft_survives_a_reload_and_previous_version_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    async with editing(tmp_path, "a", viewport={"width": 1280, "height": 900}) as page:
        drawing, message = page.frame_locator("#frames iframe"), page.locator("#edit-said")
        await type_over(page, MINE)
        await page.reload()
        await message.get_by_text("Your unsaved changes are back.").wait_for()
        await drawing.get_by_text("Mine").wait_for()
        await page.get_by_role("button", name="Save").click()
        await message.get_by_text("Saved.").wait_for()

        await page.get_by_role("button", name="Previous version").click()
        pair = page.locator(".versions figure")
        await pair.nth(0).frame_locator("iframe").get_by_text("Ann").wait_for()
        await pair.nth(1).frame_locator("iframe").get_by_text("Mine").wait_for()
        await page.get_by_role("button", name="Put it into the editor").click()
        await page.get_by_role("button", name="Save").click()
        await message.get_by_text("Saved.").wait_for()

    assert file.read_text() == JSX


async def test_bundled_widget_is_built_from_empty(tmp_path: Path) -> None:
    """The JSX and the schema of the flight tracker, typed into a new widget."""
    name = "Flight Tracker.widget"
    document = WidgetDocument(content=parse_file((bundled_folder() / name).read_bytes(), Limits()))
    schema = json.dumps(document.schema, indent=2)
    assert document.studio is not None
    sample = json.dumps(dict(document.studio.default_state))
    text = f"const schema = {schema};\n\nconst sample = {sample};\n\n{document.view}\n"
    async with serving(tmp_path, gallery=True, allow_upload=True) as url, browsing() as page:
        await page.goto(url.removesuffix("/mcp"))
        await page.get_by_role("button", name="New widget").click()
        await page.get_by_label("Name, as people see it").fill("Parcel")
        await page.keyboard.press("Enter")
        await page.locator(".cm-content").wait_for()
        await page.frame_locator("#frames iframe").locator("[data-component=Card]").wait_for()
        await type_over(page, text)
        await page.frame_locator("#frames iframe").get_by_text("Bergen").wait_for()
        await page.keyboard.press("Control+s")
        await page.locator("#edit-said").get_by_text("Saved.").wait_for()
        parcel = await page.evaluate("fetch('/w/parcel.json').then((answer) => answer.json())")

    assert (tmp_path / "Parcel.widget.jsx").read_text() == text
    assert parcel["result"]["_meta"]["widgetd/widget"] == document.preview


async def test_click_on_a_component_selects_it_and_its_form_changes_its_span(
    tmp_path: Path,
) -> None:
    file = tmp_path / "A.widget.jsx"
    file.write_text(JSX)
    async with editing(tmp_path, "a", viewport={"width": 1280, "height": 900}) as page:
        drawing = page.frame_locator("#frames iframe")
        await drawing.get_by_text("Ann").click()
        form = page.get_by_role("region", name="Properties")
        await form.get_by_role("heading", name="Properties of Text").wait_for()
        async with page.expect_response(TRIAL):
            await form.get_by_label("size", exact=True).select_option("xl")
        changed = await editor_text(page)
        await form.get_by_text("more properties").click()
        async with page.expect_response(TRIAL):
            await form.get_by_label("maxLines", exact=True).fill("2")
        added = await editor_text(page)
        async with page.expect_response(TRIAL):
            await form.get_by_label("value", exact=True).fill("Good day")
        await drawing.get_by_text("Good day").wait_for()

    assert changed.strip() == JSX.replace('size="sm"', 'size="xl"').strip()
    assert added == changed.replace('size="xl"', 'size="xl" maxLines={2}')
    assert file.read_text() == JSX


async def test_property_is_changed_by_keyboard_alone(tmp_path: Path) -> None:
    (tmp_path / "A.widget.jsx").write_text(JSX)
    field = 'document.activeElement.dataset.property === "size"'
    async with editing(tmp_path, "a", viewport={"width": 1280, "height": 900}) as page:
        await page.locator(".cm-content").focus()
        await page.keyboard.press("ControlOrMeta+End")
        for key in ("ArrowUp", "ArrowUp", "End", "ArrowLeft"):  # into the element of the Text
            await page.keyboard.press(key)
        await page.get_by_role("heading", name="Properties of Text").wait_for()
        await page.keyboard.press("Escape")
        for _ in range(40):
            await page.keyboard.press("Tab")
            if await page.evaluate(field):
                break
        assert await page.evaluate(field)
        async with page.expect_response(TRIAL):
            await page.keyboard.press("ArrowDown")
        changed = await editor_text(page)

    assert changed.strip() == JSX.replace('size="sm"', 'size="md"').strip()


CHANGES = """async (tools) => {
  const { Editor } = await import("/gallery/editor/editor.js");
  const { Form } = await import("/gallery/editor/form.js");
  const vocabulary = await (await fetch("/gallery/vocabulary.json")).json();
  const trial = async (tool, parts) => {
    const body = JSON.stringify({ tool, parts });
    return (await fetch("/gallery/draft/trial", { method: "POST", body })).json();
  };
  const reports = [];
  for (const tool of tools) {
    const { parts } = await (await fetch(`/gallery/edit/${tool}`)).json();
    const place = document.createElement("div");
    const fields = document.createElement("section");
    document.body.append(place, fields);
    let form;
    const editor = new Editor({
      parent: place, help: "", changed() {}, known() {}, save() {}, moved: (one) => form?.show(one),
    });
    form = new Form(fields, {
      vocabulary: () => vocabulary, set: (...change) => editor.set(...change), leave() {},
    });
    editor.load("jsx", parts.jsx, "jsx", "JSX");
    editor.open("jsx");
    editor.select(parts.jsx.search(/<(?:Text|Title|Caption)\\b/));
    const field = fields.querySelector("[data-property=size]");
    const before = field.value;
    field.value = [...field.options].findLast(({ value }) => value && value !== before).value;
    field.onchange();
    const after = editor.text("jsx");
    const element = editor.element();
    const drawn = await trial(tool, { ...parts, jsx: after });
    const again = fields.querySelector("[data-property=size]");
    again.value = before;
    again.onchange();
    reports.push({
      tool, before: parts.jsx, after, back: editor.text("jsx"), from: element.from, to: element.to,
      drawn: Boolean(drawn.result), error: drawn.error, findings: drawn.findings,
    });
    place.remove();
    fields.remove();
  }
  return reports;
}"""


def with_view(path: Path) -> bool:
    try:
        document = WidgetDocument(content=parse_file(path.read_bytes(), Limits()))
        return any(f"<{one}" in document.view for one in ("Text", "Title", "Caption"))
    except (WidgetError, KeyError, TypeError):
        return False


@needs_corpus
async def test_one_property_of_every_file_of_the_corpus_changes_one_span(tmp_path: Path) -> None:
    (tmp_path / "A.widget.jsx").write_text(JSX)
    files = [path for path in corpus_files() if with_view(path)]
    for number, path in enumerate(files):
        file = {**json.loads(path.read_text()), "name": f"C{number}"}
        (tmp_path / f"C{number}.widget").write_text(json.dumps(file))
    async with editing(tmp_path, "a") as page:
        served = await page.evaluate("fetch('/index.json').then((answer) => answer.json())")
        tools = [one["name"] for one in served["widgets"] if one["name"] != "a"]
        reports = await page.evaluate(CHANGES, tools)

    assert len(reports) >= 35
    for report in reports:
        before, after, start, end = (report[key] for key in ("before", "after", "from", "to"))
        grown = len(after) - len(before)
        assert after != before, report["tool"]
        assert (after[:start], after[end:]) == (before[:start], before[end - grown :])
        assert after[start:end].count(" size=") <= before[start : end - grown].count(" size=") + 1
        assert (report["back"], report["drawn"]) == (before, True), report


@pytest.mark.skipif(not AXE.is_file(), reason="axe comes with view/node_modules, not here")
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_axe_reports_no_violation_in_the_editor(theme: str, tmp_path: Path) -> None:
    (tmp_path / "A.widget.jsx").write_text(JSX.replace("<Text ", "<Text vale={1} "))
    viewport = {"width": 1280, "height": 900}
    context = {"color_scheme": theme, "bypass_csp": True, "viewport": viewport}
    async with editing(tmp_path, "a", **context) as page:
        await page.frame_locator("#frames iframe").get_by_text("Ann").click()
        await page.get_by_role("heading", name="Properties of Text").wait_for()
        await page.get_by_text("more properties").click()
        findings = await violations(page)
        await page.get_by_role("radio", name="Sidecar").check(force=True)
        findings += await violations(page)

    assert findings == []
