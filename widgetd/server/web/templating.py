"""HTML of pages, from Jinja templates with every value escaped.

The only import of jinja2 for pages. Widgets' templates are evaluated in `core/template/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from markupsafe import Markup, escape

from widgetd.base.text_search import compile_pattern

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.lexer import Token, TokenStream

_BETWEEN_TAGS = compile_pattern(r"(?:\A|(?<=>))[^\S\n]*+\n\s*+|(?<!\s)[^\S\n]*+\n\s*+(?=<|\Z)")
_KEY = compile_pattern(r"(?m)^( *)(&#34;.*?&#34;): ")


def html(template: str, context: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(context)


@cache
def inline_stylesheet() -> Markup:
    css = files("widgetd.view") / "gallery.css"
    return Markup(css.read_text(encoding="utf-8"))  # noqa: S704 - it is ours


def link(path: str, query: Mapping[str, str], *names: str, **more: str) -> str:
    """Return `path` with the parameters `names` of `query`, where they are set, and with `more`."""
    parameters = {name: query[name] for name in names if query.get(name)} | more
    return f"{path}?{urlencode(parameters)}" if parameters else path


@cache
def _environment() -> Environment:
    # Imported late: a start shows no page.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
    from jinja2.ext import Extension  # noqa: PLC0415
    from jinja2.lexer import Token  # noqa: PLC0415

    class _StripLineBreaks(Extension):
        """Strips line breaks between tags and around expressions from templates.

        White space between inline elements would be visible.
        """

        def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
            for token in stream:
                text = token.value
                if token.type == "data":
                    text = _BETWEEN_TAGS.sub("", text)
                yield Token(token.lineno, token.type, text)

    environment = Environment(
        loader=PackageLoader("widgetd.server.web"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        extensions=[_StripLineBreaks],
    )
    environment.policies["json.dumps_function"] = _json
    environment.policies["json.dumps_kwargs"] = {}
    environment.globals["link"] = link
    environment.filters["pretty_json"] = _pretty_json
    return environment


def _json(value: Any, option: int = 0) -> str:
    return orjson.dumps(value, default=dict, option=option).decode()


def _pretty_json(value: Any) -> Markup:
    escaped = str(escape(_json(value, orjson.OPT_INDENT_2)))
    return Markup(_KEY.sub(r"\1<b>\2</b>: ", escaped))  # noqa: S704 - the tags are ours
