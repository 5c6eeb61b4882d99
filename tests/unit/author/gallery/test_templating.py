"""Templates escape the text of files once and add no white space to a page."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from widgetd.author.gallery.problems import Problem
from widgetd.base.errors import Finding
from widgetd.server.web.templating import html, link


def test_values_of_files_are_escaped_and_templates_are_not() -> None:
    finding = Finding(code="W1105", path='"<a>".widget', problem="1 < 2 & 3", advice="write '3'")
    problem = Problem(finding=finding, line=1, column=3, excerpt="<i>", caret=1)

    assert html("problems.html", {"problems": [problem]}) == (
        '<article class="fault"><h3>1 &lt; 2 &amp; 3</h3>'
        '<p class="place"><code>&#34;&lt;a&gt;&#34;.widget:1:3</code>'
        '<span class="code">W1105</span>'
        '<button type="button" class="copy" '
        'data-copy="&#34;&lt;a&gt;&#34;.widget: 1 &lt; 2 &amp; 3; write &#39;3&#39;">Copy</button>'
        '</p><pre tabindex="0"><code>&lt;<mark>i</mark>&gt;</code></pre>'
        '<p class="advice">Write &#39;3&#39;.</p></article>'
    )


def test_line_breaks_of_a_template_are_no_white_space_on_the_page() -> None:
    assert html("problems.html", {"problems": ()}) == ('<p class="quiet">No problems found.</p>')


def test_missing_variable_of_a_template_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        html("problems.html", {})


@pytest.mark.parametrize(
    ("names", "more", "address"),
    [
        ((), {}, "/w/a"),
        (("theme",), {}, "/w/a?theme=dark"),
        (("q", "theme"), {"tag": "a&b"}, "/w/a?theme=dark&tag=a%26b"),
    ],
)
def test_link_keeps_the_named_parameters_of_the_address(
    names: tuple[str, ...], more: dict[str, str], address: str
) -> None:
    assert link("/w/a", {"theme": "dark", "q": "", "tab": "model"}, *names, **more) == address
