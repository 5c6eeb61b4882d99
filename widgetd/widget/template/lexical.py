"""How far a piece of JSON text has got: in a string or not, and what may come next.

A `State` is a small number, a set of them a `States`: what a place in a template
may find before it, over all the ways that lead there. It refuses to know
templates; it reads plain text.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, NamedTuple

States = frozenset["Point"]


class State(IntEnum):
    """What stands before a place."""

    ANY = 0
    """Something unknown: whatever comes next is right."""
    IN_STRING = 1
    OPEN = 2
    """A bracket or brace that was just opened."""
    COMMA = 3
    COLON = 4
    VALUE = 5
    LEAD = 6
    """Like `OPEN`, but one leading comma will be taken away."""


class Point(NamedTuple):
    """A state, and whether it is sure to occur, or only if conditions fall a certain way."""

    state: State
    sure: bool


class Mistake(NamedTuple):
    """A comma that is missing, or one too many, at an offset of the text that was read."""

    offset: int
    missing: bool


_OUTSIDE: Final = re.compile(r"""\s*(?:(?P<mark>["\[\]{},:])|(?P<literal>[^\s"\[\]{},:]+))""")
_REST_OF_STRING: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def after(text: str, state: State) -> tuple[State, list[Mistake]]:
    """The state behind `text` where `state` is before it, and what is wrong with its commas."""
    mistakes: list[Mistake] = []
    at = 0
    while at < len(text):
        if state is State.IN_STRING:
            match = _REST_OF_STRING.match(text, at)
            at = match.end() if match else at
            if text[at : at + 1] != '"':
                break
            state, at = State.VALUE, at + 1
            continue
        match = _OUTSIDE.match(text, at)
        if match is None:
            break
        at = match.end()
        state = _read(match["mark"] or "", state, at - 1, mistakes)
    return state, mistakes


def _read(mark: str, state: State, offset: int, mistakes: list[Mistake]) -> State:
    if mark == ",":
        return _comma(state, offset, mistakes)
    if mark == ":":
        return State.COLON
    if mark and mark in "]}":
        if state is State.COMMA:
            mistakes.append(Mistake(offset, missing=False))
        return State.VALUE
    return _begun(mark, state, offset, mistakes)


def _comma(state: State, offset: int, mistakes: list[Mistake]) -> State:
    if state is State.LEAD:
        return State.OPEN
    if state in {State.OPEN, State.COMMA}:
        mistakes.append(Mistake(offset, missing=False))
        return state
    return State.COMMA


def _begun(mark: str, state: State, offset: int, mistakes: list[Mistake]) -> State:
    if state is State.VALUE:
        mistakes.append(Mistake(offset, missing=True))
    if not mark:  # a number or word may go on in what follows
        return State.ANY
    return State.IN_STRING if mark == '"' else State.OPEN
