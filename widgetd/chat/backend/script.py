"""The scripted model: it looks for a widget that fits, and shows it by its example.

    search_widgets -> get_widget_details -> the widget -> one sentence

The default of the chat, so that a first look needs neither a key nor a network; and the model of
tests, because it says the same each time. It is an endpoint inside the process, so the rest of
the chat treats it as any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from secrets import token_hex
from typing import Any

import orjson
from agents import OpenAIChatCompletionsModel
from httpx2 import AsyncClient, MockTransport, Request, Response
from openai import AsyncOpenAI

from widgetd.chat.backend.tools import text_of
from widgetd.chat.preflight import SCRIPTED
from widgetd.schema.validator import compile_schema
from widgetd.text_search import compile_pattern

# The sentence that the server writes: `server.ACTION`.
_ACTION_START = "The user did this in the widget "
_ACTION = compile_pattern(r"\A(\S+): (\S+) (\{.*\})")
_WORD = compile_pattern(r"\w+(?:[.@'-]\w+)*")
# No quotation mark stands inside, or each opening one would read the rest of the text again.
_QUOTED = compile_pattern(r"[\"“«„']([^\"“”«»„']{2,})[\"”»“']")
_CHUNK = compile_pattern(r"\S+\s*|\s+")
_NUMBER = compile_pattern(r"(?<!\d)-?\d+(?:\.\d+)?")
_RUN = compile_pattern(r"(?s)([A-Z]+)|([a-z]+)|(\d+)|.")
_NUMBER_OR_ADDRESS = compile_pattern(r"[\d@]")

_READ_CHARACTERS = 4_000
"""Maximum length of a message that is read; the rest is not looked at."""

_GAP_CHARACTERS = 12
"""Maximum distance of a number from its name."""

_EXAMPLE_CHARACTERS = 64
"""Maximum length of an example whose shape is looked for in a message."""

Tools = Mapping[str, Mapping[str, Any]]
"""Functions by their name on their server."""

Delta = dict[str, Any]
"""A model's answer in chat completions: a text, or a call of a tool."""


class ScriptedModel(OpenAIChatCompletionsModel):
    """A model that follows rules: the same words among the same widgets get the same answer."""

    def __init__(self) -> None:
        client = AsyncClient(transport=MockTransport(_respond), trust_env=False)
        url = f"http://{SCRIPTED}.invalid"
        super().__init__(SCRIPTED, AsyncOpenAI(base_url=url, api_key="none", http_client=client))


def _respond(request: Request) -> Response:
    """Stream the answer to a request, word by word."""
    body = orjson.loads(request.content)
    answer = _next_step(body["messages"], body.get("tools", ()))
    words = _CHUNK.findall(answer.get("content", ""))
    chunks = b""
    for delta in [{"content": word} for word in words] or [answer]:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        chunk = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": SCRIPTED}
        chunks += b"data: %b\n\n" % orjson.dumps({**chunk, "choices": [choice]})
    headers = {"content-type": "text/event-stream"}
    return Response(200, headers=headers, content=chunks + b"data: [DONE]\n\n")


