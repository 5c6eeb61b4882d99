"""Cut a template's text into the tokens that Jinja's own lexer would cut it into, sooner.

Jinja's lexer tries eight patterns at each token, and that was most of the time a
template took to load. This one knows what templates are usually made of, by one
pattern; whatever else there is, mistakes too, it leaves to Jinja's, so that there
is one authority on what a template is.

Source: `jinja2.lexer`, with the delimiters and settings of a plain environment.
"""

from __future__ import annotations

import re
from typing import Final

from jinja2.lexer import Token, operators

_UNUSUAL: Final = re.compile(r"\r|\{%[-+]?\s*raw\b")
_TAG: Final = re.compile(r"\{[%{#][-+]?")
_COMMENT_END: Final = re.compile(r"\+?#\}|-#\}\s*")

_NEVER: Final = r"(?!)"
_OPERATOR: Final = r"//|\*\*|==|!=|>=|<=|[-+*/%~\[\](){}<>=.:|,;]"

_token: Final = tuple.__new__
"""What `Token` calls, too; there are hundreds in a template."""

END, NAME, OPERATOR, TEXT, INTEGER = range(1, 6)


def _pattern(end: str) -> re.Pattern[str]:
    """What may come next in a tag that ends so; the groups are numbered as above."""
    return re.compile(
        rf"\s*(?:({end})"
        r"|([A-Za-z_][A-Za-z0-9_]*+)(?![^\x00-\x7f])"
        rf"|({_OPERATOR})"
        r"""|("[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
        r"|(0|[1-9][0-9]{0,17})(?![\w.]))",
        re.DOTALL,
    )


_ENDS: Final = {
    "{%": (_pattern(r"\+?%\}|-%\}\s*"), "block_end"),
    "{{": (_pattern(r"\}\}|-\}\}\s*"), "variable_end"),
}
_BEGINS: Final = {"{%": "block_begin", "{{": "variable_begin"}
_WITHIN_BRACKETS: Final = _pattern(_NEVER)
"""A tag ends only where its brackets are closed: `{{ {"a": {}} }}`."""

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSING: Final = frozenset(_CLOSERS.values())


def tokens(text: str) -> list[Token] | None:
    """The tokens of a template; None where Jinja's lexer has to be asked."""
    if _UNUSUAL.search(text):
        return None
    reader = _Reader(text.removesuffix("\n"))
    return reader.found if reader.read() else None


class _Reader:
    """Goes through a text once.

    Attributes:
        found: The tokens so far.
    """

    def __init__(self, text: str) -> None:
        self.found: list[Token] = []
        self._text = text
        self._at = 0
        self._line = 1

    def read(self) -> bool:
        """Whether all of the text is as usual."""
        while tag := _TAG.search(self._text, self._at):
            opening = tag.group()
            self._data(tag.start(), strip=opening[2:] == "-")
            self._at = tag.end()
            if opening[1] == "#":
                usual = self._comment()
            else:
                self.found.append(_token(Token, (self._line, _BEGINS[opening[:2]], opening)))
                usual = self._tag(*_ENDS[opening[:2]])
            if not usual:
                return False
        self._data(len(self._text), strip=False)
        return True

    def _data(self, end: int, *, strip: bool) -> None:
        data = self._text[self._at : end]
        kept = data.rstrip() if strip else data
        if kept:
            self.found.append(_token(Token, (self._line, "data", kept)))
        self._line += data.count("\n")

    def _comment(self) -> bool:
        end = _COMMENT_END.search(self._text, self._at)
        if end is None:
            return False
        self._line += self._text.count("\n", self._at, end.end())
        self._at = end.end()
        return True

    def _tag(self, pattern: re.Pattern[str], end: str) -> bool:
        text, found, at, line = self._text, self.found, self._at, self._line
        brackets: list[str] = []
        while match := (_WITHIN_BRACKETS if brackets else pattern).match(text, at):
            kind = match.lastindex or END
            said = match[kind]
            start = match.start(kind)
            if start != at:
                line += text.count("\n", at, start)
            at = match.end()
            if kind == OPERATOR:
                found.append(_token(Token, (line, operators[said], said)))
                if said in _CLOSERS:
                    brackets.append(_CLOSERS[said])
                elif said in _CLOSING and (not brackets or brackets.pop() != said):
                    return False
            elif kind == NAME:
                found.append(_token(Token, (line, "name", said)))
            elif kind == TEXT:
                value = _unescaped(said[1:-1])
                if value is None:
                    return False
                found.append(_token(Token, (line, "string", value)))
                line += said.count("\n")
            elif kind == INTEGER:
                found.append(_token(Token, (line, "integer", int(said))))
            else:
                found.append(_token(Token, (line, end, said)))
                self._at, self._line = at, line + said.count("\n")
                return True
        return False


_ESCAPE = re.compile(r"""\\(?:(?P<beyond>[4-7][0-7]{2})|(?P<known>[\\\n'"abfnrtvxuUN0-7]))?""")


def _unescaped(said: str) -> str | None:
    if "\\" not in said:
        return said
    try:
        escaped = said.encode("ascii", "backslashreplace").decode("ascii")
        return _ESCAPE.sub(_known_escape, escaped).encode("ascii").decode("unicode-escape")
    except UnicodeDecodeError:
        return None


def _known_escape(escape: re.Match[str]) -> str:
    """The escape as Python reads it; what it only warns of is written as what it means."""
    if escape["beyond"]:
        return f"\\u{int(escape['beyond'], 8):04x}"
    return escape[0] if escape["known"] else "\\\\"
