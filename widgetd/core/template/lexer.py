"""A faster lexer: it cuts usual templates into the tokens of Jinja's lexer.

Jinja's lexer tries eight patterns at each token, which was most of the loading time of a
template. This lexer knows the usual tokens, by a single pattern, and leaves all others, and every
mistake, to Jinja's lexer, the only authority on templates.

Each token carries its offset in the text in place of its line.

Source: `jinja2.lexer`, with the delimiters and settings of a plain environment.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from jinja2.exceptions import TemplateSyntaxError
from jinja2.lexer import Lexer, Token, newline_re, operators

from widgetd.base.text_search import Match, Pattern, compile_pattern

_UNUSUAL: Final = compile_pattern(r"\r|\{%[-+]?\s*raw\b")
_TAG: Final = compile_pattern(r"\{[%{#][-+]?")
_COMMENT_END: Final = compile_pattern(r"\+?#\}|-#\}\s*")

_NEVER: Final = r"(?!)"
_OPERATOR: Final = r"//|\*\*|==|!=|>=|<=|[-+*/%~\[\](){}<>=.:|,;]"

_token: Final = tuple.__new__
"""The constructor that `Token` itself calls; called directly, as a template has hundreds."""

END, NAME, OPERATOR, TEXT, INTEGER, UNCLOSED = range(1, 7)


def _next_token(end: str) -> str:
    return (
        rf"(?s)(?<!\s)\s*+(?:({end})"
        r"|([A-Za-z_][A-Za-z0-9_]*+)(?![^\x00-\x7f])"
        rf"|({_OPERATOR})"
        r"""|("[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
        r"|(0|[1-9][0-9]{0,17})(?![\w.])"
        r"""|(["'].*))"""  # an unclosed string
    )


_ENDS: Final = {
    "{%": (compile_pattern(_next_token(r"\+?%\}|-%\}\s*")), "block_end"),
    "{{": (compile_pattern(_next_token(r"\}\}|-\}\}\s*")), "variable_end"),
}
_BEGINS: Final = {"{%": "block_begin", "{{": "variable_begin"}
_WITHIN_BRACKETS: Final = compile_pattern(_next_token(_NEVER))
"""A tag ends only where its brackets are closed: `{{ {"a": {}} }}`."""

_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_CLOSING: Final = frozenset(_CLOSERS.values())


def tokens(text: str) -> list[Token] | None:
    """Return the tokens of a template, None if only Jinja's lexer can read it."""
    if _UNUSUAL.search(text):
        return None
    tokenizer = _Tokenizer(text.removesuffix("\n"))
    return tokenizer.tokens if tokenizer.read() else None


def tokens_of_tag(text: str, start: int) -> list[Token]:
    tokenizer = _Tokenizer(text, start)
    tokenizer.tag(*_ENDS["{{"])
    return tokenizer.tokens


class _Tokenizer:
    """A single pass through a text.

    Attributes:
        tokens: The tokens so far.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self.tokens: list[Token] = []
        self._text = text
        self._at = start

    def read(self) -> bool:
        """Return whether the whole text is usual."""
        while tag := _TAG.search(self._text, self._at):
            opening = tag.group()
            self._data(tag.start(), strip=opening[2:] == "-")
            self._at = tag.end()
            if opening[1] == "#":
                end = _COMMENT_END.search(self._text, self._at)
                if end is None:
                    return False
                self._at = end.end()
            else:
                self.tokens.append(_token(Token, (tag.start(), _BEGINS[opening[:2]], opening)))
                if not self.tag(*_ENDS[opening[:2]]):
                    return False
        self._data(len(self._text), strip=False)
        return True

    def _data(self, end: int, *, strip: bool) -> None:
        data = self._text[self._at : end]
        stripped = data.rstrip() if strip else data
        if stripped:
            self.tokens.append(_token(Token, (self._at, "data", stripped)))

    def tag(self, pattern: Pattern[str], end: str) -> bool:
        """Return whether the tag from here is usual, up to the end in `pattern`."""
        text, lexed, at = self._text, self.tokens, self._at
        brackets: list[str] = []
        while match := (_WITHIN_BRACKETS if brackets else pattern).match(text, at):
            kind = match.lastindex or END
            lexeme = match[kind]
            start, at = match.start(kind), match.end()
            if kind == OPERATOR:
                lexed.append(_token(Token, (start, operators[lexeme], lexeme)))
                if lexeme in _CLOSERS:
                    brackets.append(_CLOSERS[lexeme])
                elif lexeme in _CLOSING and (not brackets or brackets.pop() != lexeme):
                    return False
            elif kind == NAME:
                lexed.append(_token(Token, (start, "name", lexeme)))
            elif kind == TEXT:
                value = _unescape(lexeme[1:-1])
                if value is None:
                    return False
                lexed.append(_token(Token, (start, "string", value)))
            elif kind == INTEGER:
                lexed.append(_token(Token, (start, "integer", int(lexeme))))
            elif kind == UNCLOSED:
                return False
            else:
                lexed.append(_token(Token, (start, end, lexeme)))
                self._at = at
                return True
        return False


_ESCAPE = compile_pattern(r"""\\(?:(?P<beyond>[4-7][0-7]{2})|(?P<known>[\\\n'"abfnrtvxuUN0-7]))?""")


def _unescape(lexeme: str) -> str | None:
    if "\\" not in lexeme:
        return lexeme
    try:
        escaped = lexeme.encode("ascii", "backslashreplace").decode("ascii")
        return _ESCAPE.sub(_known_escape, escaped).encode("ascii").decode("unicode-escape")
    except UnicodeDecodeError:
        return None


def _known_escape(escape: Match[str]) -> str:
    """Return an escape as Python reads it, without those it only warns of."""
    if escape["beyond"]:
        return f"\\u{int(escape['beyond'], 8):04x}"
    return escape[0] if escape["known"] else "\\\\"


def tokens_by_jinja(lexer: Lexer, text: str, state: str | None) -> Iterator[Token]:
    """Yield the tokens of Jinja's own lexer, with offsets for lines."""
    return lexer.wrap(_with_offsets(lexer.tokeniter(text, None, None, state), text))


def _with_offsets(
    pieces: Iterator[tuple[int, str, str]], text: str
) -> Iterator[tuple[int, str, str]]:
    text, end = normalise(text), 0
    try:
        for _, kind, piece in pieces:
            start = text.index(piece, end)  # only white space is ever left out
            end = start + len(piece)
            yield start, kind, piece
    except TemplateSyntaxError as error:
        error.lineno = end
        raise


def normalise(text: str) -> str:
    return newline_re.sub("\n", text)


class Lines:
    """The lines of a template's text."""

    def __init__(self, text: str) -> None:
        text = normalise(text)
        self._starts = [0, *(at for at, sign in enumerate(text, 1) if sign == "\n")]
        self._size = len(text)

    def location(self, offset: int) -> tuple[int, int]:
        offset = min(offset, self._size)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
