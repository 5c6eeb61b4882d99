"""Handlers of the toolset `author`: the guide, the reference, parts of widgets, drafts, saving."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from subprocess import STDOUT
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import anyio
import orjson

from widgetd.author.browser.pictures import (
    DEFAULT_WIDTH_PX,
    MAX_WIDTH_PX,
    MIN_WIDTH_PX,
    demand_few,
    image_block,
)
from widgetd.author.guide.component_details import (
    Examples,
    count_components,
    describe_components,
    find_icons,
)
from widgetd.author.guide.component_sheet import list_screenshots
from widgetd.author.guide.drafts import Drafts, encode_file
from widgetd.author.guide.guide import ORDER, pages
from widgetd.author.guide.limits import LIMITS
from widgetd.author.guide.reference import Reference, ReferenceEntry, TestFiles, require_kinds
from widgetd.author.uploads.history import History, diff_versions
from widgetd.author.uploads.uploads import RefusedUploadError, Uploads, is_widget_name
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.processes import PROCESSES, end_tree
from widgetd.base.system import SYSTEM, FairThreads
from widgetd.base.text_search import did_you_mean, unified_diff
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.actions import find_widget_actions
from widgetd.core.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX, tests_name
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller, PerAudience, Report
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.builtin.consent import remove_actions
from widgetd.server.mcp.builtin.table import ConsentQuestion, ToolContext
from widgetd.server.progress import PROGRESS_LINE
from widgetd.server.render.parts import JSON, PARTS
from widgetd.server.render.result import Result, not_found, structured_result

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream

    from widgetd.author.browser.camera import Camera
    from widgetd.author.browser.picture import Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorServices:
    """The services behind these tools.

    Attributes:
        text_of: Returns the text of a file in the folder, by path, or empty if there is none.
        camera: Takes pictures of drafts and components.
        uploads: None where nothing may be saved.
        image_origins: The origins of images allowed by settings.
        pages: Whether each widget has a page in the gallery.
        at_once: The worker threads for drafts.
    """

    drafts: Drafts
    reference: Reference
    examples: PerAudience[Examples]
    text_of: Callable[[str], str]
    camera: Camera
    uploads: Uploads | None
    registry: Registry
    history: History
    image_origins: Collection[str]
    pages: bool
    tests: PerAudience[TestFiles] = field(
        default_factory=lambda: PerAudience(lambda _: TestFiles(), LIMITS.test_indexes)
    )
    at_once: FairThreads = field(
        default_factory=lambda: FairThreads(LIMITS.drafts_at_once, SYSTEM.threads)
    )


async def get_guide(_context: ToolContext[AuthorServices], arguments: Mapping[str, Any]) -> Result:
    """Return `{"items": [{"name", "status", "title", "useWhen", "text"?}]}`. Texts if named.

    Raises:
        CallError: There are too many names (W3003).
    """
    names = arguments["names"]
    demand_few(names, LIMITS.names)
    items = []
    for name in names or ORDER:
        page = pages().get(name)
        if page is None:
            items.append(not_found(name, ORDER))
            continue
        item = {"name": name, "status": "ok", "title": page.title, "useWhen": page.use_when}
        items.append({**item, "text": page.text} if names else item)
    return structured_result({"items": items})


async def search_reference(
    context: ToolContext[AuthorServices], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"items": [{"kind", "name", "title", "snippet", "at"?, "score"}], "total"}`.

    Raises:
        CallError: There is no such kind (W2002).
    """
    kinds = require_kinds(arguments["kinds"])
    services, snapshot = context.services, context.caller.snapshot
    reference, audience = services.reference, context.caller.principal.audience
    await reference.prepare(snapshot, audience=audience)
    tests: Sequence[tuple[float, ReferenceEntry]] = ()

    def search_folder() -> list[tuple[float, ReferenceEntry]]:
        paths = (tests_name(widget.definition.path) for widget in snapshot.widgets.values())
        texts, room = {}, LIMITS.searched_bytes
        for path in islice(paths, LIMITS.searched_tests):
            text = services.text_of(path)
            room -= len(text)
            if room < 0:
                break
            if text:
                texts[path] = text
        return services.tests.of(audience).search(texts, arguments["query"])

    if "test" in kinds:
        tests = await services.at_once.run_blocking(context.caller.principal.name, search_folder)
    items, total = reference.find(
        snapshot, arguments["query"], kinds, arguments["limit"], audience=audience, tests=tests
    )
    return structured_result({"items": items, "total": total})


