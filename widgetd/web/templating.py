"""HTML of every page: Jinja templates, in which whatever a file says is text.

The door to jinja2 for pages; widgets' own templates are evaluated in `template/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup, escape

from widgetd.text_search import compile_pattern

_BETWEEN_TAGS = compile_pattern(r"(?:\A|(?<=>))[^\S\n]*+\n\s*+|(?<!\s)[^\S\n]*+\n\s*+(?=<|\Z)")
_KEY = compile_pattern(r"(?m)^( *)(&#34;.*?&#34;): ")


def html(template: str, context: Mapping[str, Any]) -> str:
    """The file `template` of `templates/`, filled in with `context`."""
    return _environment().get_template(template).render(context)


def link(path: str, query: Mapping[str, str], *names: str, **more: str) -> str:
    """`path` with those parts of `query` that go along from page to page, and with `more`."""
    held = {name: query[name] for name in names if query.get(name)} | more
    return f"{path}?{urlencode(held)}" if held else path


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("widgetd.web"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        extensions=[_Unbroken],
    )
    made.policies["json.dumps_function"] = _json
    made.policies["json.dumps_kwargs"] = {}
    made.globals["link"] = link
    made.filters["pretty_json"] = _pretty_json
    return made


class _Unbroken(Extension):
    """Templates may break lines between tags and around what Jinja puts in; pages do not.

    White space between inline elements would show.
    """

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Drop line breaks, with the indentation around them, from the text of a template."""
        for token in stream:
            text = token.value
            if token.type == "data":
                text = _BETWEEN_TAGS.sub("", text)
            yield Token(token.lineno, token.type, text)


def _json(value: Any, option: int = 0) -> str:
    return orjson.dumps(value, default=dict, option=option).decode()


def _pretty_json(value: Any) -> Markup:
    """Indented JSON with its keys marked for colour."""
    escaped = str(escape(_json(value, orjson.OPT_INDENT_2)))
    return Markup(_KEY.sub(r"\1<b>\2</b>: ", escaped))  # noqa: S704 - the tags are ours
