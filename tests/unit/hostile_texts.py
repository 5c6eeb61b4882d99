"""Texts that once cost time in the square of their length; `main` reads each within limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.support.limits import try_each
from widgetd.author.browser.targets import read_target
from widgetd.base.limits import Limits
from widgetd.base.text_search import most_similar
from widgetd.chat.backend import script
from widgetd.chat.samples import WidgetSample
from widgetd.core.template import compile_template
from widgetd.core.template.jsx import View


def hostile_cases() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield each text's name with what reads it."""
    view = View("<Card><Text value={v * 2}/></Card>", Limits())
    for end in ("e", "e+", ".", "!"):
        yield f"number {end}", partial(view.render, {"v": "1" * 4_000_000 + end})
    template = compile_template('{"n": [{% for x in v %}1{% endfor %}{{ w }}]}', limits=Limits())
    # The longest text that one render may make.
    yield "quotation marks", partial(template.render, {"v": [1, 2], "w": '"' + r"\"" * 500_000})
    yield "attribute", partial(attribute, "x" + " " * 60_000 + "y\n")

    names = [f'role=button[name="{at}{"name " * 40}"]' for at in range(2_000)]
    yield "target", partial(most_similar, "text=" + "a" * 3_900_000, names, 3)
    role = "role=heading" + "[level=1]" * 200
    yield "ladder", partial(read_target, [role] * 16)

    for text in (
        "«" * 1_000_000,
        "\"'" * 500_000,
        "The user did this in the widget a: b {" * 25_000,
        "1-" * 500_000,
    ):
        yield f"message {text[:40]}", partial(read_message, "shows weather 0 for v " + text)


def attribute(text: str) -> None:
    """Compile a view that has `text` in an attribute."""
    View(f'<Card a="{text}"/>', Limits())


def read_message(text: str) -> None:
    """Have the scripted model answer `text` twice: with a search, then with an example."""
    sample = WidgetSample(
        arguments={"v": "sunny", "w": "1-" * 30 + "2"}, admits=lambda _arguments: True
    )
    schema = {"properties": {"place": {"type": "string"}}, "required": ["place"]}
    upstream = {"name": "mcp_sky__weather", "parameters": schema}
    known: list[dict[str, Any]] = [{"name": "weather"}, upstream]
    messages = [{"role": "user", "content": text}]
    for samples in ({}, {"weather": sample}):
        script.next_step(messages, [{"function": one} for one in known], samples.get)


def main() -> None:
    """Read every text."""
    attribute("a")
    read_message("a")
    try_each(hostile_cases())
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