def _next_step(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Delta:
    """Return the next step of the turn that the last of the user's messages began."""
    start = max(at for at, one in enumerate(messages) if one["role"] == "user")
    text = text_of(messages[start]["content"])
    calls = (call for one in messages for call in one.get("tool_calls") or ())
    names = {call["id"]: _own_name(call["function"]["name"]) for call in calls}
    results = [
        (names.get(one["tool_call_id"], ""), text_of(one["content"]))
        for one in messages[start:]
        if one["role"] == "tool"
    ]
    known: dict[str, Any] = {}
    for tool in tools:
        known.setdefault(_own_name(tool["function"]["name"]), tool["function"])
    # Only the first occurrence is read: each further one would read the rest of the text again.
    if action := _ACTION.match(text.partition(_ACTION_START)[2]):
        return _after_action(action[2], _json(action[3]), results, known)
    return _after_message(text[:_READ_CHARACTERS], results, known)


def _after_message(text: str, results: Sequence[tuple[str, str]], known: Tools) -> Delta:
    if not results:
        named = [word for word in _WORD.findall(text) if word in known]
        if named:
            return _call(known, "get_widget_details", {"names": named[:1]})
        return _call(known, "search_widgets", {"query": text[:200], "limit": 3})
    tool, output = results[-1]
    items = _json(output).get("items") or []
    match tool, items:
        case "search_widgets", _:
            found = [item["name"] for item in items] or _most_similar(text, known)
            if found:
                return _call(known, "get_widget_details", {"names": found[:1]})
            return _say("No widget here fits these words. Name one, or say what it should show.")
        case "get_widget_details", [{"status": "ok", "name": name} as details]:
            arguments = _arguments(details, text)
            if name in known:
                return _call(known, name, arguments)
            return _call(known, "render_widget", {"name": name, "arguments": arguments})
        case "get_widget_details", _:
            return _say("That widget is gone, so there is nothing to show. Ask again.")
    return _say(_sentence(output))


def _after_action(
    action: str, payload: Any, results: Sequence[tuple[str, str]], known: Tools
) -> Delta:
    fields = ", ".join(_fields(payload))
    sentence = f"You did “{action}”" + (f" with {fields}." if fields else ".")
    if results:
        output = results[-1][1]
        return _say(sentence if not output.startswith("[W") else f"{sentence} {_sentence(output)}")
    if "success_notice" in known:
        notice = {"operation": action[:60], "title": "It arrived", "message": sentence[:400]}
        return _call(known, "success_notice", notice)
    return _say(sentence)


def _most_similar(text: str, known: Tools) -> list[str]:
    """Return the tools that share most words with `text`; a rare word counts for more."""
    words = {name: _words(orjson.dumps(tool).decode()) for name, tool in known.items()}
    frequency = Counter(word for each in words.values() for word in each)
    scores = {
        name: sum(1 / frequency[word] for word in _words(text) & each)
        for name, each in words.items()
    }
    # A word that half of the tools have says nothing.
    least = max(2 / len(words), *scores.values()) if words else 0
    return [name for name, score in scores.items() if score == least]


def _arguments(details: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a widget's example, with the user's words in it wherever the schema admits them."""
    arguments: dict[str, Any] = deepcopy(details.get("example") or {})
    schema = compile_schema(details["inputSchema"])

    def fill(values: dict[str, Any], properties: Mapping[str, Any]) -> None:
        nonlocal text
        for key, example in values.items():
            part = properties.get(key, {})
            if isinstance(example, dict):
                fill(example, part.get("properties", {}))
            for word in _candidates(key, example, part, text):
                values[key] = word
                if schema.admits(arguments):
                    text = text.replace(str(word), " ", 1)
                    break
                values[key] = example

    fill(arguments, details["inputSchema"].get("properties", {}))
    return arguments


def _candidates(key: str, example: Any, part: Mapping[str, Any], text: str) -> Iterator[Any]:
    """Yield the user's words that may replace `example`, the value of a property."""
    match example:
        case bool() | dict() | list() | None:
            return
        case int() | float():
            # A number alone could be anything, beside the property's name it is its value.
            yield from _numbers_beside(key, text)
        case _ if "enum" in part:
            yield from (one for one in part["enum"] if str(one).lower() in text.lower())
        case _ if len(example) <= _EXAMPLE_CHARACTERS and _NUMBER_OR_ADDRESS.search(example):
            yield from _parts_like(example, text)
        case _ if not part.get("format"):
            yield from (found[1] for found in _QUOTED.finditer(text))


def _numbers_beside(key: str, text: str) -> Iterator[int | float]:
    """Yield the numbers that follow the word `key` in `text` at a short distance."""
    for number in _NUMBER.finditer(text):
        start = max(number.start() - _GAP_CHARACTERS - len(key) - 1, 0)
        before, found, gap = text[start : number.start()].lower().rpartition(key.lower())
        is_word = not _is_word(before[-1:]) and not _is_word(gap[:1] or number[0][:1])
        if found and is_word and not any(sign.isdigit() for sign in gap):
            yield float(number[0]) if "." in number[0] else int(number[0])


def _parts_like(example: str, text: str) -> Iterator[str]:
    """Yield the parts of `text` in the shape of `example`: a flight number, a date, an address."""
    wanted = [run.lastindex or run[0] for run in _RUN.finditer(example)]
    runs = [*_RUN.finditer(text)]
    shape = [run.lastindex or run[0] for run in runs]
    for at in range(len(runs) - len(wanted) + 1):
        if shape[at : at + len(wanted)] == wanted:
            start, end = runs[at].start(), runs[at + len(wanted) - 1].end()
            if not _is_word(text[max(start - 1, 0) : start]) and not _is_word(text[end : end + 1]):
                yield text[start:end]


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fields(value: Any, name: str = "") -> Iterator[str]:
    """Yield the filled-in fields of a payload, each as its name and value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _fields(inner, key)
    elif isinstance(value, list):
        yield f"{name} " + ", ".join(str(one) for one in value if not isinstance(one, dict | list))
    elif value not in ("", None):
        yield f"{name} {value}"


def _sentence(output: str) -> str:
    """Return a tool's answer without the id that is for programs."""
    return output.partition("\nRender: ")[0].strip() or "Here it is."


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


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


def _say(text: str) -> Delta:
    return {"content": text}
