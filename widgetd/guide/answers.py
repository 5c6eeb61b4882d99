"""What answers the tools of the toolset `author`: what is there, what a draft comes to, saving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from anyio import CapacityLimiter, to_thread

from widgetd.access.principal import Caller, PerAudience
from widgetd.browser.pictures import (
    DEFAULT_WIDTH_PX,
    MAX_WIDTH_PX,
    MIN_WIDTH_PX,
    demand_few,
    image_block,
)
from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.history import History, diff_versions
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.catalog.uploads import RefusedUploadError, Uploader, Uploads, is_widget_name
from widgetd.checks import check_widget
from widgetd.errors import CallError
from widgetd.guide.component_details import Examples, components_in, details, icons_in
from widgetd.guide.drafts import Drafts
from widgetd.guide.guide import KINDS, ORDER, pages
from widgetd.guide.reference import Reference
from widgetd.mcp.builtin.table import ToolContext
from widgetd.render.parts import JSON, PARTS
from widgetd.render.result import Result, not_found, structured_result, text_block
from widgetd.schema.json_values import to_json
from widgetd.text_search import did_you_mean
from widgetd.widget.actions import widget_actions
from widgetd.widget.naming import JSX_SUFFIX, TESTS_SUFFIX, WIDGET_SUFFIX
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

MOST_NAMES = 8
MOST_COMPONENTS = 50
MOST_BYTES = 64 * 1024
"""Of parts in one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authoring:
    """What these tools use.

    Attributes:
        text_of: The text of a file of the folder, by its path; empty where there is none.
        uploads: None where nothing may be saved.
        views: A snapshot as an audience sees it.
        pages: Whether each widget has a page in the gallery.
        at_once: How many drafts are tried at the same time, beside the event loop.
    """

    drafts: Drafts
    reference: Reference
    examples: PerAudience[Examples]
    text_of: Callable[[str], str]
    uploads: Uploads | None
    registry: Registry
    views: Callable[[Snapshot, Any], Snapshot]
    history: History
    journal: CrashJournal
    pages: bool
    at_once: CapacityLimiter


async def get_guide(_context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "status", "title", "useWhen", "text"?}]}`; without names, no text."""
    names = arguments["names"]
    demand_few(names, MOST_NAMES)
    items = []
    for name in names or ORDER:
        found = pages().get(name)
        if found is None:
            items.append(not_found(name, ORDER))
            continue
        item = {"name": name, "status": "ok", "title": found.title, "useWhen": found.use_when}
        items.append({**item, "text": found.text} if names else item)
    return structured_result({"items": items})


async def search_reference(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"kind", "name", "title", "snippet", "at"?, "score"}], "total"}`, best first."""
    kinds = arguments["kinds"]
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        problem = f"there is no kind '{unknown[0]}'; there are {', '.join(KINDS)}"
        raise CallError("W2002", problem, path="kinds")
    reference, snapshot = context.use(Authoring).reference, context.caller.snapshot
    audience = context.caller.principal.audience
    await reference.prepare(snapshot, audience=audience)
    items, total = reference.find(
        snapshot, arguments["query"], kinds, arguments["limit"], audience=audience
    )
    return structured_result({"items": items, "total": total})


async def get_component_details(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "status", "use", "properties", ...}]}`; one line each without names."""
    names, caller, authoring = arguments["names"], context.caller, context.use(Authoring)
    demand_few(names, MOST_COMPONENTS)
    examples = authoring.examples.of(caller.principal.audience)

    def read() -> list[dict[str, Any]]:
        return list(details(names, examples.following(caller.snapshot)))

    items = await to_thread.run_sync(read, limiter=authoring.at_once)
    return structured_result({"items": items})


