"""Keywords that expect something, and wait for it until the step's deadline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import anyio
import orjson
from pydantic import AfterValidator, Field

from widgetd.author.browser import axe
from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.picture import find_difference
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.targets import NOWHERE, Target, Text
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.text_search import LinearPattern, compile_pattern
from widgetd.core.widget.query import compile_query

_ACTUAL = compile_pattern(r"(?m)^[^\S\n]*+(?:Actual value|Received): ?(.*)$")

FileName = Annotated[str, Field(pattern=r"^[^/\\]*$", max_length=100)]
"""A part of a file's name, which is no path."""


class UnexpectedError(CallError):
    """A difference between what a step expects and what is there (W4301)."""

    def __init__(self, what: str, *, expected: object, got: object) -> None:
        problem = f"{what}: expected {_abbreviate(expected)}, got {_abbreviate(got)}"
        super().__init__("W4301", problem)
        self.expected = expected
        self.got = got


def _abbreviate(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= 400 else f"{text[:400]}…"


async def expect_visible(stage: Stage, target: Target) -> None:
    """Expect an element to be visible."""
    await _assert(stage, target, "visible", "to_be_visible")


async def expect_hidden(stage: Stage, target: Target) -> None:
    """Expect an element to be hidden or absent."""

    async def visibility() -> str:
        candidates = await stage.locators(target)
        elements = [element for locator in candidates for element in await locator.all()]
        visible = sum([await element.is_visible() for element in elements])
        return f"{visible} visible" if visible else "hidden"

    await _poll(stage, f"{target}", "hidden", visibility)


async def expect_text(
    stage: Stage,
    target: Target,
    equals: Text = "",
    contains: Text = "",
    pattern: Annotated[str, AfterValidator(lambda text: LinearPattern(text).source)] = "",
) -> None:
    """Expect the text of an element: all of it, a part of it, or a match of a pattern."""
    if pattern:
        linear, wanted = LinearPattern(pattern), f"/{pattern}/"
        located = await stage.find(target)

        # Matched here, because the page's own engine could take for ever.
        async def read_text() -> str:
            text = "".join(await located.all_text_contents())  # does not wait
            return wanted if linear.matches(text) else text.strip()

        await _poll(stage, f"{target}", wanted, read_text)
    elif contains:
        await _assert(stage, target, f"…{contains}…", "to_contain_text", contains)
    else:
        await _assert(stage, target, equals, "to_have_text", equals)


async def expect_value(stage: Stage, target: Target, equals: Text) -> None:
    """Expect the value of a field; of a box, true or false."""
    located = await stage.find(target)
    await _poll(stage, f"{target}", equals, lambda: stage.value_of(located))


async def expect_enabled(stage: Stage, target: Target, enabled: bool = True) -> None:
    """Expect an element to be enabled; with enabled: false, to be disabled."""
    state = "enabled" if enabled else "disabled"
    await _assert(stage, target, state, f"to_be_{state}")


async def expect_count(stage: Stage, target: Target, count: int) -> None:
    """Expect this many elements."""

    async def count_elements() -> int:
        return sum([await locator.count() for locator in (await stage.locators(target))[:1]])

    await _poll(stage, f"{target}", count, count_elements)


async def expect_action(
    stage: Stage,
    type: str,  # noqa: A002 - as ChatKit calls it
    payload: dict[str, Any] = {},  # noqa: B006 - never written to
) -> dict[str, Any]:
    """Expect an action, with at least this payload.

    The first such action counts; expecting it again waits for another one.
    """

    def fits(event: Mapping[str, Any]) -> bool:
        is_accepted = event["type"] == type and "code" not in event
        return is_accepted and is_part(payload, event["payload"])

    event = await _consume_event(stage, ("action",), {"type": type, "payload": payload}, fits)
    return {"type": event["type"], "payload": event["payload"]}


async def expect_message(stage: Stage, contains: Text = "") -> str:
    """Expect a message of the widget to the model, as a turn or as context."""
    kinds = ("message", "context")
    event = await _consume_event(
        stage, kinds, contains or "a message", lambda event: contains in event["text"]
    )
    return str(event["text"])


async def expect_link(stage: Stage, url: str = "") -> str:
    """Expect a request of the widget that the host opens an address."""
    event = await _consume_event(
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
    got = compile_query(path).find(stage.require_display().root)
    if got != equals:
        raise UnexpectedError(f"the tree's {path}", expected=equals, got=got)


# The places where Playwright reads a pattern: instead of a name, or as the whole of a text.
_ARIA_NAME = compile_pattern(r"\A'?\s*+[A-Za-z]*+\s*+/(?!(?:url|placeholder|children):)")
_ARIA_TEXT = compile_pattern(r""":\s++['"]?/""")
_ARIA_END = compile_pattern(r"""/['"]?(?:\s++#|\s*+$)""")
_ESCAPED_SLASH = compile_pattern(r"\\(?:/|x2[fF]|u002[fF]|U0000002[fF])")
_ARIA_STRUCTURE = compile_pattern(r"""\A(?:["\[{&*!|>]|[-?]\s)|: ++[\[{&*!|>]""")


def _require_no_pattern(snapshot: str) -> str:
    """Return a snapshot without patterns for the page to match.

    The page's own engine could take for ever. Only YAML as Playwright writes it is accepted, one
    item to a line, so no other way of writing YAML hides a pattern.

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
    snapshot: Annotated[str, AfterValidator(_require_no_pattern)] = "",
    target: Target = NOWHERE,
) -> None:
    """Expect roles and names, as Playwright writes them; without a snapshot, those in the file."""
    from playwright.async_api import expect  # noqa: PLC0415 - an extra

    located = await stage.find(target) if target else stage.frame.locator("body")
    if not snapshot:
        baselines = stage.require_baselines()
        before = baselines.read("", ".aria.yaml")
        after = (await located.aria_snapshot(timeout=stage.left_ms)).encode()
        if before is None or baselines.update:
            if before != after:
                baselines.write("", ".aria.yaml", after)
            return
        try:
            snapshot = _require_no_pattern(before.decode(errors="replace"))
        except ValueError as error:
            raise CallError("W4302", f"{baselines.path('', '.aria.yaml')}: {error}") from None
    try:
        await expect(located).to_match_aria_snapshot(snapshot, timeout=stage.left_ms)
    except AssertionError:
        got = await located.aria_snapshot()
        raise UnexpectedError("roles and names", expected=snapshot, got=got) from None


async def expect_picture(stage: Stage, name: FileName = "", target: Target = NOWHERE) -> None:
    """Expect the widget to look as in the picture beside the test, as far as a person sees."""
    baselines = stage.require_baselines()
    before = baselines.read(name, ".png")
    after = await stage.picture(target)
    difference = before and await find_difference(stage.context, before, after)
    if baselines.update and (difference or before is None):
        baselines.write(name, ".png", after)
    elif before and difference:
        stage.unexpected_pictures = {
            "difference.png": difference.side_by_side,
            "expected.png": before,
            "seen.png": after,
        }
        file = baselines.path(name, ".png").rpartition("/")[2]
        raise UnexpectedError("the picture", expected=file, got=difference.description)


async def expect_accessible(stage: Stage) -> None:
    """Expect no violation that axe finds, and nothing wider than the frame."""
    await stage.settle()
    frame = stage.inner_frame
    await stage.charge_picture()
    violations = await axe.find_violations(frame, code="W4203")
    if violations:
        listed = [f"{row['rule']} at {row['element'][:160]}" for row in violations]
        got = "; ".join(listed[: LIMITS.named_events])
        raise UnexpectedError("axe", expected="nothing", got=got)
    wider = await frame.evaluate(_WIDER)
    if wider:
        raise UnexpectedError("the width", expected="nothing wider than the frame", got=wider)


_WIDER = """() => {
  const room = document.documentElement;
  if (room.scrollWidth <= room.clientWidth) return "";
  return `${room.scrollWidth} pixels in ${room.clientWidth}`;
}"""


async def expect_quiet(stage: Stage) -> None:
    """Expect no error in the console of the page."""
    if stage.console:
        got = stage.console[-LIMITS.named_events :]
        raise UnexpectedError("the console", expected="nothing", got=got)


def is_part(wanted: object, got: object) -> bool:
    """Return whether `got` has all of `wanted`. An object in it may have more keys."""
    if isinstance(wanted, Mapping):
        return isinstance(got, Mapping) and all(
            key in got and is_part(value, got[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return False
        return all(map(is_part, wanted, got))
    return bool(got == wanted)


async def _assert(stage: Stage, target: Target, expected: str, check: str, *values: object) -> None:
    from playwright.async_api import expect  # noqa: PLC0415 - an extra

    located = await stage.find(target)
    try:
        await getattr(expect(located), check)(*values, timeout=stage.left_ms)
    except AssertionError as error:
        actual = _ACTUAL.search(str(error))
        got = (actual[1].strip() if actual else "") or "otherwise"
        raise UnexpectedError(f"{target}", expected=expected, got=got) from None


async def _poll(
    stage: Stage, what: str, wanted: object, read: Callable[[], Awaitable[object]]
) -> None:
    until = anyio.current_time() + stage.left_s
    while (got := await read()) != wanted:
        if anyio.current_time() >= until:
            raise UnexpectedError(what, expected=wanted, got=got)
        await anyio.sleep(LIMITS.poll_s)


async def _consume_event(
    stage: Stage,
    kinds: tuple[str, ...],
    expected: object,
    fits: Callable[[Mapping[str, Any]], bool],
) -> Mapping[str, Any]:
    until = anyio.current_time() + stage.left_s
    while True:
        events = [event for event in stage.events if event["kind"] in kinds]
        for event in events:
            if event["seq"] not in stage.consumed and fits(event):
                stage.consumed.add(event["seq"])
                return event
        left_s = until - anyio.current_time()
        if left_s <= 0 or not await stage.event_within(left_s):
            recent = events[-LIMITS.named_events :]
            got: object = "nothing"
            if recent:
                got = [{key: event[key] for key in event if key != "seq"} for event in recent]
            raise UnexpectedError(f"the {kinds[0]}", expected=expected, got=got)
