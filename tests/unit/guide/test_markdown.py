"""The guide's Markdown is parsed completely."""

from __future__ import annotations

import re

import pytest

from widgetd.guide.guide import Block, Page, Span, blocks, pages, spans


def words(block: Block) -> str:
    return " ".join("".join(span.text for span in line) for line in block.lines) + block.text


def test_headings_paragraphs_lists_and_fences_are_separate_blocks() -> None:
    text = (
        "# Title\n\nOne\ntwo.\n\n- a\n  more\n- b\n\n1. c\n2. d\n```toml\n# x\n\n- y\n```\n## End"
    )

    read = [(block.kind, words(block)) for block in blocks(text)]

    assert read == [
        ("h1", "Title"),
        ("p", "One two."),
        ("ul", "a more b"),
        ("ol", "c d"),
        ("fence", "# x\n\n- y"),
        ("h2", "End"),
    ]


def test_code_emphasis_and_links_are_separate_spans() -> None:
    assert spans("a `b*c*` *d* **e** [f](/g)") == (
        Span(kind="text", text="a "),
        Span(kind="code", text="b*c*"),
        Span(kind="text", text=" "),
        Span(kind="em", text="d"),
        Span(kind="text", text=" "),
        Span(kind="strong", text="e"),
        Span(kind="text", text=" "),
        Span(kind="link", text="f", href="/g"),
    )


@pytest.mark.parametrize("page", pages().values(), ids=pages())
def test_no_word_of_a_page_is_lost_and_no_markup_remains(page: Page) -> None:
    read = list(blocks(page.text))
    shown = " ".join(words(block) for block in read)
    fenced = re.sub(r"^```\w*$", "", page.text, flags=re.MULTILINE)

    assert re.findall(r"\w+", shown) == [
        word
        for line in fenced.splitlines()
        for word in re.findall(r"\w+", re.sub(r"^\d+\. ", "", line))
    ]
    plain = [s for b in read for line in b.lines for s in line if s.kind == "text"]
    assert not any(mark in span.text for span in plain for mark in ("`", "**", "](", "# "))
