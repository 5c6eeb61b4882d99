"""The scripted model: it looks for a widget that fits, and shows it by its author's example.

    search_widgets -> the widget -> one sentence
    a tool of an upstream, if the words name one -> what it answered

The default of the chat, so that a first look needs neither a key nor a network; and the model of
tests, because it says the same each time. It is an endpoint inside the process, so the rest of
the chat treats it as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from secrets import token_hex
from typing import Any

import orjson
from agents import OpenAIChatCompletionsModel
from httpx2 import AsyncClient, MockTransport, Request, Response
from openai import AsyncOpenAI

from widgetd.chat.backend.tools import IN_WORDS, text_of
from widgetd.chat.preflight import SCRIPTED
from widgetd.chat.samples import WidgetSample
from widgetd.text_search import compile_pattern

_WORD = compile_pattern(r"\w+(?:[.@'-]\w+)*")
# No quotation mark stands inside, or each opening one would read the rest of the text again.
_QUOTED = compile_pattern(r"[\"“«„']([^\"“”«»„']{2,})[\"”»“']")
_NAMED = compile_pattern(r"[A-Z0-9][\w/:.-]*(?: [A-Z0-9][\w/:.-]*)*")
_CHUNK = compile_pattern(r"\S+\s*|\s+")
_RUN = compile_pattern(r"([A-Z]+)|([a-z]+)|(\d+)")
_PUNCTUATION = ".,;:?!()"
_NUMBER = compile_pattern(r"-?\d+(?:\.\d+)?")
_NUMBER_OR_ADDRESS = compile_pattern(r"[\d@]")

_SHORT_WORD = 3
"""Letters of a word that says little in the name of a tool, as `get`."""

_READ_CHARACTERS = 4_000
"""Maximum length of a message that is read; the rest is not looked at."""

_EXAMPLE_CHARACTERS = 64
"""Maximum length of an example whose shape is looked for in a message."""

_ANSWER_CHARACTERS = 600
"""Maximum length of an upstream's answer that is repeated."""

INTRODUCTION = (
    "I am a script that comes with widgetd: no model is asked. I look for the widget that fits "
    "your words, and show it by its author's example. Try one of these, or name a widget."
)

Samples = Callable[[str], WidgetSample | None]
"""Returns the sample of a widget that the user may see."""

Tools = Mapping[str, Mapping[str, Any]]
"""Functions by their name on their server."""

Delta = dict[str, Any]
"""A model's answer in chat completions: a text, or a call of a tool."""


class ScriptedModel(OpenAIChatCompletionsModel):
    """A model that follows rules: the same words among the same widgets get the same answer."""

    def __init__(self, samples: Samples = lambda _tool: None) -> None:
        def respond(request: Request) -> Response:
            """Stream the answer to a request, word by word."""
            body = orjson.loads(request.content)
            answer = next_step(body["messages"], body.get("tools", ()), samples)
            words = _CHUNK.findall(answer.get("content", ""))
            chunks = b""
            for delta in [{"content": word} for word in words] or [answer]:
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                chunk = {"id": "", "object": "chat.completion.chunk", "created": 0}
                data = orjson.dumps({**chunk, "model": SCRIPTED, "choices": [choice]})
                chunks += b"data: %b\n\n" % data
            headers = {"content-type": "text/event-stream"}
            return Response(200, headers=headers, content=chunks + b"data: [DONE]\n\n")

        client = AsyncClient(transport=MockTransport(respond), trust_env=False)
        url = f"http://{SCRIPTED}.invalid"
        super().__init__(SCRIPTED, AsyncOpenAI(base_url=url, api_key="none", http_client=client))


def next_step(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], samples: Samples
) -> Delta:
    """Return the next step of the turn that the last of the user's messages began."""
    start = max(at for at, one in enumerate(messages) if one["role"] == "user")
    text = text_of(messages[start]["content"])
    known: dict[str, Any] = {}
    for tool in tools:
        known.setdefault(_own_name(tool["function"]["name"]), tool["function"])
    calls = [call["function"] for one in messages[start:] for call in one.get("tool_calls") or ()]
    outputs = [text_of(one["content"]) for one in messages[start:] if one["role"] == "tool"]
    # The SDK puts the notice into an element of its own.
    text, _, words = text[:_READ_CHARACTERS].partition(IN_WORDS)
    words = words.partition("\n")[0]
    if words:
        return _after_action(words, outputs, known)
    if not outputs:
        return _begin(text, known, samples)
    name, output = calls[-1]["name"], outputs[-1].partition("\nRender: ")[0].strip()
    if _own_name(name) == "search_widgets":
        found = [one["name"] for one in _json(output).get("items") or ()]
        found = found or _find_by_value(text, known, samples)
        shown = _show(found[0], text, known, samples) if found else None
        return shown or {"content": INTRODUCTION}
    if _is_upstream(name):
        answer = output[:_ANSWER_CHARACTERS]
        return {"content": f"`{_own_name(name)}` answered:\n\n```\n{answer}\n```"}
    sample = samples(_json(calls[-1]["arguments"]).get("name") or _own_name(name))
    if sample is not None and sample.submit and not output.startswith("[W"):
        return {"content": f"Fill it in and press “{sample.submit}”."}
    return {"content": output or "Here it is."}


