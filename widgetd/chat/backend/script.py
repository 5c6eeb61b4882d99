"""A model without a mind: it looks for a widget that fits, and shows it by its example.

search_widgets -> get_widget_details -> the widget -> one sentence

It is the chat's model where no other is named, so that a first look needs no key and no
network; and the tests', because it says the same each time. What it shows is an example, with
those words of the user's in it that the schema admits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from copy import deepcopy
from secrets import token_hex
from typing import Any

import orjson
from agents import FunctionTool, Model, ModelResponse, Tool, Usage
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from typing_extensions import override

from widgetd.errors import WidgetError
from widgetd.schema.validator import Schema, compile_schema

ACTION = "The user did this in the widget {tool}: {action} {payload}"
"""How the agent is told of what was done in a widget; the payload is JSON."""

_ACTION = re.compile(r"The user did this in the widget (\S+): (\S+) (\{.*\})")
_WORD = re.compile(r"\w+(?:[.@'-]\w+)*")
_QUOTED = re.compile(r"[\"“«„']([^\"”»“']{2,})[\"”»“']")

Said = ResponseFunctionToolCall | ResponseOutputMessage


class ScriptedModel(Model):
    """Answers by rule: the same words among the same widgets get the same answer."""

    @override
    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Tool],
        *_more: Any,
        **_options: Any,
    ) -> ModelResponse:
        said = _answer(input, tools)
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    @override
    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[Any],
        model_settings: Any,
        tools: list[Tool],
        *_more: Any,
        **_options: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        said = _answer(input, tools)
        for number, event in enumerate(_events(said)):
            event.sequence_number = number
            yield event


def _answer(given: str | list[Any], tools: Sequence[Tool]) -> Said:
    """What comes next in the turn that `given` ends with."""
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    start = max(at for at, item in enumerate(items) if item.get("role") == "user")
    said = text_of(items[start].get("content"))
    names = {
        one["call_id"]: _own_name(one["name"])
        for one in items
        if one.get("type") == "function_call"
    }
    done = [
        (names.get(one["call_id"], ""), text_of(one["output"]))
        for one in items[start:]
        if one.get("type") == "function_call_output"
    ]
    known: dict[str, FunctionTool] = {}
    for tool in tools:
        if isinstance(tool, FunctionTool):
            known.setdefault(_own_name(tool.name), tool)
    if taken := _ACTION.search(said):
        answer = _after_action(taken, done, known)
    else:
        answer = _after_words(said, done, known)
    if isinstance(answer, ResponseFunctionToolCall) and answer.name in known:
        answer.name = known[answer.name].name
    return answer


def _own_name(tool: str) -> str:
    """A tool's name on its server: among several servers the SDK puts theirs before it."""
    return tool.partition("__")[2] if tool.startswith("mcp_") else tool


def _after_words(
    said: str, done: Sequence[tuple[str, str]], known: Mapping[str, FunctionTool]
) -> Said:
    if not done:
        named = next((word for word in _WORD.findall(said) if word in known), None)
        if named is None:
            return _call("search_widgets", {"query": said[:200], "limit": 3})
        return _call("get_widget_details", {"names": [named]})
    tool, output = done[-1]
    if tool == "search_widgets":
        found = [item["name"] for item in _json(output).get("items", ())]
        best = found[0] if found else _best(said, known)
        if best is None:
            return _say("No widget here fits these words. Name one, or say what it should show.")
        return _call("get_widget_details", {"names": [best]})
    if tool != "get_widget_details":
        return _say(_sentence(output))
    [details] = _json(output).get("items") or [{}]
    if details.get("status") != "ok":
        return _say("That widget is gone, so there is nothing to show. Ask again.")
    name, arguments = details["name"], _arguments(details, said)
    if name in known:
        return _call(name, arguments)
    return _call("render_widget", {"name": name, "arguments": arguments})


def _after_action(
    taken: re.Match[str], done: Sequence[tuple[str, str]], known: Mapping[str, FunctionTool]
) -> Said:
    action, payload = taken[2], _json(taken[3])
    sent = ", ".join(f"{name} {value}" for name, value in _leaves(payload))
    sentence = f"You did “{action}”" + (f" with {sent}." if sent else ".")
    if done:
        output = done[-1][1]
        return _say(sentence if not output.startswith("[W") else f"{sentence} {_sentence(output)}")
    if "success_notice" in known:
        notice = {"operation": action[:60], "title": "It arrived", "message": sentence[:400]}
        return _call("success_notice", notice)
    return _say(sentence)


