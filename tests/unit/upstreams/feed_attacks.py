"""Hostile answers of upstreams and greedy mappings of them, for tests and measurements."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from tests.support.widgets import build_widget
from widgetd.base.errors import CallError
from widgetd.core.widget.feed import Feed
from widgetd.upstreams.answers import to_answer, to_blocks

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "items": {"type": "array"}, "any": {}},
}
PNG = b"\x89PNG\r\n\x1a\n"


def text_block(words: str) -> Any:
    return SimpleNamespace(type="text", text=words)


def picture(size: int) -> Any:
    data = base64.b64encode(PNG + bytes(size)).decode()
    return SimpleNamespace(type="image", data=data, mime_type="image/png")


def result(*content: Any, value: Any = None) -> Any:
    """Return what the SDK makes of a result: its blocks and its structure."""
    return SimpleNamespace(content=content, structured_content=value, meta=None)


def nest(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@cache
def repeated_feed(mapping: tuple[tuple[str, str], ...], answer: str, count: int) -> Feed:
    parts = [
        f'[[feed]]\nname = "f{number}"\nupstream = "u"\ntool = "t"\nanswer = "{answer}"\n'
        for number in range(count)
    ]
    fields = "".join(f"{name} = {json.dumps(one)}\n" for name, one in mapping)
    widget = build_widget("Fed", sidecar=f"{''.join(parts)}[feed.map]\n{fields}", schema=SCHEMA)
    assert widget.feed is not None
    return widget.feed


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedAttack:
    """One hostile answer with its mapping.

    Attributes:
        mapping: The widget's arguments, as expressions over the answers `f0`, `f1` and so on.
        results: Makes the results of all upstreams.
        answer: What the expressions see.
        code: The code of the refusal; empty where the widget is filled.
    """

    mapping: Mapping[str, str]
    results: Callable[[], list[Any]]
    answer: str = "value"
    code: str = ""

    def prepare(self) -> Callable[[], dict[str, Any]]:
        """Make the answers, and return what a daemon does with them."""
        results = self.results()
        return partial(self._fill, results)

    def _fill(self, results: list[Any]) -> dict[str, Any]:
        feed = repeated_feed(tuple(self.mapping.items()), self.answer, len(results))
        read = to_blocks if self.answer == "blocks" else to_answer
        answers = {
            source.part.name: read(one, "u").value("u")
            for source, one in zip(feed.sources, results, strict=True)
        }
        return dict(feed.fill({}, answers, {}).arguments)


NUMBERS = {"n": [0] * 900_000}
WORDS = {"n": ["word"] * 40_000}

ATTACKS: Mapping[str, FeedAttack] = {
    "10,000 blocks": FeedAttack(
        mapping={"text": "f0.blocks[0].text"},
        results=lambda: [result(*[text_block("x")] * 10_000)],
        answer="blocks",
        code="W5016",
    ),
    "100 blocks joined over and over": FeedAttack(
        mapping={"text": "join('', [f0.blocks[].text, f0.blocks[].text][])"},
        results=lambda: [result(*[text_block("x" * 40_000)] * 100)],
        answer="blocks",
        code="W5007",
    ),
    "a text of 7 MiB": FeedAttack(
        mapping={"text": "f0.blocks[0].text"},
        results=lambda: [result(text_block("x" * (7 * 1024 * 1024)))],
        answer="blocks",
        code="W5007",
    ),
    "pictures of 8 MiB": FeedAttack(
        mapping={"items": "f0.blocks[].data_url"},
        results=lambda: [result(*[picture(250_000)] * 24)],
        answer="blocks",
    ),
    "pictures that are none": FeedAttack(
        mapping={"text": "f0.blocks[?type=='image'].data_url | [0]"},
        results=lambda: [
            result(SimpleNamespace(type="image", data="A" * 7_000_000, mime_type="image/png"))
        ],
        answer="blocks",
    ),
    "bad base64": FeedAttack(
        mapping={"text": "f0.blocks[0].data_url"},
        results=lambda: [
            result(SimpleNamespace(type="image", data="A" * 7_000_000 + "%", mime_type="x"))
        ],
        answer="blocks",
        code="W5020",
    ),
    "100,000 levels in a text": FeedAttack(
        mapping={"any": "f0.a.a.a"},
        results=lambda: [result(text_block(nest(100_000)))],
        code="W5006",
    ),
    "900 levels in a structure": FeedAttack(
        mapping={"any": "f0"}, results=lambda: [result(value=json.loads(nest(900)))], code="W5007"
    ),
    "900,000 numbers": FeedAttack(
        mapping={"items": "f0.n"}, results=lambda: [result(value=NUMBERS)], code="W5007"
    ),
    "900,000 numbers, of which one is wanted": FeedAttack(
        mapping={"any": "f0.n[0]"}, results=lambda: [result(value=NUMBERS)]
    ),
    "40,000 words sorted, compared and doubled": FeedAttack(
        mapping={"items": "[sort(f0.n), f0.n[?@ == 'word']][] | [@, @][]"},
        results=lambda: [result(value=WORDS)],
        code="W5007",
    ),
    "eight upstreams of 40,000 words, crossed": FeedAttack(
        mapping={"items": "[f0.n, f1.n, f2.n, f3.n, f4.n, f5.n, f6.n, f7.n][].{a: @, b: @}"},
        results=lambda: [result(value=WORDS)] * 8,
        code="W5007",
    ),
}


SECRET = "s3cr3t"
LONGEST_ERROR = 600

_LEAVES = st.sampled_from([None, True, 0, -1.5, 10**30, SECRET, "", "\ud800", "a" * 70])
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3)
    ),
    max_leaves=12,
)
_STEPS = st.sampled_from(
    ["a", "b", "n[0]", "n[]", "*", "@", "a || b", "length(@)", "keys(@)", "join(',', n)", "[a, b]"]
)
_EXPRESSIONS = st.lists(_STEPS, min_size=1, max_size=4).map(" | ".join)
FILLINGS = st.builds(
    lambda values, expressions, answer: FeedAttack(
        mapping=dict(
            zip(("text", "items", "any"), [f"f0 | {one}" for one in expressions], strict=True)
        ),
        results=lambda: [result(text_block(json.dumps(one))) for one in values],
        answer=answer,
    ),
    st.lists(_VALUES, min_size=1, max_size=3),
    st.tuples(_EXPRESSIONS, _EXPRESSIONS, _EXPRESSIONS),
    st.sampled_from(["value", "blocks"]),
)
"""Any answers with any mapping."""


def judge(filling: FeedAttack) -> bool:
    """Return whether the widget is filled; else check that the refusal discloses no value."""
    try:
        filled = filling.prepare()()
    except CallError as error:
        message = f"{error.code} {error}"
    else:
        assert filled.keys() <= {"text", "items", "any"}
        assert isinstance(filled.get("text", ""), str)
        assert isinstance(filled.get("items", []), list)
        return True
    assert message[:5] in {"W5006", "W5007", "W5020"}, message
    assert len(message) <= LONGEST_ERROR, message
    assert SECRET not in message, message
    return False