async def read_widget(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "status", "file", "digest", "parts", "missing"}], "left"}`.

    What does not fit is named in `left`, and comes by asking for it alone: nothing is cut.
    """
    names, asked = arguments["names"], tuple(dict.fromkeys(arguments["parts"]))
    demand_few(names, MOST_NAMES)
    readers = {**_READERS, **dict.fromkeys(PARTS)}
    for part in asked:
        if part not in readers:
            hint = did_you_mean(part, readers, f"there are {', '.join(readers)}")
            raise CallError("W2002", f"a widget has no part '{part[:80]}'; {hint}", path="parts")
    authoring, snapshot = context.use(Authoring), context.caller.snapshot

    def read() -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        left: list[str] = []
        room = MOST_BYTES
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
            for part in asked:
                content = _part(part, widget, context, authoring)
                if not content:
                    item["missing"].append(part)
                    continue
                weight = len(orjson.dumps(content))
                # The first is told in any case, or it could never be had.
                if weight > room and room < MOST_BYTES:
                    left.append(f"{name}/{part}")
                    continue
                item["parts"][part] = content
                room -= weight
            items.append(item)
        return {"items": items, "left": left}

    return structured_result(await to_thread.run_sync(read, limiter=authoring.at_once))


def _part(part: str, widget: Widget, context: ToolContext, authoring: Authoring) -> Any:
    own = _READERS.get(part)
    if own is not None:
        return own(widget, authoring, context.caller)
    mime_type, read = PARTS[part]
    text = read(widget, context.caller.snapshot)
    return orjson.loads(text) if text and mime_type == JSON else text


def _dependencies(widget: Widget, authoring: Authoring, _caller: Caller) -> dict[str, Any]:
    """`{"components", "icons", "actions", "upstream"?, "tests", "unusedFields", …}` of a widget."""
    feed = widget.definition.sidecar.feed
    said: dict[str, list[str]] = {name: [] for name in _SAYING.values()}
    for finding in check_widget(widget):
        if finding.code in _SAYING:
            said[_SAYING[finding.code]].append(finding.problem)
    return {
        "components": components_in(widget),
        "icons": icons_in(widget, authoring.journal),
        "imageOrigins": sorted(widget.definition.image_origins),
        "actions": [action.type for action in widget_actions(widget)],
        **({} if feed is None else {"upstream": f"{feed.upstream}/{feed.tool}"}),
        "tests": [beside] if authoring.text_of(beside := _tests_of(widget)) else [],
        **said,
    }


def _tests_of(widget: Widget) -> str:
    """The file of tests that goes with it, beside its own."""
    path = widget.definition.path
    return path.removesuffix(JSX_SUFFIX).removesuffix(WIDGET_SUFFIX) + TESTS_SUFFIX


def _feed(widget: Widget, _authoring: Authoring, _caller: Caller) -> dict[str, Any] | None:
    feed = widget.definition.sidecar.feed
    return None if feed is None else feed.model_dump(mode="json", exclude_unset=True)


def _history(widget: Widget, authoring: Authoring, caller: Caller) -> dict[str, Any] | None:
    """`{"before", "breaking", "parts"}` since the version before; None where none is known."""
    earlier = authoring.history.before(widget)
    if earlier is None or not caller.principal.audience.sees(earlier):
        return None
    with authoring.journal.rendering(earlier.key), authoring.journal.rendering(widget.key):
        changes = diff_versions(earlier, widget)
    return {
        "before": earlier.key,
        "breaking": [f"{one.problem}; {one.advice}" for one in changes.breaking],
        "parts": {name: "\n".join(lines) for name, lines in changes.parts},
    }


_SAYING = {
    "W1210": "unusedFields",
    "W1320": "undeclared",
    "W1321": "undeclared",
    "W1404": "unknownIcons",
    "W1408": "collisions",
}
"""Which findings say what a widget lacks, or has too much of."""

_READERS: Mapping[str, Callable[[Widget, Authoring, Caller], Any]] = {
    "sidecar": lambda widget, authoring, _: authoring.text_of(widget.definition.path + SUFFIX),
    "dependencies": _dependencies,
    "history": _history,
    "feed": _feed,
    "tests": lambda widget, authoring, _: authoring.text_of(_tests_of(widget)),
}


async def try_widget(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """What a draft comes to: see `Drafts.tried`; a bad one is no error, but has findings.

    With `picture`, an image besides, and `{"width", "height", "overflow", "console"}` of it; where
    none can be taken, that says so, and the rest is answered all the same.
    """
    authoring, snapshot = context.use(Authoring), context.caller.snapshot
    width = arguments.get("width", DEFAULT_WIDTH_PX)
    if not MIN_WIDTH_PX <= width <= MAX_WIDTH_PX:
        problem = f"expected pixels from {MIN_WIDTH_PX} to {MAX_WIDTH_PX}, got {width}"
        raise CallError("W2002", problem, path="width")
    draft = arguments["widget"], arguments["sidecar"], arguments.get("arguments")
    tried = partial(authoring.drafts.tried, *draft, snapshot, trace=arguments.get("trace", False))
    said = await to_thread.run_sync(tried, limiter=authoring.at_once)
    if not arguments.get("picture") or "tree" not in said:
        return structured_result(said)
    # Most drafts are tried without a picture.
    from widgetd.browser.camera import Camera  # noqa: PLC0415
    from widgetd.browser.picture import Screenshot  # noqa: PLC0415

    theme = arguments.get("theme", "light")
    shot = Screenshot(tree=said["tree"], title=said["tool"], theme=theme, width=width, scale=1)
    try:
        picture = await context.use(Camera).take(shot)
    except CallError as error:
        return structured_result({**said, "picture": {"error": f"[{error.code}] {error.message}"}})
    told = {name: getattr(picture, name) for name in ("width", "height", "overflow", "console")}
    structured = to_json({**said, "picture": told})
    blocks = [image_block(picture.content), text_block(structured.decode())]
    return Result(content=to_json(blocks), structured=structured)


def question_of(context: ToolContext, arguments: Mapping[str, Any]) -> str:
    """What a user is asked before a widget is saved; empty where it is refused in any case."""
    file = arguments.get("file")
    is_allowed = context.use(Authoring).uploads is not None
    if not is_allowed or not isinstance(file, str) or not is_widget_name(file):
        return ""
    replaces = arguments.get("replaces")
    return f"Replace the widget in '{file}'?" if replaces else f"Save a new widget as '{file}'?"


async def save_widget(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"file", "tool", "digest", "page"?}` of what is served now.

    Raises:
        CallError: Nothing may be saved here (W3004), the file is another by now (W3005), or it
            was refused: the error has the code and the sentence of the refusal.
    """
    authoring, caller = context.use(Authoring), context.caller
    if authoring.uploads is None:
        problem = "nothing may be saved here: widgetd was started without --allow-upload"
        raise CallError("W3004", problem)
    audience = caller.principal.audience
    uploader = Uploader(
        name=caller.principal.name,
        sees_everything=audience.sees_everything,
        sees=audience.sees,
        view=lambda snapshot: authoring.views(snapshot, audience),
    )
    file = arguments["file"]
    files = {file: orjson.dumps(arguments["widget"], option=orjson.OPT_INDENT_2)}
    if arguments["sidecar"].strip():
        files[file + SUFFIX] = arguments["sidecar"].encode()
    try:
        tool = await authoring.uploads.save(uploader, files, replaces=arguments["replaces"])
    except RefusedUploadError as error:
        finding = error.finding
        raise CallError(finding.code, f"{finding.problem}; {finding.advice}") from None
    made = authoring.registry.current.widgets.get(tool)
    digest = "" if made is None else made.key
    page = {"page": f"/w/{tool}"} if authoring.pages else {}
    return structured_result({"file": file, "tool": tool, "digest": digest, **page})
