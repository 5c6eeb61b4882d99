"""A model without a mind: it looks for a widget that fits, and shows it by its example.

search_widgets -> get_widget_details -> the widget -> one sentence

It is the chat's model where no other is named, so that a first look needs no key and no
network; and the tests', because it says the same each time. What it shows is an example, with
those words of the user's in it that the schema admits. It is an endpoint without a network:
the rest of the chat knows no difference to those that have one.
"""

from __future__ import annotations

import re
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

# The sentence that the server writes: `server.ACTION`.
_ACTION_START = "The user did this in the widget "
_ACTION = re.compile(r"\A(\S+): (\S+) (\{.*\})")
_WORD = re.compile(r"\w+(?:[.@'-]\w+)*")
# No quotation mark stands inside, or each opening one would read the rest of the text again.
_QUOTED = re.compile(r"[\"“«„']([^\"“”«»„']{2,})[\"”»“']")
_RUNS = ("[A-Z]+", "[a-z]+", r"\d+")

_LONGEST_EXAMPLE = 64
"""Maximum length, in characters, of an example whose shape is looked for in a message."""

Tools = Mapping[str, Mapping[str, Any]]
"""Functions by their name on their server."""

Delta = dict[str, Any]
"""What a model answers, as chat completions have it: a text, or a call of a tool."""


class ScriptedModel(OpenAIChatCompletionsModel):
    """Answers by rule: the same words among the same widgets get the same answer."""

    def __init__(self) -> None:
        client = AsyncClient(transport=MockTransport(_answered), trust_env=False)
        url = f"http://{SCRIPTED}.invalid"
        super().__init__(SCRIPTED, AsyncOpenAI(base_url=url, api_key="none", http_client=client))


def _answered(request: Request) -> Response:
    """An answer in chunks, word by word."""
    asked = orjson.loads(request.content)
    answer = _answer(asked["messages"], asked.get("tools", ()))
    words = re.findall(r"\S+\s*|\s+", answer.get("content", ""))
    body = b""
    for delta in [{"content": word} for word in words] or [answer]:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        chunk = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": SCRIPTED}
        body += b"data: %b\n\n" % orjson.dumps({**chunk, "choices": [choice]})
    headers = {"content-type": "text/event-stream"}
    return Response(200, headers=headers, content=body + b"data: [DONE]\n\n")


