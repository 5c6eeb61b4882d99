"""Keywords that expect something, and wait for it as long as a step may take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import anyio
import orjson
from pydantic import AfterValidator, Field

from widgetd.browser import axe
from widgetd.browser.limits import LIMITS
from widgetd.browser.picture import difference
from widgetd.browser.stage import Stage
from widgetd.browser.targets import NOWHERE, Target, Text
from widgetd.errors import CallError, WidgetError
from widgetd.text_search import LinearPattern, compile_pattern
from widgetd.widget.query import compile_query

_ACTUAL = compile_pattern(r"(?m)^[^\S\n]*+(?:Actual value|Received): ?(.*)$")

_MOST_NAMED = 5

FileName = Annotated[str, Field(pattern=r"^[^/\\]*$", max_length=100)]
"""A part of a file's name, which is no path."""


class UnexpectedError(CallError):
    """Something is not as expected (W4301).

    Attributes:
        expected: What should be.
        got: What is.
    """

    def __init__(self, what: str, *, expected: object, got: object) -> None:
        super().__init__("W4301", f"{what}: expected {_short(expected)}, got {_short(got)}")
        self.expected = expected
        self.got = got


def _short(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= 400 else f"{text[:400]}…"


async def expect_visible(stage: Stage, target: Target) -> None:
    """Expect that something is to be seen."""
    await _held(stage, target, "visible", "to_be_visible")


async def expect_hidden(stage: Stage, target: Target) -> None:
    """Expect that something is not there, or not to be seen."""

    async def seen() -> str:
        rungs = await stage.locators(target)
        found = [one for rung in rungs for one in await rung.all() if await one.is_visible()]
        return f"{len(found)} visible" if found else "hidden"

    await _polled(stage, f"{target}", "hidden", seen)


async def expect_text(
    stage: Stage,
    target: Target,
    equals: Text = "",
    contains: Text = "",
    pattern: Annotated[str, AfterValidator(lambda given: LinearPattern(given).source)] = "",
) -> None:
    """Expect what something says: all of it, a part of it, or what a pattern matches."""
    if pattern:
        linear, wanted = LinearPattern(pattern), f"/{pattern}/"
        located = await stage.find(target)

        # Matched here: the page's own engine could take for ever.
        async def text() -> str:
            said = "".join(await located.all_text_contents())  # waits for nothing
            return wanted if linear.matches(said) else said.strip()

        await _polled(stage, f"{target}", wanted, text)
    elif contains:
        await _held(stage, target, f"…{contains}…", "to_contain_text", contains)
    else:
        await _held(stage, target, equals, "to_have_text", equals)


async def expect_value(stage: Stage, target: Target, equals: Text) -> None:
    """Expect what is filled in or chosen; of a box, whether it is ticked."""
    located = await stage.find(target)
    await _polled(stage, f"{target}", equals, lambda: stage.value_of(located))


async def expect_enabled(stage: Stage, target: Target, enabled: bool = True) -> None:
    """Expect that something can be used; with enabled: false, that it cannot."""
    said = "enabled" if enabled else "disabled"
    await _held(stage, target, said, f"to_be_{said}")


async def expect_count(stage: Stage, target: Target, count: int) -> None:
    """Expect so many of something."""

    async def counted() -> int:
        return sum([await rung.count() for rung in (await stage.locators(target))[:1]])

    await _polled(stage, f"{target}", count, counted)


async def expect_action(
    stage: Stage,
    type: str,  # noqa: A002 - as ChatKit calls it
    payload: dict[str, Any] = {},  # noqa: B006 - never written to
) -> dict[str, Any]:
    """Expect that an action was taken, with at least this payload.

    The first such action counts; expecting it again waits for another one.
    """

    def fits(event: Mapping[str, Any]) -> bool:
        is_taken = event["type"] == type and "code" not in event
        return is_taken and is_part(payload, event["payload"])

    event = await _event(stage, ("action",), {"type": type, "payload": payload}, fits)
    return {"type": event["type"], "payload": event["payload"]}


async def expect_message(stage: Stage, contains: Text = "") -> str:
    """Expect that the widget said something to the model, in a turn or as context."""
    kinds = ("message", "context")
    event = await _event(
        stage, kinds, contains or "a message", lambda event: contains in event["text"]
    )
    return str(event["text"])


async def expect_link(stage: Stage, url: str = "") -> str:
    """Expect that the widget asked the host to open an address."""
    event = await _event(
        stage,
        ("link",),
        url or "a link",
        lambda event: not url or event["url"].rstrip("/") == url.rstrip("/"),
    )
    return str(event["url"])


def _query(text: str) -> str:
    try:
        compile_query(text)
    except WidgetError as error:
        raise ValueError(error.finding.problem) from None
    return text


async def expect_tree(
    stage: Stage,
    path: Annotated[
        str, AfterValidator(_query), Field(description="JMESPath, as children[0].type.")
    ],
    equals: Annotated[Any, Field(description="Any JSON.")],
) -> None:
    """Expect a value in the tree that was rendered."""
    got = compile_query(path).find(stage.shown.root)
    if got != equals:
        raise UnexpectedError(f"the tree's {path}", expected=equals, got=got)


# Where Playwright reads a pattern: in place of a name, or as the whole of a text.
_ARIA_NAME = compile_pattern(r"\A'?\s*+[A-Za-z]*+\s*+/(?!(?:url|placeholder|children):)")
_ARIA_TEXT = compile_pattern(r""":\s++['"]?/""")
_ARIA_END = compile_pattern(r"""/['"]?(?:\s++#|\s*+$)""")
_ESCAPED_SLASH = compile_pattern(r"\\(?:/|x2[fF]|u002[fF]|U0000002[fF])")
_ARIA_STRUCTURE = compile_pattern(r"""\A(?:["\[{&*!|>]|[-?]\s)|: ++[\[{&*!|>]""")


def _demand_no_pattern(snapshot: str) -> str:
    """Refuse a snapshot in which Playwright would read a pattern for the page to match.

    The page's own engine could take for ever. Only YAML as Playwright writes it is read, one item
    to a line, so that no other way of writing YAML hides a pattern.

    Raises:
        ValueError: There is a pattern, or may be one.
    """
    for number, line in enumerate(snapshot.replace("\r", "\n").split("\n"), 1):
        item = _ESCAPED_SLASH.sub("/", line.lstrip(" ").removeprefix("- "))
        text = _ARIA_TEXT.search(item)
        has_pattern = _ARIA_NAME.match(item) or (text and _ARIA_END.search(item, text.end()))
        is_item = line.lstrip(" ").startswith("- ") and not _ARIA_STRUCTURE.search(item)
        if line.strip() and (has_pattern or not is_item):
            problem = f"line {number} is more than a role with its name or text"
            raise ValueError(
                f"{problem}: '{line.strip():.80}'; write no patterns and no other YAML"
            )
    return snapshot


async def expect_aria(
    stage: Stage,
    snapshot: Annotated[str, AfterValidator(_demand_no_pattern)] = "",
    target: Target = NOWHERE,
) -> None:
    """Expect roles and names, as Playwright writes them; without a snapshot, those of the file."""
    from playwright.async_api import expect  # noqa: PLC0415 - an extra

    located = await stage.find(target) if target else stage.frame.locator("body")
    if not snapshot:
        baselines = stage.demand_baselines()
        before = baselines.read("", ".aria.yaml")
        after = (await located.aria_snapshot(timeout=stage.left_ms)).encode()
        if before is None or baselines.update:
            if before != after:
                baselines.write("", ".aria.yaml", after)
            return
        try:
            snapshot = _demand_no_pattern(before.decode(errors="replace"))
        except ValueError as error:
            raise CallError("W4302", f"{baselines.path('', '.aria.yaml')}: {error}") from None
    try:
        await expect(located).to_match_aria_snapshot(snapshot, timeout=stage.left_ms)
    except AssertionError:
        got = await located.aria_snapshot()
        raise UnexpectedError("roles and names", expected=snapshot, got=got) from None


async def expect_picture(stage: Stage, name: FileName = "", target: Target = NOWHERE) -> None:
    """Expect that it looks as in the file beside the test, as far as a person would see."""
    baselines = stage.demand_baselines()
    before = baselines.read(name, ".png")
    after = await stage.picture(target)
    differs = "" if before is None else await difference(stage.context, before, after)
    if baselines.update and (differs or before is None):
        baselines.write(name, ".png", after)
    elif differs:
        stage.seen = after
        file = baselines.path(name, ".png").rpartition("/")[2]
        raise UnexpectedError("the picture", expected=file, got=differs)


async def expect_accessible(stage: Stage) -> None:
    """Expect that axe finds nothing against it, and that nothing is wider than its room."""
    await stage.settle()
    frame = stage.inner
    found = await axe.violations(frame, code="W4203")
    if found:
        named = [f"{one['rule']} at {one['element'][:160]}" for one in found[:_MOST_NAMED]]
        raise UnexpectedError("axe", expected="nothing", got="; ".join(named))
    wide = await frame.evaluate(_WIDER)
    if wide:
        raise UnexpectedError("the width", expected="nothing wider than the frame", got=wide)


_WIDER = """() => {
  const room = document.documentElement;
  if (room.scrollWidth <= room.clientWidth) return "";
  return `${room.scrollWidth} pixels in ${room.clientWidth}`;
}"""


async def expect_quiet(stage: Stage) -> None:
    """Expect that the page complained of nothing in its console."""
    if stage.console:
        raise UnexpectedError("the console", expected="nothing", got=stage.console[-_MOST_NAMED:])


def is_part(wanted: object, got: object) -> bool:
    """Whether all of `wanted` is in `got`: of objects the keys that it names, all else as it is."""
    if isinstance(wanted, Mapping):
        return isinstance(got, Mapping) and all(
            key in got and is_part(value, got[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return False
        return all(map(is_part, wanted, got))
    return bool(got == wanted)


async def _held(stage: Stage, target: Target, expected: str, check: str, *given: object) -> None:
    """Hold an element to one of Playwright's own assertions."""
    from playwright.async_api import expect  # noqa: PLC0415 - an extra

    located = await stage.find(target)
    try:
        await getattr(expect(located), check)(*given, timeout=stage.left_ms)
    except AssertionError as error:
        actual = _ACTUAL.search(str(error))
        got = (actual[1].strip() if actual else "") or "otherwise"
        raise UnexpectedError(f"{target}", expected=expected, got=got) from None


async def _polled(
    stage: Stage, what: str, wanted: object, read: Callable[[], Awaitable[object]]
) -> None:
    until = anyio.current_time() + stage.left_s
    while (got := await read()) != wanted:
        if anyio.current_time() >= until:
            raise UnexpectedError(what, expected=wanted, got=got)
        await anyio.sleep(LIMITS.poll_s)


async def _event(
    stage: Stage,
    kinds: tuple[str, ...],
    expected: object,
    fits: Callable[[Mapping[str, Any]], bool],
) -> Mapping[str, Any]:
    """The first event of a kind that fits and was not expected before, waited for."""
    until = anyio.current_time() + stage.left_s
    while True:
        had = [one for one in stage.events if one["kind"] in kinds]
        for event in had:
            if event["seq"] not in stage.consumed and fits(event):
                stage.consumed.add(event["seq"])
                return event
        left_s = until - anyio.current_time()
        if left_s <= 0 or not await stage.event_within(left_s):
            said = [{key: value for key, value in one.items() if key != "seq"} for one in had]
            got = said[-_MOST_NAMED:] or "nothing"
            raise UnexpectedError(f"the {kinds[0]}", expected=expected, got=got)
