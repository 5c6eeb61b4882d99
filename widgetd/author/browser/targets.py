"""Targets: descriptions of an element on a stage, in Playwright's words and three of ours.

    role=button[name="Track"]   text=   label=   placeholder=   alt=   css=   ref=e12
    field=customer.email   action=flight.track   component=Badge

`>>` goes within, `[2]` takes the second. Names are whole names unless written as a pattern,
`/track/i`. A list of targets is a list of candidates: the first with a single element counts.
No element is an error, and so are several: nothing is guessed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import anyio
import orjson
from pydantic import BeforeValidator
from pydantic_core import CoreSchema, core_schema

from widgetd.author.browser.limits import LIMITS
from widgetd.base.errors import CallError
from widgetd.base.text_search import (
    LinearPattern,
    Match,
    compile_pattern,
    did_you_mean,
    most_similar,
    nearest,
    read_tokens,
)
from widgetd.core.widget.components import load_vocabulary

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page

_TEXTS = ("text", "label", "placeholder", "alt")
_OWN_ENGINES = {
    # A field is its control, however the view draws it. The input with its value is hidden.
    "field": '.field:has([name="{}"]) :is(input:not([type=hidden], [type=radio], .options *), '
    "select, textarea, button[aria-expanded], [role=radiogroup])",
    "action": '[data-action="{}"]',
    "component": '[data-component="{}"]',
}
_ROLES = """
    alert alertdialog application article banner blockquote button caption cell checkbox code
    columnheader combobox complementary contentinfo definition deletion dialog directory document
    emphasis feed figure form generic grid gridcell group heading img insertion link list listbox
    listitem log main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter
    navigation none note option paragraph presentation progressbar radio radiogroup region row
    rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
    subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip
    tree treegrid treeitem
