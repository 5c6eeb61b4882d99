"""The scripted model: it shows the best widget for the words, by its author's first example.

    a widget or a tool of an upstream named by the words, else search_widgets -> a sentence

The default of the chat, so a first look needs neither a key nor a network. Also the model of
tests, because it says the same each time. It is an endpoint inside the process, so the rest of
the chat treats it as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from agents import OpenAIChatCompletionsModel
from httpx2 import AsyncClient, MockTransport, Request, Response
from openai import AsyncOpenAI

from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.chat.backend.tools import IN_WORDS, as_object, split_name, text_of
from widgetd.chat.preflight import SCRIPTED
from widgetd.chat.samples import WidgetSample

_WORD = compile_pattern(r"\w+(?:[.@'-]\w+)*")
_CHUNK = compile_pattern(r"\S+\s*|\s+")
_RUN = compile_pattern(r"([A-Z]+)|([a-z]+)|(\d+)")
_NAME = compile_pattern(r'"([^"]+)"|([A-Z0-9][\w/:.-]*(?: [A-Z0-9][\w/:.-]*)*)')
_NUMBER = compile_pattern(r"-?\d{1,9}")
_NUMBER_OR_ADDRESS = compile_pattern(r"[\d@]")
_PUNCTUATION = ".,;:?!()"

_SHORT_WORD = 3
"""Letters of a word that says little in the name of a tool, as `get`."""

_READ_CHARACTERS, _EXAMPLE_CHARACTERS, _ANSWER_CHARACTERS = 4_000, 64, 600
"""How much is read of a message and of an example, and repeated of an upstream's answer."""

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
    """A model by rules: the same words among the same widgets get the same answer."""

    def __init__(self, samples: Samples = lambda _tool: None) -> None:
        def respond(request: Request) -> Response:
            body = orjson.loads(request.content)
            answer = next_step(body["messages"], body.get("tools", ()), samples)
            words = read_tokens(_CHUNK, answer.get("content", ""))
            chunks = b""
            for delta in [{"content": word[0]} for word in words] or [answer]:
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
    """Return the next step of the turn begun by the last of the user's messages."""
    start = max(at for at, entry in enumerate(messages) if entry["role"] == "user")
    text = text_of(messages[start]["content"])[:_READ_CHARACTERS]
    functions: dict[str, Any] = {}
    for tool in tools:
        functions.setdefault(split_name(tool["function"]["name"])[1], tool["function"])
    calls = [
        call["function"] for entry in messages[start:] for call in entry.get("tool_calls") or ()
    ]
    outputs = [text_of(entry["content"]) for entry in messages[start:] if entry["role"] == "tool"]
    # The SDK puts the notice of an action into an element of its own.
    text, _, action = text.partition(IN_WORDS)
    if action:
        return {"content": f"You chose {action.splitlines()[0]}"}
    if not outputs:
        return _begin(text, functions, samples)
    server, name = split_name(calls[-1]["name"])
    output = outputs[-1].partition("\nRender: ")[0].strip()
    if name == "search_widgets":
        candidates = [entry["name"] for entry in as_object(output).get("items") or ()]
        candidates += [tool for tool in functions if any(_fill(samples(tool), text))]
        delta = _show(candidates[0], text, functions, samples) if candidates else None
        return delta or {"content": INTRODUCTION}
    if server:
        return {"content": f"`{name}` answered:\n\n```\n{output[:_ANSWER_CHARACTERS]}\n```"}
    sample = samples(as_object(calls[-1]["arguments"]).get("name") or name)
    if sample is not None and sample.submit and not output.startswith("[W"):
        return {"content": f"Fill it in and press “{sample.submit}”."}
    return {"content": output or "Here it is."}


def _begin(text: str, functions: Tools, samples: Samples) -> Delta:
    """Return the first step: a widget or a tool named by the words, else a search."""
    words = [word[0] for word in read_tokens(_WORD, text)]
    for word in words:
        if delta := _show(word, text, functions, samples):
            return delta
    spoken = {word.lower() for word in words}
    for tool, function in functions.items():
        own_words = {word for word in tool.lower().split("_") if len(word) > _SHORT_WORD}
        is_named = tool in words or (len(own_words) > 0 and own_words <= spoken)
        if is_named and split_name(function["name"])[0]:
            arguments = _read_arguments(text, function.get("parameters") or {})
            if None not in arguments.values():
                return _call(functions, tool, arguments)
    return _call(functions, "search_widgets", {"query": text[:200], "limit": 3})


def _show(tool: str, text: str, functions: Tools, samples: Samples) -> Delta | None:
    if (sample := samples(tool)) is None:
        return None
    arguments = {**sample.arguments, **dict(_fill(sample, text))}
    if tool in functions:
        return _call(functions, tool, arguments)
    return _call(functions, "render_widget", {"name": tool, "arguments": arguments})


def _fill(sample: WidgetSample | None, text: str) -> Iterator[tuple[str, str]]:
    words, arguments = text.split(), {} if sample is None else dict(sample.arguments)
    for key, example in arguments.items():
        # Digits beside other runs say what a text is.
        if not isinstance(example, str) or example.isdigit() or len(example) > _EXAMPLE_CHARACTERS:
            continue
        count, shape = len(example.split()), _shape(example)
        for at in range(len(words) - count + 1) if _NUMBER_OR_ADDRESS.search(example) else ():
            part = " ".join(words[at : at + count]).strip(_PUNCTUATION)
            if _shape(part) == shape and sample and sample.admits({**arguments, key: part}):
                yield key, part
                break


def _shape(text: str) -> str:
    return _RUN.sub(lambda run: "Aa9"[run.lastindex - 1] if run.lastindex else run[0], text)


def _read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the required arguments of a tool as the words have them, else as None."""
    # The first word of a sentence is written large, whatever it is.
    names = [name[1] or name[2] for name in read_tokens(_NAME, text.partition(" ")[2])]
    numbers = [int(number[0]) for number in read_tokens(_NUMBER, text)]
    values: dict[str, list[Any]] = {"string": names, "integer": numbers, "number": numbers}
    properties = schema.get("properties", {})
    types = {key: str(properties.get(key, {}).get("type")) for key in schema.get("required", ())}
    return {key: next(iter(values.get(type_, ())), None) for key, type_ in types.items()}


def _call(functions: Tools, tool: str, arguments: Mapping[str, Any]) -> Delta:
    name = functions.get(tool, {}).get("name", tool)
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    call = {
        "index": 0,
        "id": f"call_{SYSTEM.numbers.token_hex(8)}",
        "type": "function",
        "function": function,
    }
    return {"tool_calls": [call]}