def _best(said: str, known: Mapping[str, FunctionTool]) -> str | None:
    """The tool that has most of the words in its description or schema; rare words weigh more."""
    texts = {
        name: set(_words(f"{tool.description} {orjson.dumps(tool.params_json_schema).decode()}"))
        for name, tool in known.items()
    }
    common = Counter(word for words in texts.values() for word in words)
    scores = {
        name: sum(1 / common[word] for word in set(_words(said)) & words)
        for name, words in texts.items()
    }
    best = max(scores, key=lambda name: scores[name], default=None)
    # A word that half of them have says nothing.
    return best if best is not None and scores[best] > 2 / len(texts) else None


def _arguments(details: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The example, with words of the user's in it where the schema still admits it."""
    arguments: dict[str, Any] = deepcopy(details.get("example") or {})
    try:
        schema = compile_schema(details.get("inputSchema") or {})
    except WidgetError:
        return arguments
    left = said
    for holder, key, shape in list(_places(arguments, details.get("inputSchema") or {})):
        for word in _candidates(str(key), holder[key], shape, left):
            if _admitted(schema, arguments, holder, key, word):
                left = left.replace(str(word), " ", 1)
                break
    return arguments


def _admitted(
    schema: Schema, arguments: dict[str, Any], holder: dict[str, Any], key: str, value: Any
) -> bool:
    before, holder[key] = holder[key], value
    if schema.admits(arguments):
        return True
    holder[key] = before
    return False


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
    elif re.search(r"[\d@]", example):
        # Of the same shape: a flight's number, a date, a time, an address.
        like = re.sub(r"\\?.", _shape, example)
        like = re.sub(r"(\[A-Z\]|\[a-z\]|\\d)\1*", r"\1+", like)
        yield from (found[0] for found in re.finditer(rf"(?<!\w){like}(?!\w)", said))
    elif not shape.get("format"):
        yield from (found[1] for found in _QUOTED.finditer(said))


def _shape(letter: re.Match[str]) -> str:
    one = letter[0]
    if one.isdigit():
        return r"\d"
    if one.isalpha():
        return "[A-Z]" if one.isupper() else "[a-z]"
    return re.escape(one)


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


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _json(text: str) -> dict[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def text_of(content: Any) -> str:
    """The text of a message, or of what a tool answered, in whichever shape it comes."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _call(tool: str, arguments: Mapping[str, Any]) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call",
        id=f"fc_{token_hex(8)}",
        call_id=f"call_{token_hex(8)}",
        name=tool,
        arguments=orjson.dumps(arguments).decode(),
    )


def _say(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        type="message", id=f"msg_{token_hex(8)}", role="assistant", status="completed",
        content=[part],
    )  # fmt: skip


def _events(said: Said) -> Iterator[Any]:
    """`said` as a model streams it, word by word."""
    at: dict[str, Any] = {"output_index": 0, "sequence_number": 0}
    if isinstance(said, ResponseOutputMessage):
        [part] = said.content
        inside = {**at, "item_id": said.id, "content_index": 0}
        empty = said.model_copy(update={"content": [], "status": "in_progress"})
        yield ResponseOutputItemAddedEvent(type="response.output_item.added", item=empty, **at)
        yield ResponseContentPartAddedEvent(
            type="response.content_part.added",
            part=ResponseOutputText(type="output_text", text="", annotations=[]),
            **inside,
        )
        for word in re.findall(r"\S+\s*|\s+", getattr(part, "text", "")):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta", delta=word, logprobs=[], **inside
            )
    yield ResponseOutputItemDoneEvent(type="response.output_item.done", item=said, **at)
    yield ResponseCompletedEvent(
        type="response.completed",
        sequence_number=0,
        response=Response(
            id=f"resp_{token_hex(8)}",
            object="response",
            created_at=0,
            model="scripted",
            output=[said],
            parallel_tool_calls=False,
            tool_choice="auto",
            tools=[],
        ),
    )
