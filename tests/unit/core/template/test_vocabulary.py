"""Words of the vocabulary are implemented with their listed operands, and no others are."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import pytest

from widgetd.core.template.builtins import (
    DICT_METHODS,
    FILTERS,
    LIST_METHODS,
    TESTS,
    TEXT_METHODS,
    javascript,
)
from widgetd.core.template.builtins.objects import (
    CYCLER_METHODS,
    FUNCTIONS,
    LOOP_MEMBERS,
    LOOP_METHODS,
)
from widgetd.core.template.closures import OPERATORS, STATEMENTS
from widgetd.core.template.closures.output import WRITERS
from widgetd.core.template.values import ABSENT
from widgetd.core.template.vocabulary import VOCABULARY

CONSTANTS = {"#", "undef"}
"""Evaluated when the program is compiled."""

APPLIED = {f"|{name}" for name in FILTERS} | {f"?{name}" for name in TESTS}

IMPLEMENTED: Mapping[str, Mapping[str, Any]] = {
    "outputs": WRITERS,
    "statements": STATEMENTS,
    "filters": FILTERS,
    "tests": TESTS,
    "text methods": TEXT_METHODS,
    "list methods": LIST_METHODS,
    "object methods": DICT_METHODS,
    "loop methods": LOOP_METHODS,
    "cycler methods": CYCLER_METHODS,
    "functions": FUNCTIONS,
    "loop members": LOOP_MEMBERS,
    "javascript methods": javascript.METHODS,
    "javascript loops": javascript.LOOPS,
    "javascript functions": javascript.FUNCTIONS,
}


@pytest.mark.parametrize("sort", VOCABULARY)
def test_every_word_is_implemented_and_no_other(sort: str) -> None:
    if sort.endswith("expressions"):
        words = {*VOCABULARY["expressions"], *VOCABULARY["javascript expressions"]}
        assert words == {*OPERATORS} - APPLIED | CONSTANTS
    else:
        assert VOCABULARY[sort].keys() == IMPLEMENTED[sort].keys()


@pytest.mark.parametrize(
    ("sort", "name"),
    [
        (sort, name)
        for sort in ("filters", "tests", *(each for each in VOCABULARY if each.endswith("methods")))
        for name in VOCABULARY[sort]
        if sort != "javascript methods"
    ],
)
def test_operands_are_those_of_the_body(sort: str, name: str) -> None:
    operands: list[Any] = []
    # The budget and the subject come first.
    for each in list(inspect.signature(IMPLEMENTED[sort][name]).parameters.values())[2:]:
        if each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD}:
            operands.append("*" if each.kind is each.VAR_POSITIONAL else "**")
        elif each.default is each.empty:
            operands.append(each.name)
        else:
            operands.append([each.name, None if each.default is ABSENT else each.default])

    assert VOCABULARY[sort][name]["operands"] == operands


@pytest.mark.parametrize("name", javascript.METHODS)
def test_javascript_methods_take_as_many_arguments_as_listed(name: str) -> None:
    count, _ = javascript.METHODS[name]

    assert len(VOCABULARY["javascript methods"][name]["operands"]) == count