def _answer(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Delta:
    """What comes next in the turn that `messages` end with."""
    start = max(at for at, one in enumerate(messages) if one["role"] == "user")
    said = text_of(messages[start]["content"])
    calls = [call for one in messages for call in one.get("tool_calls") or ()]
    names = {call["id"]: _own_name(call["function"]["name"]) for call in calls}
    done = [
        (names.get(one["tool_call_id"], ""), text_of(one["content"]))
        for one in messages[start:]
        if one["role"] == "tool"
    ]
    known: dict[str, Any] = {}
    for tool in tools:
        known.setdefault(_own_name(tool["function"]["name"]), tool["function"])
    # Only the first occurrence is read: each further one would read the rest of the text again.
    if taken := _ACTION.match(said.partition(_ACTION_START)[2]):
        return _after_action(taken, done, known)
    return _after_words(said, done, known)


def _own_name(tool: str) -> str:
    """A tool's name on its server: among several servers the SDK puts theirs before it."""
    return tool.partition("__")[2] if tool.startswith("mcp_") else tool


def _after_words(said: str, done: Sequence[tuple[str, str]], known: Tools) -> Delta:
    if not done:
        named = next((word for word in _WORD.findall(said) if word in known), None)
        if named is None:
            return _call(known, "search_widgets", {"query": said[:200], "limit": 3})
        return _call(known, "get_widget_details", {"names": [named]})
    tool, output = done[-1]
    if tool == "search_widgets":
        found = [item["name"] for item in _json(output).get("items", ())] or _likely(said, known)
        if not found:
            return _say("No widget here fits these words. Name one, or say what it should show.")
        return _call(known, "get_widget_details", {"names": found[:1]})
    if tool != "get_widget_details":
        return _say(_sentence(output))
    [details] = _json(output).get("items") or [{}]
    if details.get("status") != "ok":
        return _say("That widget is gone, so there is nothing to show. Ask again.")
    name, arguments = details["name"], _arguments(details, said)
    if name in known:
        return _call(known, name, arguments)
    return _call(known, "render_widget", {"name": name, "arguments": arguments})


def _after_action(taken: re.Match[str], done: Sequence[tuple[str, str]], known: Tools) -> Delta:
    action, payload = taken[2], _json(taken[3])
    sent = ", ".join(f"{name} {value}" for name, value in _leaves(payload))
    sentence = f"You did “{action}”" + (f" with {sent}." if sent else ".")
    if done:
        output = done[-1][1]
        return _say(sentence if not output.startswith("[W") else f"{sentence} {_sentence(output)}")
    if "success_notice" in known:
        notice = {"operation": action[:60], "title": "It arrived", "message": sentence[:400]}
        return _call(known, "success_notice", notice)
    return _say(sentence)


def _likely(said: str, known: Tools) -> list[str]:
    """The tool whose description and schema have most of the words; rare words weigh more."""
    words = {name: _words(orjson.dumps(tool).decode()) for name, tool in known.items()}
    common = Counter(word for each in words.values() for word in each)
    scores = {
        name: sum(1 / common[word] for word in _words(said) & each) for name, each in words.items()
    }
    # A word that half of them have says nothing.
    return [name for name in scores if scores[name] == max(2 / len(words), *scores.values())]


def _arguments(details: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The example, with words of the user's in it where the schema still admits it."""
    arguments: dict[str, Any] = deepcopy(details.get("example") or {})
    schema = compile_schema(details["inputSchema"])
    for holder, key, shape in list(_places(arguments, details["inputSchema"])):
        before = holder[key]
        for word in _candidates(key, before, shape, said):
            holder[key] = word
            if schema.admits(arguments):
                said = said.replace(str(word), " ", 1)
                break
            holder[key] = before
    return arguments


def _places(
    value: dict[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], str, Mapping[str, Any]]]:
    """Each text and number of an example, outside of lists, with its schema."""
    for key, inner in value.items():
        shape = schema.get("properties", {}).get(key, {})
        if isinstance(inner, dict):
            yield from _places(inner, shape)
        elif isinstance(inner, str | int | float) and not isinstance(inner, bool):
            yield value, key, shape


def _candidates(key: str, example: Any, shape: Mapping[str, Any], said: str) -> Iterator[Any]:
    """What of `said` may stand in place of `example`."""
    if isinstance(example, int | float):
        # A number alone could be anything; beside its name it is that.
        beside = rf"(?i)\b{re.escape(key)}\b\D{{0,12}}(-?\d+(?:\.\d+)?)"
        if found := re.search(beside, said):
            yield orjson.loads(found[1])
    elif "enum" in shape:
        spoken = said.lower()
        yield from (one for one in shape["enum"] if str(one).lower() in spoken)
    elif len(example) <= _LONGEST_EXAMPLE and re.search(r"[\d@]", example):
        # Of the same shape: a flight's number, a date, a time, an address.
        like = re.sub(r"[A-Z]+|[a-z]+|\d+|.", _run, example)
        yield from (found[0] for found in re.finditer(rf"(?<!\w){like}(?!\w)", said))
    elif not shape.get("format"):
        yield from (found[1] for found in _QUOTED.finditer(said))


def _run(run: re.Match[str]) -> str:
    """What matches letters or digits that follow each other, and of all else the same."""
    return next((kind for kind in _RUNS if re.fullmatch(kind, run[0])), re.escape(run[0]))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        yield name, ", ".join(str(one) for one in value if not isinstance(one, dict | list))
    elif value not in ("", None):
        yield name, str(value)


def _sentence(output: str) -> str:
    """What a tool answered, without what is for programs."""
    return output.partition("\nRender: ")[0].strip() or "Here it is."


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _json(text: str) -> dict[str, Any]:
    with suppress(orjson.JSONDecodeError):
        found = orjson.loads(text)
        return found if isinstance(found, dict) else {}
    return {}


def _call(known: Tools, tool: str, arguments: Mapping[str, Any]) -> Delta:
    name = known.get(tool, {}).get("name", tool)
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    call = {"index": 0, "id": f"call_{token_hex(8)}", "type": "function", "function": function}
    return {"tool_calls": [call]}


def _say(text: str) -> Delta:
    return {"content": text}
