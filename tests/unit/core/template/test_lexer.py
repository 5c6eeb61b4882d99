"""A template's text is cut into the tokens that Jinja's own lexer cuts it into."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import Environment
from jinja2.exceptions import TemplateSyntaxError
from jinja2.lexer import Token

from benchmarks.folders import BUNDLED
from tests.support.corpus import CORPUS, corpus_files, needs_corpus
from widgetd.core.template.lexer import Lines, tokens, tokens_by_jinja

JINJA = Environment()

_WITHIN = (
    *("x", "_y1", "é", "a·b", "if", "raw", "0", "7", "007", "1_0", "1.5", "1e3", "0x1f", "9" * 20),
    *('"a"', "'b'", '"a\\"b"', "'\\x'", '"\\u00e9"', '"ü\n"', '"', "'", "(x)", "[7]", '{"a": {}}'),
    *("+", "-", "/", "//", "*", "**", "%", "~", "[", "]", "(", ")", "{", "}", "==", "!=", "==="),
    *(">", ">=", "<", "<=", "=", ".", ":", "|", ",", ";", "!", "?", "$", "\\", "#", "%}", "}}"),
)
_AROUND = ('"type":1', "text", "日", "{", "}", "%", "#", "\n", "{% raw %}", "{% endraw %}", "{{")
_TAGS = (("{%", "%}"), ("{%-", "-%}"), ("{%+", "+%}"), ("{{", "}}"), ("{{-", "-}}"), ("{#", "#}"))

SPACES = st.sampled_from(["", "", " ", "\n", "\t", "\r\n", " \n ", "\u2028"])


def add_space(pieces: tuple[str, ...], most: int) -> st.SearchStrategy[str]:
    pairs = st.tuples(st.sampled_from(pieces), SPACES)
    return st.lists(pairs, max_size=most).map(lambda text: "".join(a + b for a, b in text))


TAGS = st.builds(
    lambda tag, said: f"{tag[0]} {said}{tag[1]}", st.sampled_from(_TAGS), add_space(_WITHIN, 6)
)
TEXTS = st.lists(st.one_of(TAGS, add_space(_AROUND, 3)), max_size=5).map("".join)


def by_jinja(text: str) -> list[Token]:
    lexer = JINJA.lexer
    return list(lexer.wrap(lexer.tokeniter(text, None)))


def add_lines(text: str, stream: Iterable[Token]) -> list[Token]:
    """Tokens with their lines, as Jinja has them, in place of their offsets."""
    lines = Lines(text)
    return [Token(lines.location(each.lineno)[0], each.type, each.value) for each in stream]


@given(TEXTS)
@example('{{ {"a": {"b": 1}}["a"] -}}\n\n x')
@example("a \n{%- if\n x %}{#- c\n -#} b\n")
@example("{{ 'a\nb' }}{{ a.0.1 }}")
@example("{% _y1\u2028%}")
def test_lexer_cuts_every_text_as_jinja_does(text: str) -> None:
    lexed = tokens(text)

    assert lexed is None or add_lines(text, lexed) == by_jinja(text)
    assert lexed is None or lexed == list(tokens_by_jinja(JINJA.lexer, text, None))


@given(TEXTS)
@example("a\r\n{% raw %}\r{{ x }}\n{%- endraw -%}\n {{ 7 }}")
def test_jinjas_tokens_are_placed_in_their_line(text: str) -> None:
    expected: list[Token] | int
    placed: list[Token] | int
    try:
        expected = by_jinja(text)
    except TemplateSyntaxError as mistake:
        expected = mistake.lineno
    try:
        placed = add_lines(text, tokens_by_jinja(JINJA.lexer, text, None))
    except TemplateSyntaxError as mistake:
        placed = Lines(text).location(mistake.lineno)[0]

    assert placed == expected


@pytest.mark.parametrize("text", ["{{ 7\n + é }}", "{% raw %}\n{{{% endraw %}{{ é.a }}"])
def test_token_has_its_offset(text: str) -> None:
    for lexed in (tokens(text) or [], tokens_by_jinja(JINJA.lexer, text, None)):
        for token in lexed:
            assert text.startswith(str(token.value), token.lineno)


@pytest.mark.parametrize("escape", [r"\g", r"\\g", r"\\\g", r"\477", r"\101", r"\é", r"\u00e9"])
def test_escape_that_python_warns_of_is_read_without_a_warning(escape: str) -> None:
    text = '{{ "' + escape + '" }}'
    with warnings.catch_warnings(action="ignore"):
        expected = by_jinja(text)

    assert add_lines(text, tokens(text) or []) == expected


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.widget")), ids=lambda path: path.stem)
def test_common_templates_use_the_fast_lexer(path: Path) -> None:
    template = orjson.loads(path.read_bytes())["template"]

    assert add_lines(template, tokens(template) or []) == by_jinja(template)


@needs_corpus
def test_real_templates_need_no_other_lexer() -> None:
    for path in corpus_files():
        template = orjson.loads(path.read_bytes()).get("template")
        if template:
            placed = add_lines(template, tokens(template) or [])
            assert placed == by_jinja(template), path.relative_to(CORPUS)


@pytest.mark.parametrize(
    "text",
    ["{% raw %}{{ x }}{% endraw %}", "{{ x", "{{ ) }}", "{{ ? }}", "{# x", "a\rb", "{{ é }}"],
)
def test_uncommon_templates_use_jinjas_lexer(text: str) -> None:
    assert tokens(text) is None