"""
"""Source: WAI-ARIA 1.2, "Definition of Roles"."""

ENGINES = ("role", *_TEXTS, "css", "ref", *_OWN_ENGINES)

_ATTRIBUTE = compile_pattern(
    r"""(?s)\[\s*(?P<key>[a-z]+)\s*=\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|/(?P<pattern>(?:[^/\\]|\\.)+)/(?P<flags>[a-z]*)|(?P<word>\w+))\s*\]\s*"""
)
_ESCAPED = compile_pattern(r"(?s)\\(.)")
_CSS_ESCAPE = compile_pattern(r"(?s)\\(?:([0-9A-Fa-f]{1,6})\s?|(.))")
_REF = compile_pattern(r"\A[A-Za-z0-9]{1,40}\Z")
_FLAGS = frozenset("ims")
_STATES = ("checked", "disabled", "expanded", "pressed", "selected")
_NTH = compile_pattern(r"(?s)\A(.*\S)\s*\[(\d{1,9})\]\Z")


class Part(NamedTuple):
    """A step of the way to an element.

    Attributes:
        engine: A key of `ENGINES`.
        value: Text or pattern to look for.
        attributes: Name, states and level of a role.
        nth: Position among several, from 1, or 0.
    """

    engine: str
    value: str | LinearPattern
    attributes: dict[str, Any]
    nth: int


class Target(str):
    """A target or a list of candidates, as written.

    Attributes:
        texts: The candidates, the best first.
        candidates: The same, parsed.
    """

    __slots__ = ("candidates", "texts")

    texts: tuple[str, ...]
    candidates: tuple[tuple[Part, ...], ...]

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        written = core_schema.to_string_ser_schema()
        return core_schema.no_info_plain_validator_function(read_target, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: object, _handler: object) -> dict[str, Any]:
        """Return the schema of a text, since some hosts refuse a union of types."""
        return {
            "type": "string",
            "description": 'An element: role=button[name="Track"], text=, label=, placeholder=, '
            "css=, field=, action=, component=, or ref= as a screen has it; or a JSON list of them",
        }


def read_target(value: object) -> Target:
    """Parse a text, a list of texts, or the JSON of such a list.

    Raises:
        ValueError: It is no target.
    """
    if isinstance(value, Target):
        return value
    texts = value
    if isinstance(value, str):
        texts = [value]
        if value.lstrip().startswith("["):
            with suppress(orjson.JSONDecodeError):
                texts = orjson.loads(value)
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError('a target is a text, as role=button[name="Track"], or a list of such')
    if len(texts) > LIMITS.candidates:
        raise ValueError(f"{len(texts):,} targets are too many; write at most {LIMITS.candidates}")
    if any(len(text) > LIMITS.target_chars for text in texts):
        raise ValueError(f"a target is longer than {LIMITS.target_chars:,} characters; shorten it")
    target = Target(" | ".join(texts))
    target.texts = tuple(texts)
    target.candidates = tuple(tuple(_part(part) for part in _split(text)) for text in texts)
    return target


def _split(text: str) -> Iterator[str]:
    start, quoted = 0, False
    for at, sign in enumerate(text):
        if sign == '"' and (at == 0 or text[at - 1] != "\\"):
            quoted = not quoted
        elif text.startswith(">>", at) and not quoted:
            yield text[start:at].strip()
            start = at + 2
    yield text[start:].strip()


def _part(text: str) -> Part:
    engine, separator, value = text.partition("=")
    engine, nth = engine.strip(), 0
    if not separator or engine not in ENGINES:
        near = nearest(engine, ENGINES) if separator else None
        hint = f"did you mean {near}=?" if near else f"write text={text} for what reads so, or "
        raise ValueError(f"'{text}' is no target; {hint}{'' if near else ', '.join(ENGINES)}")
    if indexed := _NTH.fullmatch(value):
        value, nth = indexed[1], int(indexed[2])
        if nth == 0:
            raise ValueError(f"'{text}' takes the element [0], and the first is [1]")
    if not value.strip():
        raise ValueError(f"'{text}' names nothing after {engine}=")
    if engine == "component":
        _require_known("component", value.strip(), tuple(load_vocabulary().components))
    if engine == "role":
        return Part("role", *_role(value.strip()), nth)
    if engine == "ref" and not _REF.match(value.strip()):
        raise ValueError(f"'{text}' is no ref; write it as a screen has it, as ref=e12")
    if engine == "css":
        _require_plain_css(value)
    match = _ATTRIBUTE.fullmatch(f"[value={value.strip()}]") if engine in _TEXTS else None
    wanted = value.strip() if match is None or match["word"] else _unescape(match)
    return Part(engine, wanted, {}, nth)


def _require_plain_css(selector: str) -> None:
    """Refuse the parts of Playwright's CSS with a pattern for the page to match.

    The page's own engine backtracks, and a busy page answers nothing any more.
    """
    plain = _CSS_ESCAPE.sub(_css_character, selector).casefold()
    if "text-matches" in plain or ">>" in selector:
        problem = f"'css={selector.strip():.80}' is more than CSS"
        raise ValueError(f"{problem}; write >> outside of quotes, and text=/pattern/ for a pattern")


def _css_character(escape: Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    point = int(escape[1], 16)
    return chr(point) if 0 < point <= sys.maxunicode else "\ufffd"


def _require_known(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"there are {', '.join(names)}")
        raise ValueError(f"there is no {what} '{name:.60}'; {hint}")


def _role(text: str) -> tuple[str, dict[str, Any]]:
    role, bracket, _ = text.partition("[")
    _require_known("role", role.strip(), tuple(_ROLES.split()))
    attributes = dict[str, Any]()
    at = len(role) if bracket else len(text)
    while at < len(text):
        match = _ATTRIBUTE.match(text, at)
        if match is None:
            raise ValueError(f'{text[at:]!r} is no attribute of a role; write [name="Track"]')
        key, word = match["key"], match["word"]
        if key == "name":
            attributes["name"] = word or _unescape(match)
            attributes["exact"] = True
        elif key == "level" and word and word.isdigit():
            attributes["level"] = int(word)
        elif key in _STATES and word in ("true", "false"):
            attributes[key] = word == "true"
        else:
            listed = ", ".join(("name", "level", *_STATES))
            raise ValueError(f"{match[0].strip()!r} is no attribute of a role; there are {listed}")
        at = match.end()
    return role.strip(), attributes


def _unescape(match: Match[str]) -> str | LinearPattern:
    if match["pattern"]:
        return LinearPattern(match["pattern"], "".join(sorted({*match["flags"]} & _FLAGS)))
    return _ESCAPED.sub(r"\1", match["text"])


def _to_text(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, bool | int | float) else value


Text = Annotated[str, BeforeValidator(_to_text)]
"""A text, or a number or boolean as people write it."""

NOWHERE = Target()
"""No element in particular."""
NOWHERE.texts = NOWHERE.candidates = ()


async def locators(target: Target, page: Page, frame: FrameLocator | Frame) -> tuple[Locator, ...]:
    located = []
    for parts in target.candidates:
        at: Any = frame
        for engine, value, attributes, nth in parts:
            if isinstance(value, LinearPattern) or isinstance(
                attributes.get("name"), LinearPattern
            ):
                at = await _match_pattern(at, page, Part(engine, value, attributes, nth))
            elif engine == "ref":
                at = page.get_by_ref(str(value))
            elif engine == "role":
                at = at.get_by_role(value, **attributes)
            elif engine == "css":
                at = at.locator(f"css={value}")
            elif engine in _OWN_ENGINES:
                quoted = str(value).replace("\\", "\\\\").replace('"', '\\"')
                at = at.locator("css=" + _OWN_ENGINES[engine].replace("{}", quoted))
            else:
                at = getattr(at, _GETTERS[engine])(value, exact=True)
            if nth:
                at = at.nth(nth - 1)
        located.append(at)
    return tuple(located)


_GETTERS = {name: f"get_by_{name}" for name in _TEXTS} | {"alt": "get_by_alt_text"}

_TEXTS_OF_ELEMENTS = {
    "text": ("*", "one => [one.textContent]"),
    "placeholder": ("[placeholder]", "one => [one.placeholder]"),
    "alt": ("[alt]", "one => [one.alt]"),
    "label": (
        ":is([aria-label], [aria-labelledby], input, select, textarea, button, meter, progress)",
        """one => [
          one.getAttribute("aria-label"),
          ...[...one.labels ?? []].map(label => label.textContent),
          (one.getAttribute("aria-labelledby") ?? "").split(/ /).map(
            id => id && one.ownerDocument.getElementById(id)?.textContent || "").join(" "),
        ]""",
    ),
}
"""Where each engine finds texts: a CSS selector, and a function of an element in the page."""

_COLLECT = """(elements, [longest]) => {
  const numbers = new Map(elements.map((one, at) => [one, at]));
  return elements.map(one => [numbers.get(one.parentElement) ?? -1, (%s)(one)
    .filter(text => text && text.length <= longest)]);
}"""


async def _match_pattern(at: Any, page: Page, part: Part) -> Locator:
    """Return a locator, below `at`, of a part with a pattern.

    A pattern could keep the page busy for ever, so the page never gets it. The page returns its
    texts, they are matched here in linear time, and the locator asks for the matching texts.
    """
    engine, value, attributes, _ = part
    if isinstance(value, LinearPattern):
        css, texts_of = _TEXTS_OF_ELEMENTS[engine]
        elements = await at.locator(f"css={css}").evaluate_all(
            _COLLECT % texts_of, [LIMITS.matched_chars]
        )
        matching = [
            (parent, number, text)
            for number, (parent, texts) in enumerate(elements)
            for text in texts
            if value.matches(text)
        ]
        # As Playwright does: the innermost of nested elements.
        around = {parent for parent, _, _ in matching} if engine == "text" else ()
        texts = dict.fromkeys(text for _, number, text in matching if number not in around)
        exact = [getattr(at, _GETTERS[engine])(text, exact=True) for text in texts]
    else:
        name: LinearPattern = attributes["name"]
        visible = read_tokens(_NAMED, await page.aria_snapshot(mode="ai"))
        names = (orjson.loads(f'"{node["name"]}"') for node in visible if node["role"] == value)
        texts = dict.fromkeys(text for text in names if name.matches(text))
        exact = [at.get_by_role(value, **{**attributes, "name": text}) for text in texts]
    if not exact:
        exact = [at.locator("css=:not(*)")]
    either: Locator = reduce(lambda first, other: first.or_(other), exact[: LIMITS.matched_texts])
    return either


async def locate(
    target: Target, page: Page, frame: FrameLocator | Frame, timeout_s: float
) -> tuple[Locator, str]:
    """Wait for the element of `target`.

    Returns:
        The element, and the candidate for it.

    Raises:
        CallError: There is none in time (W4201), or there are several (W4202).
    """
    until = anyio.current_time() + timeout_s
    while True:
        candidates = await locators(target, page, frame)
        counts = [await locator.count() for locator in candidates]
        if 1 in counts:
            at = counts.index(1)
            return candidates[at], target.texts[at]
        if any(counts):
            several = next(at for at, count in enumerate(counts) if count)
            raise await _several_error(target, candidates[several], counts[several])
        if anyio.current_time() >= until:
            raise await _missing_error(target, page, frame)
        await anyio.sleep(LIMITS.poll_s)  # the widget may still be drawing


async def _several_error(target: Target, located: Locator, count: int) -> CallError:
    names = []
    for at in range(min(count, LIMITS.named_elements)):
        lines = (await located.nth(at).aria_snapshot(mode="ai")).splitlines()
        names.append(lines[0].removeprefix("- ").rstrip(":") if lines else "an element of no role")
    problem = f"{target} leads to {count} elements: {', '.join(names)}"
    advice = "name one, or take one by [2] or its ref"
    return CallError("W4202", f"{problem}; {advice}", path="target", suggestions=tuple(names))


_NAMED = compile_pattern(r"""(?m)^ *+- '?(?P<role>[a-z]++) "(?P<name>(?:[^"\\\n]|\\.)*+)\"""")


_NAMES_OF = {"field": "name", "action": "data-action", "component": "data-component"}
_READ_NAMES = "(all, name) => all.map(one => one.getAttribute(name))"


async def _missing_error(target: Target, page: Page, frame: FrameLocator | Frame) -> CallError:
    engine = target.candidates[0][-1].engine
    if attribute := _NAMES_OF.get(engine):
        named = frame.locator(f"css=body [{attribute}]")
        names = dict.fromkeys(await named.evaluate_all(_READ_NAMES, attribute))
        elements = [f"{engine}={name}" for name in names if name]
    else:
        screen = await page.aria_snapshot(mode="ai")
        nodes = read_tokens(_NAMED, screen)
        elements = [f'role={node["role"]}[name="{node["name"]}"]' for node in nodes]
    near = most_similar(str(target), elements, 3)
    hint = f"there is {', '.join(near)}" if near else "nothing that has a name is shown"
    problem = f"nothing is at {target}; {hint}"
    return CallError("W4201", problem, path="target", suggestions=tuple(near))