async def get_component_details(
    context: ToolContext[AuthorServices], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"items": [{"name", "status", "use", "properties", ...}]}`. Briefly without names.

    With `picture`, an image of the components in each value of their choices is added, in both
    themes, and `{"width", "height"}`. If none can be taken, its `error` says why.

    Raises:
        CallError: There are too many names (W3003).
    """
    names, caller, services = arguments["names"], context.caller, context.services
    demand_few(names, LIMITS.drawn_components if arguments.get("picture") else LIMITS.components)
    examples = services.examples.of(caller.principal.audience)

    def read() -> list[dict[str, Any]]:
        return list(describe_components(names, examples.follow(caller.snapshot)))

    items = await services.at_once.run_blocking(context.caller.principal.name, read)
    screenshots = list_screenshots(names) if arguments.get("picture") else []
    if not screenshots:
        return structured_result({"items": items})

    camera, owner = context.services.camera, caller.principal.name

    async def draw() -> Picture:
        sheet, _ = await camera.sheet({shot.title: shot for shot in screenshots}, owner=owner)
        return sheet

    return await _add_picture({"items": items}, draw, ("width", "height"))


async def _add_picture(
    report: Mapping[str, Any], draw: Callable[[], Awaitable[Picture]], facts: Sequence[str]
) -> Result:
    try:
        picture = await draw()
    except CallError as error:
        failed = {"error": f"[{error.code}] {error.message}"}
        return structured_result({**report, "picture": failed})
    size = {name: getattr(picture, name) for name in facts}
    return structured_result({**report, "picture": size}, image_block(picture.content))


async def read_widget(context: ToolContext[AuthorServices], arguments: Mapping[str, Any]) -> Result:
    """Return `{"items": [{"name", "status", "file", "digest", "parts", "missing"}], "left"}`.

    Parts beyond the limit are named in `left`, to be requested alone: no part is cut.

    Raises:
        CallError: There is no such part (W2002), or there are too many names (W3003).
    """
    names, parts = arguments["names"], tuple(dict.fromkeys(arguments["parts"]))
    demand_few(names, LIMITS.names)
    for part in parts:
        if part not in _READERS:
            hint = did_you_mean(part, _READERS, f"there are {', '.join(_READERS)}")
            raise CallError("W2002", f"a widget has no part '{part[:80]}'; {hint}", path="parts")
    services, snapshot = context.services, context.caller.snapshot

    def read() -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        left: list[str] = []
        room = LIMITS.parts_bytes
        for name in names:
            widget = snapshot.widgets.get(name)
            if widget is None:
                items.append(not_found(name, snapshot.widgets))
                continue
            item: dict[str, Any] = {
                "name": name,
                "status": "ok",
                "file": widget.definition.path,
                "digest": widget.key,
                "parts": {},
                "missing": [],
            }
            for part in parts:
                content = _READERS[part](widget, services, context.caller)
                if not content:
                    item["missing"].append(part)
                    continue
                weight = len(orjson.dumps(content))
                # The first is always included, or it could never be read.
                if weight > room and room < LIMITS.parts_bytes:
                    left.append(f"{name}/{part}")
                    continue
                item["parts"][part] = content
                room -= weight
            items.append(item)
        return {"items": items, "left": left}

    return structured_result(
        await services.at_once.run_blocking(context.caller.principal.name, read)
    )


def _dependencies(widget: Widget, services: AuthorServices, _caller: Caller) -> dict[str, Any]:
    """Return `{"components", "icons", "actions", "upstream"?, "tests", "unusedFields", …}`."""
    upstreams = [f"{part.upstream}/{part.tool}" for part in widget.definition.sidecar.feeds]
    problems: dict[str, list[str]] = {name: [] for name in _FINDINGS.values()}
    for finding in check_widget(widget):
        if finding.code in _FINDINGS:
            problems[_FINDINGS[finding.code]].append(finding.problem)
    return {
        "components": count_components(widget),
        "icons": find_icons(widget),
        "imageOrigins": sorted(widget.definition.image_origins),
        "actions": [action.type for action in find_widget_actions(widget)],
        **({"upstream": ", ".join(upstreams)} if upstreams else {}),
        "tests": [beside] if services.text_of(beside := tests_name(widget.definition.path)) else [],
        **problems,
    }


def _feed(widget: Widget, _services: AuthorServices, _caller: Caller) -> Any:
    parts = widget.definition.sidecar.feeds
    written = [part.model_dump(mode="json", exclude_unset=True) for part in parts]
    return written[0] if len(written) == 1 else written or None


def _history(widget: Widget, services: AuthorServices, caller: Caller) -> dict[str, Any] | None:
    """Return `{"before", "breaking", "parts"}` since the previous version, or None if unknown."""
    earlier = services.history.before(widget, caller.principal.audience.sees)
    if earlier is None:
        return None
    changes = diff_versions(earlier, widget)
    return {
        "before": earlier.key,
        "breaking": [f"{change.problem}; {change.advice}" for change in changes.breaking],
        "parts": {name: "\n".join(lines) for name, lines in changes.parts},
    }


def _resource(part: str, widget: Widget, services: AuthorServices, caller: Caller) -> Any:
    mime_type, read = PARTS[part]
    text = read(widget, caller.snapshot, services.image_origins)
    return orjson.loads(text) if text and mime_type == JSON else text


_FINDINGS = {
    "W1210": "unusedFields",
    "W1320": "undeclared",
    "W1321": "undeclared",
    "W1404": "unknownIcons",
    "W1408": "collisions",
}
"""Codes of findings about unused and missing parts, with their names in `dependencies`."""

_READERS: Mapping[str, Callable[[Widget, AuthorServices, Caller], Any]] = {
    "sidecar": lambda widget, services, _: services.text_of(widget.definition.path + SUFFIX),
    "dependencies": _dependencies,
    "history": _history,
    "feed": _feed,
    "tests": lambda widget, services, _: services.text_of(tests_name(widget.definition.path)),
    **{part: partial(_resource, part) for part in PARTS},
}
"""The reader of each part of a widget; the first of them are `OWN_PARTS` of the toolset."""


def _read_file(arguments: Mapping[str, Any]) -> Mapping[str, Any] | str:
    present = [name for name in ("widget", "jsx") if arguments.get(name) is not None]
    if len(present) != 1:
        problem = "expected either 'widget', the object of a file, or 'jsx', the text of one; "
        problem += "got both" if present else "got none"
        raise CallError("W2002", problem, path="widget")
    file: Mapping[str, Any] | str = arguments[present[0]]
    return file


def _complete_name(arguments: Mapping[str, Any]) -> str:
    name = str(arguments.get("file")).removesuffix(".jsx").removesuffix(WIDGET_SUFFIX)
    return name + (WIDGET_SUFFIX if arguments.get("jsx") is None else JSX_SUFFIX)


async def try_widget(context: ToolContext[AuthorServices], arguments: Mapping[str, Any]) -> Result:
    """Return the preview of a draft, see `Drafts.preview`. A bad draft has findings, not an error.

    With `picture`, an image and `{"width", "height", "overflow", "console"}` are added. If none can
    be taken, its `error` says why.

    Raises:
        CallError: A picture cannot have this width (W2002).
    """
    services, snapshot = context.services, context.caller.snapshot
    width = arguments.get("width", DEFAULT_WIDTH_PX)
    if not MIN_WIDTH_PX <= width <= MAX_WIDTH_PX:
        problem = f"expected pixels from {MIN_WIDTH_PX} to {MAX_WIDTH_PX}, got {width}"
        raise CallError("W2002", problem, path="width")
    draft = _read_file(arguments), arguments["sidecar"], arguments.get("arguments")
    trace, taken = arguments.get("trace", False), arguments["take"]
    preview = partial(services.drafts.preview, *draft, snapshot, trace=trace, taken=taken)
    report = await services.at_once.run_blocking(context.caller.principal.name, preview)
    if not arguments.get("picture") or "tree" not in report:
        return structured_result(report)
    # Most drafts are tried without a picture.
    from widgetd.author.browser.picture import Screenshot  # noqa: PLC0415

    theme = arguments.get("theme", "light")
    shot = Screenshot(tree=report["tree"], title=report["tool"], theme=theme, width=width, scale=1)
    draw = partial(context.services.camera.take, shot, owner=context.caller.principal.name)
    return await _add_picture(report, draw, ("width", "height", "overflow", "console"))


def save_confirmation(
    context: ToolContext[AuthorServices], arguments: Mapping[str, Any]
) -> ConsentQuestion | None:
    file, services = _complete_name(arguments), context.services
    is_named = isinstance(arguments.get("file"), str) and is_widget_name(file)
    if services.uploads is None or not is_named:
        return None
    text = f"Save a new widget as '{file}'?"
    if arguments.get("replaces"):
        text = f"Replace the widget in '{file}'?"
    draw = partial(_draw_save, services, file, arguments)
    return ConsentQuestion(text=text, draw=draw, hidden=("file", "widget", "jsx", "replaces"))


def _draw_save(
    services: AuthorServices, file: str, arguments: Mapping[str, Any]
) -> list[dict[str, Any]]:
    try:
        content, sidecar = _read_file(arguments), str(arguments.get("sidecar") or "")
        built = services.drafts.check(content, sidecar).widget
        after = encode_file(content).decode()
        tree = None if built is None else remove_actions(built.call(built.example).tree)
    except (CallError, WidgetError, ValueError, TypeError):
        return []  # the save itself says what is wrong
    parts: list[dict[str, Any]] = []
    if tree is not None:
        parts.append({"type": "Divider"})
        parts.extend(tree["children"] if tree["type"] != "ListView" else [])
    if before := services.text_of(file):
        # An export has its whole template in one line.
        old, new = (text.replace("\\n", "\n").splitlines() for text in (before, after))
        lines = list(unified_diff(old, new, 1))
        excerpt = "\n".join(line[: LIMITS.diff_line_chars] for line in lines[: LIMITS.diff_lines])
        parts += [{"type": "Divider"}, {"type": "Markdown", "value": f"```diff\n{excerpt}\n```"}]
    return parts


async def run_tests(files: Mapping[str, bytes], owner: str, report: Report) -> None:
    """Run the tests among `files` in a process and a folder of their own.

    Raises:
        CallError: They cannot be read, fail, or take too long (W1122), or `owner` already has
            others running (W2202).
    """
    with ExitStack() as held:
        try:
            held.enter_context(PROCESSES.hold("tests", owner))
        except BlockingIOError:
            problem = "other tests of yours, or of others, are running; send these again later"
            raise CallError("W2202", problem, recoverable=True, retry_after_s=1.0) from None
        folder = held.enter_context(TemporaryDirectory())
        for name, content in files.items():
            await anyio.Path(folder, name).write_bytes(content)
        command = [sys.executable, "-P", "-m", "widgetd.base.processes", "tests", "test", folder]
        command += ["--", "-p", "no:cacheprovider"]
        code, output = None, b""
        async with (
            await anyio.open_process(command, cwd=folder, stderr=STDOUT) as process,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(PROCESSES.watch, "tests", process.pid)
            stdout = cast("ByteReceiveStream", process.stdout)
            try:
                with anyio.move_on_after(LIMITS.tests_s):
                    async for chunk in stdout:
                        output = (output + chunk)[-LIMITS.test_output_bytes :]
                        for line in chunk.decode(errors="replace").splitlines(keepends=True):
                            if row := PROGRESS_LINE.fullmatch(line):
                                await report(int(row[1]), int(row[2]), "tests")
                    code = await process.wait()
            finally:
                # With any browser started by it.
                end_tree(process.pid)
            tasks.cancel_scope.cancel()
    if code == 0:
        return
    summary = PROGRESS_LINE.sub("", output.decode(errors="replace"))
    if code is None or code < 0:
        summary = "they take too long, or too much memory"
    summary = summary.replace(f"{folder}/", "").strip()[-LIMITS.test_report_chars :]
    raise CallError(
        "W1122", f"its tests do not pass, so nothing was saved: {summary}", path="tests"
    )


async def save_widget(context: ToolContext[AuthorServices], arguments: Mapping[str, Any]) -> Result:
    """Save a widget and return `{"file", "tool", "digest", "page"?}`.

    Raises:
        CallError: Saving is not allowed (W3004), the file has changed (W3005), the user declined
            (W3006), its tests fail (W1122), or the widget is refused: the error has the code and
            the sentence of the fault.
    """
    services = context.services
    if services.uploads is None:
        problem = "nothing may be saved here: widgetd was started without --allow-upload"
        raise CallError("W3004", problem)
    file = _complete_name(arguments)
    files = {file: encode_file(_read_file(arguments))}
    if arguments["sidecar"].strip():
        files[file + SUFFIX] = arguments["sidecar"].encode()
    tests = arguments["tests"].encode()
    principal = context.caller.principal
    has_tests = tests and is_widget_name(file)
    tested = {**files, tests_name(file): tests}
    run = partial(run_tests, tested, principal.name, context.caller.report)
    try:
        tool = await services.uploads.save(
            principal,
            files,
            replaces=arguments["replaces"],
            tests=tests,
            run_tests=run if has_tests else None,
        )
    except RefusedUploadError as error:
        finding = error.finding
        raise CallError(finding.code, f"{finding.problem}; {finding.advice}") from None
    widget = services.registry.current.widgets.get(tool)
    digest = "" if widget is None else widget.key
    page = {"page": f"/w/{tool}"} if services.pages else {}
    return structured_result({"file": file, "tool": tool, "digest": digest, **page})
