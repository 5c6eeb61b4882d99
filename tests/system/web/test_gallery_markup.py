"""Markup escapes what stands in it, once."""

from __future__ import annotations

from widgetd.web.gallery.markup import data_block, el, fragment


def test_text_is_escaped_and_markup_is_not() -> None:
    made = el("p", "1 < 2 & ", el("b", "<i>"), title='"quoted"')

    assert made == '<p title="&quot;quoted&quot;">1 &lt; 2 &amp; <b>&lt;i&gt;</b></p>'


def test_attributes_may_stand_alone_or_be_left_out() -> None:
    made = el("input", type="radio", checked=True, disabled=False, id=None, data_key="a", for_="b")

    assert made == '<input type="radio" checked data-key="a" for="b">'


def test_children_may_be_nothing_or_many() -> None:
    assert fragment(None, ["a", [el("hr")]], (x for x in "bc")) == "a<hr>bc"


def test_a_data_block_cannot_be_ended_from_within() -> None:
    made = data_block(b'{"a":"</script><script>"}', id="x")

    assert made == (
        '<script type="application/json" id="x">{"a":"\\u003c/script>\\u003cscript>"}</script>'
    )
