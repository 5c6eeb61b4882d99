"""Refusals of JSX outside of widgets, each with its replacement, in tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from widgetd.base.text_search import compile_pattern

ADVICE: Final = "write it with elements, operators, conditions, and map or filter over lists"
HANDLER_ADVICE: Final = 'write onClickAction={{ type: "…", payload: { … } }}'

CHANGING: Final = "write a new list: [...list, x] adds one, filter and slice leave some out"
FORMATTING: Final = "write it under [derived] in the sidecar, or take it as a text argument"
CALLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("push", "pop", "shift", "unshift", "splice"), CHANGING),
        **dict.fromkeys(("toLocaleString", "toLocaleDateString", "toLocaleTimeString"), FORMATTING),
        **dict.fromkeys(("match", "matchAll", "test", "search"), "write includes or startsWith"),
        "get": "write an object in place of the Map, and read object[key]",
        "fetch": "declare a [feed] in the sidecar, which fills the arguments",
        "forEach": "write map, or reduce for one value",
        "console.log": "leave it out",
    }
)
"""The replacements of calls that are not available."""

CONSTRUCTORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Map": "write an object, { key: value }, and read object[key]",
        "Array": "write Array.from({ length: n }, (_, i) => …)",
        "RegExp": "write includes, split or replaceAll with a text",
    }
)
"""The replacements of `new` with a constructor; dates and numbers are formatted elsewhere."""

FORMATS: Final = compile_pattern(r"(?:new\s+)?(?:Date|Intl)\b")
HOOK: Final = compile_pattern(r"(?:React\.)?use[A-Z]\w*")
HOOK_ADVICE: Final = "arguments come by their names, and a form keeps what a user types"

NODES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "arrow_function": ("a function that is given to no method", HANDLER_ADVICE),
        "function_expression": ("a function that is given to no method", HANDLER_ADVICE),
        **dict.fromkeys(
            ("assignment_expression", "augmented_assignment_expression", "update_expression"),
            ("an assignment", "write it as a statement of its own"),
        ),
        "await_expression": ("await", "declare a [feed] in the sidecar, which fills the arguments"),
        "class": ("a class", "write function Name({ title }) { return <Row/>; }"),
        "regex": ("a regular expression", "write includes, split or replaceAll with a text"),
    }
)
"""The names of nodes that are not available, as messages have them, and their replacements."""

STATEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("for_statement", "while_statement", "do_statement"),
            "write map, filter, reduce or for (const x of list)",
        ),
        "import_statement": HOOK_ADVICE,
        "class_declaration": "write function Name({ title }) { return <Row/>; }",
        "try_statement": "nothing fails on what is absent: write its content",
        "throw_statement": "the schema refuses arguments: write it there",
    }
)
"""The replacements of statements that are not available."""