def _begin(text: str, known: Tools, samples: Samples) -> Delta:
    """Return the first step: a widget or a tool that the words name, else a search."""
    words = _WORD.findall(text)
    shown = (_show(word, text, known, samples) for word in words)
    if named := next((one for one in shown if one is not None), None):
        return named
    spoken = {word.lower() for word in words}
    for tool, function in known.items():
        own_words = {word for word in tool.lower().split("_") if len(word) > _SHORT_WORD}
        is_named = tool in words or (len(own_words) > 0 and own_words <= spoken)
        arguments = _upstream_arguments(text, function) if is_named else None
        if _is_upstream(function["name"]) and arguments is not None:
            return _call(known, tool, arguments)
    return _call(known, "search_widgets", {"query": text[:200], "limit": 3})


def _find_by_value(text: str, known: Tools, samples: Samples) -> list[str]:
    """Return the widgets that take a value such as one in `text`: a flight number, an address."""
    return [
        tool
        for tool in known
        if (sample := samples(tool)) is not None
        and any(
            isinstance(value, str) and _is_telling(value) and any(_parts_like(value, text))
            for value in sample.arguments.values()
        )
    ]


def _is_telling(example: str) -> bool:
    """Return whether the shape of an example says what it is: it has digits beside other runs."""
    is_short = len(example) <= _EXAMPLE_CHARACTERS
    return is_short and bool(_NUMBER_OR_ADDRESS.search(example)) and not example.isdigit()


def _after_action(words: str, outputs: Sequence[str], known: Tools) -> Delta:
    sentence = f"You chose {words}"
    if outputs:
        failed = outputs[-1].startswith("[W")
        return {"content": f"{sentence} {outputs[-1]}" if failed else sentence}
    if "success_notice" in known:
        notice = {"operation": "action", "title": "It arrived", "message": sentence[:400]}
        return _call(known, "success_notice", notice)
    return {"content": sentence}


def _show(tool: str, text: str, known: Tools, samples: Samples) -> Delta | None:
    """Return the call that shows a widget; None if there is none of that name."""
    sample = samples(tool)
    if sample is None:
        return None
    arguments = _fill(sample, text)
    if tool in known:
        return _call(known, tool, arguments)
    return _call(known, "render_widget", {"name": tool, "arguments": arguments})


def _fill(sample: WidgetSample, text: str) -> dict[str, Any]:
    """Return a sample's arguments, with the user's words wherever the schema admits them."""
    arguments: dict[str, Any] = deepcopy(dict(sample.arguments))

    def fill(values: dict[str, Any], properties: Mapping[str, Any]) -> None:
        nonlocal text
        for key, example in values.items():
            part = properties.get(key, {})
            if isinstance(example, dict):
                fill(example, part.get("properties", {}))
            for word in _candidates(example, part, text):
                values[key] = word
                if sample.admits(arguments):
                    text = text.replace(str(word), " ", 1)
                    break
                values[key] = example

    fill(arguments, sample.properties)
    return arguments


def _candidates(example: Any, part: Mapping[str, Any], text: str) -> Iterator[Any]:
    """Yield the user's words that may replace `example`, the value of a property."""
    if not isinstance(example, str):
        return
    if "enum" in part:
        yield from (one for one in part["enum"] if str(one).lower() in text.lower())
    elif _is_telling(example):
        yield from _parts_like(example, text)
    elif not part.get("format"):
        yield from (found[1] for found in _QUOTED.finditer(text))


def _parts_like(example: str, text: str) -> Iterator[str]:
    """Yield the parts of `text` in the shape of `example`: a flight number, a date, an address."""
    words, count, wanted = text.split(), len(example.split()), _shape(example)
    for at in range(len(words) - count + 1):
        part = " ".join(words[at : at + count]).strip(_PUNCTUATION)
        if _shape(part) == wanted:
            yield part


def _shape(text: str) -> str:
    return _RUN.sub(lambda run: "Aa9"[run.lastindex - 1] if run.lastindex else run[0], text)


def _upstream_arguments(text: str, function: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the required arguments of a tool from the words; None if they hold too few."""
    schema = function.get("parameters") or {}
    # The first word of a sentence is written large, whatever it is.
    names = [*_QUOTED.findall(text), *_NAMED.findall(text.partition(" ")[2])]
    arguments: dict[str, Any] = {}
    for key in schema.get("required", ()):
        part = schema["properties"].get(key, {})
        if "enum" in part or part.get("type") == "string":
            values: Sequence[Any] = (part.get("enum") and [*_candidates("", part, text)]) or names
        else:
            values = [orjson.loads(one) for one in _NUMBER.findall(text)]
        if not values:
            return None
        arguments[key] = values[0]
    return arguments


def _is_upstream(name: str) -> bool:
    """Return whether the SDK's name for a tool says that it is another server's."""
    return name.startswith("mcp_") and not name.startswith("mcp_widgetd__")


def _own_name(tool: str) -> str:
    """Return a tool's name on its server, which the SDK prefixes among several servers."""
    return tool.partition("__")[2] if tool.startswith("mcp_") else tool


def _json(text: str) -> dict[str, Any]:
    with suppress(orjson.JSONDecodeError):
        value = orjson.loads(text)
        return value if isinstance(value, dict) else {}
    return {}


def _call(known: Tools, tool: str, arguments: Mapping[str, Any]) -> Delta:
    name = known.get(tool, {}).get("name", tool)
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    call = {"index": 0, "id": f"call_{token_hex(8)}", "type": "function", "function": function}
    return {"tool_calls": [call]}
