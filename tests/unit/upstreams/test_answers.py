"""An answer that is read in pages loses nothing."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from widgetd.base.errors import CallError
from widgetd.upstreams.answers import PagedAnswer, PagedAnswers, UpstreamAnswer
from widgetd.upstreams.limits import LIMITS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=60,
)
TEXT = st.text(max_size=600) | st.lists(
    st.sampled_from(["", "שלום\r\n", "👩‍👩‍👧\n", "a", "x" * 90, "\r", "é\n"]), max_size=60
).map("".join)

ANSWERS = st.one_of(
    JSON.map(lambda value: UpstreamAnswer(kind="json", content=orjson.dumps(value))),
    TEXT.map(lambda text: UpstreamAnswer(kind="text", content=text.encode())),
    st.binary(max_size=900).map(lambda content: UpstreamAnswer(kind="binary", content=content)),
)


@examples(150)
@given(ANSWERS, st.integers(1, 200))
def test_pages_put_together_are_the_answer(answer: UpstreamAnswer, most: int) -> None:
    parts = pages(answer, most)

    assert b"".join(parts) == answer.content
    assert all(len(page) <= most + 3 for page in parts)
    if answer.kind != "binary":
        for page in parts:
            page.decode()


def pages(answer: UpstreamAnswer, most: int) -> list[bytes]:
    """Return all pages of an answer, each asked for by where it begins."""
    paged = PagedAnswer.build(answer)
    parts = [paged.page(0, most)]
    while (start := sum(map(len, parts))) < len(answer.content):
        parts.append(paged.page(start, most))
    return parts


def test_edges_take_no_more_memory_than_a_quarter_of_the_answer() -> None:
    paged = PagedAnswer.build(UpstreamAnswer(kind="json", content=b"[" + b"1," * 500_000 + b"1]"))

    assert paged.size <= len(paged.answer.content) * 1.26


def make_sized(kind: str, size: int) -> bytes:
    """Return an answer of exactly `size` bytes."""
    unit = {
        "json": b"123456789,",
        "objects": b'{"a":[1,{"b":"],' + b"x" * 300 + b'"}]},',
        "one text": b"x\\u00e9",
        "text": "é\r\n".encode(),
        "binary": bytes(range(256)),
    }[kind]
    first, last = {"json": (b"[", b"1]"), "objects": (b"[", b"1]"), "one text": (b'"', b'"')}.get(
        kind, (b"", b"")
    )
    room = size - len(first) - len(last)
    content = first + unit * (room // len(unit)) + last
    return content + b" " * (size - len(content)) if room >= 0 else b"1"


@pytest.mark.parametrize("size", [1, 16, 16384, 16385, 8 * 1024 * 1024])
@pytest.mark.parametrize("kind", ["json", "objects", "one text", "text", "binary"])
def test_smallest_and_largest_answers_lose_nothing(kind: str, size: int) -> None:
    form = {"objects": "json", "one text": "json"}.get(kind, kind)
    answer = UpstreamAnswer(kind=form, content=make_sized(kind, size))  # type: ignore[arg-type]
    if form == "json":
        orjson.loads(answer.content)

    parts = pages(answer, 16384)

    assert b"".join(parts) == answer.content
    assert all(len(page) <= 16384 + 3 for page in parts)
    if kind in {"json", "objects"} and size > 16384:
        assert all(page.rstrip().endswith((b",", b"]")) for page in parts)


def test_paged_answer_expires_and_belongs_to_its_caller() -> None:
    now = 0.0
    answers = PagedAnswers(lambda: now)
    name = answers.add(PagedAnswer.build(UpstreamAnswer(kind="text", content=b"x")), "ada")

    assert answers.get(name, "ada").answer.content == b"x"
    with pytest.raises(CallError) as others:
        answers.get(name, "bob")
    assert answers.get(name, "ada").answer.content == b"x"
    now = LIMITS.paged_s
    with pytest.raises(CallError) as late:
        answers.get(name, "ada")

    assert others.value.code == late.value.code == "W5009"
    assert str(late.value) == "this answer is not kept any more; call the tool again"
