"""The repair of commas between JSON values, too many or too few."""

from __future__ import annotations

from typing import Final

import orjson

from widgetd.base.text_search import compile_pattern, read_tokens

# The last alternative takes all of the text behind an unclosed quotation mark: looking
# for its end again at each later mark takes time in the square of the text.
_PIECE: Final = compile_pattern(r'(?s)[\[\]{},:]|"(?:[^"\\]++|\\.)*+"|[^\s"\[\]{},:]++|".*')


def repair(text: str) -> str | None:
    """Return `text` as valid JSON with commas repaired between values, None if it fails.

    A loop without a separator, or with a separator too many, is the usual cause. Strings stay.
    """
    if sum(map(text.count, _MARKS)) > MAX_MARKS:
        return None
    out: list[str] = []
    before = ""
    for match in read_tokens(_PIECE, text):
        piece = match[0]
        if piece == "," and before in _BEFORE_VALUE:
            continue
        if before == ",":
            if piece in _CLOSING:
                out.pop()
        elif before not in _BEFORE_VALUE and piece not in _AFTER_VALUE:
            out.append(",")
        out.append(piece)
        before = piece
    repaired = "".join(out)
    return repaired if is_json(repaired) else None


# Reading this many brackets, commas and colons takes about a tenth of a second.
MAX_MARKS: Final = 100_000

_MARKS: Final = "[]{},:"
_CLOSING: Final = frozenset("]}")
_AFTER_VALUE: Final = frozenset("]},:")
_BEFORE_VALUE: Final = frozenset({"", "[", "{", ",", ":"})


def is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
