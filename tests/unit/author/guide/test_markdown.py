"""The guide's pages are shown completely, as HTML with the code between."""

from __future__ import annotations

import re
from html import unescape

import pytest

from widgetd.author.guide.guide import Page, pages, render_blocks


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
